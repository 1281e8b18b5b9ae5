// The MLP of many tokens equals that of each single token.
#include "core/model/parts/mlp.h"

#include <gtest/gtest.h>

#include "core/attention/random_parameters.h"

namespace attnscope {
namespace {

Tensor random_tensor(NormalNumbers& normal, std::int64_t rows, std::int64_t columns) {
  Tensor tensor({rows, columns});
  tensor.matrix() = normal.matrix(rows, columns).cast<float>();
  return tensor;
}

Mlp random_mlp(bool gated) {
  NormalNumbers normal(3);
  Mlp mlp;
  mlp.mlp1 = Linear(random_tensor(normal, 40, 12), std::vector<float>(40, 0.5F));
  mlp.mlp2 = Linear(random_tensor(normal, 10, 40), {});
  if (gated) mlp.gate = Linear(random_tensor(normal, 40, 12), {});
  mlp.norm = LayerNorm{std::vector<float>(40, 2.0F), std::vector<float>(40, 0.25F), 1e-5};
  return mlp;
}

TEST(Mlp, DoesNotDependOnTheNumberOfTokens) {
  constexpr std::int64_t kTokens = 5000;
  NormalNumbers normal(4);
  const Tensor tokens = random_tensor(normal, kTokens, 12);
  for (const bool gated : {false, true}) {
    const Mlp mlp = random_mlp(gated);
    const Tensor all = mlp(tokens.matrix(), {});
    ASSERT_EQ(all.shape(), (Shape{kTokens, 10}));
    for (const std::int64_t first : {0L, 2000L, 4095L, 4900L}) {
      constexpr std::int64_t kSome = 100;
      const ConstMatrixMap some(tokens.data() + first * 12, kSome, 12);
      const Matrix difference = all.matrix().middleRows(first, kSome) - mlp(some, {}).matrix();
      EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-4) << first;
    }
  }
}

}  // namespace
}  // namespace attnscope
