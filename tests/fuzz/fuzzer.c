/* A program of clang's libFuzzer for one target, FUZZ_TARGET: cmake --preset fuzz, then
 *
 *   build/fuzz/tests/fuzz/fuzz_mesh -max_total_time=30 FOLDER tests/fuzz/corpus/mesh
 *
 * Findings are written to FOLDER; an input that breaks something becomes a seed. */
#include <stdint.h>

#include "scenario_input.h"
#include "targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_TARGET(data, size);
    return 0;
}
