/* One input for the reader, from bytes of any kind: what the mutation test and the fuzzer share. */
#ifndef YOKE_TESTS_FUZZ_SCENARIO_INPUT_H
#define YOKE_TESTS_FUZZ_SCENARIO_INPUT_H

#include <stddef.h>

/* The bytes are a scenario; what follows a zero byte are overrides, one per line. The scenario is
 * loaded and, where it has no mistakes, started and stepped twice. Aborts when a promise of the
 * interface is broken. */
void fuzz_scenario(const unsigned char *data, size_t size);

#endif
