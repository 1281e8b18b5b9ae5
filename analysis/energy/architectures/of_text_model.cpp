// Networks of loaded text models: encoders, language models, encoder–decoders.
#include <algorithm>
#include <string>

#include "analysis/energy/architectures/of_model.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// The stage of a text's tokens, with their embedding.
Stage text_model_stage(const ModelSpec& spec, const std::string& name, std::int64_t tokens,
                       const std::optional<WeightExtents>& weights) {
  Stage stage;
  stage.tokens = tokens > 0 ? tokens : spec.input.context;
  if (stage.tokens <= 0) {
    throw Error(ErrorKind::usage, "the number of tokens depends on the text")
        .about(name)
        .remedy("give it: --tokens 512");
  }
  stage.width = spec.width;
  stage.heads = spec.layer.attention.heads;
  stage.head_width = spec.layer.attention.head_width;
  stage.layers = spec.body_layers();
  stage.mlp_width = spec.layer.mlp.width;
  stage.gated_mlp = spec.layer.mlp.form == MlpForm::gated;
  if (spec.layer.scores.bias == ScoreBias::buckets) {
    stage.position_buckets = spec.layer.scores.buckets;
  }
  StageEmbedding& embedding = stage.embedding;
  embedding.kind = StageEmbedding::Kind::table;
  embedding.vocabulary = spec.input.vocabulary;
  embedding.types = spec.input.token_types;
  embedding.scaled = spec.input.scale != 1;
  if (spec.positions.kind == Positions::learned) {
    embedding.positions = std::max(spec.input.context, stage.tokens) + spec.positions.offset;
  }
  embedding.fixed_positions = spec.positions.kind == Positions::sinusoidal;
  // Default if the file is unknown: classifiers have a norm, language models have none.
  embedding.norm = weights ? weights->embedding_norm : !spec.is_language_model();
  return stage;
}

void add_windows(Network& architecture, const ModelSpec& spec, Stage& stage) {
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    const ParameterValues& parameters = mechanism_of(spec, layer).parameters;
    const auto window = parameters.find("window");
    const auto* value =
        window == parameters.end() ? nullptr : std::get_if<std::int64_t>(&window->second);
    stage.windows.push_back(value ? *value : 0);
  }
  // Each layer has its own window, unless a window is requested.
  architecture.mechanism.parameters.erase("window");
}

/// The decoder's stage, for the number of tokens requested, else the decoder's context length.
Stage decoder_stage(const ModelSpec& spec, const Stage& encoder, std::int64_t tokens) {
  Stage stage = encoder;
  stage.closing_norm = false;
  stage.memory_tokens = encoder.tokens;
  stage.layers = spec.tail.layers();
  const LayerSpec layer = layer_of(spec, spec.body_layers());
  stage.heads = layer.attention.heads;
  stage.mlp_width = layer_of(spec, spec.layers - 1).mlp.width;
  if (tokens <= 0 && spec.tail.context > 0) stage.tokens = spec.tail.context;
  stage.embedding.vocabulary = spec.tail.vocabulary;  // 0: the encoder's table
  if (stage.embedding.positions > 0) {
    stage.embedding.positions = std::max(spec.tail.context, stage.tokens) + spec.positions.offset;
  }
  return stage;
}

/// Adds the head over the vocabulary, of a language model or a decoder.
void add_token_head(Network& architecture, const ModelSpec& spec, std::int64_t classes,
                    const std::optional<WeightExtents>& weights) {
  architecture.tied_head = !weights || weights->tied_head;
  architecture.scaled_head = spec.has_decoder() && spec.readout.logit_scale != 1;
  architecture.head_tokens = architecture.stages.back().tokens;
  architecture.head_outputs = classes >= 0 ? classes : spec.output_vocabulary();
}

}  // namespace

void add_text(Network& architecture, const ModelSpec& spec, std::int64_t tokens,
              std::int64_t classes, const std::optional<WeightExtents>& weights) {
  Stage stage = text_model_stage(spec, architecture.name, tokens, weights);
  if (weights) architecture.final_norm = weights->final_norm;
  if (spec.has_decoder()) {
    stage.closing_norm = weights && weights->encoder_norm;
    architecture.stages = {stage, decoder_stage(spec, stage, tokens)};
    add_token_head(architecture, spec, classes, weights);
    return;
  }
  add_windows(architecture, spec, stage);
  architecture.stages = {stage};
  architecture.causal = spec.layer.scores.causal;
  if (spec.is_language_model()) {
    add_token_head(architecture, spec, classes, weights);
    if (spec.layer.form != LayerForm::transformer && !weights) {
      architecture.linear_biases = architecture.query_key_value_biases = false;
    }
    return;
  }
  if (!weights) architecture.final_norm = false;
  architecture.pooler = spec.readout.kind == Readout::pooler;
  if (spec.readout.kind == Readout::none) return;
  add_head(architecture, spec, classes, weights);
  if (spec.readout.kind != Readout::additive_pooling) return;
  architecture.pooling = weights ? weights->pooling : 0;
  if (architecture.pooling == 0) {
    architecture.note += std::string(architecture.note.empty() ? "" : "; ") +
                         "the width of the attention pooling is not known: it is not counted";
  }
}

}  // namespace attnscope
