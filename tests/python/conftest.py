import numpy as np
import pytest

import yoke

OSCILLATORS = """\
title: Two masses
time: {end: 0.1, step: 1e-4}
subsystems:
  left: {solver: oscillator, mass: 1, stiffness: 5000, velocity: 0.1}
  right: {solver: oscillator, mass: 1, velocity: 0.1}
interfaces:
  joint: {between: [left.mass, right.mass]}
coupling: {scheme: explicit}
"""


@pytest.fixture
def oscillators():
    return yoke.load(OSCILLATORS)


def exact(time):
    """Position of two joined masses of 1 kg on a spring of 5000 N/m, 0.1 m/s at the start."""
    omega = np.sqrt(2500)
    return 0.1 / omega * np.sin(omega * np.asarray(time))
