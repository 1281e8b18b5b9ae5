// Which of its kernels OpenBLAS multiplies with. It goes by the processor's model number and takes
// those newer than itself for a Prescott of 2004, at a fifth of their speed; by what the processor
// can do, a better choice is possible.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// What a processor and its system can do, as far as kernels differ by it.
struct VectorInstructions {
  bool avx = false;
  bool avx2_and_fma = false;
  bool avx512 = false;  ///< F, BW, DQ, VL and CD: what the kernels of Skylake servers use
};

[[nodiscard]] VectorInstructions vector_instructions_here();

/// The kernels that OpenBLAS should use instead of those named `chosen` ("Prescott"), as
/// OPENBLAS_CORETYPE names them; empty where its choice stands: it uses AVX2, or the processor has
/// nothing better.
[[nodiscard]] std::string_view better_blas_kernels(std::string_view chosen,
                                                   const VectorInstructions& here);

/// The kernels in use: "Haswell", "SkylakeX", "Prescott".
[[nodiscard]] std::string blas_kernels();

/// Lets OpenBLAS use the kernels named. Not while another thread multiplies. False, and nothing
/// changed, where the library was built for one processor alone.
bool use_blas_kernels(std::string_view name);

/// Corrects OpenBLAS's choice as better_blas_kernels says, unless the user has made one by
/// OPENBLAS_CORETYPE. use_one_blas_thread has done so.
void use_better_blas_kernels();

}  // namespace attnscope
