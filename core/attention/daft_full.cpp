// DAFT-full (DAFT, Eq. 5 and 6, Algorithm 1): a bias for every pair of positions, w = pe0·pe1ᵀ or
// free. The products of exp(w) with exp(K) ⊙ V and with exp(K) are computed as one.
//
// Layer parameters: "pe0" [N, n] and "pe1" [M, n]; or, with factors=0, "w" [N, M], times
// "local_mask" [N, M] if the file has one. Causal layers take the first rows and columns of biases
// for longer texts. Without any of these (an overlay), w is 0.
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <string>
#include <tbb/parallel_for.h>

#include "core/attention/costs/costs.h"
#include "core/attention/daft.h"
#include "core/attention/kernels/exponentials.h"
#include "core/attention/kernels/panel_product.h"
#include "core/attention/mechanism_cost.h"
#include "core/error.h"
#include "core/tensor/blas.h"
#include "core/tensor/tensor.h"

namespace attnscope {

namespace {

// ---- the biases: a free matrix or the product of two factors (Eq. 6) ----

/// w [N, M] of a layer: pe0·pe1ᵀ, or a free matrix with an optional mask, or 0 if the layer has
/// neither.
class FullBias final : public DaftBias {
 public:
  /// `factors`: n, the number of columns of pe0 and pe1; 0 for a free w. Throws Error(usage) if the
  /// layer's tensors have another form or do not fit the tokens. The input must outlive the object.
  FullBias(const AttentionInput& input, std::int64_t factors);

  [[nodiscard]] std::int64_t heads() const override { return 1; }

  void fill(std::int64_t head, std::int64_t first, StridedMatrixMap block) const override;

  /// Like `fill`, but for the first block.cols() keys and without the causal mask.
  void fill_columns(std::int64_t first, StridedMatrixMap block) const;

  /// pe1ᵀ in consecutive panels of kPanelColumns keys, [n, kPanelColumns] each; the last one is
  /// padded with zeros. Empty without factors.
  [[nodiscard]] Matrix right_panels() const;

  /// Like `fill_columns` over all keys, but takes the result of `right_panels`. Rows of the block
  /// must be padded to whole panels: the padding after the last key is overwritten.
  void fill_rows(const Matrix& right_panels, std::int64_t first, StridedMatrixMap block) const;

 private:
  void check(const Tensor& tensor, const char* name, std::int64_t rows, std::int64_t columns,
             bool columns_are_tokens = false) const;

  bool causal_;
  bool any_length_;  ///< the layer may be shorter than its biases (texts, causal layers)
  std::int64_t queries_, keys_;
  const Tensor* left_ = nullptr;   ///< pe0
  const Tensor* right_ = nullptr;  ///< pe1
  const Tensor* free_ = nullptr;   ///< w
  const Tensor* mask_ = nullptr;
};

void refuse_other(const AttentionInput& input, const char* name, const char* remedy) {
  if (!daft_parameter(input, name)) return;
  throw Error(ErrorKind::usage, "the tensor contradicts the setting factors")
      .about(name)
      .remedy(std::string("set ") + remedy);
}

FullBias::FullBias(const AttentionInput& input, std::int64_t factors)
    : causal_(input.causal),
      any_length_(causal_ || (input.layout && input.layout->is_text())),
      queries_(input.queries.rows()),
      keys_(input.keys.rows()) {
  if (factors > 0) {
    left_ = daft_parameter(input, "pe0");
    right_ = daft_parameter(input, "pe1");
    if (!left_ != !right_) {
      throw Error(ErrorKind::usage, "one factor of the position biases is missing")
          .about(left_ ? "pe1" : "pe0");
    }
    if (!left_) {
      refuse_other(input, "w", "factors=0");
      return;
    }
    check(*left_, "pe0", queries_, factors);
    check(*right_, "pe1", keys_, factors);
    return;
  }
  free_ = daft_parameter(input, "w");
  mask_ = daft_parameter(input, "local_mask");
  if (free_) {
    check(*free_, "w", queries_, keys_, true);
  } else {
    refuse_other(input, "pe0", "factors=n, the columns of pe0");
  }
  if (mask_) check(*mask_, "local_mask", queries_, keys_, true);
}

void FullBias::fill(std::int64_t, std::int64_t first, StridedMatrixMap block) const {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  fill_columns(first, block);
  for (std::int64_t row = 0; causal_ && row < block.rows(); ++row) {
    block.row(row).tail(keys_ - first - row - 1).setConstant(kNever);
  }
}

void FullBias::fill_columns(std::int64_t first, StridedMatrixMap block) const {
  if (left_) {
    const std::int64_t n = left_->extent(1);
    multiply_transposed({left_->data() + first * n, block.rows(), n, Eigen::OuterStride<>(n)},
                        {right_->data(), block.cols(), n, Eigen::OuterStride<>(n)}, 1.0F, block);
    return;
  }
  block.setZero();
  if (!free_) return;
  block = free_->matrix().block(first, 0, block.rows(), block.cols());
  if (mask_) {
    block.array() *= mask_->matrix().block(first, 0, block.rows(), block.cols()).array();
  }
}

Matrix FullBias::right_panels() const {
  if (!right_) return {};
  const std::int64_t n = right_->extent(1), panels = (keys_ + kPanelColumns - 1) / kPanelColumns;
  Matrix all(panels * n, kPanelColumns);
  tbb::parallel_for(std::int64_t{0}, panels, [&](std::int64_t panel) {
    const std::int64_t first = panel * kPanelColumns,
                       count = std::min(kPanelColumns, keys_ - first);
    auto one = all.middleRows(panel * n, n);
    one.leftCols(count) = right_->matrix().middleRows(first, count).transpose();
    one.rightCols(kPanelColumns - count).setZero();
  });
  return all;
}

void FullBias::fill_rows(const Matrix& right_panels, std::int64_t first,
                         StridedMatrixMap block) const {
  assert(block.cols() == keys_);
  if (!left_) return fill_columns(first, block);
  const std::int64_t n = left_->extent(1);
  for (std::int64_t panel = 0; panel * kPanelColumns < keys_; ++panel) {
    multiply_panel(left_->data() + first * n, block.rows(), n,
                   right_panels.data() + panel * n * kPanelColumns, n,
                   block.data() + panel * kPanelColumns, block.outerStride());
  }
}

void FullBias::check(const Tensor& tensor, const char* name, std::int64_t rows,
                     std::int64_t columns, bool columns_are_tokens) const {
  // Biases learned for the longest texts also serve shorter ones.
  const auto fits = [this](std::int64_t found, std::int64_t expected, bool tokens) {
    return found == expected || (tokens && any_length_ && found > expected);
  };
  if (tensor.rank() == 2 && fits(tensor.extent(0), rows, true) &&
      fits(tensor.extent(1), columns, columns_are_tokens)) {
    return;
  }
  throw Error(ErrorKind::usage, "the position biases do not fit the tokens")
      .about(name)
      .expected(to_string(Shape{rows, columns}))
      .found(to_string(tensor.shape()));
}

// ---- over all keys, in blocks of queries ----

/// Numerators exp(w)(exp(K) ⊙ V) and denominators exp(w)exp(K) of `count` channels of a query, from
/// `channel` on.
struct DaftSums {
  std::int64_t query, channel, count;
  const float *numerators, *denominators;
};

// Queries per block: their weights over a thousand keys stay in the L2 cache during one pass over
// the keys.
constexpr std::int64_t kQueriesAtOnce = 48;
// Channels per panel, which holds a numerator and a denominator of each.
constexpr std::int64_t kChannels = kPanelColumns / 2;
// Channels prepared together: a few whole cache lines of every key.
constexpr std::int64_t kChannelsAtOnce = 4 * kChannels;

/// One value per channel of a part, stored inline without heap allocation.
using PanelRow = Eigen::Array<float, 1, Eigen::Dynamic, Eigen::RowMajor, 1, kChannelsAtOnce>;

std::int64_t parts_of(std::int64_t whole, std::int64_t each) { return (whole + each - 1) / each; }

/// Queries per block such that all blocks are about equally large.
std::int64_t queries_at_once(std::int64_t queries) {
  constexpr std::int64_t kSide = 8;  // rows per step of the product
  return parts_of(parts_of(queries, parts_of(queries, kQueriesAtOnce)), kSide) * kSide;
}

/// [exp(K − max) ⊙ V, exp(K − max)] in panels [keys, kPanelColumns] of kChannels channels each; the
/// last panel is padded with zeros.
class WeightedKeys {
 public:
  explicit WeightedKeys(const AttentionInput& input)
      : keys_(input.keys.rows()),
        panels_(parts_of(input.values.cols(), kChannels) * keys_, kPanelColumns) {
    tbb::parallel_for(std::int64_t{0}, parts_of(input.values.cols(), kChannelsAtOnce),
                      [&](std::int64_t part) { prepare(input, part * kChannelsAtOnce); });
  }

  /// The panel that begins with `channel`, a multiple of kChannels.
  [[nodiscard]] const float* panel(std::int64_t channel) const {
    return panels_.row(channel / kChannels * keys_).data();
  }

 private:
  void prepare(const AttentionInput& input, std::int64_t first) {
    const std::int64_t width = std::min(kChannelsAtOnce, input.values.cols() - first);
    PanelRow largest = PanelRow::Constant(width, -std::numeric_limits<float>::infinity());
    for (std::int64_t j = 0; j < keys_; ++j) {
      largest = largest.max(input.keys.row(j).segment(first, width).array());
    }
    PanelRow weights = PanelRow::Zero(parts_of(width, kChannels) * kChannels);
    PanelRow products = weights;
    for (std::int64_t j = 0; j < keys_; ++j) {
      exponentiate(input.keys.row(j).data() + first, largest.data(), width, weights.data());
      products.head(width) =
          weights.head(width) * input.values.row(j).segment(first, width).array();
      for (std::int64_t c = 0; c < weights.size(); c += kChannels) {
        auto both = panels_.row((first + c) / kChannels * keys_ + j).array();
        both.head<kChannels>() = products.segment<kChannels>(c);
        both.tail<kChannels>() = weights.segment<kChannels>(c);
      }
    }
  }

  std::int64_t keys_;
  Matrix panels_;
};

/// Multiplies `out`, which holds σ(Q) of these channels, by numerator / denominator. daft_element
/// computes the elements whose denominator is too small for float32.
void multiply_by_means(const AttentionInput& input, const DaftChannels& channels,
                       const FullBias& bias, const DaftSums& sums, float* out) {
  using RowMap = Eigen::Map<const Eigen::Array<float, 1, Eigen::Dynamic>>;
  const RowMap numerators(sums.numerators, sums.count), denominators(sums.denominators, sums.count);
  if (!(denominators < kDaftLeast).any()) {
    Eigen::Map<Eigen::Array<float, 1, Eigen::Dynamic>>(out, sums.count) *=
        numerators / denominators;
    return;
  }
  Matrix exact(1, input.keys.rows());
  bias.fill(0, sums.query, strided_output(exact));
  for (std::int64_t c = 0; c < sums.count; ++c) {
    out[c] *= denominators(c) < kDaftLeast
                  ? daft_element(input, channels, sums.channel + c, exact.data())
                  : numerators(c) / denominators(c);
  }
}

/// Y = σ(Q) ⊙ exp(w)(exp(K) ⊙ V) / exp(w)exp(K) into `output` [N, D], not causal; at least one key.
/// The result is bitwise the same for any number of threads.
void attend_by_query_blocks(const AttentionInput& input, const DaftChannels& channels,
                            const FullBias& bias, Tensor& output) {
  const std::int64_t queries = input.queries.rows(), keys = input.keys.rows();
  const std::int64_t width = channels.width;
  const WeightedKeys weighted(input);
  const Matrix right_panels = bias.right_panels();
  // A row has whole panels and an odd number of cache lines, so rows do not compete for the same
  // cache sets.
  const std::int64_t stride = parts_of(keys, kPanelColumns) * kPanelColumns + 16;
  const std::int64_t at_once = queries_at_once(queries);
  tbb::parallel_for(std::int64_t{0}, parts_of(queries, at_once), [&](std::int64_t block) {
    const std::int64_t begin = block * at_once, rows = std::min(at_once, queries - begin);
    Matrix weights(rows, stride), sums(rows, kPanelColumns);
    bias.fill_rows(right_panels, begin, {weights.data(), rows, keys, Eigen::OuterStride<>(stride)});
    float* const out = output.data() + begin * width;
    for (std::int64_t row = 0; row < rows; ++row) {
      exponentiate_below_largest(weights.row(row).data(), keys);
      sigmoid(input.queries.row(begin + row).data(), width, out + row * width);
    }
    for (std::int64_t c = 0; c < width; c += kChannels) {
      multiply_panel(weights.data(), rows, stride, weighted.panel(c), keys, sums.data(),
                     kPanelColumns);
      for (std::int64_t row = 0; row < rows; ++row) {
        const float* const numerators = sums.row(row).data();
        multiply_by_means(input, channels, bias,
                          {.query = begin + row,
                           .channel = c,
                           .count = std::min(kChannels, width - c),
                           .numerators = numerators,
                           .denominators = numerators + kChannels},
                          out + row * width + c);
      }
    }
  });
}

// ---- causal layers, and the mechanism ----

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
      attend_by_query_blocks(input, channels, bias, output);
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
