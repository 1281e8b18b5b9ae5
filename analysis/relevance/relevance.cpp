#include "analysis/relevance/relevance.h"

#include <cmath>

#include "analysis/lens/linear_readout.h"
#include "analysis/mixing/layer_inside.h"
#include "analysis/spectrum/map_batch.h"
#include "core/error.h"
#include "core/model/layer_run.h"
#include "core/training/layer_gradients.h"

namespace attnscope {

namespace {

/// Gradient of one logit with respect to the tokens after the last layer.
class ReadoutGradient {
 public:
  ReadoutGradient(const Transformer& model, Eigen::Index tokens, std::int64_t place)
      : readout_(model.weights().readout),
        scale_(scale_of_logits(model.spec())),
        read_(places_read(model, tokens, place)),
        head_(matrix_of(readout_.head.front())) {}

  [[nodiscard]] const Eigen::RowVectorXd& read() const { return read_; }

  /// ∂ logit / ∂ `last`, [N, D].
  [[nodiscard]] Matrix operator()(const Matrix& last, std::int64_t target) const {
    const Eigen::RowVectorXf read = read_.cast<float>();
    Matrix gradient = (head_.col(target).transpose() * scale_).cast<float>();
    if (readout_.head_norm) {
      gradient = gradient_through(*readout_.head_norm, read * normed(last), gradient);
    }
    const Matrix of_tokens = read.transpose() * gradient;
    return readout_.final_norm ? gradient_through(*readout_.final_norm, last, of_tokens)
                               : of_tokens;
  }

 private:
  [[nodiscard]] Matrix normed(Matrix tokens) const {
    if (readout_.final_norm) {
      readout_.final_norm->apply(MatrixMap(tokens.data(), tokens.rows(), tokens.cols()));
    }
    return tokens;
  }

  const TokenReadout& readout_;
  double scale_;
  Eigen::RowVectorXd read_;
  MatrixD head_;  // [D, classes]
};

/// Ā of one layer, [N, M].
MatrixD gradient_weighted(const Trace& trace, std::int64_t layer, const HeadsGradient& gradient) {
  const std::int64_t heads = trace.heads(layer);
  const Eigen::Index width = gradient.values.cols() / heads;
  MatrixD mean = MatrixD::Zero(trace.queries(layer), trace.keys(layer));
  for (std::int64_t head = 0; head < heads; ++head) {
    const auto values = gradient.values.middleCols(head * width, width).cast<double>();
    const auto attended = gradient.attended.middleCols(head * width, width).cast<double>();
    const MatrixD of_map = attended * values.transpose();
    mean.array() +=
        (map_seen(trace, {layer, head}, IdentityView::as_is).array() * of_map.array()).max(0.0);
  }
  return mean / static_cast<double>(heads);
}

/// Throws unless the layers reproduce the recorded tokens: otherwise a part of the model is
/// missing.
void check_same(const Trace& trace, const Matrix& last) {
  const Tensor& recorded = trace.layers.back().tokens;
  if (recorded.empty()) return;
  const float difference = (recorded.matrix() - last).norm();
  if (difference <= 1e-3F * recorded.matrix().norm()) return;
  throw Error(ErrorKind::unsupported, "gradients are not implemented for this part of the model")
      .expected("layers that reproduce the recorded tokens")
      .found("other tokens");
}

void check_recorded(const Trace& trace) {
  bool whole = !trace.embedded.empty();
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    whole = whole && trace.heads(layer) > 0;
  }
  if (trace.map_channels > 1) {
    throw Error(ErrorKind::usage, "the mechanism has one map per channel, not per head")
        .about(trace.mechanism.name);
  }
  if (whole) return;
  throw Error(ErrorKind::usage, "maps of all layers and the tokens were not recorded")
      .remedy("run the model again: relevance needs all layers");
}

TokenRelevance relevance_of(const Subject& subject, const LayersWithGradient& layers,
                            const ReadoutGradient& readout, std::int64_t target) {
  const Trace& trace = *subject.trace;
  const std::vector<HeadsGradient> gradients =
      layers.heads(trace.embedded.matrix(), [&](const Matrix& last) {
        check_same(trace, last);
        return readout(last, target);
      });
  // Rows of (I + Ā_L) … (I + Ā_1) that are read, computed from the last layer to the first.
  Eigen::RowVectorXd row = readout.read();
  for (std::int64_t layer = std::ssize(gradients) - 1; layer >= 0; --layer) {
    row += row * gradient_weighted(trace, layer, gradients[static_cast<std::size_t>(layer)]);
  }
  TokenRelevance found;
  found.target = target;
  if (target < std::ssize(trace.labels)) {
    found.label = trace.labels[static_cast<std::size_t>(target)];
  }
  found.tokens.assign(row.begin(), row.end());
  return found;
}

}  // namespace

void request_for_relevance(TraceRequest& request) {
  request.tokens = true;
  request.implied_maps = true;
}

std::vector<TokenRelevance> token_relevance(const Subject& subject,
                                            const std::vector<std::int64_t>& targets,
                                            std::int64_t place, const Progress& progress) {
  require_model_and_trace(subject);
  const Trace& trace = *subject.trace;
  const Transformer& model = transformer_of(*subject.model);
  require_linear_readout(model);
  check_recorded(trace);
  const LayersWithGradient layers(model, layer_mechanisms(model.spec(), subject.mechanism));
  const ReadoutGradient readout(model, trace.embedded.extent(0), place);
  Eigen::Index at = 0;
  const bool one = readout.read().maxCoeff(&at) == 1;
  std::vector<TokenRelevance> found;
  for (const std::int64_t target : targets) {
    progress.step(static_cast<double>(found.size()) / static_cast<double>(targets.size()),
                  "relevance");
    found.push_back(relevance_of(subject, layers, readout, chosen_target(trace, target, place)));
    TokenRelevance& last = found.back();
    last.place = one ? at : -1;
    const bool of_end = !model.spec().readout.gives_token_logits() || at + 1 == trace.tokens();
    const auto index = static_cast<std::size_t>(last.target);
    const auto from = static_cast<std::size_t>(at) * static_cast<std::size_t>(trace.logits.size());
    last.logit = static_cast<double>(of_end ? trace.logits.values()[index]
                                     : !trace.token_logits.empty()
                                         ? trace.token_logits.values()[from + index]
                                         : std::nanf(""));
  }
  progress.step(1, "relevance");
  return found;
}

}  // namespace attnscope
