// Reading the tensors of a weight file of any format.
#include <cstdio>

#include "core/checkpoint/checkpoint.h"

int main(int, char** argv) {
  using namespace attnscope;
  const Checkpoint file = open_checkpoint(argv[1]);
  std::printf("%s, %zu tensors\n", file.format().c_str(), file.tensors().size());
  const StoredTensor& first = file.tensors().front();
  const Tensor values = first.view().to_float();  // reads the file's data only now
  std::printf("%s %s: %g …\n", first.name.c_str(), to_string(first.shape).c_str(),
              static_cast<double>(values.data()[0]));
}
