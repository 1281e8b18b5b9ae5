#include "core/training/attention/daft_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/attention/daft.h"
#include "core/attention/kernels/exponentials.h"
#include "core/tensor/blas.h"
#include "core/training/attention/trained_heads.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

constexpr std::int64_t kQueries = 128;  // rows of a block of E
constexpr float kMasked = -std::numeric_limits<float>::infinity();

}  // namespace

/// An element whose denominator is too small for float32: its weights, and their mean of the
/// values.
struct DaftAttention::LostElement {
  LostElement(const ConstStridedMatrixMap& keys, const ConstStridedMatrixMap& values,
              const Matrix& w, std::int64_t of_row, std::int64_t of_channel)
      : row(of_row), channel(of_channel) {
    weights = keys.col(channel).cast<double>() + w.row(0).transpose().cast<double>();
    weights = (weights.array() - weights.maxCoeff()).exp();
    weights /= weights.sum();
    mean = weights.dot(values.col(channel).cast<double>());
  }
  std::int64_t row, channel;
  Eigen::VectorXd weights;  ///< [N], summing to 1
  double mean;
};

/// The channels of one head of w, with F ⊙ V and F next to each other, [N, 2c].
struct DaftAttention::Channels {
  Channels(const AttentionTensors& all, std::int64_t heads, std::int64_t which)
      : head(which),
        width(all.values.cols() / heads),
        first(which * width),
        queries(columns_of(all.queries, first, width)),
        keys(columns_of(all.keys, first, width)),
        values(columns_of(all.values, first, width)),
        both(keys.rows(), 2 * width) {
    const Eigen::RowVectorXf greatest = keys.colwise().maxCoeff();
    for (Eigen::Index j = 0; j < both.rows(); ++j) {
      const Eigen::RowVectorXf row = keys.row(j);
      exponentiate(row.data(), greatest.data(), width, both.row(j).data() + width);
    }
    both.leftCols(width) = both.rightCols(width).cwiseProduct(values);
  }
  std::int64_t head, width, first;
  ConstStridedMatrixMap queries, keys, values;
  Matrix both;
};

/// Queries [first, first + count): their rows of E, and the results computed from them.
struct DaftAttention::Block {
  Block(const DaftAttention& owner, const Biases& biases, const Channels& channels,
        std::int64_t from)
      : first(from), count(std::min(kQueries, channels.keys.rows() - from)) {
    const std::int64_t tokens = channels.keys.rows(), width = channels.width;
    seen = owner.causal_ ? first + count : tokens;
    weights.resize(count, tokens);
    biases.fill(channels.head, first, rows_of(weights));
    for (std::int64_t row = 0; row < count; ++row) {
      if (owner.causal_) weights.row(row).tail(tokens - first - row - 1).setConstant(kMasked);
      exponentiate(weights.row(row).data(), tokens, weights.row(row).maxCoeff());
    }
    Matrix sums(count, 2 * width);
    multiply(weights_of_seen(), rows_of(channels.both.data(), seen, 2 * width), 1.0F,
             rows_of(sums));
    below = sums.rightCols(width);
    quotient = sums.leftCols(width).cwiseQuotient(below);
    gate.resize(count, width);
    for (std::int64_t row = 0; row < count; ++row) {
      for (std::int64_t c = 0; c < width; ++c) {
        // With a gate of 1 the gradient of the queries, dy · quotient · gate (1 − gate), is 0.
        gate(row, c) = owner.gated_ ? daft_gate(channels.queries(first + row, c)) : 1.0F;
        if (!(below(row, c) < kDaftLeast)) continue;
        Matrix w(1, tokens);
        biases.fill(channels.head, first + row, rows_of(w));
        if (owner.causal_) w.rightCols(tokens - first - row - 1).setConstant(kMasked);
        lost.emplace_back(channels.keys, channels.values, w, row, c);
        quotient(row, c) = static_cast<float>(lost.back().mean);
      }
    }
  }

  [[nodiscard]] ConstStridedMatrixMap weights_of_seen() const {
    return {weights.data(), count, seen, Eigen::OuterStride<>(weights.cols())};
  }

  std::int64_t first, count;
  std::int64_t seen = 0;  ///< number of visible keys, the first ones
  Matrix weights;         ///< E [count, N]
  Matrix below, quotient, gate;
  std::vector<LostElement> lost;
};

namespace {

/// Repeats each head's key for all channels of the head, `channels` in total.
Matrix widened(const ConstStridedMatrixMap& keys, std::int64_t channels) {
  Matrix wide(keys.rows(), channels);
  const std::int64_t each = channels / keys.cols();
  for (std::int64_t c = 0; c < channels; ++c) wide.col(c) = keys.col(c / each);
  return wide;
}

}  // namespace

void DaftAttention::forward(const AttentionTensors& all, StridedMatrixMap output,
                            AttentionRoom&) const {
  const std::unique_ptr<Biases> w = biases(all);
  if (all.keys.cols() == all.values.cols()) return forward_wide(all, *w, output);
  const Matrix keys = widened(all.keys, all.values.cols());
  forward_wide({all.queries, rows_of(keys), all.values, all.heads, all.own}, *w, output);
}

void DaftAttention::backward(const AttentionTensors& all, const ConstStridedMatrixMap& d_output,
                             AttentionGradients gradients, AttentionRoom&) const {
  const std::unique_ptr<Biases> w = biases(all);
  if (all.keys.cols() == all.values.cols()) {
    return backward_wide(all, *w, d_output, std::move(gradients));
  }
  const Matrix keys = widened(all.keys, all.values.cols());
  Matrix d_keys(keys.rows(), keys.cols());
  backward_wide({all.queries, rows_of(keys), all.values, all.heads, all.own}, *w, d_output,
                {gradients.queries, rows_of(d_keys), gradients.values, gradients.own});
  const std::int64_t each = keys.cols() / all.keys.cols();
  for (std::int64_t head = 0; head < all.keys.cols(); ++head) {
    gradients.keys.col(head) = d_keys.middleCols(head * each, each).rowwise().sum();
  }
}

void DaftAttention::forward_wide(const AttentionTensors& all, const Biases& biases,
                                 StridedMatrixMap output) const {
  for (std::int64_t head = 0; head < biases.heads(); ++head) {
    const Channels channels(all, biases.heads(), head);
    for (std::int64_t first = 0; first < output.rows(); first += kQueries) {
      const Block block(*this, biases, channels, first);
      output.block(first, channels.first, block.count, channels.width) =
          block.gate.cwiseProduct(block.quotient);
    }
  }
}

void DaftAttention::backward_wide(const AttentionTensors& all, Biases& biases,
                                  const ConstStridedMatrixMap& d_output,
                                  AttentionGradients gradients) const {
  const std::int64_t tokens = all.keys.rows();
  gradients.keys.setZero();
  gradients.values.setZero();
  for (std::int64_t head = 0; head < biases.heads(); ++head) {
    const Channels channels(all, biases.heads(), head);
    const std::int64_t width = channels.width;
    StridedMatrixMap d_queries = columns_of(gradients.queries, channels.first, width);
    StridedMatrixMap d_keys = columns_of(gradients.keys, channels.first, width);
    StridedMatrixMap d_values = columns_of(gradients.values, channels.first, width);
    Matrix d_both = Matrix::Zero(tokens, 2 * width);
    for (std::int64_t first = 0; first < tokens; first += kQueries) {
      const Block block(*this, biases, channels, first);
      const auto gate = block.gate.array();
      const auto dy = d_output.block(first, channels.first, block.count, width).array();
      d_queries.middleRows(first, block.count) = dy * block.quotient.array() * gate * (1 - gate);
      const Matrix d_quotient = dy * gate;
      Matrix d_sums(block.count, 2 * width);
      d_sums.leftCols(width) = d_quotient.cwiseQuotient(block.below);
      for (const LostElement& one : block.lost) d_sums(one.row, one.channel) = 0;
      d_sums.rightCols(width) = -d_sums.leftCols(width).cwiseProduct(block.quotient);
      add_transposed_product(block.weights_of_seen(), seen(rows_of(d_sums)), 1.0F,
                             rows_of(d_both.data(), block.seen, 2 * width));
      Matrix d_bias(block.count, tokens);
      multiply_transposed(seen(rows_of(d_sums)), rows_of(channels.both), 1.0F, rows_of(d_bias));
      d_bias = d_bias.cwiseProduct(block.weights);
      for (const LostElement& one : block.lost) {
        const auto passed = static_cast<double>(d_quotient(one.row, one.channel));
        const Eigen::VectorXd d_value = passed * one.weights;
        const Eigen::VectorXd d_exponent =
            d_value.array() * (channels.values.col(one.channel).cast<double>().array() - one.mean);
        d_values.col(one.channel) += d_value.cast<float>();
        d_keys.col(one.channel) += d_exponent.cast<float>();
        d_bias.row(one.row) += d_exponent.transpose().cast<float>();
      }
      biases.take(head, first, d_bias, gradients.own);
    }
    const auto weighted = channels.both.leftCols(width), plain = channels.both.rightCols(width);
    d_values += plain.cwiseProduct(d_both.leftCols(width));
    d_keys +=
        weighted.cwiseProduct(d_both.leftCols(width)) + plain.cwiseProduct(d_both.rightCols(width));
  }
  biases.finish(gradients.own);
}

}  // namespace attnscope
