#include "core/model/parts/token_readout.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/model/parts/activation.h"

namespace attnscope {

namespace {

/// Calls `what` with softmax attention and its input.
Tensor pool_attention(const AttentionPooling& pooling, ConstMatrixMap tokens, const auto& what) {
  const Tensor queries = pooling.query(pooling.probe.matrix()), keys = pooling.key(tokens),
               values = pooling.value(tokens);
  const auto softmax = make_mechanism({"softmax", {}});
  return what(*softmax, AttentionInput{.queries = queries.matrix(),
                                       .keys = keys.matrix(),
                                       .values = values.matrix(),
                                       .heads = pooling.heads});
}

Tensor one_row(const Tensor& tokens, std::int64_t row) {
  Tensor one({1, tokens.extent(1)});
  one.matrix() = tokens.matrix().row(row);
  return one;
}

}  // namespace

Tensor AttentionPooling::map(ConstMatrixMap tokens) const {
  return pool_attention(*this, tokens, [](const Mechanism& softmax, const AttentionInput& input) {
    return softmax.implied_map(input);
  });
}

Tensor AttentionPooling::operator()(ConstMatrixMap tokens) const {
  const Tensor attended = pool_attention(
      *this, tokens,
      [](const Mechanism& softmax, const AttentionInput& input) { return softmax.forward(input); });
  Tensor read = out(attended.matrix());
  if (!mlp) return read;
  Tensor normed = read;
  if (norm) norm->apply(normed.matrix());
  read.matrix() += (*mlp)(std::as_const(normed).matrix(), {}).matrix();
  return read;
}

std::int64_t end_of_text(const std::vector<std::int64_t>& ids, std::int64_t id) {
  const auto found =
      id < 0 ? std::max_element(ids.begin(), ids.end()) : std::find(ids.begin(), ids.end(), id);
  if (found != ids.end()) return found - ids.begin();
  throw Error(ErrorKind::usage, "the text has no end token, at which this model reads")
      .about("readout.end_token")
      .expected(id < 0 ? "a text" : "token " + std::to_string(id) + " in the text")
      .remedy("include it in the ids, or give text with the model's tokenizer next to the weights");
}

Tensor TokenReadout::pooling_importance(const Tensor& tokens) const {
  Tensor hidden = pooling1(seen(tokens));
  apply_activation(HeadActivation::tanh, hidden.values());
  const Tensor logits = pooling2(seen(hidden));
  const Eigen::RowVectorXd values = seen(logits).col(0).cast<double>().transpose();
  const Eigen::RowVectorXd weights = (values.array() - values.maxCoeff()).exp();
  Tensor importance({1, tokens.extent(0)});
  importance.matrix() = (weights / weights.sum()).cast<float>();
  return importance;
}

Tensor TokenReadout::importance(const Tensor& tokens) const {
  if (pooling) {
    Tensor map = pooling->map(seen(tokens));
    const std::int64_t heads = map.extent(0), count = map.extent(2);
    return std::move(map).reshaped({heads, count});
  }
  return pooling1.outputs() > 0 ? pooling_importance(tokens) : Tensor();
}

Tensor TokenReadout::features(const Tensor& tokens, const ModelSpec& spec, std::int64_t end) const {
  const Readout kind = spec.readout.kind;
  if (!spec.readout.gives_features()) return {};
  // timm's mean excludes the prefix tokens, vit-pytorch's includes them.
  const std::int64_t left_out = kind == Readout::mean_all ? 0 : spec.input.prefix_tokens();
  const auto mean = [&] {
    const std::int64_t averaged = tokens.extent(0) - left_out;
    return tokens.matrix().bottomRows(averaged).cast<double>().colwise().mean().cast<float>();
  };
  const bool both = kind == Readout::class_and_mean;
  Tensor read({1, both ? 2 * spec.width : spec.width});
  if (kind == Readout::mean || kind == Readout::mean_all) {
    read.matrix() = mean();
  } else if (kind == Readout::additive_pooling) {
    read.matrix() = seen(pooling_importance(tokens)) * seen(tokens);
  } else if (kind == Readout::attention_pooling) {
    read = (*pooling)(seen(tokens));
  } else if (kind == Readout::last_token) {
    read.matrix() = tokens.matrix().row(tokens.extent(0) - 1);
  } else if (kind == Readout::end_token) {
    read.matrix() = tokens.matrix().row(end);
  } else {
    read.matrix().leftCols(spec.width) = tokens.matrix().row(0);
    if (both) read.matrix().rightCols(spec.width) = mean();
  }
  if (pooler) {
    read = (*pooler)(seen(read));
    apply_activation(HeadActivation::tanh, read.values());
  }
  if (transform) read = transformed(read, spec);
  if (head_norm) head_norm->apply(read.matrix());
  return read;
}

Tensor TokenReadout::transformed(const Tensor& tokens, const ModelSpec& spec) const {
  Tensor hidden = (*transform)(seen(tokens));
  apply_activation(spec.layer.mlp.activation, hidden.values());
  if (transform_norm) transform_norm->apply(hidden.matrix());
  return hidden;
}

Tensor TokenReadout::classify(const Tensor& features, const Tensor& tokens,
                              const ModelSpec& spec) const {
  if (head.empty() || features.empty()) return {};
  Tensor read = features;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (i > 0) apply_activation(spec.readout.head_activation, read.values());
    read = head[i](seen(read));
  }
  if (distillation_head) {
    const Tensor other = (*distillation_head)(seen(one_row(tokens, 1)));
    read.matrix() = (read.matrix() + other.matrix()) / 2;
  }
  return read;
}

Tensor TokenReadout::token_logits(const Tensor& tokens, const ModelSpec& spec) const {
  Tensor read;
  if (transform) read = transformed(tokens, spec);
  if (projection) read = (*projection)(seen(tokens));
  Tensor logits = head.front()(seen(transform || projection ? read : tokens));
  const double scale = spec.readout.logit_scale == 0
                           ? 1.0 / std::sqrt(static_cast<double>(spec.width))
                           : spec.readout.logit_scale;
  logits.matrix() *= static_cast<float>(scale);
  if (spec.readout.soft_cap > 0) {
    const auto cap = static_cast<float>(spec.readout.soft_cap);
    for (float& logit : logits.values()) logit = cap * std::tanh(logit / cap);
  }
  return logits;
}

}  // namespace attnscope
