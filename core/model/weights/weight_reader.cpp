#include "core/model/weights/weight_reader.h"

#include <charconv>
#include <numeric>
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

/// Model size in float32 bytes above which weights keep the file's dtype. Smaller models run faster
/// if they are converted once.
constexpr std::int64_t kLarge = std::int64_t{256} << 20;

/// Stored axes of the rows and columns of E experts: stacked [E, outputs, inputs], or [E, inputs,
/// outputs].
const std::vector<std::vector<std::int64_t>> kStackedExperts = {{0, 1}, {2}};
const std::vector<std::vector<std::int64_t>> kTurnedExperts = {{0, 2}, {1}};

/// The matrix of one expert in a view that stacks them, `turned` with rows as columns.
TensorView expert_of(const TensorView& all, std::int64_t expert, bool turned) {
  TensorView view = all;
  const std::int64_t elements = expert * all.strides.front();
  view.data += all.dtype == DType::quantised
                   ? elements / all.blocks->elements * all.blocks->bytes
                   : elements * static_cast<std::int64_t>(size_of(all.dtype));
  view.shape.erase(view.shape.begin());
  view.strides.erase(view.strides.begin());
  if (turned) {
    std::swap(view.shape[0], view.shape[1]);
    std::swap(view.strides[0], view.strides[1]);
  }
  if (all.factors) {
    const StoredFactors& factors = *all.factors;
    view.factors = std::make_shared<const StoredFactors>(
        StoredFactors{expert_of(factors.values, expert, turned), factors.rows, factors.columns});
  }
  return view;
}

/// The shape in the file, which is transposed for a transposed matrix.
Shape as_stored(Shape shape, const TensorSource& source) {
  if (source.transposed && shape.size() == 2) std::swap(shape[0], shape[1]);
  return shape;
}

}  // namespace

WeightReader::WeightReader(const Checkpoint& checkpoint, const Architecture& architecture)
    : checkpoint_(checkpoint), architecture_(architecture), spec_(architecture.spec) {
  std::int64_t numbers = 0;
  for (const auto& [role, source] : architecture.sources) {
    numbers += element_count(checkpoint.at(source.tensor).shape);
    for (const std::string& piece : source.pieces) {
      numbers += element_count(checkpoint.at(piece).shape);
    }
  }
  large_ = 4 * numbers > kLarge;
}

const Architecture::Source& WeightReader::source_of(const std::string& role) const {
  const auto found = architecture_.sources.find(role);
  if (found != architecture_.sources.end()) return found->second;
  throw Error(ErrorKind::damaged, "the model has no tensor for the role " + role)
      .in_file(checkpoint_.path());
}

void WeightReader::check_shape(const TensorSource& source, const Shape& shape) const {
  const Shape found = used_shape(checkpoint_, source);
  if (same_but_for_ones(found, shape)) return;
  throw Error(ErrorKind::damaged, "the tensor does not fit the model")
      .in_file(checkpoint_.path())
      .about(source.tensor)
      .expected(to_string(as_stored(shape, source)))
      .found(to_string(as_stored(found, source)));
}

Tensor WeightReader::read(const std::string& role, const Shape& shape) const {
  const TensorSource& source = source_of(role);
  check_shape(source, shape);
  return used_tensor(checkpoint_, source).reshaped(shape);
}

WeightMatrix WeightReader::read_matrix(const std::string& role, std::int64_t outputs,
                                       std::int64_t inputs) const {
  const TensorSource& source = source_of(role);
  const bool as_it_is = source.pieces.empty() && source.axes.empty() && source.shape.empty() &&
                        !source.slice && !source.rows;
  if (!large_ || !as_it_is) return read(role, {outputs, inputs});
  check_shape(source, {outputs, inputs});
  TensorView view = checkpoint_.at(source.tensor).view();
  const bool turns = source.transposed && view.dtype != DType::quantised;
  if (view.shape.size() != 2 || turns != source.transposed) return read(role, {outputs, inputs});
  if (turns) {
    std::swap(view.shape[0], view.shape[1]);
    std::swap(view.strides[0], view.strides[1]);
  }
  return WeightMatrix(std::move(view));
}

std::vector<float> WeightReader::read_vector(const std::string& role, std::int64_t extent,
                                             bool required) const {
  if (!required && !has(role)) return {};
  const Tensor tensor = read(role, {extent});
  return {tensor.values().begin(), tensor.values().end()};
}

NormSpec WeightReader::norm_of(const std::string& role) const {
  constexpr std::string_view beginning = "layer.";
  if (!role.starts_with(beginning)) return spec_.layer.norm;
  std::int64_t layer = 0;
  std::from_chars(role.data() + beginning.size(), role.data() + role.size(), layer);
  return layer_of(spec_, layer).norm;
}

std::optional<LayerNorm> WeightReader::read_norm(const std::string& role, std::int64_t width,
                                                 double eps) const {
  if (!has(role + ".weight")) return std::nullopt;
  return layer_norm(norm_of(role).kind, read_vector(role + ".weight", width),
                    read_vector(role + ".bias", width, false), eps);
}

Linear WeightReader::read_linear(const std::string& role, std::int64_t outputs, std::int64_t inputs,
                                 Arithmetic arithmetic) const {
  return {read_matrix(role + ".weight", outputs, inputs),
          read_vector(role + ".bias", outputs, false), arithmetic,
          adder_norm(role, outputs, arithmetic)};
}

std::vector<WeightMatrix> WeightReader::expert_matrices(const TensorSource& source,
                                                        std::int64_t experts, std::int64_t outputs,
                                                        std::int64_t inputs) const {
  std::vector<WeightMatrix> matrices;
  const bool plain = source.shape.empty() && !source.rows && !source.slice;
  if (plain && source.counted && source.axes.empty() && !source.transposed) {
    matrices.emplace_back(checkpoint_.at(source.tensor).view());
    for (const std::string& piece : source.pieces) {
      matrices.emplace_back(checkpoint_.at(piece).view());
    }
    return matrices;
  }
  const bool turned = source.axes == kTurnedExperts;
  if (plain && source.pieces.empty() && (turned || source.axes == kStackedExperts)) {
    const TensorView all = checkpoint_.at(source.tensor).view();
    const bool whole = !all.factors || all.factors->values.shape.size() == 3;
    const bool stays = whole && all.shape.size() == 3 && !(turned && all.dtype == DType::quantised);
    for (std::int64_t expert = 0; stays && expert < experts; ++expert) {
      matrices.emplace_back(expert_of(all, expert, turned));
    }
    if (stays) return matrices;
  }
  const Tensor all = used_tensor(checkpoint_, source).reshaped({experts * outputs, inputs});
  for (std::int64_t expert = 0; expert < experts; ++expert) {
    matrices.emplace_back(rows_of(all, expert * outputs, outputs));
  }
  return matrices;
}

std::vector<Linear> WeightReader::read_experts(const std::string& role, std::int64_t experts,
                                               std::int64_t outputs, std::int64_t inputs) const {
  const TensorSource& source = source_of(role + ".weight");
  TensorSource one = source;  // tensor by tensor, so that an error names one that does not fit
  one.pieces.clear();
  for (const std::string& piece : source.pieces) {
    one.tensor = piece;
    if (source.counted) check_shape(one, {outputs, inputs});
  }
  check_shape(source, {experts * outputs, inputs});
  std::vector<WeightMatrix> weights = expert_matrices(source, experts, outputs, inputs);
  const std::vector<float> biases = read_vector(role + ".bias", experts * outputs, false);
  std::vector<Linear> layers;
  for (std::int64_t expert = 0; expert < experts; ++expert) {
    layers.emplace_back(std::move(weights[static_cast<std::size_t>(expert)]),
                        part_of(biases, expert * outputs, outputs));
  }
  return layers;
}

Convolution WeightReader::read_convolution(const std::string& role, std::int64_t outputs,
                                           std::int64_t inputs, std::int64_t kernel,
                                           std::int64_t stride, std::int64_t padding) const {
  return {read(role + ".weight", {outputs, inputs, kernel, kernel}),
          read_vector(role + ".bias", outputs, false), stride, padding};
}

SequenceConvolution WeightReader::read_sequence_convolution(const std::string& role,
                                                            std::int64_t outputs,
                                                            std::int64_t inputs,
                                                            std::int64_t stride) const {
  const TensorSource& source = source_of(role + ".weight");
  const Shape shape = used_shape(checkpoint_, source);
  const bool groups = shape.size() == 3 && shape[1] > 0 && inputs % shape[1] == 0 &&
                      outputs % (inputs / shape[1]) == 0 && shape[0] == outputs;
  if (!groups || shape[2] % 2 != 1) {
    throw Error(groups ? ErrorKind::unsupported : ErrorKind::damaged,
                "the convolution does not fit the model")
        .in_file(checkpoint_.path())
        .about(source.tensor)
        .expected("[" + std::to_string(outputs) + ", " + std::to_string(inputs) +
                  " / groups, an odd kernel]")
        .found(to_string(shape));
  }
  const std::int64_t count = inputs / shape[1], rows = outputs / count;
  const Tensor weight = read(role + ".weight", shape).reshaped({outputs, shape[1] * shape[2]});
  const std::vector<float> bias = read_vector(role + ".bias", outputs, false);
  SequenceConvolution convolution{{}, shape[2], stride};
  for (std::int64_t group = 0; group < count; ++group) {
    convolution.groups.emplace_back(rows_of(weight, group * rows, rows),
                                    part_of(bias, group * rows, rows));
  }
  return convolution;
}

std::optional<DepthwiseConvolution> WeightReader::read_depthwise(const std::string& role,
                                                                 std::int64_t channels) const {
  if (!has(role + ".weight")) return std::nullopt;
  return DepthwiseConvolution(read(role + ".weight", {channels, 1, 3, 3}),
                              read_vector(role + ".bias", channels, false));
}

std::optional<LayerNorm> WeightReader::adder_norm(const std::string& role, std::int64_t width,
                                                  Arithmetic arithmetic) const {
  if (arithmetic == Arithmetic::multiplicative) return std::nullopt;
  std::optional<LayerNorm> norm = read_norm(role + "_norm", width);
  // Without learned parameters the outputs are still normalised.
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
    tensors.emplace(source->first.substr(prefix.size()), used_tensor(checkpoint_, source->second));
  }
  return tensors;
}

std::int64_t WeightReader::size_of(const std::string& role) const {
  return element_count(used_shape(checkpoint_, source_of(role)));
}

std::int64_t WeightReader::outputs_of(const std::string& role) const {
  const TensorSource& source = source_of(role);
  const Shape shape = used_shape(checkpoint_, source);
  if (shape.size() >= 2) return shape[0];
  throw Error(ErrorKind::damaged, "the tensor does not fit the model")
      .in_file(checkpoint_.path())
      .about(source.tensor)
      .expected("[classes, D]")
      .found(to_string(shape));
}

std::vector<std::int64_t> counted_rows(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), first);
  return rows;
}

Tensor rows_of(const Tensor& matrix, std::int64_t first, std::int64_t count) {
  const std::int64_t columns = matrix.extent(1);
  const auto begin = matrix.values().begin() + first * columns;
  return {{count, columns}, std::vector<float>(begin, begin + count * columns)};
}

std::vector<float> part_of(const std::vector<float>& values, std::int64_t first,
                           std::int64_t count) {
  if (values.empty()) return {};
  return {values.begin() + first, values.begin() + first + count};
}

}  // namespace attnscope
