#include "core/model/weights/vit_weights.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/model/parts/position_grid.h"
#include "core/model/weights/weight_reader.h"

namespace attnscope {

namespace {

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

/// For flattened patches stored as (row, column, channel): where each (channel, row, column) is.
std::vector<std::int64_t> channels_first_order(const ModelSpec& spec) {
  std::vector<std::int64_t> order;
  const std::int64_t pixels = spec.input.patch_height * spec.input.patch_width;
  for (std::int64_t channel = 0; channel < spec.input.channels; ++channel) {
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      order.push_back(pixel * spec.input.channels + channel);
    }
  }
  return order;
}

void read_patches(const WeightReader& reader, const ModelSpec& spec, VitWeights& weights) {
  const std::int64_t inputs =
      spec.input.channels * spec.input.patch_height * spec.input.patch_width;
  Tensor kernel = reader.read("patch.weight", {spec.width, inputs});
  weights.patch_norm_before = reader.read_norm("patch_norm_before", inputs);
  weights.patch_norm_after = reader.read_norm("patch_norm_after", spec.width);
  if (spec.input.patch_order == PatchOrder::channels_last) {
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

void read_tokens(const WeightReader& reader, const Architecture& architecture,
                 VitWeights& weights) {
  const ModelSpec& spec = architecture.spec;
  if (spec.input.prefix_tokens() > 0) {
    weights.prefix_tokens = Tensor({spec.input.prefix_tokens(), spec.width});
    const char* const roles[] = {"class_token", "distillation_token"};
    for (std::int64_t i = 0; i < spec.input.class_tokens; ++i) {
      weights.prefix_tokens.matrix().row(i) =
          reader.read(roles[i], {1, spec.width}).matrix().row(0);
    }
  }
  if (spec.input.register_tokens > 0) {
    weights.prefix_tokens.matrix().bottomRows(spec.input.register_tokens) =
        reader.read("register_tokens", {spec.input.register_tokens, spec.width}).matrix();
  }
  if (spec.positions.kind == Positions::none) return;
  const std::int64_t patches = architecture.position_rows * architecture.position_columns;
  const std::int64_t before = architecture.position_prefix;
  const Tensor stored = reader.read("positions", {before + patches, spec.width});
  if (before > 0) weights.prefix_tokens.matrix().topRows(before) += stored.matrix().topRows(before);
  weights.positions = resample_positions(
      rows_of(stored, before, patches), {architecture.position_rows, architecture.position_columns},
      {spec.input.grid_rows(), spec.input.grid_columns()}, spec.positions.resize);
}

/// Rows of part 0 (queries), 1 (keys) or 2 (values) of a fused weight, in the order of the heads.
std::vector<std::int64_t> fused_rows(const ModelSpec& spec, QkvRows order, std::int64_t part) {
  const std::int64_t each = spec.width_of_head(), inner = spec.layer.attention.heads * each;
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < inner; ++row) {
    const std::int64_t head = row / each;
    rows.push_back(order == QkvRows::parts_first ? part * inner + row
                                                 : (head * 3 + part) * each + row % each);
  }
  return rows;
}

/// Channels that a layer's keys are projected to. Windowed DAFT has one for each head of its
/// biases, unless it says otherwise (DAFT, 3.2).
std::int64_t width_of_keys(const ModelSpec& spec, const MechanismChoice& trained) {
  const ParameterValues parameters = make_mechanism(trained)->choice().parameters;
  const TypedValues values(parameters);
  if (!values.has("full_keys") || values.flag("full_keys")) {
    return spec.layer.attention.heads * spec.width_of_head();
  }
  return values.whole("conv_heads");
}

void read_queries_keys_values(const WeightReader& reader, const Architecture& architecture,
                              std::int64_t index, BlockWeights& block) {
  const ModelSpec& spec = architecture.spec;
  const std::string layer = "layer." + std::to_string(index) + ".";
  const Arithmetic arithmetic = arithmetic_of(spec, index);
  const std::int64_t inner = spec.layer.attention.heads * spec.width_of_head();
  Linear* const parts[] = {&block.query, &block.key, &block.value};
  if (!reader.has(layer + "qkv.weight")) {
    const char* const names[] = {"query", "key", "value"};
    const std::int64_t widths[] = {inner, width_of_keys(spec, mechanism_of(spec, index)), inner};
    for (std::size_t part = 0; part < 3; ++part) {
      *parts[part] = reader.read_linear(layer + names[part], widths[part], spec.width, arithmetic);
    }
    return;
  }
  const Tensor weight = reader.read(layer + "qkv.weight", {3 * inner, spec.width});
  const std::vector<float> bias = reader.read_vector(layer + "qkv.bias", 3 * inner, false);
  const auto norms = reader.adder_norm(layer + "qkv", 3 * inner, arithmetic);
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
    *parts[part] = Linear(std::move(taken), std::move(taken_bias), arithmetic, std::move(norm));
  }
}

/// The hidden layer of block `index`'s MLP and its gate, apart or in one weight: the gate first.
void read_mlp(const WeightReader& reader, const ModelSpec& spec, std::int64_t index,
              BlockWeights& block) {
  const std::string layer = "layer." + std::to_string(index) + ".";
  const Arithmetic arithmetic = arithmetic_of(spec, index);
  const std::string both = layer + "mlp_gate_and_mlp1";
  if (!reader.has(both + ".weight")) {
    block.mlp1 = reader.read_linear(layer + "mlp1", spec.layer.mlp.width, spec.width, arithmetic);
    if (spec.layer.mlp.form == MlpForm::gated) {
      block.mlp_gate =
          reader.read_linear(layer + "mlp_gate", spec.layer.mlp.width, spec.width, arithmetic);
    }
    return;
  }
  const std::int64_t width = spec.layer.mlp.width;
  const Tensor weight = reader.read(both + ".weight", {2 * width, spec.width});
  const std::vector<float> bias = reader.read_vector(both + ".bias", 2 * width, false);
  block.mlp_gate = Linear(rows_of(weight, 0, width), part_of(bias, 0, width));
  block.mlp1 = Linear(rows_of(weight, width, width), part_of(bias, width, width));
}

}  // namespace

Tensor BlockWeights::mlp(Activation activation, ConstMatrixMap tokens) const {
  Tensor hidden = mlp1(tokens);
  if (mlp_gate) {
    Tensor gate = (*mlp_gate)(tokens);
    apply_activation(activation, gate.values());
    hidden.matrix().array() *= gate.matrix().array();
  } else {
    apply_activation(activation, hidden.values());
  }
  return mlp2(std::as_const(hidden).matrix());
}

BlockWeights read_block(const WeightReader& reader, const Architecture& architecture,
                        std::int64_t index) {
  const ModelSpec& spec = architecture.spec;
  const std::string layer = "layer." + std::to_string(index) + ".";
  const std::int64_t inner = spec.layer.attention.heads * spec.width_of_head();
  BlockWeights block;
  block.norm1 = reader.read_norm(layer + "norm1", spec.width);
  block.norm2 = reader.read_norm(layer + "norm2", spec.width);
  block.middle_norm = reader.read_norm(layer + "middle_norm", spec.width);
  const Arithmetic arithmetic = arithmetic_of(spec, index);
  read_queries_keys_values(reader, architecture, index, block);
  block.query_norm = reader.read_norm(layer + "query_norm", spec.width_of_head());
  block.key_norm = reader.read_norm(layer + "key_norm", spec.width_of_head());
  block.attention_norm = reader.read_norm(layer + "heads_norm", inner);
  if (arithmetic == Arithmetic::adder) {
    block.attention_norm = reader.read_norm(layer + "attention_norm", inner);
    if (!block.attention_norm) block.attention_norm = reader.plain_norm(inner);
  }
  if (reader.has(layer + "out.weight")) {
    block.out = reader.read_linear(layer + "out", spec.width, inner, arithmetic);
  } else if (inner != spec.width) {
    throw Error(ErrorKind::damaged, "the heads' output has no projection to the width")
        .about(layer + "out.weight");
  }
  block.scale1 = reader.read_vector(layer + "scale1", spec.width, false);
  block.scale2 = reader.read_vector(layer + "scale2", spec.width, false);
  read_mlp(reader, spec, index, block);
  block.mlp2 = reader.read_linear(layer + "mlp2", spec.width, spec.layer.mlp.width, arithmetic);
  block.mechanism = reader.read_mechanism(index);
  return block;
}

namespace {

void read_head(const WeightReader& reader, const Checkpoint& checkpoint,
               const Architecture& architecture, VitWeights& weights) {
  const ModelSpec& spec = architecture.spec;
  if (spec.readout.final_norm) weights.final_norm = reader.read_norm("final_norm", spec.width);
  weights.head_norm = reader.read_norm("head_norm", spec.width);
  if (spec.readout.kind == Readout::none) return;
  std::int64_t inputs = spec.readout.kind == Readout::class_and_mean ? 2 * spec.width : spec.width;
  for (int i = 0; i < 10; ++i) {
    const std::string role = "head." + std::to_string(i);
    if (!reader.has(role + ".weight")) continue;
    const std::int64_t outputs = reader.outputs_of(role + ".weight");
    weights.head.push_back(reader.read_linear(role, outputs, inputs, Arithmetic::multiplicative));
    inputs = outputs;
  }
  if (weights.head.empty()) {
    throw Error(ErrorKind::usage, "the file holds no head to read out")
        .in_file(checkpoint.path())
        .about("readout")
        .expected("none");
  }
  if (spec.readout.kind == Readout::class_and_distilled) {
    weights.distillation_head =
        reader.read_linear("distillation_head", inputs, spec.width, Arithmetic::multiplicative);
  }
}

}  // namespace

VitWeights read_vit_weights(const Checkpoint& checkpoint, const Architecture& architecture,
                            const Progress& progress) {
  const WeightReader reader(checkpoint, architecture);
  const ModelSpec& spec = architecture.spec;
  VitWeights weights;
  if (spec.input.patch_height > 0) {
    read_patches(reader, spec, weights);
    read_tokens(reader, architecture, weights);
    weights.embedding_norm = reader.read_norm("embedding_norm", spec.width);
  }
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    progress.step(static_cast<double>(layer) / static_cast<double>(spec.layers), "reading weights");
    weights.blocks.push_back(read_block(reader, architecture, layer));
  }
  read_head(reader, checkpoint, architecture, weights);
  progress.step(1, "reading weights");
  return weights;
}

}  // namespace attnscope
