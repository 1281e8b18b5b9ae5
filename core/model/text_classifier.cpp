#include "core/model/text_classifier.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/model/additive_pooling.h"

namespace attnscope {

namespace {

ConstMatrixMap seen(const Tensor& tensor) { return tensor.matrix(); }

}  // namespace

TextClassifierWeights read_text_classifier_weights(const Checkpoint& checkpoint,
                                                   const Architecture& architecture,
                                                   const Progress& progress) {
  const WeightReader reader(checkpoint, architecture);
  const ModelSpec& spec = architecture.spec;
  const std::int64_t inner = spec.layer.attention.heads * spec.width_of_head();
  const auto linear = [&](const std::string& role, std::int64_t outputs, std::int64_t inputs) {
    return reader.read_linear(role, outputs, inputs, Arithmetic::multiplicative);
  };
  TextClassifierWeights weights;
  weights.embedding = read_text_embedding(reader, architecture);
  for (std::int64_t index = 0; index < spec.layers; ++index) {
    progress.step(static_cast<double>(index) / static_cast<double>(spec.layers), "reading weights");
    const std::string prefix = "layer." + std::to_string(index) + ".";
    TextClassifierWeights::Layer layer;
    layer.block = read_block(reader, architecture, index);
    for (const std::string name : {"query_importance", "key_importance"}) {
      layer.block.mechanism[name] =
          reader.read(prefix + name + ".weight", {spec.layer.attention.heads, inner});
      if (!reader.has(prefix + name + ".bias")) continue;
      layer.block.mechanism[name + "_bias"] =
          reader.read(prefix + name + ".bias", {spec.layer.attention.heads});
    }
    layer.transform = linear(prefix + "transform", inner, inner);
    weights.layers.push_back(std::move(layer));
  }
  const std::int64_t hidden = reader.outputs_of("pooling1.weight");
  weights.pooling1 = linear("pooling1", hidden, spec.width);
  weights.pooling2 = linear("pooling2", 1, hidden);
  weights.head = linear("head.0", reader.outputs_of("head.0.weight"), spec.width);
  progress.step(1, "reading weights");
  return weights;
}

TextClassifier::TextClassifier(std::filesystem::path file, std::string name,
                               Architecture architecture, TextClassifierWeights weights,
                               std::shared_ptr<const Vocabulary> vocabulary)
    : file_(std::move(file)),
      name_(std::move(name)),
      architecture_(std::move(architecture)),
      weights_(std::move(weights)),
      vocabulary_(std::move(vocabulary)) {}

WeightExtents TextClassifier::extents() const {
  const BlockWeights& block = weights_.layers.front().block;
  return {.head = {weights_.head.outputs()},
          .head_biases = weights_.head.has_bias(),
          .query_key_value_biases = block.query.has_bias(),
          .linear_biases = block.mlp1.has_bias(),
          .pooling = weights_.pooling1.outputs()};
}

void TextClassifier::leave_out_padding(TokenizedText& tokens, const Input& input) const {
  while (!tokens.ids.empty() && tokens.ids.back() == spec().input.padding) {
    tokens.ids.pop_back();
    tokens.texts.pop_back();
  }
  const auto padding = std::find(tokens.ids.begin(), tokens.ids.end(), spec().input.padding);
  if (padding == tokens.ids.end() && !tokens.ids.empty()) return;
  throw Error(ErrorKind::usage, tokens.ids.empty() ? "the text is nothing but padding"
                                                   : "there is padding within the text")
      .about(input.label)
      .expected("no token " + std::to_string(spec().input.padding) + " before the end")
      .found("token " + std::to_string(padding - tokens.ids.begin()))
      .remedy("leave it out; if it is a word of this model, set padding=-1");
}

void TextClassifier::run_layer(const TextClassifierWeights::Layer& layer, const LayerRun& run,
                               Tensor& x) const {
  const BlockWeights& block = layer.block;
  const std::int64_t heads = spec().layer.attention.heads;
  const Tensor queries = block.query(seen(x)), keys = block.key(seen(x)),
               values = block.value(seen(x));
  if (run.recorded && run.request.queries_keys_values) {
    run.recorded->queries = by_head(seen(queries), heads);
    run.recorded->keys = by_head(seen(keys), heads);
    run.recorded->values = by_head(seen(values), heads);
  }
  Tensor mixed = pool_tokens(run, keys, queries, "query", heads, false);
  mixed.matrix().array() *= seen(keys).array();
  Tensor product = pool_tokens(run, values, mixed, "key", heads, false);
  product.matrix().array() *= seen(values).array();
  Tensor output = layer.transform(seen(product));
  output.matrix() += seen(queries);
  x.matrix() += (block.out ? (*block.out)(seen(output)) : output).matrix();
  if (block.norm1) block.norm1->apply(x.matrix());
  Tensor hidden = block.mlp1(seen(x));
  apply_activation(spec().layer.mlp.activation, hidden.values());
  x.matrix() += block.mlp2(seen(hidden)).matrix();
  if (block.norm2) block.norm2->apply(x.matrix());
}

Tensor TextClassifier::pooling_importance(const Tensor& x) const {
  Tensor hidden = weights_.pooling1(seen(x));
  apply_activation(HeadActivation::tanh, hidden.values());
  const Tensor logits = weights_.pooling2(seen(hidden));
  const Eigen::RowVectorXd values = seen(logits).col(0).cast<double>().transpose();
  const Eigen::RowVectorXd weights = (values.array() - values.maxCoeff()).exp();
  Tensor importance({1, x.extent(0)});
  importance.matrix() = (weights / weights.sum()).cast<float>();
  return importance;
}

Trace TextClassifier::run(const Input& input, const MechanismChoice& mechanism,
                          const TraceRequest& request, const Progress& progress) const {
  check_requested_layers(request, spec());
  const std::unique_ptr<const Mechanism> attention = make_mechanism(mechanism);
  const std::vector<std::shared_ptr<const Mechanism>> mechanisms =
      layer_mechanisms(spec(), mechanism);
  TokenizedText tokens = tokenize_input(input, spec(), *vocabulary_);
  leave_out_padding(tokens, input);
  const std::int64_t count = std::ssize(tokens.ids), layers = std::ssize(weights_.layers);
  Tensor x = weights_.embedding(tokens.ids);

  Trace trace = begin_trace(*this, input, *attention, spec().mechanism);
  trace.layout.texts = std::move(tokens.texts);
  trace.labels = spec().labels;
  const AttentionShape shape{.queries = count,
                             .keys = count,
                             .heads = spec().layer.attention.heads,
                             .head_width = spec().width_of_head(),
                             .value_width = spec().width_of_head()};
  check_map_memory(request, std::vector<AttentionShape>(weights_.layers.size(), shape));
  trace.map_channels = attention->structure(shape).channels;
  if (trace.map_channels > 1) trace.map_channel = request.channel;
  if (request.tokens) trace.embedded = x;
  trace.layers.resize(weights_.layers.size());
  for (std::int64_t index = 0; index < layers; ++index) {
    progress.step(static_cast<double>(index) / static_cast<double>(layers), "running the model");
    const auto layer = static_cast<std::size_t>(index);
    const TextClassifierWeights::Layer& own = weights_.layers[layer];
    LayerTrace* const recorded = wants_layer(request, index) ? &trace.layers[layer] : nullptr;
    if (recorded) {
      record_mechanism(*mechanisms[layer], trace, *recorded);
      recorded->layout = recorded->key_layout = trace.layout;
    }
    run_layer(own,
              {.mechanism = *mechanisms[layer],
               .request = request,
               .layout = trace.layout,
               .parameters = layer_parameters(own.block.mechanism, request, index),
               .layer = index,
               .recorded = recorded},
              x);
    if (recorded && request.tokens) recorded->tokens = x;
  }
  const Tensor importance = pooling_importance(x);
  if (wants_layer(request, layers - 1)) {
    trace.layers.back().quantities["pooling_importance"] = importance;
  }
  Tensor features({1, spec().width});
  features.matrix() = seen(importance) * seen(x);
  Tensor logits = weights_.head(seen(features));
  const std::int64_t classes = logits.extent(1);
  trace.logits = std::move(logits).reshaped({classes});
  trace.features = std::move(features).reshaped({spec().width});
  progress.step(1, "running the model");
  return trace;
}

}  // namespace attnscope
