#include "analysis/depth/token_flow.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/mixing/layer_inside.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// Mean of ‖part‖ / ‖of‖ over the rows where `of` is not zero; NaN without such rows.
double mean_share(const MatrixD& part, const MatrixD& of) {
  double sum = 0;
  Eigen::Index counted = 0;
  for (Eigen::Index row = 0; row < part.rows(); ++row) {
    const double norm = of.row(row).norm();
    if (!(norm > 0)) continue;
    sum += part.row(row).norm() / norm;
    ++counted;
  }
  return counted > 0 ? sum / static_cast<double>(counted) : TokenFlow::kUnknown;
}

double median(std::vector<double> values) {
  const auto middle = static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  const double upper = values[static_cast<std::size_t>(middle)];
  if (values.size() % 2 == 1) return upper;
  return (upper + *std::max_element(values.begin(), values.begin() + middle)) / 2;
}

TokenFlow flow_of(std::int64_t layer, const MatrixD& tokens) {
  TokenFlow flow;
  flow.layer = layer;
  const Eigen::Index n = tokens.rows();
  if (n == 0 || !tokens.array().isFinite().all()) return flow;
  const Eigen::VectorXd norms = tokens.rowwise().norm();
  flow.norm = norms.mean();
  const double whole = tokens.norm();
  if (whole > 0) {
    flow.centred_norm = (tokens.rowwise() - tokens.colwise().mean()).norm() / whole;
  }
  Eigen::Index outlier = 0;
  const double greatest = norms.maxCoeff(&outlier);
  const double middle = median({norms.begin(), norms.end()});
  flow.outlier = outlier;
  if (middle > 0) flow.greatest_norm = greatest / middle;
  flow.similarity = mean_row_cosine(tokens);
  return flow;
}

/// Sets the relative change by the layer's attention and by its MLP, where the model defines it.
void add_balance(const Subject& subject, std::int64_t layer, TokenFlow& flow) {
  std::optional<LayerInside> inside;
  try {
    inside.emplace(subject, layer);
  } catch (const Error&) {
    return;  // unknown: the layer has no such sum, or vectors were not recorded
  }
  // A residual scale adds the attention output to scaled tokens, not to the layer's input.
  if (inside->block().spec.residual_scale != 1) return;
  const MatrixD attended = inside->attended();
  flow.attention = mean_share(attended, inside->before());
  const Block& block = inside->block();
  const bool plain = block.spec.residual == Residual::sequential && !block.attention_norms.after &&
                     !block.mlp_norms.after && block.has_mlp();
  if (!plain) return;
  const MatrixD between = inside->before() + attended;
  flow.mlp = mean_share(inside->after() - between, between);
}

}  // namespace

double mean_row_cosine(const MatrixD& rows) {
  const Eigen::ArrayXd norms = rows.rowwise().norm();
  if (rows.rows() < 2 || !(norms.minCoeff() > 0)) return TokenFlow::kUnknown;
  const Eigen::RowVectorXd sum = (rows.array().colwise() / norms).colwise().sum();
  const auto count = static_cast<double>(rows.rows());
  return (sum.squaredNorm() - count) / (count * (count - 1));
}

std::vector<TokenFlow> token_flow(const Subject& subject) {
  if (subject.trace == nullptr) {
    throw Error(ErrorKind::usage, "the model has not run on an input").about(subject.label);
  }
  const Trace& trace = *subject.trace;
  std::vector<TokenFlow> flows;
  MatrixD before;
  if (!trace.embedded.empty()) {
    before = trace.embedded.matrix().cast<double>();
    flows.push_back(flow_of(-1, before));
  }
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    const Tensor& recorded = trace.layers[static_cast<std::size_t>(layer)].tokens;
    if (recorded.empty()) {
      before.resize(0, 0);
      continue;
    }
    const MatrixD tokens = recorded.matrix().cast<double>();
    TokenFlow flow = flow_of(layer, tokens);
    if (before.rows() == tokens.rows() && before.cols() == tokens.cols()) {
      flow.update = mean_share(tokens - before, before);
      if (subject.model) add_balance(subject, layer, flow);
    }
    flows.push_back(flow);
    before = tokens;
  }
  if (flows.empty()) {
    throw Error(ErrorKind::usage, "no tokens were recorded")
        .about(subject.label)
        .remedy("record them: trace --record tokens");
  }
  return flows;
}

}  // namespace attnscope
