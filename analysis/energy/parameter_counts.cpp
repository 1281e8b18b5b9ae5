#include <algorithm>

#include "analysis/energy/accounting.h"
#include "analysis/energy/layers.h"
#include "core/attention/costs/count.h"

namespace attnscope {

namespace {

class Sum {
 public:
  void add(const std::string& component, Count parameters) {
    if (parameters == Count(0)) return;
    for (ParameterCount& count : counts_) {
      if (count.component != component) continue;
      count.parameters = (Count(count.parameters) + parameters).value();
      return;
    }
    counts_.push_back({component, parameters.value()});
  }

  [[nodiscard]] std::vector<ParameterCount> take() { return std::move(counts_); }

 private:
  std::vector<ParameterCount> counts_;
};

/// Number of gains, and of biases unless the norms are RMS norms.
Count norm_parameters(const Network& architecture, Count width) {
  return architecture.rms_norms ? width : 2 * width;
}

void add_embedding(Sum& sum, const Network& architecture, const Stage& stage) {
  const StageEmbedding& embedding = stage.embedding;
  const Count width = stage.width;
  for (const StemConvolution& stem : embedding.stem) {
    const Count own = stem.width;
    sum.add("stem", Count(stem.kernel_taps) * stem.input_channels * own + own);
    if (stem.norm) sum.add("normalisation", norm_parameters(architecture, own));
  }
  if (embedding.kind == StageEmbedding::Kind::convolution) {
    sum.add("patch embedding", Count(embedding.kernel_taps) * embedding.input_channels * width +
                                   (embedding.biases ? width : Count(0)));
  }
  if (embedding.kind == StageEmbedding::Kind::sound) {
    sum.add("sound embedding",
            Count(embedding.kernel_taps) * (Count(embedding.input_channels) + width) * width +
                2 * width);
  }
  if (embedding.kind == StageEmbedding::Kind::merging) {
    const Count inputs = Count(embedding.kernel_taps) * embedding.input_channels;
    sum.add("patch merging", inputs * width);
    sum.add("normalisation", 2 * inputs);
  }
  sum.add("token embedding", Count(embedding.vocabulary) * width);
  sum.add("class tokens", Count(embedding.class_tokens) * width);
  sum.add("position embedding", Count(embedding.positions) * width);
  sum.add("type embedding", Count(embedding.types) * width);
  if (embedding.norm) sum.add("normalisation", norm_parameters(architecture, width));
  sum.add("position bias", Count(stage.position_buckets) * stage.heads);
  sum.add("position convolution", (stage.position_convolution_taps > 0)
                                      ? Count(stage.position_convolution_taps) * width + width
                                      : Count(0));
}

void add_layer(Sum& sum, const Network& architecture, const Stage& stage,
               const CountedLayer& kind) {
  const Count width = stage.width;
  const bool second_norm = kind.has_mlp && stage.mlp_norm;
  sum.add("normalisation", (second_norm ? 2 : 1) * norm_parameters(architecture, width));
  if (stage.query_norm > 0) {
    const Count per_head = shape_of(stage).head_width;
    // The norm of all keys is as wide as they are.
    const bool of_all = stage.query_norm != per_head.value();
    sum.add(
        "norms of queries and keys",
        norm_parameters(architecture, stage.query_norm) +
            norm_parameters(architecture, of_all ? stage.heads_of_keys() * per_head : per_head));
  }
  if (architecture.layer_scales) sum.add("layer scale", 2 * width);
  const MechanismCost cost(kind.mechanism);
  AttentionShape shape = shape_of(stage);
  shape.keys = keys_of(stage, kind);
  if (kind.reduced) {
    const Count area = Count(stage.reduction) * stage.reduction;
    sum.add("spatial reduction",
            width * width * area + width + (stage.reduction_norm ? 2 * width : Count(0)));
  }
  const bool adder = kind.arithmetic == Arithmetic::adder;
  for (const Projection& projection : layer_projections(stage, cost, shape)) {
    const Count biases = has_bias(architecture, projection) ? projection.outputs : 0;
    sum.add(projection.component, Count(projection.inputs) * projection.outputs + biases);
    // Gain and bias of the LayerNorm after every adder layer.
    if (adder) sum.add("normalisation", 2 * Count(projection.outputs));
  }
  sum.add(std::string(cost.entry().name), cost.own_parameters(shape));
  if (kind.windowed && cost.entry().terms) {
    sum.add("position bias", Count(stage.window_biases) * stage.heads);
  }
  if (cost.entry().terms) {
    sum.add("position bias", Count(offsets_of(stage, kind)) * shape.head_width);
  }

  const Count hidden = stage.mlp_width;
  if (adder && !kind.has_mlp) {
    sum.add("normalisation", 2 * (Count(shape.heads) * shape.value_width));
  }
  if (!kind.has_mlp) return;
  if (adder) {  // LayerNorms after the heads' output and both MLP layers
    sum.add("normalisation", 2 * (Count(shape.heads) * shape.value_width + hidden + width));
  }
  const auto mlp = [&](Count units) {
    const Count biases = architecture.linear_biases ? units : Count(0);
    Count parameters = 2 * width * units + biases + (architecture.linear_biases ? width : Count(0));
    if (stage.gated_mlp) parameters = parameters + width * units + biases;
    return parameters;
  };
  sum.add("FFN", std::max<std::int64_t>(stage.experts, 1) * mlp(hidden));
  if (stage.experts > 0) {
    sum.add("router", width * stage.experts +
                          (architecture.router_biases ? Count(stage.experts) : Count(0)) +
                          (architecture.shared_gate ? width : Count(0)));
    if (stage.shared_width > 0) sum.add("FFN", mlp(stage.shared_width));
  }
  if (stage.mlp_convolution_taps > 0) {
    sum.add("FFN convolution", Count(stage.mlp_convolution_taps) * hidden + hidden);
  }
}

void add_head(Sum& sum, const Network& architecture, Count width) {
  if (architecture.head_outputs == 0) return;
  std::vector<std::int64_t> outputs = architecture.head_hidden;
  outputs.push_back(architecture.head_outputs);
  Count inputs = width;
  for (const Count layer : outputs) {
    const Count weights = architecture.tied_head ? Count(0) : inputs * layer;
    sum.add("head", Count(architecture.head_copies) *
                        (weights + (architecture.head_bias ? layer : Count(0))));
    inputs = layer;
  }
}

}  // namespace

std::vector<ParameterCount> count_parameters(const Network& architecture,
                                             const AccountingOptions& options) {
  check(architecture);
  Sum sum;
  std::int64_t layer = 0;
  for (const Stage& stage : architecture.stages) {
    add_embedding(sum, architecture, stage);
    for (std::int64_t i = 0; i < stage.layers; ++i, ++layer) {
      add_layer(sum, architecture, stage, layer_kind(architecture, options, stage, i, layer));
    }
    if (stage.closing_norm) sum.add("normalisation", norm_parameters(architecture, stage.width));
  }
  const Count width = architecture.stages.back().width;
  for (const bool norm : {architecture.final_norm, architecture.head_norm}) {
    if (norm) sum.add("normalisation", norm_parameters(architecture, width));
  }
  if (architecture.pooler) sum.add("pooler", width * width + width);
  if (const Count hidden = architecture.pooling; architecture.pooling > 0) {
    sum.add("attention pooling", width * hidden + hidden + hidden + 1);
  }
  add_head(sum, architecture, width);
  return sum.take();
}

}  // namespace attnscope
