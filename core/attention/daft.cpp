#include "core/attention/daft.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tbb/parallel_for.h>

#include "core/attention/kernels/softmax_rows.h"
#include "core/attention/score_blocks.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::int64_t kRows = 32;  // rows of a map computed together

Error does_not_fit(const char* what, std::int64_t expected, std::int64_t found) {
  return Error(ErrorKind::usage, what)
      .expected(std::to_string(expected))
      .found(std::to_string(found));
}

}  // namespace

DaftChannels daft_channels(const AttentionInput& input, std::int64_t bias_heads) {
  const std::int64_t width = input.values.cols();
  if (input.heads < 1 || width % std::max<std::int64_t>(input.heads, 1) != 0) {
    throw Error(ErrorKind::usage, "the width of the values is not a multiple of the heads")
        .expected("a multiple of " + std::to_string(input.heads))
        .found(std::to_string(width));
  }
  if (input.queries.cols() != width) {
    throw does_not_fit("DAFT gates each channel of the values by one of the queries", width,
                       input.queries.cols());
  }
  if (input.values.rows() != input.keys.rows()) {
    throw does_not_fit("keys and values differ in number", input.keys.rows(), input.values.rows());
  }
  if (input.causal && input.queries.rows() != input.keys.rows()) {
    throw does_not_fit("causal DAFT needs as many keys as queries", input.queries.rows(),
                       input.keys.rows());
  }
  if (bias_heads < 1 || width % bias_heads != 0) {
    throw Error(ErrorKind::usage, "the heads of position biases do not divide the channels")
        .about("conv_heads")
        .expected("a divisor of " + std::to_string(width))
        .found(std::to_string(bias_heads));
  }
  if (input.keys.cols() != width && input.keys.cols() != bias_heads) {
    throw Error(ErrorKind::usage, "the keys fit neither the channels nor the heads of biases")
        .expected(std::to_string(width) + " or " + std::to_string(bias_heads) + " columns")
        .found(std::to_string(input.keys.cols()));
  }
  check_channel(input, width / input.heads);
  return {.width = width, .key_channels = input.keys.cols(), .bias_heads = bias_heads};
}

float daft_element(const AttentionInput& input, const DaftChannels& channels, std::int64_t channel,
                   const float* bias) {
  const std::int64_t key = channels.key_channel(channel), count = input.keys.rows();
  const auto exponent = [&](std::int64_t j) {
    return static_cast<double>(input.keys(j, key)) + static_cast<double>(bias[j]);
  };
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t j = 0; j < count; ++j) largest = std::max(largest, exponent(j));
  double sum = 0, total = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const double weight = std::exp(exponent(j) - largest);
    total += weight;
    sum += weight * static_cast<double>(input.values(j, channel));
  }
  return static_cast<float>(sum / total);
}

float daft_gate(float x) {
  const float decay = std::exp(-std::abs(x));
  return (x < 0 ? decay : 1.0F) / (1.0F + decay);
}

Tensor daft_map(const AttentionInput& input, const DaftChannels& channels, const DaftBias& bias) {
  const std::int64_t queries = input.queries.rows(), keys = input.keys.rows();
  const std::int64_t each = channels.width / input.heads;
  Tensor map({input.heads, queries, keys});
  if (map.size() == 0 || each == 0) return map;
  const std::int64_t blocks = (queries + kRows - 1) / kRows;
  tbb::parallel_for(std::int64_t{0}, input.heads * blocks, [&](std::int64_t task) {
    const std::int64_t head = task / blocks, first = task % blocks * kRows;
    const std::int64_t rows = std::min(kRows, queries - first);
    const auto strided = [&](float* data) {
      return StridedMatrixMap(data, rows, keys, Eigen::OuterStride<>(keys));
    };
    StridedMatrixMap out = strided(map.data() + (head * queries + first) * keys);
    Matrix biases(rows, keys), scores(rows, keys);
    std::int64_t filled = -1;
    const std::int64_t begin = head * each + input.channel.value_or(0);
    const std::int64_t end = input.channel ? begin + 1 : begin + each;
    for (std::int64_t channel = begin; channel < end; ++channel) {
      if (channels.bias_head(channel) != filled) {
        filled = channels.bias_head(channel);
        bias.fill(filled, first, strided(biases.data()));
      }
      scores = biases;
      scores.rowwise() += input.keys.col(channels.key_channel(channel)).transpose();
      softmax_rows(strided(scores.data()));
      for (std::int64_t row = 0; row < rows; ++row) {
        out.row(row) += channels.gate(input.queries(first + row, channel)) * scores.row(row);
      }
    }
    if (end - begin > 1) out *= 1.0F / static_cast<float>(end - begin);
  });
  return map;
}

Tensor daft_key_logits(const AttentionInput& input) {
  Tensor logits({input.keys.cols(), input.keys.rows()});
  if (logits.size() > 0) logits.matrix() = input.keys.transpose();
  return logits;
}

MapStructure daft_structure(const AttentionShape& shape) {
  return {.rank_bound = std::min(shape.queries, shape.keys),
          .rows_sum_to_one = false,
          .channels = std::max<std::int64_t>(shape.value_width, 1)};
}

const Tensor* daft_parameter(const AttentionInput& input, std::string_view name) {
  if (!input.parameters) return nullptr;
  const auto found = input.parameters->find(name);
  return found == input.parameters->end() ? nullptr : &found->second;
}

}  // namespace attnscope
