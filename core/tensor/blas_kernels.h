// Selection of OpenBLAS kernels. OpenBLAS selects by the processor's model number and treats newer
// processors than itself as a Prescott of 2004, at a fifth of their speed. Selecting by supported
// instructions is better.
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

/// Name of the kernels in use: "Haswell", "SkylakeX", "Prescott".
[[nodiscard]] std::string blas_kernels();

/// Makes OpenBLAS use the kernels `name`. Must not run while another thread multiplies. Returns
/// false and changes nothing if the library was built for one processor only.
bool use_blas_kernels(std::string_view name);

/// Applies better_blas_kernels unless the user has set OPENBLAS_CORETYPE. Called by
/// use_one_blas_thread.
void use_better_blas_kernels();

}  // namespace attnscope
