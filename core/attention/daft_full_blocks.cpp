#include "core/attention/daft_full_blocks.h"

#include <algorithm>
#include <limits>
#include <tbb/parallel_for.h>

#include "core/attention/kernels/exponentials.h"
#include "core/attention/kernels/panel_product.h"
#include "core/tensor/strided.h"

namespace attnscope {

namespace {

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

}  // namespace

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

void attend_by_blocks(const AttentionInput& input, const DaftChannels& channels,
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

}  // namespace attnscope
