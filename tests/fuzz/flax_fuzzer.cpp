#include "core/checkpoint/formats/readers.h"
#include "tests/fuzz/fuzzed_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  attnscope::read_all(attnscope::open_flax, attnscope::fuzzed_file({data, size}));
  return 0;
}
