// The HDF5 library itself is not instrumented here, and is known to leak, to run long and to crash
// on some damaged files. The reader checks what it can before the library sees a file (the
// superblock) and what the library reports (layouts, sizes, links); this fuzzer shows the rest.
#include <hdf5.h>

#include "core/checkpoint/formats/readers.h"
#include "tests/fuzz/fuzzed_file.h"

/// Objects the library forgets when it fails to open a file are not ours to free.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  H5set_free_list_limits(0, 0, 0, 0, 0, 0);  // freed memory goes back to where it is watched
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  attnscope::read_all(attnscope::open_hdf5, attnscope::fuzzed_real_file({data, size}));
  return 0;
}
