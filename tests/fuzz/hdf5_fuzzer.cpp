// Fuzzes the HDF5 reader. The HDF5 library works in a child process, where it may crash, hang and
// leak; the reader must then throw an Error and reject whatever does not fit the file.
#include "core/checkpoint/formats/readers.h"
#include "tests/fuzz/fuzzed_file.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  attnscope::children_find_nothing();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  attnscope::read_all(attnscope::open_hdf5, attnscope::fuzzed_file({data, size}));
  return 0;
}
