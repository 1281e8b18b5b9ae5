#include "core/platform/openblas.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <vector>

#include "core/tensor/blas.h"

namespace attnscope {
namespace {

TEST(BlasKernels, FollowTheProcessorsFeaturesWhenItsModelIsUnknown) {
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

// OpenBLAS is told that the processor is a Prescott, which is its guess for new ones.
TEST(BlasKernels, AreCorrectedOnAProcessorTakenForAnOldOne) {
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) GTEST_SKIP() << "the user has chosen";
  use_one_blas_thread();
  const std::string before = blas_kernels();
  ASSERT_TRUE(use_blas_kernels("Prescott"));
  EXPECT_EQ(blas_kernels(), "Prescott");

  const std::vector<float> a(3 * 70, 0.5F), b(5 * 70, 2.0F);
  const auto product = [&] {
    std::vector<float> out(3 * 5);
    const Eigen::OuterStride<> inner(70), outer(5);
    multiply_transposed({a.data(), 3, 70, inner}, {b.data(), 5, 70, inner}, 1,
                        {out.data(), 3, 5, outer});
    return out;
  };
  EXPECT_EQ(product(), std::vector<float>(3 * 5, 70));

  use_better_blas_kernels();
  const std::string_view better = better_blas_kernels("Prescott", vector_instructions_here());
  EXPECT_EQ(blas_kernels(), better.empty() ? "Prescott" : better);
  EXPECT_EQ(std::getenv("OPENBLAS_CORETYPE"), nullptr);
  EXPECT_EQ(product(), std::vector<float>(3 * 5, 70));
  EXPECT_TRUE(use_blas_kernels(before));
}

}  // namespace
}  // namespace attnscope
