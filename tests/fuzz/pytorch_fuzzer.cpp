#include "core/checkpoint/formats/pickle.h"
#include "core/checkpoint/formats/readers.h"
#include "core/checkpoint/formats/state_dict.h"
#include "core/error.h"
#include "tests/fuzz/fuzzed_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  attnscope::read_all(attnscope::open_pytorch, attnscope::fuzzed_file(bytes));
  // Fuzzes the pickle reader directly: in a zip archive few mutations reach it.
  try {
    attnscope::PickleReader reader(std::as_bytes(bytes));
    (void)attnscope::find_state_dicts(reader.read());
  } catch (const attnscope::Error&) {
  }
  return 0;
}
