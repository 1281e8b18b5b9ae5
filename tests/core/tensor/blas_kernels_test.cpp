#include "core/tensor/blas_kernels.h"

#include <gtest/gtest.h>

#include "core/tensor/blas.h"
#include "core/tensor/tensor.h"

namespace attnscope {
namespace {

TEST(BlasKernels, GoByWhatTheProcessorCanDoWhereItsModelIsUnknown) {
  const VectorInstructions skylake{.avx = true, .avx2_and_fma = true, .avx512 = true};
  const VectorInstructions haswell{.avx = true, .avx2_and_fma = true};
  const VectorInstructions sandy_bridge{.avx = true};
  EXPECT_EQ(better_blas_kernels("Prescott", skylake), "SkylakeX");
  EXPECT_EQ(better_blas_kernels("Nehalem", haswell), "Haswell");
  EXPECT_EQ(better_blas_kernels("Sandybridge", haswell), "Haswell");
  EXPECT_EQ(better_blas_kernels("Prescott", sandy_bridge), "Sandybridge");
  EXPECT_EQ(better_blas_kernels("Prescott", {}), "");
}

TEST(BlasKernels, LeaveAChoiceThatUsesTheProcessor) {
  const VectorInstructions skylake{.avx = true, .avx2_and_fma = true, .avx512 = true};
  for (const char* const chosen : {"Haswell", "Zen", "SkylakeX", "Cooperlake"}) {
    EXPECT_EQ(better_blas_kernels(chosen, skylake), "") << chosen;
  }
  EXPECT_EQ(better_blas_kernels("Bulldozer", {.avx = true}), "");
}

// A processor in disguise: OpenBLAS is told that it is a Prescott, as it takes new ones to be.
TEST(BlasKernels, AreCorrectedOnAProcessorTakenForAnOldOne) {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) GTEST_SKIP() << "the user has chosen";
  use_one_blas_thread();
  const std::string before = blas_kernels();
  ASSERT_TRUE(use_blas_kernels("Prescott"));
  EXPECT_EQ(blas_kernels(), "Prescott");

  const Tensor a({3, 70}, std::vector<float>(3 * 70, 0.5F));
  const Tensor b({5, 70}, std::vector<float>(5 * 70, 2.0F));
  Tensor old(Shape{3, 5}), corrected(Shape{3, 5});
  multiply_transposed(a.matrix(), b.matrix(), 1, old.matrix());

  use_better_blas_kernels();
  const std::string_view better = better_blas_kernels("Prescott", vector_instructions_here());
  EXPECT_EQ(blas_kernels(), better.empty() ? "Prescott" : better);
  EXPECT_EQ(std::getenv("OPENBLAS_CORETYPE"), nullptr);
  multiply_transposed(a.matrix(), b.matrix(), 1, corrected.matrix());
  EXPECT_EQ(old.matrix()(2, 4), 70);
  EXPECT_EQ(corrected.matrix()(2, 4), 70);
  EXPECT_TRUE(use_blas_kernels(before));
}

}  // namespace
}  // namespace attnscope
