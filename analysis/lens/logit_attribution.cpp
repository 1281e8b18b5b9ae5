#include "analysis/lens/logit_attribution.h"

#include <limits>

#include "analysis/lens/linear_readout.h"
#include "analysis/mixing/layer_inside.h"
#include "core/error.h"

namespace attnscope {

namespace {

[[noreturn]] void refuse_model(const Model& model, const char* found) {
  throw Error(ErrorKind::usage, "the logits are not a sum over layers")
      .in_file(model.file())
      .expected("a residual stream that every layer adds to, a norm, and a linear head")
      .found(found);
}

/// Throws Error(usage) unless all layers add to one residual stream and the read-out is linear.
void check_stream(const Transformer& model) {
  const TransformerWeights& weights = model.weights();
  if (weights.stages.size() > 1) refuse_model(model, "stages with different tokens");
  const StageWeights& stage = weights.stages.front();
  if (stage.positions || stage.convolution || stage.norm) {
    refuse_model(model, "other parts between the layers");
  }
  for (const Block& block : stage.blocks) {
    if (block.attention_norms.after || block.mlp_norms.after) {
      refuse_model(model, "a norm of the sum (post-LN)");
    }
    if (block.spec.residual == Residual::none) refuse_model(model, "layers without residual");
    if (block.spec.residual_scale != 1) refuse_model(model, "residuals that are scaled");
  }
  require_linear_readout(model);
}

/// Read-out from the residual stream to the logit, with frozen statistics of the norms.
class FrozenReadout {
 public:
  FrozenReadout(const Transformer& model, const MatrixD& last, std::int64_t place)
      : readout_(model.weights().readout), spec_(model.spec()) {
    read_ = places_read(model, last.rows(), place);
    const Eigen::Index width = last.cols();
    constant_ = Eigen::RowVectorXd::Zero(width);
    Eigen::RowVectorXd pooled = read_ * last;
    if (readout_.final_norm) {
      first_.emplace(*readout_.final_norm, last);
      constant_ = first_->bias();
      pooled = read_ * first_->apply(last) + constant_;
    }
    if (!readout_.head_norm) return;
    second_.emplace(*readout_.head_norm, MatrixD(pooled));
    constant_ = second_->apply(constant_, 0) + second_->bias();
  }

  [[nodiscard]] Eigen::Index place() const {
    Eigen::Index at = 0;
    return read_.maxCoeff(&at) == 1 ? at : -1;
  }

  /// Features of the stream that the head reads, [1, D].
  [[nodiscard]] Eigen::RowVectorXd features(const MatrixD& stream) const {
    Eigen::RowVectorXd pooled = first_ ? Eigen::RowVectorXd(read_ * first_->apply(stream))
                                       : Eigen::RowVectorXd(read_ * stream);
    return second_ ? second_->apply(pooled, 0) : pooled;
  }
  [[nodiscard]] const Eigen::RowVectorXd& constant() const { return constant_; }

  /// Logit of each feature row without the head's bias, followed by that bias.
  [[nodiscard]] std::vector<double> logits(const std::vector<Eigen::RowVectorXd>& rows,
                                           std::int64_t target) const {
    const Linear& head = readout_.head.front();
    Tensor read({std::ssize(rows) + 1, head.inputs()});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      read.matrix().row(static_cast<Eigen::Index>(i)) = rows[i].cast<float>();
    }
    const Tensor all = head(std::as_const(read).matrix());
    const double scale = scale_of_logits(spec_);
    const auto column = all.matrix().col(target).cast<double>() * scale;
    std::vector<double> found;
    const double bias = column(column.size() - 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      found.push_back(column(static_cast<Eigen::Index>(i)) - bias);
    }
    found.push_back(bias);
    return found;
  }

 private:
  const TokenReadout& readout_;
  const ModelSpec& spec_;
  Eigen::RowVectorXd read_, constant_;
  std::optional<FrozenNorm> first_, second_;
};

}  // namespace

LogitAttribution logit_attribution(const Subject& subject, std::int64_t target,
                                   std::int64_t place) {
  require_model_and_trace(subject);
  const Transformer& model = transformer_of(*subject.model);
  check_stream(model);
  const Trace& trace = *subject.trace;
  LogitAttribution found;
  found.target = chosen_target(trace, target, place);
  if (found.target < std::ssize(trace.labels)) {
    found.label = trace.labels[static_cast<std::size_t>(found.target)];
  }
  const auto layers = std::ssize(trace.layers);
  const LayerInside last_layer(subject, layers - 1);
  const FrozenReadout readout(model, last_layer.after(), place);
  found.place = readout.place();

  std::vector<Eigen::RowVectorXd> rows = {readout.features(tokens_before(subject, 0)),
                                          readout.constant()};
  std::vector<std::int64_t> heads;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const LayerInside inside(subject, layer);
    MatrixD rest = inside.after() - inside.before() - inside.attended();
    heads.push_back(inside.heads());
    rows.push_back(readout.features(MatrixD(inside.bias().replicate(inside.tokens(), 1))));
    rows.push_back(readout.features(rest));
    for (std::int64_t head = 0; head < inside.heads(); ++head) {
      rows.push_back(readout.features(inside.map(head) * inside.given(head)));
    }
  }
  const std::vector<double> logits = readout.logits(rows, found.target);
  const std::int64_t most = *std::max_element(heads.begin(), heads.end());
  found.embedding = logits[0];
  found.constant = logits[1] + logits.back();
  found.heads = MatrixD::Constant(layers, most, std::numeric_limits<double>::quiet_NaN());
  std::size_t next = 2;
  found.logit = found.embedding + found.constant;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    found.biases.push_back(logits[next++]);
    found.rest.push_back(logits[next++]);
    found.logit += found.biases.back() + found.rest.back();
    for (std::int64_t head = 0; head < heads[static_cast<std::size_t>(layer)]; ++head) {
      found.heads(layer, head) = logits[next++];
      found.logit += found.heads(layer, head);
    }
  }
  return found;
}

}  // namespace attnscope
