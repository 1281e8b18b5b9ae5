// The functions between linear layers.
#pragma once

#include <span>

#include "core/architecture/spec/layer_spec.h"
#include "core/architecture/spec/readout_spec.h"

namespace attnscope {

/// In place. GELU is x Φ(x) by erf; gelu_tanh its tanh approximation.
void apply_activation(Activation activation, std::span<float> values);
void apply_activation(HeadActivation activation, std::span<float> values);

}  // namespace attnscope
