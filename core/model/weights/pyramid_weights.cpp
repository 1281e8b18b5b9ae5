#include "core/model/weights/pyramid_weights.h"

#include <string>
#include <utility>

#include "core/error.h"
#include "core/model/weights/weight_reader.h"

namespace attnscope {

namespace {

std::vector<float> part_of(const std::vector<float>& values, std::int64_t part,
                           std::int64_t count) {
  if (values.empty()) return {};
  const auto first = values.begin() + part * count;
  return {first, first + count};
}

/// The parts of a fused weight, each of `width` outputs.
std::vector<Linear> read_fused(const WeightReader& reader, const std::string& role,
                               std::int64_t parts, std::int64_t width, Arithmetic arithmetic) {
  const Tensor weight = reader.read(role + ".weight", {parts * width, width});
  const std::vector<float> bias = reader.read_vector(role + ".bias", parts * width, false);
  const std::optional<LayerNorm> norms = reader.adder_norm(role, parts * width, arithmetic);
  std::vector<Linear> list;
  for (std::int64_t part = 0; part < parts; ++part) {
    Tensor rows({width, width});
    rows.matrix() = weight.matrix().middleRows(part * width, width);
    std::optional<LayerNorm> norm = norms;
    if (norm) {
      norm->weight = part_of(norms->weight, part, width);
      norm->bias = part_of(norms->bias, part, width);
    }
    list.emplace_back(std::move(rows), part_of(bias, part, width), arithmetic, std::move(norm));
  }
  return list;
}

Convolution read_convolution(const WeightReader& reader, const std::string& role,
                             std::int64_t outputs, std::int64_t inputs, std::int64_t kernel,
                             std::int64_t stride, std::int64_t padding) {
  return {reader.read(role + ".weight", {outputs, inputs, kernel, kernel}),
          reader.read_vector(role + ".bias", outputs, false), stride, padding};
}

std::optional<DepthwiseConvolution> read_depthwise(const WeightReader& reader,
                                                   const std::string& role, std::int64_t channels) {
  if (!reader.has(role + ".weight")) return std::nullopt;
  return DepthwiseConvolution(reader.read(role + ".weight", {channels, 1, 3, 3}),
                              reader.read_vector(role + ".bias", channels, false));
}

void read_attention(const WeightReader& reader, const std::string& layer, std::int64_t width,
                    Arithmetic arithmetic, PyramidBlockWeights& block) {
  for (const char* const fused : {"qkv", "windowed_qkv"}) {
    if (!reader.has(layer + fused + ".weight")) continue;
    std::vector<Linear> parts = read_fused(reader, layer + fused, 3, width, arithmetic);
    block.query = std::move(parts[0]);
    block.key = std::move(parts[1]);
    block.value = std::move(parts[2]);
    return;
  }
  if (reader.has(layer + "query_key.weight")) {
    block.query = reader.read_linear(layer + "query_key", width, width, arithmetic);
    block.value = reader.read_linear(layer + "value", width, width, arithmetic);
    return;
  }
  block.query = reader.read_linear(layer + "query", width, width, arithmetic);
  std::vector<Linear> parts = read_fused(reader, layer + "key_value", 2, width, arithmetic);
  block.key = std::move(parts[0]);
  block.value = std::move(parts[1]);
}

PyramidBlockWeights read_block(const WeightReader& reader, const ModelSpec& spec,
                               const PyramidStage& stage, std::int64_t index) {
  const std::string layer = "layer." + std::to_string(index) + ".";
  const std::int64_t width = stage.width;
  const Arithmetic arithmetic = arithmetic_of(spec, index);
  PyramidBlockWeights block;
  block.norm1 = reader.read_norm(layer + "norm1", width);
  block.norm2 = reader.read_norm(layer + "norm2", width);
  read_attention(reader, layer, width, arithmetic, block);
  if (reader.has(layer + "reduction.weight")) {
    const std::int64_t side = stage.pooled > 0 ? 1 : stage.reduction;
    block.reduction = read_convolution(reader, layer + "reduction", width, width, side, side, 0);
  }
  block.reduction_norm = reader.read_norm(layer + "reduction_norm", width, spec.input.norm_eps);
  block.mechanism = reader.read_mechanism(index);
  if (arithmetic == Arithmetic::adder) {
    block.attention_norm = reader.read_norm(layer + "attention_norm", width);
    if (!block.attention_norm) block.attention_norm = reader.plain_norm(width);
  }
  block.out = reader.read_linear(layer + "out", width, width, arithmetic);
  block.mlp1 = reader.read_linear(layer + "mlp1", stage.mlp_width, width, arithmetic);
  block.mlp2 = reader.read_linear(layer + "mlp2", width, stage.mlp_width, arithmetic);
  block.mlp_convolution = read_depthwise(reader, layer + "mlp_convolution", stage.mlp_width);
  return block;
}

}  // namespace

PyramidWeights read_pyramid_weights(const Checkpoint& checkpoint, const Architecture& architecture,
                                    const Progress& progress) {
  const WeightReader reader(checkpoint, architecture);
  const ModelSpec& spec = architecture.spec;
  PyramidWeights weights;
  std::int64_t layer = 0, channels = spec.input.channels;
  for (std::size_t i = 0; i < spec.stages.size(); ++i) {
    const PyramidStage& stage = spec.stages[i];
    const std::string role = "stage." + std::to_string(i) + ".";
    PyramidStageWeights read;
    // Adder networks keep embeddings multiplicative (Adder, section 4.1).
    read.embedding = read_convolution(reader, role + "patch", stage.width, channels, stage.kernel,
                                      stage.stride, padding_of(stage));
    read.embedding_norm = reader.read_norm(role + "patch_norm", stage.width, spec.input.norm_eps);
    read.positions = read_depthwise(reader, role + "positions", stage.width);
    read.norm = reader.read_norm(role + "norm", stage.width);
    for (std::int64_t block = 0; block < stage.layers; ++block, ++layer) {
      progress.step(static_cast<double>(layer) / static_cast<double>(spec.layers),
                    "reading weights");
      read.blocks.push_back(read_block(reader, spec, stage, layer));
    }
    channels = stage.width;
    weights.stages.push_back(std::move(read));
  }
  if (spec.readout.final_norm) weights.final_norm = reader.read_norm("final_norm", spec.width);
  if (spec.readout.kind != Readout::none) {
    if (!reader.has("head.0.weight")) {
      throw Error(ErrorKind::usage, "the file holds no head to read out")
          .in_file(checkpoint.path())
          .about("readout")
          .expected("none");
    }
    weights.head = reader.read_linear("head.0", reader.outputs_of("head.0.weight"), spec.width,
                                      Arithmetic::multiplicative);
  }
  progress.step(1, "reading weights");
  return weights;
}

}  // namespace attnscope
