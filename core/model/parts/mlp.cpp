#include "core/model/parts/mlp.h"

#include <utility>

namespace attnscope {

Tensor Mlp::operator()(ConstMatrixMap tokens, const GridExtents& grid) const {
  Tensor hidden = mlp1(tokens);
  if (relu_first) apply_activation(Activation::relu, hidden.values());
  if (convolution) hidden = (*convolution)(hidden, grid);
  if (gate) {
    Tensor gates = (*gate)(tokens);
    apply_activation(activation, gates.values());
    hidden.matrix().array() *= gates.matrix().array();
  } else {
    apply_activation(activation, hidden.values());
  }
  if (norm) norm->apply(hidden.matrix());
  return mlp2(std::as_const(hidden).matrix());
}

}  // namespace attnscope
