#include "core/tensor/blas.h"

#include <cassert>
#include <cblas.h>
#include <mutex>
#include <sys/mman.h>

#include "core/error.h"
#include "core/tensor/blas_kernels.h"

namespace attnscope {

namespace {

void gemm(ConstStridedMatrixMap a, ConstStridedMatrixMap b, bool transpose_b, float scale,
          StridedMatrixMap out, bool accumulate) {
  use_one_blas_thread();
  const auto extent = [](Eigen::Index value) { return static_cast<blasint>(value); };
  if (out.size() == 0) return;
  if (a.cols() == 0) {
    if (!accumulate) out.setZero();
    return;
  }
  cblas_sgemm(CblasRowMajor, CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
              extent(out.rows()), extent(out.cols()), extent(a.cols()), scale, a.data(),
              extent(a.outerStride()), b.data(), extent(b.outerStride()), accumulate ? 1.0F : 0.0F,
              out.data(), extent(out.outerStride()));
}

/// Checks once per thread that there is memory for OpenBLAS's work space. OpenBLAS allocates one
/// for every calling thread and retries forever if that fails.
void check_work_space() {
  constexpr std::size_t bytes = 128 << 20;
  thread_local bool is_there = false;
  if (is_there) return;
  void* const space = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) {
    throw Error(ErrorKind::io, "there is not enough memory for matrix products")
        .expected("128 MiB of address space for each thread")
        .remedy("raise the limit of memory (ulimit -v), or give it fewer threads (taskset -c 0)");
  }
  ::munmap(space, bytes);
  is_there = true;
}

}  // namespace

void use_one_blas_thread() {
  check_work_space();
  static std::once_flag once;
  std::call_once(once, [] {
    use_better_blas_kernels();
    openblas_set_num_threads(1);
  });
}

void multiply_transposed(ConstStridedMatrixMap a, ConstStridedMatrixMap b, float scale,
                         StridedMatrixMap out, bool accumulate) {
  assert(a.cols() == b.cols() && out.rows() == a.rows() && out.cols() == b.rows());
  gemm(a, b, true, scale, out, accumulate);
}

void multiply(ConstStridedMatrixMap a, ConstStridedMatrixMap b, float scale, StridedMatrixMap out,
              bool accumulate) {
  assert(a.cols() == b.rows() && out.rows() == a.rows() && out.cols() == b.cols());
  gemm(a, b, false, scale, out, accumulate);
}

}  // namespace attnscope
