#include "core/model/parts/mlp.h"

#include <algorithm>
#include <utility>

#include "core/model/parts/blocks_of_work.h"

namespace attnscope {

namespace {

// The hidden values are several times wider than the tokens and would dominate the memory use for
// thousands of tokens. A smaller block would read the weights too often.
constexpr std::int64_t kTokensAtOnce = 1024;

/// Limits gates from above, and 1 + the hidden values, by `clip`.
void clip_gated(float clip, Tensor& gates, Tensor& hidden) {
  for_each_value(gates.values(), [clip](float x) { return x > clip ? clip : x; });  // NaN stays
  for_each_value(hidden.values(), [clip](float x) {
    return 1.0F + (x > clip ? clip : x < -clip ? -clip : x);
  });
}

}  // namespace

Tensor Mlp::operator()(ConstMatrixMap tokens, const GridExtents& grid) const {
  if (convolution || tokens.rows() <= kTokensAtOnce) return of_tokens(tokens, grid);
  Tensor all = Tensor::unfilled({tokens.rows(), mlp2.outputs()});
  for (std::int64_t first = 0; first < tokens.rows(); first += kTokensAtOnce) {
    const std::int64_t count = std::min(kTokensAtOnce, tokens.rows() - first);
    const ConstMatrixMap some(tokens.data() + first * tokens.cols(), count, tokens.cols());
    all.matrix().middleRows(first, count) = of_tokens(some, grid).matrix();
  }
  return all;
}

Tensor Mlp::of_tokens(ConstMatrixMap tokens, const GridExtents& grid) const {
  Tensor hidden = mlp1(tokens);
  if (relu_first) apply_activation(Activation::relu, hidden.values());
  if (convolution) hidden = (*convolution)(hidden, grid);
  if (gate) {
    Tensor gates = (*gate)(tokens);
    if (clip > 0) clip_gated(clip, gates, hidden);
    apply_activation(activation, gates.values());
    hidden.matrix().array() *= gates.matrix().array();
  } else {
    apply_activation(activation, hidden.values());
  }
  if (norm) norm->apply(hidden.matrix());
  return mlp2(std::as_const(hidden).matrix());
}

}  // namespace attnscope
