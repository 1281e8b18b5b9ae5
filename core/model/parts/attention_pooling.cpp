#include "core/model/parts/attention_pooling.h"

#include <utility>

#include "core/attention/mechanism.h"

namespace attnscope {

namespace {

/// Calls `what` with softmax attention and its input.
Tensor attend(const AttentionPooling& pooling, ConstMatrixMap tokens, const auto& what) {
  const Tensor queries = pooling.query(pooling.probe.matrix()), keys = pooling.key(tokens),
               values = pooling.value(tokens);
  const auto softmax = make_mechanism({"softmax", {}});
  return what(*softmax, AttentionInput{.queries = queries.matrix(),
                                       .keys = keys.matrix(),
                                       .values = values.matrix(),
                                       .heads = pooling.heads});
}

}  // namespace

Tensor AttentionPooling::map(ConstMatrixMap tokens) const {
  return attend(*this, tokens, [](const Mechanism& softmax, const AttentionInput& input) {
    return softmax.implied_map(input);
  });
}

Tensor AttentionPooling::operator()(ConstMatrixMap tokens) const {
  const Tensor attended = attend(
      *this, tokens,
      [](const Mechanism& softmax, const AttentionInput& input) { return softmax.forward(input); });
  Tensor read = out(attended.matrix());
  if (!mlp) return read;
  Tensor normed = read;
  if (norm) norm->apply(normed.matrix());
  read.matrix() += (*mlp)(std::as_const(normed).matrix(), {}).matrix();
  return read;
}

}  // namespace attnscope
