// OpenBLAS where BLAS's interface is not enough: its threads, kernels chosen by the processor's
// instructions instead of its model number, and memory limits, under which it would wait forever.
// The program also runs with another library of BLAS's interface, which has none of this.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// Instruction sets of a processor and its operating system that kernels depend on.
struct VectorInstructions {
  bool avx = false;
  bool avx2_and_fma = false;
  bool avx512 = false;  ///< F, BW, DQ, VL and CD, which the SkylakeX kernels use
};

[[nodiscard]] VectorInstructions vector_instructions_here();

/// The kernels that OpenBLAS should use instead of `chosen` ("Prescott"), named as in
/// OPENBLAS_CORETYPE. Empty if `chosen` is fine: it uses AVX2, or the processor supports nothing
/// better.
[[nodiscard]] std::string_view better_blas_kernels(std::string_view chosen,
                                                   const VectorInstructions& here);

/// Version of OpenBLAS, "0.3.21", or "not used" with another library.
[[nodiscard]] std::string openblas_version();

/// Threads that one product uses. 1 with a library that does not tell.
[[nodiscard]] int blas_threads();

/// Sets the threads that one product uses. OpenBLAS and FlexiBLAS follow, other libraries do not.
void set_blas_threads(int count);

/// Name of the kernels in use: "Haswell", "SkylakeX", "Prescott". "unknown" without OpenBLAS.
[[nodiscard]] std::string blas_kernels();

/// Makes OpenBLAS use the kernels `name`, through two functions that it exports and does not
/// declare. Must not run while another thread multiplies. Returns false and changes nothing if the
/// library lacks them: it was built for one processor only.
bool use_blas_kernels(std::string_view name);

/// Applies better_blas_kernels unless the user has set OPENBLAS_CORETYPE. OpenBLAS chooses by the
/// processor's model number and treats models newer than itself as a Prescott of 2004, at a fifth
/// of their speed. Called by use_one_blas_thread.
void use_better_blas_kernels();

/// Throws Error(io) if this thread has no memory for OpenBLAS's work space, 128 MiB of addresses,
/// which OpenBLAS allocates for every calling thread and retries forever. Checks once per thread.
void check_blas_work_space();

/// Restarts the program under a memory limit (ulimit -v) with OpenBLAS told to start no threads of
/// its own. The threads have no work here. If a limit leaves them no memory they retry the
/// allocation forever, which blocks the program's exit and its child processes. OpenBLAS starts
/// them before main begins, hence the restart. Called first in main, with its argv.
void restart_without_blas_threads(char** arguments);

}  // namespace attnscope
