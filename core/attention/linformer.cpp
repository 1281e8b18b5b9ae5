// Linformer: softmax(Q (E K)ᵀ/√d) · (F V), keys and values projected to a few landmarks (Wang et
// al. 2020, Eq. 7). The cost is linear in the number of tokens. The implied map softmax(Q (E
// K)ᵀ/√d) · F may be negative.
//
// Parameters "E" and "F" [k, M], or [H, k, M]. Models without them: landmark l is the mean of the
// tokens from l·M/k to (l+1)·M/k (Section 4, "General projections"), or E = F of normal numbers of
// variance 1/k, as in Theorem 1.
#include <algorithm>
#include <cmath>
#include <string>
#include <tbb/parallel_for.h>

#include "core/attention/costs/costs.h"
#include "core/attention/kernels/softmax_rows.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/random_parameters.h"
#include "core/attention/score_blocks.h"
#include "core/error.h"
#include "core/tensor/blas.h"
#include "core/tensor/tensor.h"

namespace attnscope {

namespace {

enum class Landmarks { pooling, gaussian };
constexpr EnumName<Landmarks> landmark_names[] = {{Landmarks::pooling, "pooling"},
                                                  {Landmarks::gaussian, "gaussian"}};

/// Default k if neither the settings nor the model specify it.
std::int64_t landmarks_of(std::int64_t keys) {
  constexpr std::int64_t kMost = 256;  // the paper's k; the cost is linear for more tokens
  return std::clamp<std::int64_t>(keys / 4, keys > 0 ? 1 : 0, kMost);
}

std::vector<ParameterDescription> linformer_parameters() {
  return {
      setting::whole("landmarks", 0, {0, 1e6},
                     "k, rows keys and values are projected to; 0: those of E and F where the "
                     "model has them, else a quarter of the tokens, at most 256")
          .in("tokens"),
      setting::choice("projection", names_of(landmark_names), "pooling",
                      "E and F where the model has none: means of neighbouring tokens, or random"),
      seed_parameter("the random projection"),
  };
}

class Linformer final : public Mechanism {
 public:
  Linformer(std::int64_t landmarks, Landmarks kind, std::int64_t seed)
      : landmarks_(landmarks), pooling_(kind == Landmarks::pooling), seed_(seed) {}

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    const std::int64_t landmarks = check(input);
    Tensor output({input.queries.rows(), input.values.cols()});
    if (output.size() == 0 || landmarks == 0) return output;
    const std::int64_t width = input.values.cols() / input.heads;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Matrix weights = landmark_weights(input, head, landmarks);
      const Matrix project = projection(input, "F", head, landmarks);
      Matrix values(landmarks, width);
      multiply(strided(project), head_columns(input.values, input.heads, head), 1.0F,
               strided_output(values));
      multiply(strided(weights), strided(values), 1.0F,
               {output.data() + head * width, weights.rows(), width,
                Eigen::OuterStride<>(input.values.cols())});
    });
    return output;
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    const std::int64_t landmarks = check(input);
    Tensor map({input.heads, input.queries.rows(), input.keys.rows()});
    if (map.size() == 0 || landmarks == 0) return map;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Matrix weights = landmark_weights(input, head, landmarks);
      const Matrix project = projection(input, "F", head, landmarks);
      MatrixMap out = map.slice(head);
      multiply(strided(weights), strided(project), 1.0F,
               {out.data(), out.rows(), out.cols(), Eigen::OuterStride<>(out.cols())});
    });
    return map;
  }

  /// Factors: softmax(Q (E K)ᵀ/√d), and Fᵀ.
  [[nodiscard]] std::optional<MapFactors> factors(const AttentionInput& input) const override {
    const std::int64_t landmarks = check(input);
    const std::int64_t n = input.queries.rows(), m = input.keys.rows();
    if (landmarks >= std::min(n, m) || landmarks == 0) return std::nullopt;
    MapFactors factors{Tensor({input.heads, n, landmarks}), Tensor({input.heads, m, landmarks})};
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      factors.left.slice(head) = landmark_weights(input, head, landmarks);
      factors.right.slice(head) = projection(input, "F", head, landmarks).transpose();
    });
    return factors;
  }

  /// Quantity "landmark_weights" [H, N, k]: the weight of each landmark for each query.
  [[nodiscard]] NamedTensors quantities(const AttentionInput& input) const override {
    const std::int64_t landmarks = check(input);
    Tensor weights({input.heads, input.queries.rows(), landmarks});
    for (std::int64_t head = 0; head < input.heads && landmarks > 0; ++head) {
      weights.slice(head) = landmark_weights(input, head, landmarks);
    }
    NamedTensors quantities;
    quantities.emplace("landmark_weights", std::move(weights));
    return quantities;
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    // Without a specified k, the model's E determines it, which is unknown here.
    const std::int64_t bound = landmarks_ > 0 ? landmarks_ : shape.keys;
    return {.rank_bound = std::min({shape.queries, shape.keys, bound}),
            .rows_sum_to_one = false,
            .non_negative = false};
  }

 private:
  /// Checks the input and returns the number of landmarks k.
  [[nodiscard]] std::int64_t check(const AttentionInput& input) const {
    check_shapes(input);
    refuse_causal(input, "linformer");  // a landmark mixes later tokens with earlier ones
    const std::int64_t keys = input.keys.rows();
    std::int64_t landmarks = landmarks_ > 0 ? landmarks_ : landmarks_of(keys);
    const bool learned =
        input.parameters != nullptr && input.parameters->contains(std::string_view("E"));
    if (learned != (input.parameters != nullptr && input.parameters->contains("F"))) {
      throw Error(ErrorKind::usage,
                  "the projections of keys (E) and values (F) must be given together")
          .about(learned ? "F" : "E");
    }
    if (learned && landmarks_ == 0) {
      const Shape& shape = input.parameters->find(std::string_view("E"))->second.shape();
      if (shape.size() >= 2) landmarks = shape[shape.size() - 2];
    }
    if (landmarks > keys) {
      throw Error(ErrorKind::usage, "there are more landmarks than tokens")
          .about("linformer landmarks")
          .expected("at most " + std::to_string(keys))
          .found(std::to_string(landmarks));
    }
    for (const char* name : {"E", "F"}) {
      (void)find_parameter(input.parameters, name, input.heads, {landmarks, keys});
    }
    return landmarks;
  }

  /// The projection E or F [k, M] of one head.
  [[nodiscard]] Matrix projection(const AttentionInput& input, const char* name, std::int64_t head,
                                  std::int64_t landmarks) const {
    const std::int64_t keys = input.keys.rows();
    const Tensor* const given =
        find_parameter(input.parameters, name, input.heads, {landmarks, keys});
    if (given != nullptr) return of_head(*given, head, landmarks, keys);
    if (!pooling_) {
      const double scale = 1 / std::sqrt(static_cast<double>(landmarks));
      return (scale * rows_of_streams(seed_, input.layer, head, keys, landmarks))
          .cast<float>()
          .transpose();
    }
    Matrix means = Matrix::Zero(landmarks, keys);
    for (std::int64_t l = 0; l < landmarks; ++l) {
      const std::int64_t first = l * keys / landmarks, end = (l + 1) * keys / landmarks;
      means.row(l).segment(first, end - first).setConstant(1.0F / static_cast<float>(end - first));
    }
    return means;
  }

  /// softmax(Q (E K)ᵀ/√d) [N, k] of one head.
  [[nodiscard]] Matrix landmark_weights(const AttentionInput& input, std::int64_t head,
                                        std::int64_t landmarks) const {
    const std::int64_t d = input.keys.cols() / input.heads;
    const Matrix project = projection(input, "E", head, landmarks);
    Matrix keys = Matrix::Zero(landmarks, d);
    multiply(strided(project), head_columns(input.keys, input.heads, head), 1.0F,
             strided_output(keys));
    Matrix weights(input.queries.rows(), landmarks);
    multiply_transposed(head_columns(input.queries, input.heads, head), strided(keys),
                        static_cast<float>(input.score_scale()), strided_output(weights));
    softmax_rows(strided_output(weights));
    return weights;
  }

  std::int64_t landmarks_;
  bool pooling_;
  std::int64_t seed_;
};

std::int64_t counted_landmarks(const AttentionShape& shape, const TypedValues& values) {
  const std::int64_t chosen = values.whole("landmarks");
  return chosen > 0 ? chosen : landmarks_of(shape.keys);
}

std::optional<Shape> projection_shape(const AttentionShape& shape, const TypedValues& values) {
  return Shape{counted_landmarks(shape, values), shape.keys};
}

}  // namespace

MechanismEntry linformer_entry() {
  return {
      .name = "linformer",
      .title = "Linformer",
      .source = "Wang et al. 2020, Eq. 7",
      .formula = "softmax(Q(EK)ᵀ/√d)F: keys and values projected to k landmarks",
      .rank = "k",
      .complexity = {"NkD + ND²", "Nk + ND", "Wang et al. 2020"},
      .parameters = linformer_parameters(),
      .accounting = {setting::flag("mask", false, "counts masking keys and values")},
      .tensors = {{"E", "[k, M] or [H, k, M], projects the keys", projection_shape},
                  {"F", "[k, M] or [H, k, M], projects the values", projection_shape}},
      .counts =
          [](const AttentionShape& shape, CostConvention convention, const TypedValues& values) {
            return costs::linformer(shape, convention, counted_landmarks(shape, values),
                                    values.flag("mask"));
          },
      .projections = separate_projections,
      .make = [](const TypedValues& values) -> std::unique_ptr<Mechanism> {
        return std::make_unique<Linformer>(values.whole("landmarks"),
                                           values.choice("projection", landmark_names),
                                           values.whole("seed"));
      },
      .scaled = true};
}

}  // namespace attnscope
