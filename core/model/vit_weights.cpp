#include "core/model/vit_weights.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/model/position_grid.h"

namespace attnscope {

namespace {

std::vector<float> to_vector(const Tensor& tensor) {
  return {tensor.values().begin(), tensor.values().end()};
}

/// Rows [first, first + count) of a matrix.
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

class Reader {
 public:
  Reader(const Checkpoint& checkpoint, const Architecture& architecture)
      : checkpoint_(checkpoint), architecture_(architecture), spec_(architecture.spec) {}

  [[nodiscard]] bool has(const std::string& role) const {
    return architecture_.sources.contains(role);
  }

  /// The role's tensor as `shape`. Axes of extent 1 before or after are ignored, as in [1, 1, D]
  /// or the 1×1 convolution [out, in, 1, 1]; so is how a convolution's kernel is split into axes.
  [[nodiscard]] Tensor read(const std::string& role, const Shape& shape) const {
    const auto found = architecture_.sources.find(role);
    if (found == architecture_.sources.end()) {
      throw Error(ErrorKind::damaged, "the model has no tensor for the role " + role)
          .in_file(checkpoint_.path());
    }
    const StoredTensor& stored = checkpoint_.at(found->second.tensor);
    const bool turns = found->second.transposed && shape.size() == 2;
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

  [[nodiscard]] std::vector<float> read_vector(const std::string& role, std::int64_t extent,
                                               bool required = true) const {
    if (!required && !has(role)) return {};
    return to_vector(read(role, {extent}));
  }

  [[nodiscard]] std::optional<LayerNorm> read_norm(const std::string& role,
                                                   std::int64_t width) const {
    if (!has(role + ".weight")) return std::nullopt;
    LayerNorm norm;
    norm.weight = read_vector(role + ".weight", width);
    norm.bias = read_vector(role + ".bias", width, false);
    if (norm.bias.empty()) norm.bias.assign(static_cast<std::size_t>(width), 0.0F);
    norm.eps = spec_.norm_eps;
    return norm;
  }

  /// A linear layer inside a block: in adder arithmetic it needs its LayerNorm.
  [[nodiscard]] Linear read_linear(const std::string& role, std::int64_t outputs,
                                   std::int64_t inputs, Arithmetic arithmetic) const {
    return {read(role + ".weight", {outputs, inputs}), read_vector(role + ".bias", outputs, false),
            arithmetic, adder_norm(role, outputs, arithmetic)};
  }

  [[nodiscard]] std::optional<LayerNorm> adder_norm(const std::string& role, std::int64_t width,
                                                    Arithmetic arithmetic) const {
    if (arithmetic == Arithmetic::multiplicative) return std::nullopt;
    std::optional<LayerNorm> norm = read_norm(role + "_norm", width);
    // Without learned parameters the outputs are still scaled: plainly.
    return norm ? norm : plain_norm(width);
  }

  [[nodiscard]] LayerNorm plain_norm(std::int64_t width) const {
    const auto count = static_cast<std::size_t>(width);
    return {std::vector<float>(count, 1.0F), std::vector<float>(count, 0.0F), spec_.norm_eps};
  }

 private:
  [[nodiscard]] static bool same_but_for_ones(Shape stored, Shape expected) {
    if (expected.size() == 2 && stored.size() == 4 && stored[0] == expected[0]) {
      return stored[1] * stored[2] * stored[3] == expected[1];
    }
    std::erase(stored, 1);
    std::erase(expected, 1);
    return stored == expected;
  }

  const Checkpoint& checkpoint_;
  const Architecture& architecture_;
  const ModelSpec& spec_;
};

/// For flattened patches stored as (row, column, channel): where each (channel, row, column) is.
std::vector<std::int64_t> channels_first_order(const ModelSpec& spec) {
  std::vector<std::int64_t> order;
  const std::int64_t pixels = spec.patch_height * spec.patch_width;
  for (std::int64_t channel = 0; channel < spec.channels; ++channel) {
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      order.push_back(pixel * spec.channels + channel);
    }
  }
  return order;
}

void read_patches(const Reader& reader, const ModelSpec& spec, VitWeights& weights) {
  const std::int64_t inputs = spec.channels * spec.patch_height * spec.patch_width;
  Tensor kernel = reader.read("patch.weight", {spec.width, inputs});
  weights.patch_norm_before = reader.read_norm("patch_norm_before", inputs);
  weights.patch_norm_after = reader.read_norm("patch_norm_after", spec.width);
  if (spec.patch_order == PatchOrder::channels_last) {
    const std::vector<std::int64_t> order = channels_first_order(spec);
    Tensor ordered(kernel.shape());
    for (std::size_t i = 0; i < order.size(); ++i) {
      ordered.matrix().col(static_cast<std::int64_t>(i)) = kernel.matrix().col(order[i]);
    }
    kernel = std::move(ordered);
    if (weights.patch_norm_before) {
      const LayerNorm stored = *weights.patch_norm_before;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const auto from = static_cast<std::size_t>(order[i]);
        weights.patch_norm_before->weight[i] = stored.weight[from];
        weights.patch_norm_before->bias[i] = stored.bias[from];
      }
    }
  }
  // Adder networks keep the patch embedding multiplicative (Adder, section 4.1).
  weights.patch = Linear(std::move(kernel), reader.read_vector("patch.bias", spec.width, false));
}

void read_tokens(const Reader& reader, const Architecture& architecture, VitWeights& weights) {
  const ModelSpec& spec = architecture.spec;
  const std::int64_t prefix = spec.class_tokens;
  if (prefix > 0) {
    weights.prefix_tokens = Tensor({prefix, spec.width});
    const char* const roles[] = {"class_token", "distillation_token"};
    for (std::int64_t i = 0; i < prefix; ++i) {
      weights.prefix_tokens.matrix().row(i) =
          reader.read(roles[i], {1, spec.width}).matrix().row(0);
    }
  }
  if (spec.positions == Positions::none) return;
  const std::int64_t patches = architecture.position_rows * architecture.position_columns;
  const std::int64_t before = architecture.positions_cover_prefix ? prefix : 0;
  const Tensor stored = reader.read("positions", {before + patches, spec.width});
  if (before > 0) weights.prefix_tokens.matrix() += stored.matrix().topRows(before);
  weights.positions =
      resample_positions(rows_of(stored, before, patches), architecture.position_rows,
                         architecture.position_columns, spec.grid_rows(), spec.grid_columns());
}

/// Rows of part 0 (queries), 1 (keys) or 2 (values) of a fused weight, in the order of the heads.
std::vector<std::int64_t> fused_rows(const ModelSpec& spec, QkvRows order, std::int64_t part) {
  const std::int64_t each = spec.width_of_head(), inner = spec.heads * each;
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < inner; ++row) {
    const std::int64_t head = row / each;
    rows.push_back(order == QkvRows::parts_first ? part * inner + row
                                                 : (head * 3 + part) * each + row % each);
  }
  return rows;
}

void read_queries_keys_values(const Reader& reader, const Architecture& architecture,
                              const std::string& layer, BlockWeights& block) {
  const ModelSpec& spec = architecture.spec;
  const std::int64_t inner = spec.heads * spec.width_of_head();
  Linear* const parts[] = {&block.query, &block.key, &block.value};
  if (!reader.has(layer + "qkv.weight")) {
    const char* const names[] = {"query", "key", "value"};
    for (std::size_t part = 0; part < 3; ++part) {
      *parts[part] = reader.read_linear(layer + names[part], inner, spec.width, spec.arithmetic);
    }
    return;
  }
  const Tensor weight = reader.read(layer + "qkv.weight", {3 * inner, spec.width});
  const std::vector<float> bias = reader.read_vector(layer + "qkv.bias", 3 * inner, false);
  const auto norms = reader.adder_norm(layer + "qkv", 3 * inner, spec.arithmetic);
  for (std::int64_t part = 0; part < 3; ++part) {
    Tensor taken({inner, spec.width});
    std::vector<float> taken_bias;
    const std::vector<std::int64_t> rows = fused_rows(spec, architecture.qkv_rows, part);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      taken.matrix().row(static_cast<std::int64_t>(i)) = weight.matrix().row(rows[i]);
      if (!bias.empty()) taken_bias.push_back(bias[static_cast<std::size_t>(rows[i])]);
    }
    std::optional<LayerNorm> norm = norms;
    if (norm) {
      norm->weight = part_of(norms->weight, part * inner, inner);
      norm->bias = part_of(norms->bias, part * inner, inner);
    }
    *parts[part] =
        Linear(std::move(taken), std::move(taken_bias), spec.arithmetic, std::move(norm));
  }
}

/// Every tensor with the role "layer.N.mechanism.NAME", as stored: the mechanism knows its shape.
NamedTensors read_mechanism(const Checkpoint& checkpoint, const Architecture& architecture,
                            const std::string& layer) {
  NamedTensors tensors;
  const std::string prefix = layer + "mechanism.";
  for (auto source = architecture.sources.lower_bound(prefix);
       source != architecture.sources.end() && source->first.starts_with(prefix); ++source) {
    tensors.emplace(source->first.substr(prefix.size()),
                    checkpoint.at(source->second.tensor).view().to_float());
  }
  return tensors;
}

BlockWeights read_block(const Reader& reader, const Architecture& architecture,
                        std::int64_t index) {
  const ModelSpec& spec = architecture.spec;
  const std::string layer = "layer." + std::to_string(index) + ".";
  const std::int64_t inner = spec.heads * spec.width_of_head();
  BlockWeights block;
  block.norm1 = reader.read_norm(layer + "norm1", spec.width);
  block.norm2 = reader.read_norm(layer + "norm2", spec.width);
  read_queries_keys_values(reader, architecture, layer, block);
  if (spec.arithmetic == Arithmetic::adder) {
    block.attention_norm = reader.read_norm(layer + "attention_norm", inner);
    if (!block.attention_norm) block.attention_norm = reader.plain_norm(inner);
  }
  if (reader.has(layer + "out.weight")) {
    block.out = reader.read_linear(layer + "out", spec.width, inner, spec.arithmetic);
  } else if (inner != spec.width) {
    throw Error(ErrorKind::damaged, "the heads' output has no projection to the width")
        .about(layer + "out.weight");
  }
  block.scale1 = reader.read_vector(layer + "scale1", spec.width, false);
  block.scale2 = reader.read_vector(layer + "scale2", spec.width, false);
  block.mlp1 = reader.read_linear(layer + "mlp1", spec.mlp_width, spec.width, spec.arithmetic);
  block.mlp2 = reader.read_linear(layer + "mlp2", spec.width, spec.mlp_width, spec.arithmetic);
  return block;
}

std::int64_t outputs_of(const Checkpoint& checkpoint, const Architecture& architecture,
                        const std::string& role) {
  const Architecture::Source& source = architecture.sources.find(role)->second;
  const Shape& shape = checkpoint.at(source.tensor).shape;
  if (shape.size() < 2) {
    throw Error(ErrorKind::damaged, "the tensor does not fit the model")
        .in_file(checkpoint.path())
        .about(source.tensor)
        .expected("[classes, D]")
        .found(to_string(shape));
  }
  return source.transposed ? shape[1] : shape[0];
}

void read_head(const Reader& reader, const Checkpoint& checkpoint, const Architecture& architecture,
               VitWeights& weights) {
  const ModelSpec& spec = architecture.spec;
  if (spec.final_norm) weights.final_norm = reader.read_norm("final_norm", spec.width);
  weights.head_norm = reader.read_norm("head_norm", spec.width);
  if (spec.readout == Readout::none) return;
  std::int64_t inputs = spec.width;
  for (int i = 0; i < 10; ++i) {
    const std::string role = "head." + std::to_string(i);
    if (!reader.has(role + ".weight")) continue;
    const std::int64_t outputs = outputs_of(checkpoint, architecture, role + ".weight");
    weights.head.push_back(reader.read_linear(role, outputs, inputs, Arithmetic::multiplicative));
    inputs = outputs;
  }
  if (weights.head.empty()) {
    throw Error(ErrorKind::usage, "the file holds no head to read out")
        .in_file(checkpoint.path())
        .about("readout")
        .expected("none");
  }
  if (spec.readout == Readout::class_and_distilled) {
    weights.distillation_head =
        reader.read_linear("distillation_head", inputs, spec.width, Arithmetic::multiplicative);
  }
}

}  // namespace

VitWeights read_vit_weights(const Checkpoint& checkpoint, const Architecture& architecture,
                            const Progress& progress) {
  const Reader reader(checkpoint, architecture);
  const ModelSpec& spec = architecture.spec;
  VitWeights weights;
  if (spec.patch_height > 0) {
    read_patches(reader, spec, weights);
    read_tokens(reader, architecture, weights);
    weights.embedding_norm = reader.read_norm("embedding_norm", spec.width);
  }
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    progress.step(static_cast<double>(layer) / static_cast<double>(spec.layers), "reading weights");
    weights.blocks.push_back(read_block(reader, architecture, layer));
    weights.blocks.back().mechanism =
        read_mechanism(checkpoint, architecture, "layer." + std::to_string(layer) + ".");
  }
  read_head(reader, checkpoint, architecture, weights);
  progress.step(1, "reading weights");
  return weights;
}

}  // namespace attnscope
