// The cases of tests/data/analysed/make_analysed.py as traces with one layer and one head.
#pragma once

#include "core/trace/trace.h"
#include "tests/support/reference_maps.h"

namespace attnscope {

/// The trace of softmax(q kᵀ/√d), over j ≤ i if causal. q, k and v are raw_uniform vectors and are
/// recorded in the trace.
inline Trace softmax_case(const nlohmann::json& made) {
  const std::int64_t n = made.at("n"), d = made.at("d");
  const auto seed = made.at("seed").get<unsigned>();
  Trace trace;
  trace.causal = made.at("causal");
  LayerTrace& layer = trace.layers.emplace_back();
  layer.queries = raw_uniform({n, d}, seed).reshaped({1, n, d});
  layer.keys = raw_uniform({n, d}, seed + 1).reshaped({1, n, d});
  layer.values = raw_uniform({n, d}, seed + 2).reshaped({1, n, d});
  MatrixD map = layer.queries.slice(0).cast<double>() *
                layer.keys.slice(0).cast<double>().transpose() / std::sqrt(static_cast<double>(d));
  map = map.array().exp();
  if (trace.causal) map.triangularView<Eigen::StrictlyUpper>().setZero();
  for (Eigen::Index i = 0; i < n; ++i) map.row(i) /= map.row(i).sum();
  layer.implied_map = Tensor({1, n, n});
  layer.implied_map.slice(0) = map.cast<float>();
  layer.tokens = layer.values.reshaped({n, d});
  return trace;
}

}  // namespace attnscope
