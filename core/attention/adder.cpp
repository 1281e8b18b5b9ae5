// Adder attention: L1 distances instead of products (Adder, Eq. 7), with identity mapping (Eq. 20).
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <tbb/parallel_for.h>
#include <vector>

#include "core/attention/costs/costs.h"
#include "core/attention/kernels/l1_distance.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/score_blocks.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

std::vector<ParameterDescription> adder_parameters() {
  return {
      setting::flag("identity", false,
                    "adds the identity matrix I to the normalised map (Adder, Eq. 20)"),
  };
}

/// Standard deviation √d_a of the scores: d_a = 2d(1 − 2/π) is the variance of −‖q − k‖₁ for
/// standard normal q and k (Theorem 1).
double score_deviation(std::int64_t head_width) {
  return std::sqrt(2.0 * static_cast<double>(head_width) * (1.0 - 2.0 / std::numbers::pi));
}

class Adder final : public ScoreMechanism {
 public:
  explicit Adder(bool identity) : identity_(identity) {}

  [[nodiscard]] MapRows map_rows(const AttentionInput& input) const override {
    check_shapes(input);
    // Keys are packed again for each call: keeping the packed copy would double their memory.
    const auto fill = [&input](std::int64_t head, std::int64_t first, StridedMatrixMap rows) {
      score(input, PackedRows(key_columns(input, head)), head, first, rows);
    };
    return rows_of_scores(input, {fill, identity_});
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min(shape.queries, shape.keys), .rows_sum_to_one = !identity_};
  }

  [[nodiscard]] bool has_identity_mapping() const override { return identity_; }

 private:
  [[nodiscard]] LayerScores scores(const AttentionInput& input) const override {
    check_shapes(input);
    const std::int64_t key_heads = input.heads_of_keys();
    auto packed = std::make_shared<std::vector<PackedRows>>(static_cast<std::size_t>(key_heads));
    tbb::parallel_for(std::int64_t{0}, key_heads, [&](std::int64_t head) {
      (*packed)[static_cast<std::size_t>(head)] =
          PackedRows(head_columns(input.keys, key_heads, head));
    });
    const auto fill = [&input, packed](std::int64_t head, std::int64_t first,
                                       StridedMatrixMap block) {
      score(input, (*packed)[static_cast<std::size_t>(input.key_head(head))], head, first, block);
    };
    return {fill, identity_};
  }

  /// Scores −‖q − k‖₁ / √d_a between the queries from `first` on and a head's keys.
  static void score(const AttentionInput& input, const PackedRows& keys, std::int64_t head,
                    std::int64_t first, StridedMatrixMap block) {
    const ConstStridedMatrixMap queries = head_columns(input.queries, input.heads, head);
    const auto scale = static_cast<float>(-1.0 / score_deviation(queries.cols()));
    l1_distances({queries.data() + first * queries.outerStride(), block.rows(), queries.cols(),
                  Eigen::OuterStride<>(queries.outerStride())},
                 keys, scale, block);
    refuse_lost_keys(input, first, queries.cols(), block);
  }

  /// The rounding error of a score is up to (d + 1) · 2⁻²⁴ of its magnitude. If it reaches 1 for
  /// the nearest key, k is lost in q − k and the weights are meaningless: throws Error.
  static void refuse_lost_keys(const AttentionInput& input, std::int64_t first,
                               std::int64_t head_width, const StridedMatrixMap& scores) {
    const float most = 0x1p24F / static_cast<float>(head_width + 1);
    for (std::int64_t row = 0; row < scores.rows(); ++row) {
      const std::int64_t seen =
          input.causal ? std::min<std::int64_t>(first + row + 1, scores.cols()) : scores.cols();
      if (seen == 0) continue;
      const float nearest = -scores.row(row).head(seen).maxCoeff();
      if (!(nearest > most)) continue;
      throw Error(ErrorKind::unsupported,
                  "queries lie so far from all keys that float32 cannot tell the keys apart")
          .about("adder attention")
          .expected("‖q − k‖₁/√d_a of at most " + rounded_text(most, 3) + " to the nearest key")
          .found(rounded_text(nearest, 3));
    }
  }

  bool identity_;
};

}  // namespace

MechanismEntry adder_entry() {
  return {
      .name = "adder",
      .title = "Adder attention",
      .source = "Shu et al. 2021, Eq. 7 and 20",
      .formula = "softmax(−‖q − k‖₁/√d_a), + I if `identity`",
      .rank = "N",
      .complexity = {"N²D + ND²", "N² + ND", "Shu et al. 2021, Eq. 7"},
      .parameters = adder_parameters(),
      .accounting = {setting::flag("identity_products", false,
                                   "counts I·V as multiplications (inferred from Adder, Table 1)")},
      .counts =
          [](const AttentionShape& shape, CostConvention convention, const TypedValues& values) {
            return costs::adder(shape, convention, values.flag("identity"),
                                values.flag("identity_products"));
          },
      .projections = separate_projections,
      .make = [](const TypedValues& values) -> std::unique_ptr<Mechanism> {
        return std::make_unique<Adder>(values.flag("identity"));
      },
      .causal = true,
      .terms = true,
      .tempered = true,
      .rows = true};
}

}  // namespace attnscope
