// DAFT-full (DAFT, Eq. 5 and 6, Algorithm 1): a bias for every pair of positions, w = pe0·pe1ᵀ or
// free. The products of exp(w) with exp(K) ⊙ V and with exp(K) are computed as one.
//
// Layer parameters: "pe0" [N, n] and "pe1" [M, n]; or, with factors=0, "w" [N, M], times
// "local_mask" [N, M] if the file has one. Causal layers take the first rows and columns of biases
// for longer texts. Without any of these (an overlay), w is 0.
#include <algorithm>
#include <limits>
#include <string>
#include <tbb/parallel_for.h>

#include "core/attention/costs/costs.h"
#include "core/attention/daft.h"
#include "core/attention/daft_full_bias.h"
#include "core/attention/daft_full_blocks.h"
#include "core/attention/kernels/exponentials.h"
#include "core/attention/mechanism_cost.h"
#include "core/error.h"
#include "core/tensor/blas.h"
#include "core/tensor/strided.h"

namespace attnscope {

namespace {

// Tokens per block. Blocks are small because pairs within one are computed element by element.
constexpr std::int64_t kCausalBlock = 32;

constexpr float kNever = -std::numeric_limits<float>::infinity();

using Row = Eigen::Array<float, 1, Eigen::Dynamic>;

std::vector<ParameterDescription> daft_full_parameters() {
  return {
      setting::whole("factors", 128, {0, 1e6},
                     "n, columns of pe0 and pe1 (Eq. 6); 0: w is a free matrix"),
  };
}

/// [exp(K − max) ⊙ V, exp(K − max)] [keys, 2D] of the first `keys` keys, with `largest` as max.
Matrix weighted_keys(const AttentionInput& input, const Row& largest, std::int64_t keys) {
  const std::int64_t width = input.values.cols();
  Matrix both(keys, 2 * width);
  const auto fill = [&](std::int64_t j) {
    exponentiate(input.keys.row(j).data(), largest.data(), width, both.row(j).data() + width);
    both.row(j).head(width) = both.row(j).tail(width).cwiseProduct(input.values.row(j));
  };
  tbb::parallel_for(std::int64_t{0}, keys, fill);
  return both;
}

/// Replaces each entry by exp(entry − largest of its row). Returns the largest entries.
Eigen::VectorXf exponentiate_rows(Matrix& rows) {
  Eigen::VectorXf largest(rows.rows());
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    largest(i) = exponentiate_below_largest(rows.row(i).data(), rows.cols());
  }
  return largest;
}

class DaftFull final : public Mechanism {
 public:
  explicit DaftFull(std::int64_t factors) : factors_(factors) {}

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    const DaftChannels channels = check(input);
    const FullBias bias(input, factors_);
    const Shape shape = {input.queries.rows(), channels.width};
    if (input.keys.rows() == 0) return Tensor(shape);
    Tensor output = Tensor::unfilled(shape);
    if (output.empty()) return output;
    if (input.causal) {
      attend_causally(input, channels, bias, output);
    } else {
      attend_by_blocks(input, channels, bias, output);
    }
    return output;
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    const DaftChannels channels = check(input);
    return daft_map(input, channels, FullBias(input, factors_));
  }

  /// Quantities "position_bias" [1, N, M], which is w, and "key_logits" [D, M], which is K.
  [[nodiscard]] NamedTensors quantities(const AttentionInput& input) const override {
    check(input);
    const FullBias bias(input, factors_);
    Tensor w({1, input.queries.rows(), input.keys.rows()});
    if (w.size() > 0) {
      bias.fill_columns(0, {w.data(), w.extent(1), w.extent(2), Eigen::OuterStride<>(w.extent(2))});
    }
    NamedTensors quantities;
    quantities.emplace("position_bias", std::move(w));
    quantities.emplace("key_logits", daft_key_logits(input));
    return quantities;
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return daft_structure(shape);
  }

 private:
  static DaftChannels check(const AttentionInput& input) {
    if (input.keys.cols() == input.values.cols()) return daft_channels(input, 1);
    throw Error(ErrorKind::usage, "DAFT-full needs a key for each channel of the values")
        .expected(std::to_string(input.values.cols()) + " columns")
        .found(std::to_string(input.keys.cols()));
  }

  /// Y = σ(Q) ⊙ numerator / denominator. `sums` [2D] holds the numerators, then the denominators.
  static void write_row(const AttentionInput& input, const DaftChannels& channels,
                        const FullBias& bias, std::int64_t query, const Row& sums, Tensor& output) {
    const std::int64_t width = channels.width;
    float* const out = output.data() + query * width;
    sigmoid(input.queries.row(query).data(), width, out);
    multiply_by_means(input, channels, bias,
                      {.query = query,
                       .channel = 0,
                       .count = width,
                       .numerators = sums.data(),
                       .denominators = sums.data() + width},
                      out);
  }

  /// If each channel were scaled by its largest key, later tokens would change the rounding of
  /// earlier results. So each block is scaled by the tokens before it, and pairs within the block
  /// are computed separately.
  static void attend_causally(const AttentionInput& input, const DaftChannels& channels,
                              const FullBias& bias, Tensor& output) {
    const std::int64_t tokens = input.queries.rows(), width = channels.width;
    const std::int64_t blocks = (tokens + kCausalBlock - 1) / kCausalBlock;
    // Row b: the largest key of each channel before block b.
    Matrix largest = Matrix::Constant(blocks, width, kNever);
    for (std::int64_t b = 1; b < blocks; ++b) {
      largest.row(b) = largest.row(b - 1).cwiseMax(
          input.keys.middleRows((b - 1) * kCausalBlock, kCausalBlock).colwise().maxCoeff());
    }
    tbb::parallel_for(std::int64_t{0}, blocks, [&](std::int64_t b) {
      const std::int64_t first = b * kCausalBlock, rows = std::min(kCausalBlock, tokens - first);
      Matrix biases(rows, first + rows), past = Matrix::Zero(rows, 2 * width);
      bias.fill_columns(first, strided_output(biases));
      Eigen::VectorXf row_scale = Eigen::VectorXf::Constant(rows, kNever);
      if (first > 0) {
        const Matrix both = weighted_keys(input, largest.row(b).array(), first);
        Matrix weights = biases.leftCols(first);
        row_scale = exponentiate_rows(weights);
        multiply(strided(weights), strided(both), 1.0F, strided_output(past));
      }
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t query = first + row;
        const auto exponent = [&](std::int64_t j) {
          return input.keys.row(j).array() + biases(row, j);
        };
        const Row of_past = largest.row(b).array() + row_scale(row);
        Row top = of_past;
        for (std::int64_t j = first; j <= query; ++j) {
          top = top.max(exponent(j));
        }
        Row sums = past.row(row).array();
        if (first > 0) {
          const Row scale = (of_past - top).exp();
          sums.head(width) *= scale;
          sums.tail(width) *= scale;
        }
        for (std::int64_t j = first; j <= query; ++j) {
          const Row weight = (exponent(j) - top).exp();
          sums.head(width) += weight * input.values.row(j).array();
          sums.tail(width) += weight;
        }
        if (first > 0) {  // a vanished past total becomes 0, which write_row recomputes
          const Row before = past.row(row).tail(width).array();
          sums.tail(width) = (before < kDaftLeast).select(Row::Zero(width), sums.tail(width));
        }
        write_row(input, channels, bias, query, sums, output);
      }
    });
  }

  std::int64_t factors_;
};

/// Shape of pe0 or pe1; empty with factors=0.
std::optional<Shape> shape_of_factor(std::int64_t tokens, const TypedValues& values) {
  const std::int64_t factors = values.whole("factors");
  if (factors == 0) return std::nullopt;
  return Shape{tokens, factors};
}

}  // namespace

MechanismEntry daft_full_entry() {
  using Values = const TypedValues&;
  using Extents = const AttentionShape&;
  return {.name = "daft-full",
          .title = "DAFT-full",
          .source = "DAFT, Eq. 5 and 6",
          .formula = "exp(K + w) by channel, w of every pair, gated by σ(Q)",
          .rank = "N",
          .complexity = {"N²D + ND²", "ND", "DAFT, Table 1"},
          .parameters = daft_full_parameters(),
          .tensors = {{"pe0", "[N, n], left factor of w (Eq. 6)",
                       [](Extents s, Values v) { return shape_of_factor(s.queries, v); }},
                      {"pe1", "[M, n], right factor of w (Eq. 6)",
                       [](Extents s, Values v) { return shape_of_factor(s.keys, v); }},
                      {"w", "[N, M], with factors=0",
                       [](Extents s, Values v) {
                         return v.whole("factors") == 0 ? std::optional(Shape{s.queries, s.keys})
                                                        : std::nullopt;
                       }},
                      {"local_mask", "[N, M], 0 or 1, times w where a file has one"}},
          .counts =
              [](Extents shape, CostConvention convention, Values values) {
                return costs::daft_full(shape, convention, values.whole("factors"));
              },
          .projections = separate_projections,
          .make = [](Values values) -> std::unique_ptr<Mechanism> {
            return std::make_unique<DaftFull>(values.whole("factors"));
          },
          .causal = true};
}

}  // namespace attnscope
