/* Children that end with _exit have run through lines as well: their counts are written before they
 * go. Linked into the coverage build alone, with --wrap=_exit. Weak, because it may be named twice
 * on one command line. */
#include <stdnoreturn.h>

void __gcov_dump(void);
noreturn void __real__exit(int code);
noreturn void __wrap__exit(int code);

noreturn __attribute__((weak)) void __wrap__exit(int code)
{
    __gcov_dump();
    __real__exit(code);
}
