#include "core/model/parts/activation.h"

#include <algorithm>
#include <cmath>

#include "core/attention/kernels/gelu.h"
#include "core/model/parts/blocks_of_work.h"

namespace attnscope {

namespace {

void apply_gelu(std::span<float> values) {
  constexpr std::int64_t block = 1 << 12;
  for_blocks(std::ssize(values), block,
             [&](std::int64_t first, std::int64_t count) { gelu(values.data() + first, count); });
}

float gelu_tanh_of(float x) {
  constexpr float scale = 0.7978845608F;  // √(2/π)
  return 0.5F * x * (1.0F + std::tanh(scale * (x + 0.044715F * x * x * x)));
}

float sigmoid_of(float x) { return 1.0F / (1.0F + std::exp(-x)); }

float relu(float x) { return x < 0 ? 0.0F : x; }  // NaN stays NaN

}  // namespace

void apply_activation(Activation activation, std::span<float> values) {
  switch (activation) {
    case Activation::gelu:
      return apply_gelu(values);
    case Activation::gelu_tanh:
      return for_each_value(values, gelu_tanh_of);
    case Activation::relu:
      return for_each_value(values, relu);
    case Activation::quick_gelu:
      return for_each_value(values, [](float x) { return x * sigmoid_of(1.702F * x); });
    case Activation::silu:
      return for_each_value(values, [](float x) { return x * sigmoid_of(x); });
    case Activation::relu2:
      return for_each_value(values, [](float x) { return relu(x) * relu(x); });
    case Activation::hard_swish:
      return for_each_value(values,
                            [](float x) { return x * (std::min(relu(x + 3.0F), 6.0F) / 6.0F); });
  }
}

void apply_activation(HeadActivation activation, std::span<float> values) {
  switch (activation) {
    case HeadActivation::none:
      return;
    case HeadActivation::tanh:
      return for_each_value(values, [](float x) { return std::tanh(x); });
    case HeadActivation::gelu:
      return apply_gelu(values);
    case HeadActivation::relu:
      return for_each_value(values, relu);
  }
}

}  // namespace attnscope
