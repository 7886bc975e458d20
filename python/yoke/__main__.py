"""python3 -m yoke: the command `yoke`."""

import sys

from .program import main

sys.exit(main())
