/* For clang's libFuzzer: cmake -DYOKE_FUZZ=ON, then fuzz_reader corpus-folder tests/fuzz/corpus
 * tests/model/bad */
#include <stdint.h>

#include "scenario_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_scenario(data, size);
    return 0;
}
