#include "core/checkpoint/formats/readers.h"
#include "tests/fuzz/fuzzed_file.h"

/// Objects the HDF5 library forgets when it fails to open a file are not ours to free.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  attnscope::read_all(attnscope::open_keras, attnscope::fuzzed_file({data, size}));
  return 0;
}
