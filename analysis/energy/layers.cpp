#include "analysis/energy/layers.h"

#include <algorithm>
#include <cmath>

#include "core/attention/costs/build.h"

namespace attnscope {

using costs::accumulated;
using costs::component;
using costs::moving;

AttentionShape shape_of(const Stage& stage) {
  const std::int64_t head_width =
      stage.head_width > 0 ? stage.head_width : stage.width / stage.heads;
  return {.queries = stage.class_attention ? 1 : stage.tokens,
          .keys = stage.tokens,
          .heads = stage.heads,
          .head_width = head_width,
          .value_width = head_width};
}

CountedLayer layer_kind(const Network& network, const AccountingOptions& options,
                        const Stage& stage, std::int64_t index, std::int64_t layer) {
  std::int64_t layers = 0;
  for (const Stage& one : network.stages) layers += one.layers;
  const bool multiplicative = layer < options.multiplicative_ends ||
                              layer >= layers - options.multiplicative_ends ||
                              std::ranges::count(network.multiplicative_layers, layer) > 0;
  CountedLayer kind;
  if (!multiplicative) kind.arithmetic = options.arithmetic;
  const bool softmax = stage.softmax_only || (multiplicative && options.mechanism.name == "adder");
  if (!softmax) kind.mechanism = options.mechanism;
  const auto at = static_cast<std::size_t>(index);
  const auto window = kind.mechanism.parameters.find("window");
  // −1 or absent: each layer has its own window.
  const bool own = window == kind.mechanism.parameters.end() ||
                   window->second == ParameterValue(std::int64_t{-1});
  if (kind.mechanism.name == "additive" && at < stage.windows.size() && own) {
    kind.mechanism.parameters["window"] = stage.windows[at];
  }
  kind.windowed = options.native_attention && stage.window_tokens > 0 &&
                  (index % 2 == 0 || stage.windows_everywhere) &&
                  std::ranges::count(stage.whole_layers, index) == 0;
  kind.crosses = stage.memory_tokens > 0 && index % 2 == 1;
  kind.has_mlp = stage.memory_tokens == 0 || kind.crosses;
  kind.reduced = options.native_attention && stage.reduction > 1 && !kind.windowed;
  return kind;
}

std::int64_t keys_of(const Stage& stage, const CountedLayer& kind) {
  if (kind.crosses) return stage.memory_tokens;
  if (!kind.reduced) return stage.tokens;
  const Count area = Count(stage.reduction) * stage.reduction;
  return std::max<std::int64_t>((Count(stage.tokens) / area).value(), 1);
}

std::int64_t offsets_of(const Stage& stage, const CountedLayer& kind) {
  if (!stage.decomposed_positions) return 0;
  if (!kind.windowed) return 2 * (stage.rows + stage.columns) - 2;
  const auto side =
      static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(stage.window_tokens))));
  return 4 * side - 2;
}

std::vector<Projection> layer_projections(const Stage& stage, const MechanismCost& cost,
                                          const AttentionShape& shape) {
  std::vector<Projection> list = cost.projections(stage.width, shape);
  for (Projection& one : list) {
    if (one.component != "key projection" && one.component != "value projection") continue;
    // Multiplied first: the heads of a convolution need not divide its outputs.
    one.outputs = (Count(one.outputs) * stage.heads_of_keys() / stage.heads).value();
  }
  return list;
}

bool has_bias(const Network& network, const Projection& projection) {
  if (projection.component == "output projection") return network.output_biases;
  if (projection.component == "key projection" && !network.key_biases) return false;
  return network.query_key_value_biases;
}

OperationCount repeated(const OperationCount& count, std::int64_t times) {
  OperationCount product = count;
  for (std::int64_t* part : {&product.multiplications, &product.additions, &product.shifts,
                             &product.divisions, &product.exponentials, &product.bytes_moved}) {
    *part = (Count(*part) * times).value();
  }
  return product;
}

OperationCount LayerCosts::linear(const std::string& name, std::int64_t rows, std::int64_t inputs,
                                  std::int64_t outputs, bool bias, Arithmetic arithmetic) const {
  const Count products = Count(rows) * inputs * outputs;
  OperationCount count = arithmetic == Arithmetic::adder ? component(name, 0, 2 * products)
                                                         : accumulated(name, products);
  if (convention_ != CostConvention::complete) return count;
  if (bias) count.additions = (Count(count.additions) + Count(rows) * outputs).value();
  return moving(count, convention_,
                Count(rows) * (Count(inputs) + outputs) + Count(inputs) * outputs);
}

OperationCount LayerCosts::convolution(const std::string& name, std::int64_t rows,
                                       std::int64_t taps, std::int64_t channels,
                                       std::int64_t outputs) const {
  const Count products = Count(rows) * taps * channels * outputs;
  const Count biases = Count(rows) * outputs;
  switch (convention_) {
    case CostConvention::adder:
      return accumulated(name, products);
    case CostConvention::ecoformer:
      return accumulated(name, products + biases);
    case CostConvention::complete:
      break;
  }
  return moving(component(name, products, products + biases), convention_,
                Count(rows) * (Count(channels) + outputs) + Count(taps) * channels * outputs);
}

OperationCount LayerCosts::norm(const std::string& name, std::int64_t rows,
                                std::int64_t width) const {
  const Count n = rows, d = width;
  switch (convention_) {
    case CostConvention::adder:
      return component(name, 0, 0);
    case CostConvention::ecoformer:
      return accumulated(name, rms_norms_ ? n * d : 2 * n * d);
    case CostConvention::complete:
      break;
  }
  if (rms_norms_) {
    // Operations: squares and their mean; 1/√(· + ε); scale and gain.
    OperationCount count = component(name, 3 * n * d, n * (d + 1));
    count.divisions = (2 * n).value();
    count.exponentials = rows;
    return moving(count, convention_, 2 * n * d + d);
  }
  // Operations: mean; differences, their squares and mean; 1/√(· + ε); scale, gain and bias.
  OperationCount count = component(name, 3 * n * d, n * (4 * d + 1));
  count.divisions = (3 * n).value();
  count.exponentials = rows;
  return moving(count, convention_, 2 * n * d + 2 * d);
}

OperationCount LayerCosts::activation(const std::string& name, std::int64_t rows,
                                      std::int64_t width, Activation activation) const {
  if (convention_ != CostConvention::complete) return component(name, 0, 0);
  const Count elements = Count(rows) * width;
  OperationCount count;
  switch (activation) {
    case Activation::gelu:  // x/2 · (1 + erf(x/√2))
      count = component(name, 3 * elements, elements);
      count.exponentials = elements.value();
      break;
    case Activation::gelu_tanh:  // x/2 · (1 + tanh(√(2/π)·(x + 0.044715 x³)))
      count = component(name, 6 * elements, 2 * elements);
      count.exponentials = elements.value();
      break;
    case Activation::relu:
      count = component(name, 0, elements);
      break;
    case Activation::quick_gelu:  // x / (1 + exp(−1.702 x))
      count = component(name, elements, elements);
      count.exponentials = count.divisions = elements.value();
      break;
    case Activation::silu:  // x / (1 + exp(−x))
      count = component(name, 0, elements);
      count.exponentials = count.divisions = elements.value();
      break;
    case Activation::relu2:
      count = component(name, elements, elements);
      break;
    case Activation::hard_swish:  // x · min(max(x + 3, 0), 6) / 6
      count = component(name, 2 * elements, 3 * elements);
      break;
  }
  return moving(count, convention_, 2 * elements);
}

std::vector<OperationCount> LayerCosts::attention_pooling(std::int64_t rows, std::int64_t width,
                                                          std::int64_t hidden) const {
  const std::string name = "attention pooling";
  std::vector<OperationCount> counts = {
      linear(name, rows, width, hidden, true, Arithmetic::multiplicative),
      linear(name, rows, hidden, 1, true, Arithmetic::multiplicative)};
  if (convention_ == CostConvention::complete) {
    const Count elements = Count(rows) * hidden, n = rows;
    OperationCount tanh = component(name, 0, 0);
    tanh.exponentials = elements.value();
    counts.push_back(moving(tanh, convention_, 2 * elements));
    OperationCount softmax = component(name, 0, 3 * n);  // maximum, difference, sum
    softmax.exponentials = softmax.divisions = rows;
    counts.push_back(moving(softmax, convention_, 2 * n));
  }
  const Count products = Count(rows) * width;
  counts.push_back(moving(accumulated(name, products), convention_, products + rows + width));
  return counts;
}

OperationCount LayerCosts::scaling(const std::string& name, std::int64_t rows,
                                   std::int64_t width) const {
  if (convention_ != CostConvention::complete) return component(name, 0, 0);
  const Count elements = Count(rows) * width;
  return moving(component(name, elements, 0), convention_, 2 * elements + width);
}

OperationCount LayerCosts::rotation(std::int64_t rows, std::int64_t channels) const {
  const std::string name = "rotary positions";
  if (convention_ != CostConvention::complete) return component(name, 0, 0);
  const Count elements = Count(rows) * channels;
  return moving(component(name, 2 * elements, elements), convention_, 2 * elements);
}

std::vector<OperationCount> LayerCosts::routing(std::int64_t rows, std::int64_t width,
                                                std::int64_t experts, std::int64_t active,
                                                bool biases) const {
  const std::string name = "router";
  std::vector<OperationCount> counts = {
      linear(name, rows, width, experts, biases, Arithmetic::multiplicative)};
  if (convention_ != CostConvention::complete) return counts;
  const Count scores = Count(rows) * experts, outputs = Count(rows) * active * width;
  OperationCount softmax = component(name, 0, 3 * scores);  // maximum, difference, sum
  softmax.exponentials = softmax.divisions = scores.value();
  counts.push_back(moving(softmax, convention_, 2 * scores));
  counts.push_back(
      moving(component(name, outputs, outputs), convention_, outputs + Count(rows) * width));
  return counts;
}

OperationCount LayerCosts::product(const std::string& name, std::int64_t rows,
                                   std::int64_t width) const {
  if (convention_ != CostConvention::complete) return component(name, 0, 0);
  const Count elements = Count(rows) * width;
  return moving(component(name, elements, 0), convention_, 3 * elements);
}

OperationCount LayerCosts::decomposed_positions(std::int64_t rows, std::int64_t width,
                                                std::int64_t sides, std::int64_t keys) const {
  const Count products = Count(rows) * sides * width;
  OperationCount count = accumulated("position bias", products);
  if (convention_ != CostConvention::complete) return count;
  const Count scores = Count(rows) * keys;
  count.additions = (Count(count.additions) + 2 * scores).value();
  return moving(count, convention_,
                Count(rows) * (Count(width) + sides) + Count(sides) * width + 2 * scores);
}

OperationCount LayerCosts::sum(const std::string& name, std::int64_t rows,
                               std::int64_t width) const {
  if (convention_ != CostConvention::complete) return component(name, 0, 0);
  const Count elements = Count(rows) * width;
  return moving(component(name, 0, elements), convention_, 3 * elements);
}

}  // namespace attnscope
