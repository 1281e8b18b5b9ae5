#include "core/error.h"
#include "core/input/data_set_kinds.h"
#include "tests/fuzz/fuzzed_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::filesystem::path file = attnscope::fuzzed_file({data, size});
    if (!attnscope::is_idx(file)) return 0;
    const auto set = attnscope::open_idx(file);
    if (set->size() > 0) (void)set->item(set->size() - 1);
  } catch (const attnscope::Error&) {
  }
  return 0;
}
