#include "core/attention/score_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tbb/parallel_for.h>

#include "core/attention/kernels/softmax_rows.h"
#include "core/error.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

// Queries per block: with 64 the products run at full speed, and a block over 200 keys stays in the
// L2 cache.
constexpr std::int64_t kBlock = 64;

void check_identity(const AttentionInput& input, bool identity) {
  if (identity && input.queries.rows() != input.keys.rows()) {
    throw Error(ErrorKind::usage, "identity mapping needs as many keys as queries")
        .expected(std::to_string(input.queries.rows()) + " keys")
        .found(std::to_string(input.keys.rows()));
  }
}

/// Sets the scores of keys after each query to −∞ in a causal layer.
void hide_later_keys(const AttentionInput& input, std::int64_t first, StridedMatrixMap block) {
  if (!input.causal) return;
  for (std::int64_t row = 0; row < block.rows(); ++row) {
    const std::int64_t later = block.cols() - (first + row + 1);
    block.row(row).rightCols(later).setConstant(-std::numeric_limits<float>::infinity());
  }
}

std::span<float> row_of(StridedMatrixMap block, std::int64_t row) {
  return {block.data() + row * block.outerStride(), static_cast<std::size_t>(block.cols())};
}

/// Calls work(head, first query, queries) for every block of every head, in parallel.
template <class Work>
void for_each_block(const AttentionInput& input, const Work& work) {
  const std::int64_t queries = input.queries.rows();
  const std::int64_t blocks = (queries + kBlock - 1) / kBlock;
  tbb::parallel_for(std::int64_t{0}, input.heads * blocks, [&](std::int64_t task) {
    const std::int64_t first = task % blocks * kBlock;
    work(task / blocks, first, std::min(kBlock, queries - first));
  });
}

void add_identity(std::int64_t first, StridedMatrixMap block) {
  for (std::int64_t row = 0; row < block.rows(); ++row) block(row, first + row) += 1.0F;
}

/// Writes the weights, without I, of the queries from `first` on.
void weigh_block(const AttentionInput& input, const LayerScores& scores, std::int64_t head,
                 std::int64_t first, StridedMatrixMap block) {
  scores.fill(head, first, block);
  add_terms(input, head, first, block);
  if (scores.weights) {
    scores.weights(head, first, block);
  } else {
    weigh(input, head, block);
  }
}

/// Requested results of the blocks; either may be null.
struct BlockResults {
  Tensor* output = nullptr;  ///< [N, H·dv]
  Tensor* map = nullptr;     ///< [H, N, M]
};

/// Fills, weighs and applies every block of every head. A requested map's blocks are computed in
/// place.
void run_blocks(const AttentionInput& input, const LayerScores& scores,
                const BlockResults& results) {
  check_shapes(input);
  check_identity(input, scores.identity);
  const std::int64_t queries = input.queries.rows(), keys = input.keys.rows();
  const std::int64_t value_width = input.values.cols() / input.heads_of_keys();
  const std::int64_t width = value_width * input.heads;
  if (results.output) *results.output = Tensor::unfilled({queries, width});
  if (results.map) *results.map = Tensor::unfilled({input.heads, queries, keys});
  if (keys == 0) {
    if (results.output) results.output->matrix().setZero();
    return;
  }
  for_each_block(input, [&](std::int64_t head, std::int64_t first, std::int64_t rows) {
    Matrix passing;
    if (!results.map) passing.resize(rows, keys);
    float* const place =
        results.map ? results.map->data() + (head * queries + first) * keys : passing.data();
    const StridedMatrixMap block(place, rows, keys, Eigen::OuterStride<>(keys));
    weigh_block(input, scores, head, first, block);
    if (results.output) {
      const ConstStridedMatrixMap values = value_columns(input, head);
      StridedMatrixMap out(results.output->data() + first * width + head * value_width, rows,
                           value_width, Eigen::OuterStride<>(width));
      multiply({place, rows, keys, Eigen::OuterStride<>(keys)}, values, 1.0F, out);
      if (scores.identity) out += values.middleRows(first, rows);
    }
    if (results.map && scores.identity) add_identity(first, block);
  });
}

}  // namespace

void add_terms(const AttentionInput& input, std::int64_t head, std::int64_t first,
               StridedMatrixMap block) {
  for (std::int64_t row = 0; input.terms && row < block.rows(); ++row) {
    apply_terms(*input.terms, head, first + row, row_of(block, row));
  }
  hide_later_keys(input, first, block);
}

void weigh(const AttentionInput& input, std::int64_t head, StridedMatrixMap block) {
  const ScoreTerms* const terms = input.terms;
  if (!terms || terms->sinks.empty()) {
    softmax_rows(block);
    return;
  }
  const Eigen::VectorXf greatest = block.rowwise().maxCoeff();
  softmax_rows(block);
  for (std::int64_t row = 0; row < block.rows(); ++row) {
    // The greatest weight is 1 / Σ exp(score − greatest).
    const std::span<float> weights = row_of(block, row);
    const float largest = *std::max_element(weights.begin(), weights.end());
    const float sink = std::exp(terms->sinks[static_cast<std::size_t>(head)] - greatest[row]);
    const float left = 1.0F / (1.0F + sink * largest);
    for (float& weight : weights) weight *= left;
  }
}

void refuse_causal(const AttentionInput& input, std::string_view mechanism) {
  if (!input.causal) return;
  throw Error(ErrorKind::usage, "this mechanism has no causal form")
      .about(std::string(mechanism))
      .remedy("overlay another mechanism on the language model");
}

void refuse_sinks(const AttentionInput& input, std::string_view mechanism) {
  if (!input.terms || input.terms->sinks.empty()) return;
  throw Error(ErrorKind::usage, "the model's scores have sinks, which need one softmax a head")
      .about(std::string(mechanism) + " attention")
      .remedy("overlay a mechanism whose weights are a softmax, such as softmax or ssmax");
}

void check_shapes(const AttentionInput& input) {
  const auto refuse = [](const char* what, std::int64_t expected, std::int64_t found) {
    throw Error(ErrorKind::usage, what)
        .expected(std::to_string(expected))
        .found(std::to_string(found));
  };
  if (input.heads < 1) refuse("attention needs at least one head", 1, input.heads);
  if (input.queries.cols() % input.heads != 0) {
    throw Error(ErrorKind::usage, "the width of the queries is not a multiple of the heads")
        .expected("a multiple of " + std::to_string(input.heads))
        .found(std::to_string(input.queries.cols()));
  }
  const std::int64_t key_heads = input.heads_of_keys();
  if (key_heads < 1 || input.heads % key_heads != 0) {
    throw Error(ErrorKind::usage, "the heads of the keys do not divide those of the queries")
        .expected("a divisor of " + std::to_string(input.heads))
        .found(std::to_string(key_heads));
  }
  if (input.values.cols() % key_heads != 0) {
    throw Error(ErrorKind::usage, "the width of the values is not a multiple of the heads")
        .expected("a multiple of " + std::to_string(key_heads))
        .found(std::to_string(input.values.cols()));
  }
  const std::int64_t key_width = input.queries.cols() / input.heads * key_heads;
  if (input.keys.cols() != key_width) {
    refuse("queries and keys differ in width", key_width, input.keys.cols());
  }
  if (input.values.rows() != input.keys.rows()) {
    refuse("keys and values differ in number", input.keys.rows(), input.values.rows());
  }
  if (input.causal && input.queries.rows() != input.keys.rows()) {
    refuse("causal attention needs as many keys as queries", input.queries.rows(),
           input.keys.rows());
  }
}

void check_channel(const AttentionInput& input, std::int64_t count) {
  if (!input.channel || (*input.channel >= 0 && *input.channel < count)) return;
  throw Error(ErrorKind::usage, "a head has no such channel")
      .about("channel")
      .expected("0 to " + std::to_string(count - 1) + ", or the mean over them")
      .found(std::to_string(*input.channel));
}

ConstStridedMatrixMap head_columns(const ConstMatrixMap& all, std::int64_t heads,
                                   std::int64_t head) {
  const std::int64_t width = all.cols() / heads;
  return {all.data() + head * width, all.rows(), width, Eigen::OuterStride<>(all.cols())};
}

ConstStridedMatrixMap key_columns(const AttentionInput& input, std::int64_t head) {
  return head_columns(input.keys, input.heads_of_keys(), input.key_head(head));
}

ConstStridedMatrixMap value_columns(const AttentionInput& input, std::int64_t head) {
  return head_columns(input.values, input.heads_of_keys(), input.key_head(head));
}

FillScores scaled_products(const AttentionInput& input) {
  return [&input](std::int64_t head, std::int64_t first, StridedMatrixMap block) {
    const ConstStridedMatrixMap queries = head_columns(input.queries, input.heads, head);
    const auto scale = static_cast<float>(input.score_scale());
    multiply_transposed({queries.data() + first * queries.outerStride(), block.rows(),
                         queries.cols(), Eigen::OuterStride<>(queries.outerStride())},
                        key_columns(input, head), scale, block);
  };
}

Tensor attend_by_blocks(const AttentionInput& input, const LayerScores& scores) {
  Tensor output;
  run_blocks(input, scores, {.output = &output});
  return output;
}

Tensor map_by_blocks(const AttentionInput& input, const LayerScores& scores) {
  Tensor map;
  run_blocks(input, scores, {.map = &map});
  return map;
}

Attended attend_with_map_by_blocks(const AttentionInput& input, const LayerScores& scores) {
  Attended both;
  run_blocks(input, scores, {.output = &both.output, .map = &both.implied_map});
  return both;
}

MapRows rows_of_scores(const AttentionInput& input, LayerScores scores) {
  check_shapes(input);
  check_identity(input, scores.identity);
  return [&input, scores = std::move(scores)](std::int64_t head, std::int64_t first,
                                              StridedMatrixMap rows) {
    if (rows.cols() == 0) return;
    weigh_block(input, scores, head, first, rows);
    if (scores.identity) add_identity(first, rows);
  };
}

}  // namespace attnscope
