#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tbb/parallel_for.h>
#include <vector>

#include "core/attention/daft_window.h"
#include "core/attention/kernels/exponentials.h"
#include "core/attention/kernels/window_products.h"

namespace attnscope {

namespace {

/// Rows of kWindowChannels channels, the layout of add_window_products; padded with zeros.
using ChannelRow = Eigen::Matrix<float, 1, kWindowChannels, Eigen::RowMajor>;
using Channels = Eigen::Matrix<float, Eigen::Dynamic, kWindowChannels, Eigen::RowMajor>;

/// A range of columns of a wider matrix.
struct Part {
  std::int64_t first = 0, count = 0;

  /// These columns [rows, count] of `matrix`, which may be const.
  [[nodiscard]] auto of(auto&& matrix) const { return matrix.middleCols(first, count); }
};

/// Calls `work` with consecutive parts of `columns` columns, in parallel.
template <class Work>
void for_each_part(std::int64_t columns, const Work& work) {
  const std::int64_t parts = (columns + kWindowChannels - 1) / kWindowChannels;
  tbb::parallel_for(std::int64_t{0}, parts, [&](std::int64_t part) {
    const std::int64_t first = part * kWindowChannels;
    work(Part{first, std::min<std::int64_t>(kWindowChannels, columns - first)});
  });
}

/// exp(w) for the columns of a part: per tap, and outside the window.
struct TapWeights {
  Channels inside;     ///< [taps, columns]
  ChannelRow outside;  ///< [columns]
};

/// Column c is for bias head head_of(c). Each head's weights are scaled by a factor, the same for
/// all columns of the head.
template <class HeadOf>
TapWeights tap_weights(const DaftWindow& window, const Part& part, const HeadOf& head_of) {
  const bool others = !window.local() || window.prefix() > 0;
  const Matrix& taps = window.taps();
  TapWeights weights{Channels::Zero(taps.cols(), kWindowChannels), ChannelRow::Zero()};
  for (std::int64_t c = 0; c < part.count; ++c) {
    const std::int64_t head = head_of(part.first + c);
    if (c > 0 && head == head_of(part.first + c - 1)) {
      weights.inside.col(c) = weights.inside.col(c - 1);
      weights.outside(c) = weights.outside(c - 1);
      continue;
    }
    const auto r = taps.row(head);
    const float largest = others ? std::max(r.maxCoeff(), 0.0F) : r.maxCoeff();
    weights.inside.col(c) = (r.array() - largest).exp();
    weights.outside(c) = others ? std::exp(-largest) : 0.0F;
  }
  return weights;
}

/// Sums of the rows of a matrix over all tokens outside a window, computed without subtraction.
class Outside {
 public:
  Outside(const DaftWindow& window, const Channels& x)
      : window_(window),
        prefix_(x.topRows(window.prefix()).colwise().sum()),
        above_(zeros(window.rows() + 1)),
        below_(above_),
        left_(zeros(window.rows() * (window.columns() + 1))),
        right_(left_) {
    const std::int64_t rows = window.rows(), columns = window.columns();
    if (window.local()) return;
    const auto at = [&](std::int64_t y, std::int64_t column) {
      return x.row(window.prefix() + y * columns + column);
    };
    for (std::int64_t y = 0; y < rows; ++y) {
      const std::int64_t line = y * (columns + 1);
      for (std::int64_t c = 0; c < columns; ++c) {
        left_.row(line + c + 1) = left_.row(line + c) + at(y, c);
      }
      for (std::int64_t c = columns; c-- > 0;) {
        right_.row(line + c) = right_.row(line + c + 1) + at(y, c);
      }
    }
    for (std::int64_t y = 0; y < rows; ++y) {
      above_.row(y + 1) = above_.row(y) + right_.row(y * (columns + 1));
    }
    for (std::int64_t y = rows; y-- > 0;) {
      below_.row(y) = below_.row(y + 1) + right_.row(y * (columns + 1));
    }
  }

  /// Sum over all tokens, which is what a prefix token sees.
  [[nodiscard]] ChannelRow all(const Channels& x) const { return x.colwise().sum(); }

  /// Sum over all tokens outside the window around token (y, column) of the grid.
  [[nodiscard]] ChannelRow around(std::int64_t y, std::int64_t column) const {
    ChannelRow sum = prefix_;
    if (window_.local()) return sum;
    const std::int64_t rows = window_.rows(), columns = window_.columns();
    const std::int64_t top = std::max<std::int64_t>(y - window_.half_rows(), 0);
    const std::int64_t bottom = std::min(y + window_.half_rows() + 1, rows);
    const std::int64_t from = std::max<std::int64_t>(column - window_.half_columns(), 0);
    const std::int64_t to = std::min(column + window_.half_columns() + 1, columns);
    sum += above_.row(top) + below_.row(bottom);
    for (std::int64_t line = top; line < bottom; ++line) {
      sum += left_.row(line * (columns + 1) + from) + right_.row(line * (columns + 1) + to);
    }
    return sum;
  }

 private:
  static Channels zeros(std::int64_t rows) { return Channels::Zero(rows, kWindowChannels); }

  const DaftWindow& window_;
  ChannelRow prefix_;
  Channels above_, below_;  ///< sums of whole lines: before line y, from line y on
  Channels left_, right_;   ///< sums within a line: before column c, from column c on
};

/// Σ_j exp(w_ij) x_j for every token i, up to each head's factor.
Channels window_sums(const DaftWindow& window, const Channels& x, const TapWeights& weights) {
  const Outside outside(window, x);
  const std::int64_t rows = window.rows(), columns = window.columns();
  // Each line is padded on both sides with as many zeros as a window reaches.
  const std::int64_t reach = std::min(window.half_columns(), columns - 1);
  const std::int64_t count = 2 * reach + 1, line = columns + 2 * reach;
  Channels padded = Channels::Zero(rows * line, kWindowChannels);
  for (std::int64_t y = 0; y < rows; ++y) {
    padded.middleRows(y * line + reach, columns) =
        x.middleRows(window.prefix() + y * columns, columns);
  }
  const std::int64_t places = 2 * window.half_columns() + 1;
  Channels sums(x.rows(), kWindowChannels);
  sums.topRows(window.prefix()).rowwise() = outside.all(x);
  Channels inside(columns, kWindowChannels);
  for (std::int64_t y = 0; y < rows; ++y) {
    const std::int64_t first = window.prefix() + y * columns;
    inside.setZero();
    for (std::int64_t dy = -window.half_rows(); dy <= window.half_rows(); ++dy) {
      if (y + dy < 0 || y + dy >= rows) continue;
      const std::int64_t tap = (dy + window.half_rows()) * places + window.half_columns() - reach;
      add_window_products(padded.row((y + dy) * line).data(), columns,
                          weights.inside.row(tap).data(), count, inside.data());
    }
    for (std::int64_t column = 0; column < columns; ++column) {
      sums.row(first + column) =
          outside.around(y, column).cwiseProduct(weights.outside) + inside.row(column);
    }
  }
  return sums;
}

/// exp(K − m) with m the largest K of the channel.
Channels key_weights(const AttentionInput& input, const Part& part) {
  const auto keys = part.of(input.keys);
  Eigen::RowVectorXf largest = keys.row(0);
  for (Eigen::Index i = 1; i < keys.rows(); ++i) largest = largest.cwiseMax(keys.row(i));
  Channels weights = Channels::Zero(keys.rows(), kWindowChannels);
  for (Eigen::Index i = 0; i < keys.rows(); ++i) {
    exponentiate(keys.row(i).data(), largest.data(), part.count, weights.row(i).data());
  }
  return weights;
}

/// A running Σ exp(K − m) V and Σ exp(K − m) with m the largest key so far.
struct RunningSum {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0, total = 0;

  void add(double key, double value) {
    if (key > largest) {
      const double scale = std::exp(largest - key);
      sum *= scale;
      total *= scale;
      largest = key;
    }
    const double weight = std::exp(key - largest);
    sum += weight * value;
    total += weight;
  }
};

/// One channel of a causal sequence, token by token. Later tokens do not change a bit of earlier
/// results.
void convolve_causally(const AttentionInput& input, const DaftChannels& channels,
                       const DaftWindow& window, std::int64_t channel, Tensor& output) {
  const std::int64_t reach = window.half_columns(), key = channels.key_channel(channel);
  const auto taps = window.taps().row(channels.bias_head(channel));
  const auto key_of = [&](std::int64_t j) { return static_cast<double>(input.keys(j, key)); };
  const auto value_of = [&](std::int64_t j) {
    return static_cast<double>(input.values(j, channel));
  };
  RunningSum past;  // sum over the tokens before the window
  for (std::int64_t i = 0; i < input.queries.rows(); ++i) {
    if (i > reach && !window.local()) past.add(key_of(i - reach - 1), value_of(i - reach - 1));
    RunningSum seen = past;
    for (std::int64_t j = std::max<std::int64_t>(i - reach, 0); j <= i; ++j) {
      seen.add(key_of(j) + static_cast<double>(taps(reach + j - i)), value_of(j));
    }
    output.matrix()(i, channel) =
        channels.gate(input.queries(i, channel)) * static_cast<float>(seen.sum / seen.total);
  }
}

/// exp(K) and its window sums for key channels that several value channels share.
struct SharedKeys {
  Matrix weights, totals;  ///< [tokens, key channels]

  SharedKeys(const AttentionInput& input, const DaftChannels& channels, const DaftWindow& window)
      : weights(input.keys.rows(), channels.key_channels), totals(weights.rows(), weights.cols()) {
    for_each_part(channels.key_channels, [&](const Part& part) {
      const Channels own = key_weights(input, part);
      const auto head_of_key = [](std::int64_t key) { return key; };
      part.of(weights) = own.leftCols(part.count);
      part.of(totals) =
          window_sums(window, own, tap_weights(window, part, head_of_key)).leftCols(part.count);
    });
  }
};

/// The column of `of_keys` of the key channel of each channel of a part.
Channels by_channel(const Matrix& of_keys, const DaftChannels& channels, const Part& part) {
  std::vector<Eigen::Index> keys;
  for (std::int64_t c = 0; c < part.count; ++c) {
    keys.push_back(channels.key_channel(part.first + c));
  }
  Channels spread = Channels::Zero(of_keys.rows(), kWindowChannels);
  spread.leftCols(part.count) = of_keys(Eigen::all, keys);
  return spread;
}

/// Replaces means whose totals are too small for float32 by daft_element.
void replace_vanished(const AttentionInput& input, const DaftChannels& channels,
                      const DaftWindow& window, const Part& part, std::int64_t token,
                      const ChannelRow& totals, Eigen::Ref<Eigen::RowVectorXf> means) {
  Matrix bias(1, input.keys.rows());
  std::int64_t filled = -1;
  for (std::int64_t c = 0; c < part.count; ++c) {
    if (!(totals(c) < kDaftLeast)) continue;
    const std::int64_t channel = part.first + c, head = channels.bias_head(channel);
    if (head != filled) {
      window.fill(head, token, {bias.data(), 1, bias.cols(), Eigen::OuterStride<>(bias.cols())});
      filled = head;
    }
    means(c) = daft_element(input, channels, channel, bias.data());
  }
}

}  // namespace

Tensor daft_convolution(const AttentionInput& input, const DaftChannels& channels,
                        const DaftWindow& window) {
  const std::int64_t tokens = input.queries.rows(), width = channels.width;
  Tensor output = Tensor::unfilled({tokens, width});
  if (output.empty()) return output;
  if (input.causal) {
    tbb::parallel_for(std::int64_t{0}, width, [&](std::int64_t channel) {
      convolve_causally(input, channels, window, channel, output);
    });
    return output;
  }
  std::optional<SharedKeys> shared;
  if (channels.key_channels != width) shared.emplace(input, channels, window);
  // Each part of the channels is processed from keys to means while it is in the cache.
  for_each_part(width, [&](const Part& part) {
    const TapWeights taps =
        tap_weights(window, part, [&](std::int64_t c) { return channels.bias_head(c); });
    Channels weighted =
        shared ? by_channel(shared->weights, channels, part) : key_weights(input, part);
    const Channels totals =
        shared ? by_channel(shared->totals, channels, part) : window_sums(window, weighted, taps);
    weighted.leftCols(part.count).array() *= part.of(input.values).array();
    const Channels sums = window_sums(window, weighted, taps);
    ChannelRow gate;
    auto means = part.of(output.matrix());
    for (std::int64_t i = 0; i < tokens; ++i) {
      auto mean = means.row(i);
      mean = sums.row(i).cwiseQuotient(totals.row(i)).leftCols(part.count);
      if ((totals.row(i).leftCols(part.count).array() < kDaftLeast).any()) {
        replace_vanished(input, channels, window, part, i, totals.row(i), mean);
      }
      if (!channels.gated) continue;
      sigmoid(part.of(input.queries).row(i).data(), part.count, gate.data());
      mean.array() *= gate.leftCols(part.count).array();
    }
  });
  return output;
}

}  // namespace attnscope
