#include "core/model/causal_lm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/model/additive_pooling.h"

namespace attnscope {

namespace {

ConstMatrixMap seen(const Tensor& tensor) { return tensor.matrix(); }

/// (x − mean) / (deviation + 1e-5) within each head, the deviation being the sample's (n − 1): how
/// Fastformer-LM's later code normalises what is pooled.
void normalise_heads(MatrixMap x, std::int64_t heads) {
  const Eigen::Index width = x.cols() / heads;
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    for (Eigen::Index first = 0; first < x.cols(); first += width) {
      const Eigen::RowVectorXd part = x.row(row).segment(first, width).cast<double>();
      const Eigen::RowVectorXd centred = part.array() - part.mean();
      const auto count = static_cast<double>(std::max<Eigen::Index>(width - 1, 1));
      const double deviation = std::sqrt(centred.squaredNorm() / count);
      x.row(row).segment(first, width) = (centred / (deviation + 1e-5)).cast<float>();
    }
  }
}

/// w [H·d] or [H, d] as [H, d], scaled so that w·x / √d is the logit of the layer's form.
Tensor importance_vectors(const Tensor& stored, const ModelSpec& spec, const std::string& name) {
  const Shape wanted = {spec.layer.attention.heads, spec.width_of_head()};
  if (stored.size() != element_count(wanted)) {
    throw Error(ErrorKind::damaged, "the importance vectors do not fit the heads")
        .about(name)
        .expected(to_string(wanted))
        .found(to_string(stored.shape()));
  }
  Tensor vectors = stored.reshaped(wanted);
  if (spec.layer.form == LayerForm::fastformer_rescaled) {
    MatrixMap rows = vectors.matrix();
    normalise_heads(rows, 1);
    // Logits there are w·x · scale / d, with w and x normalised.
    rows *= static_cast<float>(spec.layer.importance_scale /
                               std::sqrt(static_cast<double>(spec.width_of_head())));
  }
  return vectors;
}

/// `choice` with the parameter "causal" on, where the mechanism has one.
MechanismChoice without_look_ahead(MechanismChoice choice) {
  const MechanismEntry& entry = find_mechanism(choice.name);
  if (!entry.causal) {
    throw Error(ErrorKind::usage, "this attention cannot hide later tokens from earlier ones")
        .about(choice.name)
        .remedy("lay another over the language model");
  }
  if (find_description(entry.parameters, "causal")) choice.parameters["causal"] = true;
  return choice;
}

}  // namespace

CausalLmWeights read_causal_lm_weights(const Checkpoint& checkpoint,
                                       const Architecture& architecture, const Progress& progress) {
  const WeightReader reader(checkpoint, architecture);
  const ModelSpec& spec = architecture.spec;
  CausalLmWeights weights;
  weights.embedding = read_text_embedding(reader, architecture);
  weights.final_norm = reader.read_norm("final_norm", spec.width);
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    progress.step(static_cast<double>(layer) / static_cast<double>(spec.layers), "reading weights");
    BlockWeights block = read_block(reader, architecture, layer);
    for (const char* name : {"query_importance", "key_importance"}) {
      const auto vectors = block.mechanism.find(name);
      if (vectors != block.mechanism.end()) {
        vectors->second = importance_vectors(vectors->second, spec, name);
      } else if (spec.layer.form != LayerForm::transformer) {
        throw Error(ErrorKind::damaged, "the layer has no importance vectors").about(name);
      }
    }
    if (spec.layer.form == LayerForm::fastformer && !block.middle_norm) {
      throw Error(ErrorKind::damaged, "the layer has no LayerNorm between its two attentions")
          .about("layer_form");
    }
    weights.blocks.push_back(std::move(block));
  }
  // Tied, unless the file has a head of its own; its bias may be there either way.
  Tensor head = reader.has("head.0.weight")
                    ? reader.read("head.0.weight", {spec.input.vocabulary, spec.width})
                    : weights.embedding.tokens;
  // Training code often saves the one tensor under both names.
  weights.tied_head = std::ranges::equal(head.values(), weights.embedding.tokens.values());
  weights.head =
      Linear(std::move(head), reader.read_vector("head.0.bias", spec.input.vocabulary, false));
  progress.step(1, "reading weights");
  return weights;
}

CausalLm::CausalLm(std::filesystem::path file, std::string name, Architecture architecture,
                   CausalLmWeights weights, std::shared_ptr<const Vocabulary> vocabulary)
    : file_(std::move(file)),
      name_(std::move(name)),
      architecture_(std::move(architecture)),
      weights_(std::move(weights)),
      vocabulary_(std::move(vocabulary)) {}

WeightExtents CausalLm::extents() const {
  const BlockWeights& block = weights_.blocks.front();
  return {.head = {spec().input.vocabulary},
          .head_biases = weights_.head.has_bias(),
          .tied_head = weights_.tied_head,
          .query_key_value_biases = block.query.has_bias(),
          .linear_biases = block.mlp1.has_bias()};
}

void CausalLm::run_transformer_attention(const BlockWeights& block, const LayerRun& run,
                                         Tensor& x) const {
  Tensor normed = x;
  if (block.norm1) block.norm1->apply(normed.matrix());
  const Tensor queries = block.query(seen(normed)), keys = block.key(seen(normed)),
               values = block.value(seen(normed));
  const AttentionInput input{.queries = seen(queries),
                             .keys = seen(keys),
                             .values = seen(values),
                             .heads = spec().layer.attention.heads,
                             .parameters = &run.parameters,
                             .layout = &run.layout,
                             .causal = true,
                             .layer = run.layer,
                             .channel = run.request.channel,
                             .scale = score_scale(spec(), run.layer)};
  if (run.recorded) record_attention(run.mechanism, input, run.request, *run.recorded);
  const Tensor output = run.mechanism.forward(input);
  x.matrix() += (block.out ? (*block.out)(seen(output)) : output).matrix();
}

void CausalLm::run_fastformer_attention(const BlockWeights& block, const LayerRun& run,
                                        Tensor& x) const {
  const bool rescaled = spec().layer.form == LayerForm::fastformer_rescaled;
  Tensor normed = x;
  if (block.norm1) block.norm1->apply(normed.matrix());
  Tensor queries = block.query(seen(normed));
  const Tensor keys = block.key(seen(normed)), values = block.value(seen(normed));
  const auto pool = [&](const Tensor& asking, const Tensor& pooled, const char* which) {
    return pool_tokens(run, asking, pooled, which, spec().layer.attention.heads, true);
  };

  if (rescaled) normalise_heads(queries.matrix(), spec().layer.attention.heads);
  Tensor mean = pool(keys, queries, "query");
  if (block.out) mean = (*block.out)(seen(mean));
  Tensor mixed = std::move(mean);
  mixed.matrix().array() *= seen(keys).array();
  if (run.recorded && run.request.queries_keys_values) {
    run.recorded->queries = by_head(seen(queries), spec().layer.attention.heads);
    run.recorded->keys = by_head(seen(keys), spec().layer.attention.heads);
    run.recorded->values = by_head(seen(values), spec().layer.attention.heads);
  }
  if (rescaled) {
    normalise_heads(mixed.matrix(), spec().layer.attention.heads);
    const Tensor second = pool(values, mixed, "key");
    x.matrix().array() += seen(second).array() * seen(values).array();
    return;
  }
  mixed.matrix() += normed.matrix();
  Tensor between = mixed;
  block.middle_norm->apply(between.matrix());
  const Tensor second = pool(values, between, "key");
  // The residual is that of the normed tokens: none goes around the attention.
  x = std::move(mixed);
  x.matrix().array() += seen(second).array() * seen(values).array();
}

Trace CausalLm::run(const Input& input, const MechanismChoice& mechanism,
                    const TraceRequest& request, const Progress& progress) const {
  check_requested_layers(request, spec());
  const MechanismChoice asked = without_look_ahead(mechanism);
  const std::unique_ptr<const Mechanism> attention = make_mechanism(asked);
  const std::vector<std::shared_ptr<const Mechanism>> mechanisms = layer_mechanisms(spec(), asked);
  TokenizedText tokens = tokenize_input(input, spec(), *vocabulary_);
  const std::int64_t count = std::ssize(tokens.ids);
  Tensor x = weights_.embedding(tokens.ids);

  Trace trace = begin_trace(*this, input, *attention, without_look_ahead(spec().mechanism));
  trace.layout.texts = std::move(tokens.texts);
  trace.causal = true;
  for (std::int64_t id = 0; id < spec().input.vocabulary; ++id) {
    trace.labels.push_back(visible_text(vocabulary_->text_of(id)));
  }
  const AttentionShape shape{.queries = count,
                             .keys = count,
                             .heads = spec().layer.attention.heads,
                             .head_width = spec().width_of_head(),
                             .value_width = spec().width_of_head()};
  check_map_memory(request, std::vector<AttentionShape>(weights_.blocks.size(), shape));
  trace.map_channels = attention->structure(shape).channels;
  trace.map_channel = request.channel;
  if (request.tokens) trace.embedded = x;
  trace.layers.resize(weights_.blocks.size());
  for (std::size_t layer = 0; layer < weights_.blocks.size(); ++layer) {
    progress.step(static_cast<double>(layer) / static_cast<double>(weights_.blocks.size()),
                  "running the model");
    const auto index = static_cast<std::int64_t>(layer);
    const BlockWeights& block = weights_.blocks[layer];
    LayerTrace* const recorded = wants_layer(request, index) ? &trace.layers[layer] : nullptr;
    if (recorded) {
      record_mechanism(*mechanisms[layer], trace, *recorded);
      recorded->layout = recorded->key_layout = trace.layout;
    }
    const LayerRun run{.mechanism = *mechanisms[layer],
                       .request = request,
                       .layout = trace.layout,
                       .parameters = layer_parameters(block.mechanism, request, index),
                       .layer = index,
                       .recorded = recorded};
    if (spec().layer.form == LayerForm::transformer) {
      run_transformer_attention(block, run, x);
    } else {
      run_fastformer_attention(block, run, x);
    }
    Tensor normed = x;
    if (block.norm2) block.norm2->apply(normed.matrix());
    x.matrix() += block.mlp(spec().layer.mlp.activation, seen(normed)).matrix();
    if (recorded && request.tokens) recorded->tokens = x;
  }
  if (weights_.final_norm) weights_.final_norm->apply(x.matrix());
  const double scale = spec().readout.logit_scale == 0
                           ? 1.0 / std::sqrt(static_cast<double>(spec().width))
                           : spec().readout.logit_scale;
  Tensor last({1, spec().width});
  last.matrix() = x.matrix().row(count - 1);
  trace.logits = weights_.head(seen(request.token_logits ? x : last));
  trace.logits.matrix() *= static_cast<float>(scale);
  if (request.token_logits) {
    trace.token_logits = std::move(trace.logits);
    trace.logits = Tensor({1, spec().input.vocabulary});
    trace.logits.matrix() = seen(trace.token_logits).row(count - 1);
  }
  trace.logits = std::move(trace.logits).reshaped({spec().input.vocabulary});
  progress.step(1, "running the model");
  return trace;
}

}  // namespace attnscope
