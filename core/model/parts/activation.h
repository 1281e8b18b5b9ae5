// Activation functions between linear layers.
#pragma once

#include <span>

#include "core/architecture/layer_spec.h"
#include "core/architecture/model_spec.h"

namespace attnscope {

/// Applies the function in place. GELU is x Φ(x), computed with erf; gelu_tanh is its tanh
/// approximation.
void apply_activation(Activation activation, std::span<float> values);
void apply_activation(HeadActivation activation, std::span<float> values);

}  // namespace attnscope
