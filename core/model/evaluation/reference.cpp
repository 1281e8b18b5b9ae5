#include "core/model/evaluation/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr std::string_view kMapsOfLayer = "maps_";

bool is_compared(const std::string& name) {
  return name == "logits" || name == "tokens" || name == "maps" ||
         (name.starts_with(kMapsOfLayer) && parse_whole(name.substr(kMapsOfLayer.size())));
}

std::string maps_of_layer(std::int64_t layer) {
  return std::string(kMapsOfLayer) + std::to_string(layer);
}

/// Index `index` of the first axis.
TensorView input_part(TensorView all, std::int64_t index) {
  if (element_count(all.shape) != 0) {
    all.data += index * all.strides[0] * static_cast<std::int64_t>(size_of(all.dtype));
  }
  all.shape.erase(all.shape.begin());
  all.strides.erase(all.strides.begin());
  return all;
}

}  // namespace

Reference::Reference(const std::filesystem::path& file) : stored_(open_checkpoint(file)) {
  bool anything = false;
  for (const StoredTensor& tensor : stored_.tensors()) {
    const bool known = tensor.name == "inputs" || is_compared(tensor.name);
    if (!known) {
      throw Error(ErrorKind::unsupported, "the reference holds an unknown array")
          .about(tensor.name)
          .expected("inputs, logits, tokens, maps, or maps_0, maps_1, …");
    }
    anything = anything || is_compared(tensor.name);
    if (tensor.shape.empty() || tensor.shape[0] != inputs()) {
      throw Error(ErrorKind::damaged, "the arrays hold different numbers of inputs")
          .about(tensor.name)
          .expected(std::to_string(inputs()) + " on the first axis")
          .found(to_string(tensor.shape));
    }
    arrays_.emplace(tensor.name, tensor.view());
  }
  if (!anything || inputs() == 0) {
    throw Error(ErrorKind::damaged, "the reference holds no logits, tokens or maps")
        .expected("logits, tokens or maps of at least one input");
  }
}

std::int64_t Reference::inputs() const {
  const Shape& shape = stored_.at("inputs").shape;
  return shape.empty() ? 0 : shape[0];
}

std::int64_t Reference::layers() const {
  for (const char* const name : {"maps", "tokens"}) {
    if (has(name)) return std::ssize(arrays_.at(name).shape) > 1 ? arrays_.at(name).shape[1] : 0;
  }
  std::int64_t layers = 0;
  while (has(maps_of_layer(layers))) ++layers;
  return layers;
}

Input Reference::input(std::int64_t index) const {
  const TensorView& all = arrays_.at("inputs");
  const TensorView one = input_part(all, index);
  Input input;
  if (all.shape.size() == 2 && !is_floating(all.dtype)) {
    input.content = Text{{}, one.to_int64()};
  } else {
    input.content = one.to_float();
  }
  input.label = "reference, input " + std::to_string(index);
  return input;
}

Tensor Reference::of(const std::string& name, std::int64_t input) const {
  return input_part(arrays_.at(name), input).to_float();
}

Tensor Reference::of(const std::string& name, std::int64_t input, std::int64_t layer,
                     std::int64_t layers) const {
  const TensorView all = input_part(arrays_.at(name), input);
  if (all.shape.empty() || all.shape[0] != layers) {
    throw Error(ErrorKind::damaged, "the reference has a different number of layers")
        .about(name)
        .expected(std::to_string(layers) + " on the second axis")
        .found(to_string(stored_.at(name).shape));
  }
  return input_part(all, layer).to_float();
}

Tensor Reference::maps(std::int64_t input, std::int64_t layer, std::int64_t layers) const {
  if (has(maps_of_layer(layer))) return of(maps_of_layer(layer), input);
  return has("maps") ? of("maps", input, layer, layers) : Tensor();
}

double relative_difference(const Tensor& ours, const Tensor& reference) {
  double greatest = 0, difference = 0;
  for (std::int64_t i = 0; i < ours.size(); ++i) {
    const double expected = reference.data()[i], one = std::abs(ours.data()[i] - expected);
    if (std::isnan(one)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, one);
    greatest = std::max(greatest, std::abs(expected));
  }
  return difference > 0 ? difference / greatest : 0;
}

}  // namespace attnscope
