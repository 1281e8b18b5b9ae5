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

void add_embedding(Sum& sum, const Stage& stage) {
  const Embedding& embedding = stage.embedding;
  const Count width = stage.width;
  if (embedding.kind == Embedding::Kind::convolution) {
    sum.add("patch embedding",
            Count(embedding.kernel_taps) * embedding.input_channels * width + width);
  }
  sum.add("token embedding", Count(embedding.vocabulary) * width);
  sum.add("class tokens", Count(embedding.class_tokens) * width);
  sum.add("position embedding", Count(embedding.positions) * width);
  if (embedding.norm) sum.add("normalisation", 2 * width);
  sum.add("position convolution", (stage.position_convolution_taps > 0)
                                      ? Count(stage.position_convolution_taps) * width + width
                                      : Count(0));
}

void add_layer(Sum& sum, const Network& architecture, const Stage& stage,
               const AccountingOptions& options, const MechanismChoice& mechanism,
               std::int64_t index) {
  const Count width = stage.width;
  sum.add("normalisation", 4 * width);
  const MechanismCost cost(mechanism);
  AttentionShape shape = shape_of(stage);
  const bool windowed = stage.window_tokens > 0 && index % 2 == 0;
  if (options.native_attention && stage.reduction > 1 && !windowed) {
    const Count area = Count(stage.reduction) * stage.reduction;
    shape.keys = std::max<std::int64_t>((Count(stage.tokens) / area).value(), 1);
    sum.add("spatial reduction",
            width * width * area + width + (stage.reduction_norm ? 2 * width : Count(0)));
  }
  for (const Projection& projection : cost.projections(stage.width, shape)) {
    const bool output = projection.component == "output projection";
    const bool bias = output ? architecture.linear_biases : architecture.query_key_value_biases;
    sum.add(projection.component, Count(projection.inputs) * projection.outputs +
                                      (bias ? Count(projection.outputs) : Count(0)));
  }
  sum.add(std::string(cost.entry().name), cost.own_parameters(shape));

  const Count hidden = stage.mlp_width;
  sum.add("FFN", 2 * width * hidden + (architecture.linear_biases ? width + hidden : Count(0)));
  if (stage.mlp_convolution_taps > 0) {
    sum.add("FFN convolution", Count(stage.mlp_convolution_taps) * hidden + hidden);
  }
}

}  // namespace

std::vector<ParameterCount> count_parameters(const Network& architecture,
                                             const AccountingOptions& options) {
  check(architecture);
  Sum sum;
  std::int64_t all_layers = 0, layer = 0;
  for (const Stage& stage : architecture.stages) all_layers += stage.layers;
  for (const Stage& stage : architecture.stages) {
    add_embedding(sum, stage);
    for (std::int64_t i = 0; i < stage.layers; ++i, ++layer) {
      const bool multiplicative =
          layer < options.multiplicative_ends || layer >= all_layers - options.multiplicative_ends;
      add_layer(sum, architecture, stage, options,
                multiplicative || stage.softmax_only ? MechanismChoice{} : options.mechanism, i);
    }
    if (stage.closing_norm) sum.add("normalisation", 2 * Count(stage.width));
  }
  const Count width = architecture.stages.back().width;
  if (architecture.final_norm) sum.add("normalisation", 2 * width);
  if (architecture.head_outputs > 0) {
    const Count outputs = architecture.head_outputs;
    sum.add("head", Count(architecture.head_copies) *
                        ((architecture.tied_head ? Count(0) : width * outputs) +
                         (architecture.head_bias ? outputs : Count(0))));
  }
  return sum.take();
}

}  // namespace attnscope
