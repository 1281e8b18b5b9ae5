#include "core/model/weights/weight_reader.h"

#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

bool same_but_for_ones(Shape stored, Shape expected) {
  if (expected.size() == 2 && stored.size() == 4 && stored[0] == expected[0]) {
    return stored[1] * stored[2] * stored[3] == expected[1];
  }
  std::erase(stored, 1);
  std::erase(expected, 1);
  return stored == expected;
}

}  // namespace

const Architecture::Source& WeightReader::source_of(const std::string& role) const {
  const auto found = architecture_.sources.find(role);
  if (found != architecture_.sources.end()) return found->second;
  throw Error(ErrorKind::damaged, "the model has no tensor for the role " + role)
      .in_file(checkpoint_.path());
}

Tensor WeightReader::read(const std::string& role, const Shape& shape) const {
  const Architecture::Source& source = source_of(role);
  const StoredTensor& stored = checkpoint_.at(source.tensor);
  const bool turns = source.transposed && shape.size() == 2;
  Shape expected = shape;
  if (turns) std::swap(expected[0], expected[1]);
  if (!same_but_for_ones(stored.shape, expected)) {
    throw Error(ErrorKind::damaged, "the tensor does not fit the model")
        .in_file(checkpoint_.path())
        .about(stored.name)
        .expected(to_string(expected))
        .found(to_string(stored.shape));
  }
  Tensor tensor = stored.view().to_float().reshaped(expected);
  if (!turns) return tensor;
  Tensor turned(shape);
  turned.matrix() = std::as_const(tensor).matrix().transpose();
  return turned;
}

std::vector<float> WeightReader::read_vector(const std::string& role, std::int64_t extent,
                                             bool required) const {
  if (!required && !has(role)) return {};
  const Tensor tensor = read(role, {extent});
  return {tensor.values().begin(), tensor.values().end()};
}

std::optional<LayerNorm> WeightReader::read_norm(const std::string& role, std::int64_t width,
                                                 double eps) const {
  if (!has(role + ".weight")) return std::nullopt;
  LayerNorm norm;
  norm.weight = read_vector(role + ".weight", width);
  norm.bias = read_vector(role + ".bias", width, false);
  if (norm.bias.empty()) norm.bias.assign(static_cast<std::size_t>(width), 0.0F);
  norm.eps = eps;
  norm.rms = spec_.layer.norm.kind == Norm::rms;
  return norm;
}

Linear WeightReader::read_linear(const std::string& role, std::int64_t outputs, std::int64_t inputs,
                                 Arithmetic arithmetic) const {
  return {read(role + ".weight", {outputs, inputs}), read_vector(role + ".bias", outputs, false),
          arithmetic, adder_norm(role, outputs, arithmetic)};
}

std::optional<LayerNorm> WeightReader::adder_norm(const std::string& role, std::int64_t width,
                                                  Arithmetic arithmetic) const {
  if (arithmetic == Arithmetic::multiplicative) return std::nullopt;
  std::optional<LayerNorm> norm = read_norm(role + "_norm", width);
  // Without learned parameters the outputs are still scaled: plainly.
  return norm ? norm : plain_norm(width);
}

LayerNorm WeightReader::plain_norm(std::int64_t width) const {
  const auto count = static_cast<std::size_t>(width);
  return {std::vector<float>(count, 1.0F), std::vector<float>(count, 0.0F), spec_.layer.norm.eps};
}

NamedTensors WeightReader::read_mechanism(std::int64_t layer) const {
  NamedTensors tensors;
  const std::string prefix = "layer." + std::to_string(layer) + ".mechanism.";
  for (auto source = architecture_.sources.lower_bound(prefix);
       source != architecture_.sources.end() && source->first.starts_with(prefix); ++source) {
    tensors.emplace(source->first.substr(prefix.size()),
                    checkpoint_.at(source->second.tensor).view().to_float());
  }
  return tensors;
}

std::int64_t WeightReader::outputs_of(const std::string& role) const {
  const Architecture::Source& source = source_of(role);
  const Shape& shape = checkpoint_.at(source.tensor).shape;
  if (shape.size() < 2) {
    throw Error(ErrorKind::damaged, "the tensor does not fit the model")
        .in_file(checkpoint_.path())
        .about(source.tensor)
        .expected("[classes, D]")
        .found(to_string(shape));
  }
  return source.transposed ? shape[1] : shape[0];
}

}  // namespace attnscope
