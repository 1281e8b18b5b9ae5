// Additive attention: one importance per token instead of one per pair. Bidirectional (Wu et al.
// 2021, Eq. 3), causal (Fastformer-LM, Eq. 4 to 8), windowed (Eq. 9 to 15). Only the pooling is
// computed here; the products with queries and keys around it belong to the layer.
//
// Parameter "importance": w [H, d], or [H, H·d] if w reads the keys of all heads, as in the code of
// Wu et al. "importance_bias" [H] is added to w·k. Models without "importance" use their first
// token's query: the class token's, or in a causal text the only query that every prefix contains.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tbb/parallel_for.h>

#include "core/attention/additive_state.h"
#include "core/attention/costs/costs.h"
#include "core/attention/kernels/exponentials.h"
#include "core/attention/kernels/running_sums.h"
#include "core/attention/kernels/softmax_rows.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/score_blocks.h"
#include "core/error.h"

namespace attnscope {

namespace {

std::vector<ParameterDescription> additive_parameters() {
  return {
      setting::flag("causal", false,
                    "each token pools the tokens up to itself (Fastformer-LM) instead of all"),
      setting::whole("window", 0, {-1, 1e9},
                     "k, the last tokens each pools, itself included, causal only; 0: all, -1: "
                     "each layer's own in a model that has windows, else all")
          .in("tokens"),
  };
}

class Additive final : public Mechanism {
 public:
  Additive(bool causal, std::int64_t window)
      : causal_(causal), window_(std::max<std::int64_t>(window, 0)) {}

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    const Importance importance = importance_in(input);
    const bool causal = this->causal(input);
    const std::int64_t width = input.values.cols() / input.heads;
    const Shape shape = {input.queries.rows(), input.values.cols()};
    if (input.keys.rows() == 0) return Tensor(shape);
    Tensor output = Tensor::unfilled(shape);
    if (output.empty()) return output;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const std::int64_t stride = input.values.cols();
      const float* const values = input.values.data() + head * width;
      float* const out = output.data() + head * width;
      const Eigen::RowVectorXf logit = logits_of(input, importance, head);
      if (causal && window_ == 0) {
        running_means(prefix_weights(logit).data(), input.keys.rows(), values, stride, width, out,
                      stride);
        return;
      }
      AdditiveState state(width, causal ? window_ : 0);
      std::vector<float> mean(static_cast<std::size_t>(width));
      for (std::int64_t j = 0; j < input.keys.rows(); ++j) {
        state.push(static_cast<double>(logit(j)), {values + j * stride, mean.size()},
                   causal ? std::span<float>(out + j * stride, mean.size()) : mean);
      }
      for (std::int64_t i = 0; !causal && i < input.queries.rows(); ++i) {
        std::copy(mean.begin(), mean.end(), out + i * stride);
      }
    });
    return output;
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    const Tensor logits = logits_of(input);
    const bool causal = this->causal(input);
    const auto fill = [&](std::int64_t head, std::int64_t first, StridedMatrixMap block) {
      constexpr float kNever = -std::numeric_limits<float>::infinity();
      for (std::int64_t row = 0; row < block.rows(); ++row) {
        block.row(row) = logits.matrix().row(head);
        if (!causal) continue;
        const std::int64_t last = first + row;
        block.row(row).rightCols(block.cols() - last - 1).setConstant(kNever);
        if (window_ > 0 && last >= window_) {
          block.row(row).leftCols(last - window_ + 1).setConstant(kNever);
        }
      }
    };
    return map_by_blocks(input, {fill});
  }

  /// Factors: a column of ones, and α. The rows of all queries are equal.
  [[nodiscard]] std::optional<MapFactors> factors(const AttentionInput& input) const override {
    if (causal(input)) return std::nullopt;
    MapFactors factors{Tensor({input.heads, input.queries.rows(), 1}),
                       std::move(quantities(input).at("importance"))};
    factors.left.matrix().setOnes();
    factors.right = std::move(factors.right).reshaped({input.heads, input.keys.rows(), 1});
    return factors;
  }

  /// "importance": α over all tokens; "logits": (w·k + bias) / √d. Both [H, M].
  [[nodiscard]] NamedTensors quantities(const AttentionInput& input) const override {
    Tensor logits = logits_of(input);
    Tensor importance = logits;
    softmax_rows({importance.data(), importance.extent(0), importance.extent(1),
                  Eigen::OuterStride<>(importance.extent(1))});
    NamedTensors quantities;
    quantities.emplace("importance", std::move(importance));
    quantities.emplace("logits", std::move(logits));
    return quantities;
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = causal_ ? shape.queries : 1};
  }

 private:
  /// Per token, exp(logit − m) and the factor of the previous sums, with m the largest logit so
  /// far.
  static std::vector<RunningWeight> prefix_weights(
      const Eigen::Ref<const Eigen::RowVectorXf>& logits) {
    std::vector<RunningWeight> list(static_cast<std::size_t>(logits.size()));
    Eigen::RowVectorXd weights(logits.size());
    auto largest = static_cast<double>(logits(0));
    for (Eigen::Index j = 0; j < logits.size(); ++j) {
      const auto logit = static_cast<double>(logits(j));
      if (logit > largest) [[unlikely]] {
        list[static_cast<std::size_t>(j)].keep = std::exp(largest - logit);
        largest = logit;
      }
      weights(j) = logit - largest;
    }
    exponentiate(weights.data(), weights.size());
    for (Eigen::Index j = 0; j < logits.size(); ++j) {
      list[static_cast<std::size_t>(j)].weight = weights(j);
    }
    return list;
  }

  /// Importance vectors w [H, d] or [H, H·d], and the bias [H] added to w·k, which may be null.
  struct Importance {
    ConstMatrixMap vectors;
    const Tensor* bias;
  };

  [[nodiscard]] Importance importance_in(const AttentionInput& input) const {
    check_shapes(input);
    if (causal(input) && input.queries.rows() != input.keys.rows()) {
      throw Error(ErrorKind::usage, "causal additive attention needs as many keys as queries")
          .expected(std::to_string(input.queries.rows()) + " keys")
          .found(std::to_string(input.keys.rows()));
    }
    const std::int64_t d = input.keys.cols() / input.heads;
    // The first row, split into heads.
    ConstMatrixMap vectors(input.queries.data(), input.heads, d);
    if (const Tensor* const given = parameter(input, "importance")) {
      const Shape own = {input.heads, d}, all = {input.heads, input.keys.cols()};
      if (given->shape() != own && given->shape() != all) {
        throw Error(ErrorKind::usage, "the importance vectors do not fit the heads")
            .about("importance")
            .expected(to_string(own) + " or " + to_string(all))
            .found(to_string(given->shape()));
      }
      new (&vectors) ConstMatrixMap(given->data(), input.heads, given->extent(1));
    }
    const Tensor* const bias = parameter(input, "importance_bias");
    if (bias && bias->size() != input.heads) {
      throw Error(ErrorKind::usage, "the importance biases do not fit the heads")
          .about("importance_bias")
          .expected(to_string(Shape{input.heads}))
          .found(to_string(bias->shape()));
    }
    return {vectors, bias};
  }

  /// Logits (w·k + bias) / √d of one head, for every key.
  static Eigen::RowVectorXf logits_of(const AttentionInput& input, const Importance& importance,
                                      std::int64_t head) {
    const std::int64_t d = input.keys.cols() / input.heads;
    const double scale = 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(d, 1)));
    const ConstStridedMatrixMap keys = importance.vectors.cols() == d
                                           ? head_columns(input.keys, input.heads, head)
                                           : head_columns(input.keys, 1, 0);
    const Eigen::RowVectorXd direction = importance.vectors.row(head).cast<double>();
    const double added = importance.bias ? static_cast<double>(importance.bias->data()[head]) : 0.0;
    Eigen::RowVectorXd products(keys.rows());
    project(direction.data(), keys.cols(), keys.data(), keys.outerStride(), keys.rows(),
            products.data());
    return (scale * (products.array() + added)).cast<float>();
  }

  /// Logits (w·k + bias) / √d [H, M] of all heads.
  [[nodiscard]] Tensor logits_of(const AttentionInput& input) const {
    const Importance importance = importance_in(input);
    const Shape shape = {input.heads, input.keys.rows()};
    if (input.queries.rows() == 0) return Tensor(shape);
    Tensor logits = Tensor::unfilled(shape);
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      logits.matrix().row(head) = logits_of(input, importance, head);
    });
    return logits;
  }

  /// The layer's tensor `name`; null if missing.
  static const Tensor* parameter(const AttentionInput& input, std::string_view name) {
    if (!input.parameters) return nullptr;
    const auto given = input.parameters->find(name);
    return given == input.parameters->end() ? nullptr : &given->second;
  }

  [[nodiscard]] bool causal(const AttentionInput& input) const { return causal_ || input.causal; }

  bool causal_;
  std::int64_t window_;  ///< 0: no window
};

}  // namespace

MechanismEntry additive_entry() {
  // A layer of Fastformer pools twice: once by its queries, once by its keys.
  constexpr std::int64_t kPools = 2;
  return {
      .name = "additive",
      .title = "Additive attention",
      .source = "Wu et al. 2021, Eq. 3; Fastformer-LM, Eq. 4 to 15",
      .formula = "learned importance of each token; `causal`, `window`",
      .rank = "1; N if causal",
      .complexity = {"ND²", "ND", "Wu et al. 2021"},
      .parameters = additive_parameters(),
      .tensors = {{"importance", "[H, d], w of each head; [H, H·d] where it reads all heads",
                   [](const AttentionShape& s, const TypedValues& values) {
                     const std::int64_t width = s.heads * s.head_width;
                     const bool own = values.flag("causal");
                     return std::optional(Shape{s.heads, own ? s.head_width : width});
                   },
                   kPools},
                  {"importance_bias", "[H], added to w·k",
                   [](const AttentionShape& s, const TypedValues& values) {
                     return values.flag("causal") ? std::nullopt : std::optional(Shape{s.heads});
                   },
                   kPools}},
      .counts =
          [](const AttentionShape& shape, CostConvention convention, const TypedValues& values) {
            return costs::additive(shape, convention,
                                   values.flag("causal") ? costs::AdditiveKind::causal
                                                         : costs::AdditiveKind::bidirectional,
                                   std::max<std::int64_t>(values.whole("window"), 0));
          },
      .projections = separate_projections,
      .make = [](const TypedValues& values) -> std::unique_ptr<Mechanism> {
        const bool causal = values.flag("causal");
        const std::int64_t window = values.whole("window");
        if (window > 0 && !causal) {
          throw Error(ErrorKind::usage, "a window needs causal attention")
              .about("additive window")
              .remedy("set causal=true, or window=0");
        }
        return std::make_unique<Additive>(causal, window);
      },
      .causal = true};
}

}  // namespace attnscope
