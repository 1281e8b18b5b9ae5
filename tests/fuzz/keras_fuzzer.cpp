// Fuzzes the reader of Keras archives, which contain HDF5: see hdf5_fuzzer.cpp.
#include "core/checkpoint/formats/readers.h"
#include "tests/fuzz/fuzzed_file.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  attnscope::children_find_nothing();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  attnscope::read_all(attnscope::open_keras, attnscope::fuzzed_file({data, size}));
  return 0;
}
