#include <utility>

#include "core/model/parts/activation.h"
#include "core/model/parts/embedding.h"

namespace attnscope {

Tensor SoundEmbedding::operator()(const Tensor& spectrum) const {
  Tensor frames({spectrum.extent(1), spectrum.extent(0)});
  frames.matrix() = spectrum.matrix().transpose();
  Tensor tokens = first(frames);
  apply_activation(Activation::gelu, tokens.values());
  tokens = second(tokens);
  apply_activation(Activation::gelu, tokens.values());
  tokens.matrix() += positions.matrix();
  return tokens;
}

}  // namespace attnscope
