#include "core/training/parts/trained_fastformer.h"

#include <utility>

#include "core/training/attention/trained_heads.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

/// Queries, keys or values of [n, 3·D]: `which` is 0, 1 or 2.
template <class Rows>
auto third(Rows& projections, Eigen::Index which) {
  auto rows = rows_of(projections);
  return share_of_head(rows, 3, which);
}

}  // namespace

TrainedFastformer::TrainedFastformer(ParameterTable& table, const std::string& prefix,
                                     const TrainedFastformerNames& names, Form form)
    : form_(std::move(form)) {
  const std::int64_t width = form_.width;
  norm_ = TrainedNorm(table, prefix + names.norm, width, form_.norm_eps);
  projections_ = TrainedLinear(table, {.name = {},
                                       .inputs = width,
                                       .outputs = 3 * width,
                                       .parts = {{prefix + names.query, width},
                                                 {prefix + names.key, width},
                                                 {prefix + names.value, width}},
                                       .beginning = Beginning::small_normal,
                                       .bias = false});
  out_ = TrainedLinear(table, {.name = prefix + names.out,
                               .inputs = width,
                               .outputs = width,
                               .beginning = Beginning::small_normal,
                               .bias = false});
  query_importance_ = table.add(prefix + names.query_importance, {width}, Beginning::zeros);
  key_importance_ = table.add(prefix + names.key_importance, {width}, Beginning::zeros);
  middle_norm_ = TrainedNorm(table, prefix + names.middle_norm, width, form_.norm_eps);
}

void TrainedFastformer::pool(const float* importance, std::span<const std::int64_t> lengths,
                             const ConstStridedMatrixMap& tokens, Matrix& means,
                             AttentionRoom& room) const {
  const float* const own[] = {importance};
  means.resize(tokens.rows(), tokens.cols());
  StridedMatrixMap output = rows_of(means);
  std::int64_t row = 0;
  for (const std::int64_t count : lengths) {
    const auto part = some_rows(tokens, row, count);
    form_.pooling->forward({part, part, part, form_.heads, own}, some_rows(output, row, count),
                           room);
    row += count;
  }
}

void TrainedFastformer::pool_backward(const float* importance, float* d_importance,
                                      std::span<const std::int64_t> lengths,
                                      const ConstStridedMatrixMap& tokens, const Matrix& d_means,
                                      StridedMatrixMap d_tokens, AttentionRoom& attention,
                                      Room& room) const {
  const float* const own[] = {importance};
  float* const of_own[] = {d_importance};
  room.of_values.resize(tokens.rows(), tokens.cols());
  room.of_queries.resize(tokens.rows(), tokens.cols());  // gradient of unused queries
  StridedMatrixMap of_values = rows_of(room.of_values), of_queries = rows_of(room.of_queries);
  std::int64_t row = 0;
  for (const std::int64_t count : lengths) {
    const auto part = some_rows(tokens, row, count);
    form_.pooling->backward({part, part, part, form_.heads, own},
                            some_rows(rows_of(d_means), row, count),
                            {some_rows(of_queries, row, count), some_rows(d_tokens, row, count),
                             some_rows(of_values, row, count), of_own},
                            attention);
    row += count;
  }
  // The tokens are both keys and values, so that both gradients count.
  d_tokens += room.of_values;
}

void TrainedFastformer::forward(const float* values, std::span<const std::int64_t> lengths,
                                const Matrix& x, Matrix& y, Memory& memory) const {
  norm_.forward(values, x, memory.normed, memory.norm);
  projections_.forward(values, memory.normed, memory.projections, memory.linear);
  const Matrix& projections = memory.projections;
  pool(query_importance_.in(values), lengths, third(projections, 0), memory.pooled,
       memory.attention);
  out_.forward(values, memory.pooled, memory.projected, memory.linear);
  memory.mixed = memory.normed + memory.projected.cwiseProduct(third(projections, 1));
  middle_norm_.forward(values, memory.mixed, memory.between, memory.middle_norm);
  pool(key_importance_.in(values), lengths, rows_of(std::as_const(memory.between)),
       memory.pooled_mixed, memory.attention);
  y = memory.mixed + memory.pooled_mixed.cwiseProduct(third(projections, 2));
}

void TrainedFastformer::backward(const float* values, float* gradients,
                                 std::span<const std::int64_t> lengths, const Matrix& x, Matrix& dx,
                                 Memory& memory, Room& room) const {
  const Matrix& projections = memory.projections;
  room.projections.resize(projections.rows(), projections.cols());
  room.tokens.resize(x.rows(), x.cols());
  // dx is the gradient of y, then of the mixed tokens, of the normalised tokens, and of x.
  third(room.projections, 2) = dx.cwiseProduct(memory.pooled_mixed);
  room.means = dx.cwiseProduct(third(projections, 2));
  pool_backward(key_importance_.in(values), key_importance_.in(gradients), lengths,
                rows_of(std::as_const(memory.between)), room.means, rows_of(room.tokens),
                memory.attention, room);
  middle_norm_.backward(values, gradients, memory.mixed, room.tokens, memory.middle_norm, dx);
  third(room.projections, 1) = dx.cwiseProduct(memory.projected);
  room.means = dx.cwiseProduct(third(projections, 1));
  out_.backward(values, gradients, memory.pooled, room.means, memory.linear, &room.tokens);
  pool_backward(query_importance_.in(values), query_importance_.in(gradients), lengths,
                third(projections, 0), room.tokens, third(room.projections, 0), memory.attention,
                room);
  projections_.backward(values, gradients, memory.normed, room.projections, memory.linear,
                        &room.tokens);
  room.tokens += dx;
  dx.setZero();
  norm_.backward(values, gradients, x, room.tokens, memory.norm, dx);
}

}  // namespace attnscope
