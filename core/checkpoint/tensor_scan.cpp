#include "core/checkpoint/tensor_scan.h"

#include <tbb/parallel_for.h>

#include "core/error.h"

namespace attnscope {

std::vector<TensorScan> scan_tensors(const Checkpoint& checkpoint) {
  std::vector<TensorScan> scans(checkpoint.tensors().size());
  tbb::parallel_for(std::size_t{0}, scans.size(), [&](std::size_t i) {
    try {
      scans[i].counts = checkpoint.tensors()[i].view().count_non_finite();
    } catch (const Error& error) {
      scans[i].error = error.what();
    }
  });
  return scans;
}

}  // namespace attnscope
