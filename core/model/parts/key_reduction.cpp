#include "core/model/parts/key_reduction.h"

#include "core/model/parts/activation.h"

namespace attnscope {

GridExtents KeyReduction::output_grid(const GridExtents& grid) const {
  return pooled > 0 ? GridExtents{pooled, pooled} : convolution.output_grid(grid);
}

Tensor KeyReduction::operator()(const Tensor& tokens, const GridExtents& grid) const {
  Tensor reduced = pooled > 0
                       ? convolution(pool_adaptively(tokens, grid, pooled), output_grid(grid))
                       : convolution(tokens, grid);
  if (norm) norm->apply(reduced.matrix());
  if (pooled > 0) apply_activation(Activation::gelu, reduced.values());
  return reduced;
}

}  // namespace attnscope
