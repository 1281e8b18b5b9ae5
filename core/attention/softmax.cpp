// Softmax attention (Adder, Eq. 3; Vaswani et al. 2017, Eq. 1).
#include <cmath>

#include "core/attention/mechanism.h"
#include "core/attention/score_blocks.h"
#include "core/attention/softmax_cost.h"
#include "core/blas.h"

namespace attnscope {

namespace {

class Softmax final : public Mechanism {
 public:
  [[nodiscard]] MechanismChoice choice() const override { return {"softmax", {}}; }

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    return attend_by_blocks(input, scores(input));
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    return map_by_blocks(input, scores(input));
  }

  [[nodiscard]] std::vector<OperationCount> cost(const AttentionShape& shape,
                                                 CostConvention convention) const override {
    const std::int64_t pairs = shape.heads * shape.queries * shape.keys;
    OperationCount products{.component = "scores",
                            .multiplications = pairs * shape.head_width,
                            .additions = pairs * shape.head_width};
    if (convention == CostConvention::complete) {
      products.multiplications += pairs;  // 1/√d
      products.bytes_moved = score_bytes(shape);
    }
    return {products, softmax_cost(shape, convention), value_cost(shape, convention)};
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min(shape.queries, shape.keys)};
  }

 private:
  /// q·k / √d.
  static FillScores scores(const AttentionInput& input) {
    return [&input](std::int64_t head, std::int64_t first, StridedMatrixMap block) {
      const ConstStridedMatrixMap queries = head_columns(input.queries, input.heads, head);
      const ConstStridedMatrixMap keys = head_columns(input.keys, input.heads, head);
      const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(keys.cols())));
      multiply_transposed({queries.data() + first * queries.outerStride(), block.rows(),
                           queries.cols(), Eigen::OuterStride<>(queries.outerStride())},
                          keys, scale, block);
    };
  }
};

}  // namespace

MechanismEntry softmax_entry() {
  return {"softmax",
          "Softmax attention",
          "Vaswani et al. 2017, Eq. 1",
          {},
          [](const ParameterValues&) -> std::unique_ptr<const Mechanism> {
            return std::make_unique<Softmax>();
          }};
}

}  // namespace attnscope
