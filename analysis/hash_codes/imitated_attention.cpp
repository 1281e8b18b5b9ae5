#include "analysis/hash_codes/imitated_attention.h"

#include <cmath>
#include <string>

#include "core/error.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

bool is_hashed(const Trace& trace, const LayerTrace& layer) {
  return mechanism_at(trace, layer).name == "hash";
}

void require_tokens(const Trace& trace, std::int64_t layer, std::int64_t head) {
  const LayerTrace& recorded = recorded_layer(trace, layer);
  if (recorded.queries.empty() || recorded.keys.empty()) {
    throw Error(ErrorKind::usage, "the trace did not record queries and keys")
        .about(trace.model_name)
        .remedy("record them: attnscope trace --record qkv, or give the model's weight file");
  }
  if (head < 0 || head >= recorded.queries.extent(0)) {
    throw Error(ErrorKind::usage, "the layer has no such head")
        .expected("0 to " + std::to_string(recorded.queries.extent(0) - 1))
        .found(std::to_string(head));
  }
  const bool fits = recorded.queries.extent(2) == recorded.keys.extent(2) &&
                    recorded.queries.extent(0) == recorded.keys.extent(0);
  if (!fits) {
    throw Error(ErrorKind::usage, "queries and keys that differ in heads or width cannot be hashed")
        .about(to_string(trace.mechanism));
  }
}

ConstStridedMatrixMap strided(const ConstMatrixMap& rows) {
  return {rows.data(), rows.rows(), rows.cols(), Eigen::OuterStride<>(rows.cols())};
}

}  // namespace

const MechanismChoice& mechanism_at(const Trace& trace, const LayerTrace& layer) {
  return layer.mechanism ? *layer.mechanism : trace.mechanism;
}

TraceRequest request_for_imitation(std::int64_t layer) {
  TraceRequest request;
  request.queries_keys_values = true;
  request.large_maps = TraceRequest::LargeMaps::computed;
  request.layers = {layer};
  return request;
}

Matrix imitated_attention(const Trace& trace, std::int64_t layer, std::int64_t head) {
  require_tokens(trace, layer, head);
  const LayerTrace& recorded = trace.layers[static_cast<std::size_t>(layer)];
  if (!is_hashed(trace, recorded)) {
    const ImpliedMaps maps = maps_seen(trace, layer, IdentityView::without);
    if (maps.rank() != 3 || maps.extent(0) != recorded.queries.extent(0)) {
      throw Error(ErrorKind::usage, "the attention does not have one map per head")
          .about(to_string(trace.mechanism));
    }
    return maps.head(head);
  }
  const ConstMatrixMap queries = recorded.queries.slice(head), keys = recorded.keys.slice(head);
  const MatrixD scores = queries.cast<double>() * keys.cast<double>().transpose() /
                         std::sqrt(static_cast<double>(queries.cols()));
  Matrix attention(scores.rows(), scores.cols());
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    const Eigen::Index seen = trace.causal ? i + 1 : scores.cols();
    const Eigen::RowVectorXd logits = scores.row(i).head(seen);
    const Eigen::RowVectorXd weights = (logits.array() - logits.maxCoeff()).exp();
    attention.row(i).setZero();
    attention.row(i).head(seen) = (weights / weights.sum()).cast<float>();
  }
  return attention;
}

HashExample hash_example(const Trace& trace, std::int64_t layer, std::int64_t head,
                         std::int64_t pairs) {
  const Matrix attention = imitated_attention(trace, layer, head);
  const LayerTrace& recorded = trace.layers[static_cast<std::size_t>(layer)];
  const ConstMatrixMap queries = recorded.queries.slice(head), keys = recorded.keys.slice(head);
  return {.queries = unit_rows(strided(queries)),
          .keys = unit_rows(strided(keys)),
          .shared = queries.rows() == keys.rows() && queries == keys,
          .causal = trace.causal,
          .pairs = similar_pairs({attention.data(), attention.rows(), attention.cols()}, pairs)};
}

}  // namespace attnscope
