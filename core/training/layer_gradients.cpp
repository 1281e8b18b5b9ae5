#include "core/training/layer_gradients.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "core/architecture/model_spec_json.h"
#include "core/error.h"
#include "core/model/transformer/transformer.h"
#include "core/training/network.h"
#include "core/training/parts/trained_block.h"

namespace attnscope {

namespace {

const TrainedBlockNames& names_within() {
  static const TrainedBlockNames names = {.norm1 = "norm1",
                                          .qkv = "qkv",
                                          .qkv_norm = {},
                                          .heads_norm = {},
                                          .out = "out",
                                          .out_norm = {},
                                          .norm2 = "norm2",
                                          .mlp1 = "mlp1",
                                          .mlp1_norm = {},
                                          .mlp2 = "mlp2",
                                          .mlp2_norm = {}};
  return names;
}

[[noreturn]] void has_no_backward(const Transformer& model, const std::string& part) {
  throw Error(ErrorKind::unsupported, "gradients are not implemented for this part of the model")
      .in_file(model.file())
      .about(part)
      .expected("layers as in ViT or GPT-2: norms before attention and MLP, GELU")
      .remedy("attnscope mixing and lens need no gradients");
}

/// A spec that keeps only the members in which layers with a backward pass may differ; everything
/// before and after the layers is copied.
ModelSpec part_with_backward(const ModelSpec& spec) {
  ModelSpec part;
  part.width = spec.width;
  part.layers = spec.layers;
  part.input = spec.input;
  part.positions = spec.positions;
  part.layer.attention.heads = spec.layer.attention.heads;
  const auto same_as_default = [](std::int64_t value, std::int64_t by_default) {
    return value == by_default ? value : 0;
  };
  part.layer.attention.key_heads =
      same_as_default(spec.layer.attention.key_heads, spec.layer.attention.heads);
  part.layer.attention.head_width =
      same_as_default(spec.layer.attention.head_width,
                      spec.width / std::max<std::int64_t>(spec.layer.attention.heads, 1));
  part.layer.attention.head_split = spec.layer.attention.head_split;  // file layout
  part.layer.norm.eps = spec.layer.norm.eps;
  part.layer.mlp.width = spec.layer.mlp.width;
  part.layer.mlp.activation = spec.layer.mlp.activation;
  part.layer.scores.causal = spec.layer.scores.causal;
  part.layer.scores.scale = spec.layer.scores.scale;
  part.layer.scores.scale_by_layer = spec.layer.scores.scale_by_layer;
  part.readout = spec.readout;
  part.mechanism = spec.mechanism;
  part.layer_mechanisms = spec.layer_mechanisms;
  part.labels = spec.labels;
  return part;
}

/// Checks the parts that only the tensors, not the spec, reveal.
void check_parts(const Transformer& model, const Block& block) {
  const AttentionPart& part = block.attention;
  const auto refuse_if = [&](bool has, const char* what) {
    if (has) has_no_backward(model, what);
  };
  refuse_if(!part.key, "keys shared with the queries");
  refuse_if(part.query_norm || part.key_norm, "norms of queries and keys");
  refuse_if(part.reduction.has_value(), "spatial reduction");
  refuse_if(part.grid_window > 0, "windows");
  refuse_if(!part.rotary_periods.empty(), "rotary positions");
  refuse_if(!part.position_biases.empty() || !part.relative_positions.empty() ||
                !part.relative_rows.empty() || part.relative_query || part.relative_key,
            "biases of relative positions");
  refuse_if(!part.sinks.empty(), "sink logits");
  refuse_if(part.heads_norm.has_value(), "a norm of the heads' output");
  refuse_if(part.gate.has_value(), "gates of the heads' output");
  refuse_if(part.convolves() || !part.gates.empty(), "convolutions or gates of recurrent layers");
  refuse_if(!part.out, "attention without an output projection");
  const BranchNorms& first = block.attention_norms;
  const BranchNorms& second = block.mlp_norms;
  refuse_if(!first.before || !second.before, "layers without norms before attention and MLP");
  refuse_if(first.inside || first.after || second.inside || second.after,
            "norms after attention or MLP");
  refuse_if(first.before->rms || second.before->rms, "RMS norms");
  refuse_if(!block.mlp.has_value(), "layers without MLP");
  refuse_if(block.mlp->gate || block.mlp->convolution || block.mlp->norm, "gated MLPs");
}

void check_layers(const Transformer& model) {
  const ModelSpec& spec = model.spec();
  const std::string difference = first_difference(part_with_backward(spec), spec);
  if (!difference.empty()) has_no_backward(model, difference);
  const Activation activation = spec.layer.mlp.activation;
  if (activation != Activation::gelu && activation != Activation::gelu_tanh) {
    has_no_backward(model, "activation " + option_text(spec, "activation"));
  }
  const std::vector<StageWeights>& stages = model.weights().stages;
  if (stages.size() != 1) has_no_backward(model, "several stages");
  if (stages.front().positions || stages.front().convolution || stages.front().norm) {
    has_no_backward(model, "positions, a convolution or a norm between the layers");
  }
  for (const Block& block : stages.front().blocks) check_parts(model, block);
}

using Rows = Eigen::Map<Matrix>;

/// Writes a layer's weights to the values of its parameters, by name.
class Weights {
 public:
  Weights(const ParameterTable& table, std::vector<float>& values)
      : table_(table), values_(values) {}

  /// Writes rows [first, first + outputs) of "name.weight" and "name.bias", each multiplied by its
  /// `scale`.
  void put(const std::string& name, const Linear& linear, const std::vector<float>& scale,
           std::int64_t first = 0, double whole_scale = 1) {
    MatrixD weight = matrix_of(linear).transpose() * whole_scale;
    Eigen::VectorXd bias = bias_of(linear).transpose() * whole_scale;
    for (Eigen::Index row = 0; !scale.empty() && row < weight.rows(); ++row) {
      weight.row(row) *= static_cast<double>(scale[static_cast<std::size_t>(row)]);
      bias(row) *= static_cast<double>(scale[static_cast<std::size_t>(row)]);
    }
    Rows(at(name + ".weight") + first * weight.cols(), weight.rows(), weight.cols()) =
        weight.cast<float>();
    Eigen::Map<Eigen::VectorXf>(at(name + ".bias") + first, bias.size()) = bias.cast<float>();
  }

  /// Writes the remaining parameters, those of the mechanism. Throws Error(unsupported) if one is
  /// missing.
  void put_rest(const Transformer& model, const NamedTensors& own) {
    for (const Parameter& parameter : table_.list()) {
      if (filled_.contains(parameter.name)) continue;
      const auto found = own.find(parameter.name);
      if (found == own.end() || found->second.size() != parameter.slot.size) {
        has_no_backward(model, parameter.name);
      }
      std::copy_n(found->second.data(), parameter.slot.size, at(parameter.name));
    }
  }

  void put(const std::string& name, const LayerNorm& norm, std::int64_t width) {
    put(name + ".weight", norm.weight, width, 1);
    put(name + ".bias", norm.bias, width, 0);
  }

 private:
  void put(const std::string& name, const std::vector<float>& numbers, std::int64_t width,
           float otherwise) {
    float* const to = at(name);
    for (std::int64_t i = 0; i < width; ++i) {
      to[i] = numbers.empty() ? otherwise : numbers[static_cast<std::size_t>(i)];
    }
  }

  float* at(const std::string& name) {
    filled_.insert(name);
    return table_.find(name)->slot.in(values_.data());
  }

  const ParameterTable& table_;
  std::vector<float>& values_;
  std::set<std::string> filled_;
};

/// Factor of W_Q that makes the scores q·k/√d.
double query_scale(const Transformer& model, std::int64_t layer, const std::string& mechanism) {
  const std::optional<double> scale = score_scale(model.spec(), layer);
  if (!scale) return 1;
  if (mechanism != "softmax") has_no_backward(model, "layer.scores.scale of " + mechanism);
  return *scale * std::sqrt(static_cast<double>(model.spec().width_of_head()));
}

}  // namespace

struct LayersWithGradient::Layer {
  Layer(const Transformer& model, const ModelSpec& spec, std::int64_t index)
      : block(table, spec, index, "", names_within(), {}) {
    const Block& loaded = block_of(model, index);
    values.assign(static_cast<std::size_t>(table.size()), 0.0F);
    Weights weights(table, values);
    const std::int64_t width = spec.width;
    weights.put("norm1", *loaded.attention_norms.before, width);
    weights.put("qkv", loaded.attention.query, {}, 0,
                query_scale(model, index, mechanism_of(spec, index).name));
    weights.put("qkv", *loaded.attention.key, {}, width);
    weights.put("qkv", loaded.attention.value, {}, 2 * width);
    weights.put("out", *loaded.attention.out, loaded.scale1);
    weights.put("norm2", *loaded.mlp_norms.before, width);
    weights.put("mlp1", loaded.mlp->mlp1, {});
    weights.put("mlp2", loaded.mlp->mlp2, loaded.scale2);
    weights.put_rest(model, loaded.attention.mechanism);
    // Refuses tensors that the mechanism uses but training does not: masks, importances, random
    // features.
    for (const TensorDescription& tensor : find_mechanism(mechanism_of(spec, index).name).tensors) {
      const std::string name(tensor.name);
      if (loaded.attention.mechanism.contains(name) && table.find(name) == nullptr) {
        has_no_backward(model, name);
      }
    }
  }

  ParameterTable table;
  TrainedBlock block;
  std::vector<float> values;
};

LayersWithGradient::LayersWithGradient(
    const Transformer& model, const std::vector<std::shared_ptr<const Mechanism>>& mechanisms) {
  check_layers(model);
  ModelSpec spec = model.spec();
  spec.layer_mechanisms.clear();
  for (const auto& mechanism : mechanisms) spec.layer_mechanisms.push_back(mechanism->choice());
  for (std::int64_t index = 0; index < spec.layers; ++index) {
    layers_.push_back(std::make_unique<const Layer>(model, spec, index));
  }
}

LayersWithGradient::~LayersWithGradient() = default;
LayersWithGradient::LayersWithGradient(LayersWithGradient&&) noexcept = default;
LayersWithGradient& LayersWithGradient::operator=(LayersWithGradient&&) noexcept = default;

std::vector<HeadsGradient> LayersWithGradient::heads(
    Matrix tokens, const std::function<Matrix(const Matrix& last)>& of_last) const {
  const std::int64_t lengths[] = {tokens.rows()}, width = tokens.cols();
  std::vector<TrainedBlock::Memory> memories(layers_.size());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    layers_[i]->block.forward(layers_[i]->values.data(), lengths, tokens, memories[i]);
  }
  Matrix gradient = of_last(tokens);
  TrainedBlock::Room room;
  std::vector<HeadsGradient> found(layers_.size());
  std::vector<float> of_weights;  // gradients of the weights, not used
  for (std::size_t i = layers_.size(); i-- > 0;) {
    of_weights.assign(layers_[i]->values.size(), 0.0F);
    layers_[i]->block.backward(layers_[i]->values.data(), of_weights.data(), lengths, gradient,
                               memories[i], room);
    found[i] = {memories[i].qkv.rightCols(width), room.attended};
    memories[i] = {};
  }
  return found;
}

Matrix gradient_through(const LayerNorm& norm, const Matrix& x, const Matrix& dy) {
  if (norm.rms) {
    throw Error(ErrorKind::unsupported, "gradients are not implemented for this part of the model")
        .about("RMS norms");
  }
  ParameterTable table;
  const TrainedNorm trained(table, "norm", x.cols(), norm.eps);
  std::vector<float> values(static_cast<std::size_t>(table.size()), 0.0F), unused = values;
  Weights(table, values).put("norm", norm, x.cols());
  TrainedNorm::Memory memory;
  Matrix normed, dx = Matrix::Zero(x.rows(), x.cols());
  trained.forward(values.data(), x, normed, memory);
  trained.backward(values.data(), unused.data(), x, dy, memory, dx);
  return dx;
}

}  // namespace attnscope
