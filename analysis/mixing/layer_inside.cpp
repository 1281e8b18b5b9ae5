#include "analysis/mixing/layer_inside.h"

#include <cmath>

#include "analysis/spectrum/map_batch.h"
#include "core/error.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

[[noreturn]] void refuse_layer(std::int64_t layer, const char* found) {
  throw Error(ErrorKind::usage, "the output of the layer's attention is not a sum over tokens")
      .about("layer " + std::to_string(layer))
      .expected("maps times values times W_O, added to the tokens they came from")
      .found(found);
}

void check_sum(const Transformer& model, const Block& block, const Trace& trace,
               std::int64_t layer) {
  require_products(model, layer);
  if (block.spec.form != LayerForm::transformer) refuse_layer(layer, "Fastformer's layers");
  if (block.attention.heads_norm) refuse_layer(layer, "a norm of the heads' output before W_O");
  if (block.attention.gate) refuse_layer(layer, "a gate of the heads' output before W_O");
  if (block.attention_norms.inside) refuse_layer(layer, "a norm of the attention's output");
  if (block.attention.reduction || block.spec.attention.of != Attending::self) {
    refuse_layer(layer, "keys and queries of different tokens");
  }
  if (trace.map_channels > 1) refuse_layer(layer, "one map per channel");
}

/// Stage of a layer, and the layer's index within it.
std::pair<const StageWeights*, std::size_t> stage_of(const Transformer& model, std::int64_t layer) {
  std::int64_t first = 0;
  for (const StageWeights& stage : model.weights().stages) {
    const std::int64_t count = std::ssize(stage.blocks);
    if (layer < first + count) return {&stage, static_cast<std::size_t>(layer - first)};
    first += count;
  }
  return {&model.weights().stages.back(), 0};
}

[[noreturn]] void lacks(const char* what, std::int64_t layer) {
  throw Error(ErrorKind::usage, std::string(what) + " were not recorded")
      .about("layer " + std::to_string(layer))
      .remedy("run the model again: a trace needs maps, vectors and tokens of all layers");
}

}  // namespace

void require_model_and_trace(const Subject& subject) {
  if (subject.model == nullptr) {
    throw Error(ErrorKind::usage, "a trace does not hold the weights of its model")
        .about(subject.label)
        .remedy("give the weight file");
  }
  if (subject.trace == nullptr) {
    throw Error(ErrorKind::usage, "the model has not run on an input").about(subject.label);
  }
}

MatrixD tokens_before(const Subject& subject, std::int64_t layer) {
  require_model_and_trace(subject);
  const Trace& trace = *subject.trace;
  (void)recorded_layer(trace, layer);
  const auto [stage, place] = stage_of(transformer_of(*subject.model), layer);
  if (layer == 0) {
    if (trace.embedded.empty()) lacks("the tokens before the first layer", layer);
    return trace.embedded.matrix().cast<double>();
  }
  if (place == 0) refuse_layer(layer, "another stage before the layer");
  const Tensor& tokens = trace.layers[static_cast<std::size_t>(layer - 1)].tokens;
  if (tokens.empty()) lacks("the tokens", layer - 1);
  return tokens.matrix().cast<double>();
}

LayerInside::LayerInside(const Subject& subject, std::int64_t layer) {
  before_ = tokens_before(subject, layer);
  const Trace& trace = *subject.trace;
  const Transformer& model = transformer_of(*subject.model);
  block_ = &block_of(model, layer);
  check_sum(model, *block_, trace, layer);
  const LayerTrace& recorded = recorded_layer(trace, layer);
  if (recorded.implied_map.empty()) lacks("the maps", layer);
  if (recorded.values.empty()) lacks("the values", layer);
  if (recorded.tokens.empty()) lacks("the tokens", layer);
  layout_ = &recorded.layout;
  after_ = recorded.tokens.matrix().cast<double>();
  const std::int64_t heads = recorded.implied_map.extent(0), own = recorded.values.extent(0);
  const std::int64_t width = recorded.values.extent(2);
  MatrixD out = MatrixD::Identity(heads * width, heads * width);
  bias_ = Eigen::RowVectorXd::Zero(before_.cols());
  if (block_->attention.out) {
    out = matrix_of(*block_->attention.out);
    bias_ = bias_of(*block_->attention.out);
  }
  Eigen::RowVectorXd scale = Eigen::RowVectorXd::Ones(before_.cols());
  if (!block_->scale1.empty()) {
    scale =
        Eigen::Map<const Eigen::RowVectorXf>(block_->scale1.data(), before_.cols()).cast<double>();
  }
  bias_.array() *= scale.array();
  for (std::int64_t head = 0; head < heads; ++head) {
    maps_.push_back(map_seen(trace, {layer, head}, IdentityView::as_is));
    const MatrixD values = recorded.values.slice(head * own / heads).cast<double>();
    MatrixD given = values * out.middleRows(head * width, width);
    given.array().rowwise() *= scale.array();
    given_.push_back(std::move(given));
  }
}

MatrixD LayerInside::attended() const {
  MatrixD sum = MatrixD::Zero(before_.rows(), before_.cols());
  for (std::int64_t head = 0; head < heads(); ++head) sum += map(head) * given(head);
  sum.rowwise() += bias_;
  return sum;
}

FrozenNorm::FrozenNorm(const LayerNorm& norm, const MatrixD& rows)
    : centres_(!norm.rms), deviation_(rows.rows()) {
  const Eigen::Index width = rows.cols();
  weight_ = Eigen::RowVectorXd::Ones(width);
  bias_ = Eigen::RowVectorXd::Zero(width);
  if (!norm.weight.empty()) {
    weight_ = Eigen::Map<const Eigen::RowVectorXf>(norm.weight.data(), width).cast<double>();
  }
  if (!norm.bias.empty()) {
    bias_ = Eigen::Map<const Eigen::RowVectorXf>(norm.bias.data(), width).cast<double>();
  }
  for (Eigen::Index row = 0; row < rows.rows(); ++row) {
    const Eigen::RowVectorXd x = rows.row(row).array() - (centres_ ? rows.row(row).mean() : 0.0);
    deviation_(row) = std::sqrt(x.squaredNorm() / static_cast<double>(width) + norm.eps);
  }
}

Eigen::RowVectorXd FrozenNorm::apply(const Eigen::RowVectorXd& vector, Eigen::Index row) const {
  const double mean = centres_ ? vector.mean() : 0.0;
  return (vector.array() - mean) * weight_.array() / deviation_(row);
}

MatrixD FrozenNorm::apply(const MatrixD& rows) const {
  MatrixD result(rows.rows(), rows.cols());
  for (Eigen::Index row = 0; row < rows.rows(); ++row) result.row(row) = apply(rows.row(row), row);
  return result;
}

}  // namespace attnscope
