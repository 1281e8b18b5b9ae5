#include "core/checkpoint/formats/npy_header.h"
#include "core/checkpoint/formats/readers.h"
#include "tests/fuzz/fuzzed_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  const bool single = attnscope::is_npy(std::as_bytes(bytes));
  attnscope::read_all(single ? attnscope::open_npy : attnscope::open_npz,
                      attnscope::fuzzed_file(bytes));
  return 0;
}
