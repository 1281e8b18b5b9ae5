// Talking heads (Shazeer et al. 2020, Section 3): the heads mix their scores before the softmax and
// their weights after it. With S_h = q_h·k_h / √d per head,
//
//   L_h = Σ_g proj_l[h, g] S_g + proj_l_bias[h]
//   W_h = Σ_g proj_w[h, g] softmax(L_g) + proj_w_bias[h].
//
// W is the map applied to the values: its rows need not sum to 1, and its weights may be negative.
// The biases are CaiT's (timm, cait.py: proj_l and proj_w are linear layers over the heads). The
// bias of the weights is added to visible keys only: hidden keys have weight 0.
//
// Parameters: "proj_l", "proj_w" [H, H], "proj_l_bias", "proj_w_bias" [H]. Without them, nothing is
// mixed, which is softmax attention.
#include <algorithm>
#include <limits>
#include <tbb/parallel_for.h>

#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/random_parameters.h"
#include "core/attention/score_blocks.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

// Queries per block. A block holds all heads at once, twice while they are mixed.
constexpr std::int64_t kTalkingBlock = 32;

/// A linear layer over the heads.
struct HeadMixing {
  Matrix weight;         ///< [H, H]
  Eigen::VectorXf bias;  ///< [H]

  HeadMixing(const AttentionInput& input, const char* weight_name, const char* bias_name)
      : weight(Matrix::Identity(input.heads, input.heads)),
        bias(Eigen::VectorXf::Zero(input.heads)) {
    const std::int64_t heads = input.heads;
    const Tensor* const weights = find_parameter(input.parameters, weight_name, heads, {heads});
    const Tensor* const biases = find_parameter(input.parameters, bias_name, heads, {});
    for (std::int64_t head = 0; head < heads; ++head) {
      if (weights) weight.row(head) = of_head(*weights, head, 1, heads);
      if (biases) bias[head] = of_head(*biases, head, 1, 1)(0, 0);
    }
  }

  /// out = weight · all, each [H, cells].
  void mix(StridedMatrixMap all, StridedMatrixMap out) const {
    multiply({weight.data(), weight.rows(), weight.cols(), Eigen::OuterStride<>(weight.cols())},
             {all.data(), all.rows(), all.cols(), Eigen::OuterStride<>(all.outerStride())}, 1.0F,
             out);
  }
};

class TalkingHeads final : public Mechanism {
 public:
  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    check_shapes(input);
    const std::int64_t keys = input.keys.rows(), heads = input.heads;
    const std::int64_t value_width = input.values.cols() / input.heads_of_keys();
    const std::int64_t width = value_width * heads;
    Tensor output({input.queries.rows(), width});
    if (keys == 0) return output;
    const Mixings mixings(input);
    for_each_block(input, [&](std::int64_t first, std::int64_t rows) {
      Matrix weights(heads, rows * keys);
      fill(input, mixings, first, rows,
           {weights.data(), heads, rows * keys, Eigen::OuterStride<>(rows * keys)});
      for (std::int64_t head = 0; head < heads; ++head) {
        multiply({weights.row(head).data(), rows, keys, Eigen::OuterStride<>(keys)},
                 value_columns(input, head), 1.0F,
                 {output.data() + first * width + head * value_width, rows, value_width,
                  Eigen::OuterStride<>(width)});
      }
    });
    return output;
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    check_shapes(input);
    const std::int64_t queries = input.queries.rows(), keys = input.keys.rows();
    Tensor map({input.heads, queries, keys});
    if (keys == 0) return map;
    const Mixings mixings(input);
    for_each_block(input, [&](std::int64_t first, std::int64_t rows) {
      fill(input, mixings, first, rows,
           {map.data() + first * keys, input.heads, rows * keys,
            Eigen::OuterStride<>(queries * keys)});
    });
    return map;
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min(shape.queries, shape.keys),
            .rows_sum_to_one = false,
            .non_negative = false};
  }

 private:
  struct Mixings {
    HeadMixing scores, weights;
    explicit Mixings(const AttentionInput& input)
        : scores(input, "proj_l", "proj_l_bias"), weights(input, "proj_w", "proj_w_bias") {}
  };

  /// Calls work(first query, queries) for every block, in parallel.
  template <class Work>
  static void for_each_block(const AttentionInput& input, const Work& work) {
    const std::int64_t queries = input.queries.rows();
    tbb::parallel_for(std::int64_t{0}, (queries + kTalkingBlock - 1) / kTalkingBlock,
                      [&](std::int64_t block) {
                        const std::int64_t first = block * kTalkingBlock;
                        work(first, std::min(kTalkingBlock, queries - first));
                      });
  }

  /// The rows [rows, M] of head `head` in a block [H, rows · M] of all heads.
  static StridedMatrixMap rows_of(StridedMatrixMap all, std::int64_t head, std::int64_t keys) {
    return {all.data() + head * all.outerStride(), all.cols() / keys, keys,
            Eigen::OuterStride<>(keys)};
  }

  /// Computes the weights [H, rows · M] of all heads for the queries from `first` on.
  static void fill(const AttentionInput& input, const Mixings& mixings, std::int64_t first,
                   std::int64_t rows, StridedMatrixMap weights) {
    const std::int64_t keys = input.keys.rows(), heads = input.heads;
    const auto scale = static_cast<float>(input.score_scale());
    for (std::int64_t head = 0; head < heads; ++head) {
      const ConstStridedMatrixMap queries = head_columns(input.queries, heads, head);
      multiply_transposed({queries.data() + first * queries.outerStride(), rows, queries.cols(),
                           Eigen::OuterStride<>(queries.outerStride())},
                          key_columns(input, head), scale, rows_of(weights, head, keys));
    }
    Matrix mixed(heads, rows * keys);
    StridedMatrixMap all(mixed.data(), heads, rows * keys, Eigen::OuterStride<>(rows * keys));
    mixings.scores.mix(weights, all);
    const bool hides = input.causal || input.terms;
    Matrix seen;
    if (hides) seen = Matrix::Ones(heads, rows * keys);
    for (std::int64_t head = 0; head < heads; ++head) {
      StridedMatrixMap scores = rows_of(all, head, keys);
      scores.array() += mixings.scores.bias[head];
      add_terms(input, head, first, scores);
      for (std::int64_t i = 0; hides && i < rows * keys; ++i) {
        if (mixed(head, i) == -std::numeric_limits<float>::infinity()) seen(head, i) = 0;
      }
      weigh(input, head, scores);
    }
    mixings.weights.mix(all, weights);
    for (std::int64_t head = 0; head < heads; ++head) {
      const float bias = mixings.weights.bias[head];
      if (hides) {
        weights.row(head) += bias * seen.row(head);
      } else {
        weights.row(head).array() += bias;
      }
    }
  }
};

std::vector<OperationCount> talking_heads_counts(const AttentionShape& shape,
                                                 CostConvention convention, const TypedValues&) {
  using namespace costs;
  OperationCounts counts = softmax(shape, convention);
  const Count h = shape.heads, cells = Count(shape.heads) * shape.queries * shape.keys;
  const Count biases = convention == CostConvention::complete ? cells : Count(0);
  const auto mixing = [&](const char* name) {
    return moving(component(name, h * cells, h * cells + biases), convention,
                  2 * cells + h * h + h);
  };
  counts.insert(counts.begin() + 1, mixing("mixing of scores"));
  counts.insert(counts.begin() + 3, mixing("mixing of weights"));
  return counts;
}

}  // namespace

MechanismEntry talking_heads_entry() {
  using Extents = const AttentionShape&;
  using Values = const TypedValues&;
  constexpr auto square = [](Extents s, Values) -> std::optional<Shape> {
    return Shape{s.heads, s.heads};
  };
  constexpr auto one_a_head = [](Extents s, Values) -> std::optional<Shape> {
    return Shape{s.heads};
  };
  return {
      .name = "talking-heads",
      .title = "Talking heads",
      .source = "Shazeer et al. 2020, Section 3; Touvron et al. 2021 (CaiT)",
      .formula = "P_w softmax(P_l QKᵀ/√d + b_l) + b_w, over the heads",
      .rank = "N",
      .complexity = {"N²D + N²H² + ND²", "N² + ND", "Shazeer et al. 2020, Section 3"},
      .tensors = {{"proj_l", "[H, H], mixes the scores of the heads", square},
                  {"proj_l_bias", "[H], its bias", one_a_head},
                  {"proj_w", "[H, H], mixes their weights", square},
                  {"proj_w_bias", "[H], its bias", one_a_head}},
      .counts = talking_heads_counts,
      .projections = separate_projections,
      .make = [](Values) -> std::unique_ptr<Mechanism> { return std::make_unique<TalkingHeads>(); },
      .causal = true,
      .scaled = true,
      .terms = true};
}

}  // namespace attnscope
