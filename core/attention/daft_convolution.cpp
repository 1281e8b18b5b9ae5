#include "core/attention/daft_convolution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tbb/parallel_for.h>
#include <vector>

#include "core/attention/kernels/exponentials.h"
#include "core/attention/kernels/window_products.h"

namespace attnscope {

namespace {

using ChannelRow = Eigen::RowVectorXf;

/// exp(w) for the columns of one of the summed matrices: of each tap, and outside the window.
struct TapWeights {
  Matrix inside;       ///< [taps, columns]
  ChannelRow outside;  ///< [columns]
};

/// Column c of the result is for bias head head_of(c). Each head's weights are scaled by a factor,
/// the same in every matrix.
template <class HeadOf>
TapWeights tap_weights(const DaftWindow& window, std::int64_t columns, const HeadOf& head_of) {
  const bool others = !window.local() || window.prefix() > 0;
  const Matrix& taps = window.taps();
  TapWeights weights{Matrix(taps.cols(), columns), ChannelRow(columns)};
  for (std::int64_t c = 0; c < columns; ++c) {
    const auto r = taps.row(head_of(c));
    const float largest = others ? std::max(r.maxCoeff(), 0.0F) : r.maxCoeff();
    weights.inside.col(c) = (r.array() - largest).exp();
    weights.outside(c) = others ? std::exp(-largest) : 0.0F;
  }
  return weights;
}

/// Sums of the rows of a matrix over what lies outside windows, from parts that are only added.
class Outside {
 public:
  Outside(const DaftWindow& window, const Matrix& x)
      : window_(window),
        prefix_(ChannelRow::Zero(x.cols())),
        above_(Matrix::Zero(window.rows() + 1, x.cols())),
        below_(above_),
        left_(Matrix::Zero(window.rows() * (window.columns() + 1), x.cols())),
        right_(left_) {
    const std::int64_t rows = window.rows(), columns = window.columns();
    prefix_ = x.topRows(window.prefix()).colwise().sum();
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

  /// Everything: what a prefix token sees.
  [[nodiscard]] ChannelRow all(const Matrix& x) const { return x.colwise().sum(); }

  /// Around the grid's token (y, column).
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
  const DaftWindow& window_;
  ChannelRow prefix_;
  Matrix above_, below_;  ///< of whole lines: before line y, from line y on
  Matrix left_, right_;   ///< within a line: before column c, from column c on
};

/// Columns of a summed matrix side by side as add_window_products takes them: its rows, from
/// `first` on, with zeros up to kWindowChannels.
std::vector<float> packed_rows(const Matrix& matrix, std::int64_t first, std::int64_t rows) {
  std::vector<float> packed(static_cast<std::size_t>(rows * kWindowChannels));
  for (std::int64_t row = 0; row < rows; ++row) {
    std::copy_n(matrix.row(first + row).data(), matrix.cols(),
                packed.begin() + row * kWindowChannels);
  }
  return packed;
}

/// Σ_j exp(w_ij) x_j of kWindowChannels columns or fewer, for every token i.
Matrix window_sums_of_columns(const DaftWindow& window, const Matrix& x,
                              const TapWeights& weights) {
  const Outside outside(window, x);
  const std::int64_t rows = window.rows(), columns = window.columns();
  // Of each line as many zeros before and after it as a window reaches.
  const std::int64_t reach = std::min(window.half_columns(), columns - 1);
  const std::int64_t count = 2 * reach + 1, line = (columns + 2 * reach) * kWindowChannels;
  std::vector<float> padded(static_cast<std::size_t>(rows * line));
  for (std::int64_t y = 0; y < rows; ++y) {
    std::ranges::copy(packed_rows(x, window.prefix() + y * columns, columns),
                      padded.begin() + y * line + reach * kWindowChannels);
  }
  const std::int64_t places = 2 * window.half_columns() + 1;
  const std::vector<float> taps = packed_rows(weights.inside, 0, weights.inside.rows());

  Matrix sums(x.rows(), x.cols());
  const ChannelRow all = outside.all(x);
  sums.topRows(window.prefix()).rowwise() = all;
  std::vector<float> inside(static_cast<std::size_t>(columns * kWindowChannels));
  for (std::int64_t y = 0; y < rows; ++y) {
    std::ranges::fill(inside, 0.0F);
    for (std::int64_t dy = -window.half_rows(); dy <= window.half_rows(); ++dy) {
      if (y + dy < 0 || y + dy >= rows) continue;
      const std::int64_t tap = (dy + window.half_rows()) * places + window.half_columns() - reach;
      add_window_products(padded.data() + (y + dy) * line, columns,
                          taps.data() + tap * kWindowChannels, count, inside.data());
    }
    for (std::int64_t column = 0; column < columns; ++column) {
      sums.row(window.prefix() + y * columns + column) =
          outside.around(y, column).cwiseProduct(weights.outside) +
          Eigen::Map<const ChannelRow>(inside.data() + column * kWindowChannels, x.cols());
    }
  }
  return sums;
}

/// Σ_j exp(w_ij) x_j for every token i, up to each head's factor. Channels run in parallel.
Matrix window_sums(const DaftWindow& window, const Matrix& x, const TapWeights& weights) {
  Matrix sums(x.rows(), x.cols());
  const std::int64_t parts = (x.cols() + kWindowChannels - 1) / kWindowChannels;
  tbb::parallel_for(std::int64_t{0}, parts, [&](std::int64_t part) {
    const std::int64_t first = part * kWindowChannels;
    const std::int64_t count = std::min<std::int64_t>(kWindowChannels, x.cols() - first);
    const TapWeights own{weights.inside.middleCols(first, count),
                         weights.outside.segment(first, count)};
    sums.middleCols(first, count) = window_sums_of_columns(window, x.middleCols(first, count), own);
  });
  return sums;
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

/// One channel of a causal sequence, token by token: it depends on nothing later, to the bit.
void convolve_causally(const AttentionInput& input, const DaftChannels& channels,
                       const DaftWindow& window, std::int64_t channel, Tensor& output) {
  const std::int64_t reach = window.half_columns(), key = channels.key_channel(channel);
  const auto taps = window.taps().row(channels.bias_head(channel));
  const auto key_of = [&](std::int64_t j) { return static_cast<double>(input.keys(j, key)); };
  const auto value_of = [&](std::int64_t j) {
    return static_cast<double>(input.values(j, channel));
  };
  RunningSum past;  // of tokens before the window
  for (std::int64_t i = 0; i < input.queries.rows(); ++i) {
    if (i > reach && !window.local()) past.add(key_of(i - reach - 1), value_of(i - reach - 1));
    RunningSum seen = past;
    for (std::int64_t j = std::max<std::int64_t>(i - reach, 0); j <= i; ++j) {
      seen.add(key_of(j) + static_cast<double>(taps(reach + j - i)), value_of(j));
    }
    output.matrix()(i, channel) =
        daft_gate(input.queries(i, channel)) * static_cast<float>(seen.sum / seen.total);
  }
}

}  // namespace

Tensor daft_convolution(const AttentionInput& input, const DaftChannels& channels,
                        const DaftWindow& window) {
  const std::int64_t tokens = input.queries.rows(), width = channels.width;
  Tensor output({tokens, width});
  if (output.size() == 0) return output;
  if (input.causal) {
    tbb::parallel_for(std::int64_t{0}, width, [&](std::int64_t channel) {
      convolve_causally(input, channels, window, channel, output);
    });
    return output;
  }
  const ChannelRow largest = input.keys.colwise().maxCoeff();
  Matrix keys(tokens, channels.key_channels), products(tokens, width);
  // What each channel's key has, for every channel.
  const auto by_channel = [&](const auto& of_keys) -> ChannelRow {
    const std::int64_t each = width / channels.key_channels;
    if (each == 1) return of_keys;
    ChannelRow spread(width);
    for (std::int64_t key = 0; key < channels.key_channels; ++key) {
      spread.segment(key * each, each).setConstant(of_keys(key));
    }
    return spread;
  };
  tbb::parallel_for(std::int64_t{0}, tokens, [&](std::int64_t i) {
    exponentiate(input.keys.row(i).data(), largest.data(), channels.key_channels,
                 keys.row(i).data());
    products.row(i) = by_channel(keys.row(i)).cwiseProduct(input.values.row(i));
  });
  const auto head_of_key = [&](std::int64_t c) {
    return channels.key_channels == width ? channels.bias_head(c) : c;
  };
  const Matrix totals =
      window_sums(window, keys, tap_weights(window, channels.key_channels, head_of_key));
  const Matrix sums = window_sums(window, products, tap_weights(window, width, [&](std::int64_t c) {
                                    return channels.bias_head(c);
                                  }));
  auto means = output.matrix();
  tbb::parallel_for(std::int64_t{0}, tokens, [&](std::int64_t i) {
    auto mean = means.row(i);
    mean = sums.row(i).cwiseQuotient(by_channel(totals.row(i)));
    if ((totals.row(i).array() < kDaftLeast).any()) {
      Matrix exact(1, tokens);
      std::int64_t filled = -1;
      for (std::int64_t channel = 0; channel < width; ++channel) {
        if (!(totals(i, channels.key_channel(channel)) < kDaftLeast)) continue;
        if (channels.bias_head(channel) != filled) {
          filled = channels.bias_head(channel);
          window.fill(filled, i, {exact.data(), 1, tokens, Eigen::OuterStride<>(tokens)});
        }
        mean(channel) = daft_element(input, channels, channel, exact.data());
      }
    }
    ChannelRow gate(width);
    sigmoid(input.queries.row(i).data(), width, gate.data());
    mean.array() *= gate.array();
  });
  return output;
}

}  // namespace attnscope
