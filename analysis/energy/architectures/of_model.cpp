// Networks of loaded models; dimensions are completed from their weight files.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "analysis/energy/architecture.h"
#include "analysis/energy/layers.h"
#include "core/architecture/pyramid_grid.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::int64_t kDepthwiseTaps = 9;  // 3 x 3, in PVTv2's MLPs and Twins' positions

/// Number of multiplicative layers at both ends; the smaller one if they differ.
std::int64_t multiplicative_ends(const ModelSpec& spec) {
  if (spec.arithmetic == Arithmetic::multiplicative) return 0;
  std::int64_t ends = 0;
  while (2 * ends < spec.layers && arithmetic_of(spec, ends) == Arithmetic::multiplicative &&
         arithmetic_of(spec, spec.layers - 1 - ends) == Arithmetic::multiplicative) {
    ++ends;
  }
  return ends;
}

/// Adds windows over a grid of tokens, in some or all layers (SAM), and relative position vectors.
void add_grid(Stage& stage, const ModelSpec& spec, const std::string& name) {
  stage.decomposed_positions = spec.layer.scores.bias == ScoreBias::decomposed;
  std::int64_t window = 0;
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    const std::int64_t own = layer_of(spec, layer).scores.window;
    if (own == 0) stage.whole_layers.push_back(layer);
    if (own > 0 && window > 0 && own != window) {
      throw Error(ErrorKind::unsupported, "windows of several sizes are not counted")
          .about(name)
          .remedy("take a model without them");
    }
    window = std::max(window, own);
  }
  if (window == 0 && !stage.decomposed_positions) return;
  stage.rows = spec.input.grid_rows();
  stage.columns = spec.input.grid_columns();
  if (stage.rows * stage.columns != stage.tokens) {
    stage.rows = stage.columns =
        static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(stage.tokens))));
  }
  if (stage.rows * stage.columns != stage.tokens) {
    throw Error(ErrorKind::usage, "the model's windows need a square grid of tokens")
        .about("tokens")
        .expected("a square number, such as " + std::to_string(stage.rows * stage.columns))
        .found(std::to_string(stage.tokens));
  }
  if (window == 0) return;
  stage.windows_everywhere = true;
  stage.window_tokens = window * window;
  stage.window_count =
      ((stage.rows + window - 1) / window) * ((stage.columns + window - 1) / window);
}

/// Adds the convolutions before the patches, for images of the model's own size.
void add_stem(StageEmbedding& embedding, const InputSpec& input, const std::string& name,
              std::int64_t patches, const std::optional<WeightExtents>& weights) {
  const StemSpec& stem = input.stem;
  if (stem.widths.empty()) return;
  if (patches != input.grid_rows() * input.grid_columns()) {
    throw Error(ErrorKind::usage, "the convolutions before the patches need images of one size")
        .about(name)
        .expected(std::to_string(input.grid_rows() * input.grid_columns()) + " patches")
        .found(std::to_string(patches))
        .remedy("set image_height and image_width instead of tokens");
  }
  std::int64_t rows = input.image_height, columns = input.image_width, channels = input.channels;
  for (std::size_t i = 0; i < stem.widths.size(); ++i) {
    const auto cells = [&](std::int64_t extent) {
      return (extent + 2 * stem.paddings[i] - stem.kernels[i]) / stem.strides[i] + 1;
    };
    rows = cells(rows);
    columns = cells(columns);
    embedding.stem.push_back(
        {.outputs = rows * columns,
         .input_channels = channels,
         .kernel_taps = stem.kernels[i] * stem.kernels[i],
         .width = stem.widths[i],
         .norm = weights && i < weights->stem_norms.size() && weights->stem_norms[i]});
    channels = stem.widths[i];
  }
  embedding.input_channels = channels;
  embedding.stem_activation = stem.activation;
}

/// Number of tokens requested, else a text model's context, or the tokens of an image; 0: unknown.
std::int64_t length_of(const ModelSpec& spec, std::int64_t tokens) {
  if (tokens > 0) return tokens;
  return spec.reads_texts() ? spec.input.context : spec.tokens();
}

/// All layers, without their embedding. Throws Error(usage) about `name` with an example if the
/// number of tokens is unknown because it depends on `input`.
Stage layers_stage(const ModelSpec& spec, const std::string& name, std::int64_t tokens,
                   const std::string& input, const std::string& example,
                   const std::optional<WeightExtents>& weights) {
  Stage stage;
  stage.tokens = tokens;
  if (stage.tokens <= 0) {
    throw Error(ErrorKind::usage, "the number of tokens depends on the " + input)
        .about(name)
        .remedy("give it: --tokens " + example);
  }
  stage.width = spec.width;
  stage.heads = spec.layer.attention.heads;
  stage.head_width = spec.layer.attention.head_width;
  stage.layers = spec.layers;
  stage.mlp_width = spec.layer.mlp.width;
  stage.gated_mlp = spec.layer.mlp.form == MlpForm::gated;
  stage.key_heads = spec.layer.attention.key_heads;
  if (const RotarySpec& rotary = spec.layer.rotary; rotary.form != Rotary::none) {
    stage.rotated = rotary.width > 0 ? rotary.width : shape_of(stage).head_width;
    if (rotary.grid != RotaryGrid::sequence) stage.unrotated_tokens = spec.input.prefix_tokens();
  }
  if (spec.layer.mlp.experts > 0) {
    stage.experts = spec.layer.mlp.experts;
    stage.active_experts = spec.layer.mlp.active_experts;
    stage.shared_width = spec.layer.mlp.shared_width;
  }
  if (weights) {
    stage.query_norm = weights->query_norm;
    stage.mlp_norm = weights->mlp_norm;
  }
  return stage;
}

Stage vit_stage(const ModelSpec& spec, const std::string& name, std::int64_t tokens,
                const std::optional<WeightExtents>& weights) {
  Stage stage = layers_stage(spec, name, length_of(spec, tokens), "input", "196", weights);
  if (spec.is_audio()) {
    constexpr std::int64_t taps = 3;
    stage.embedding = {.kind = StageEmbedding::Kind::sound,
                       .outputs = stage.tokens,
                       .first_outputs = 2 * stage.tokens,
                       .input_channels = spec.input.channels,
                       .kernel_taps = taps,
                       .positions = stage.tokens};
    return stage;
  }
  add_grid(stage, spec, name);
  stage.embedding.class_tokens = spec.input.prefix_tokens();
  if (spec.input.patch_height > 0) {
    stage.embedding.kind = StageEmbedding::Kind::convolution;
    stage.embedding.outputs = stage.tokens - spec.input.prefix_tokens();
    stage.embedding.input_channels = spec.input.channels;
    stage.embedding.kernel_taps = spec.input.patch_height * spec.input.patch_width;
    stage.embedding.positions = spec.positions.kind == Positions::learned ? stage.tokens : 0;
    if (weights) {
      stage.embedding.biases = weights->patch_biases;
      stage.embedding.norm = weights->embedding_norm;
    }
    add_stem(stage.embedding, spec.input, name, stage.embedding.outputs, weights);
  }
  return stage;
}

/// The stage of the patches, then that of the layers in which only the class token queries.
std::vector<Stage> vit_stages(const ModelSpec& spec, const std::string& name, std::int64_t tokens,
                              const std::optional<WeightExtents>& weights) {
  Stage body = vit_stage(spec, name, tokens, weights);
  if (spec.tail.kind != Tail::class_attention) return {body};
  Stage tail = body;
  body.tokens = body.embedding.outputs;
  body.layers = spec.body_layers();
  body.embedding.class_tokens = 0;
  body.embedding.positions = std::min(body.embedding.positions, body.tokens);
  tail.embedding = {.class_tokens = spec.input.class_tokens};
  tail.layers = spec.tail.layers();
  const LayerSpec layer = layer_of(spec, spec.body_layers());
  tail.heads = layer.attention.heads;
  tail.head_width = layer.attention.head_width;
  tail.mlp_width = layer.mlp.width;
  tail.class_attention = true;
  tail.softmax_only = spec.mechanism.name != "softmax";
  return {body, tail};
}

/// Number of tokens in each stage; `tokens` sets that of the first if positive.
std::vector<std::int64_t> stage_tokens(const ModelSpec& spec, std::int64_t tokens) {
  std::vector<std::int64_t> list;
  if (tokens <= 0) {
    for (const GridExtents& grid : pyramid_grids(spec)) list.push_back(grid.tokens());
    return list;
  }
  for (std::size_t i = 0; i < spec.stages.size(); ++i) {
    const std::int64_t shrink = i == 0 ? 1 : spec.stages[i].stride * spec.stages[i].stride;
    if (tokens % shrink != 0) {
      throw Error(ErrorKind::usage,
                  "the number of tokens is not divisible by the strides of the later stages")
          .about("tokens")
          .found(std::to_string(tokens) + " before stage " + std::to_string(i));
    }
    tokens /= shrink;
    list.push_back(tokens);
  }
  return list;
}

void add_pyramid(Network& architecture, const ModelSpec& spec, std::int64_t wanted_tokens) {
  const bool is_swin = spec.shifts_windows();
  const bool is_twins =
      !is_swin && std::any_of(spec.stages.begin(), spec.stages.end(),
                              [](const PyramidStage& stage) { return stage.window > 0; });
  const std::vector<std::int64_t> tokens = stage_tokens(spec, wanted_tokens);
  std::int64_t channels = spec.input.channels, layer = 0;
  for (std::size_t i = 0; i < spec.stages.size(); ++i) {
    const PyramidStage& from = spec.stages[i];
    Stage stage;
    stage.tokens = tokens[i];
    stage.width = from.width;
    stage.heads = from.heads;
    stage.layers = from.layers;
    stage.mlp_width = from.mlp_width;
    stage.embedding = {.kind = StageEmbedding::Kind::convolution,
                       .outputs = tokens[i],
                       .input_channels = channels,
                       .kernel_taps = from.kernel * from.kernel,
                       .norm = true};
    if (is_swin) {
      const std::int64_t offsets = 2 * from.window - 1;
      stage.windows_everywhere = true;
      stage.window_biases = offsets * offsets;
      if (i > 0) {
        stage.embedding.kind = StageEmbedding::Kind::merging;
        stage.embedding.norm = false;
      }
    } else {
      (is_twins ? stage.position_convolution_taps : stage.mlp_convolution_taps) = kDepthwiseTaps;
      stage.closing_norm = !is_twins;
    }
    stage.softmax_only =
        mechanism_of(spec, layer).name == "softmax" && architecture.mechanism.name != "softmax";
    stage.reduction = from.reduction;
    if (from.pooled > 0) {
      // Pooling to a fixed side is counted as a reduction by the rounded ratio of the sides.
      const double side = std::sqrt(static_cast<double>(tokens[i]));
      stage.reduction =
          std::max<std::int64_t>(std::llround(side / static_cast<double>(from.pooled)), 1);
    }
    stage.reduction_norm = stage.reduction > 1;
    stage.window_tokens = from.window * from.window;
    channels = from.width;
    layer += from.layers;
    architecture.stages.push_back(stage);
  }
  architecture.native_attention = true;
  architecture.final_norm = spec.readout.final_norm;
}

/// Name of a part of the layers that is not counted; empty if all is counted.
std::string uncounted(const ModelSpec& spec, const std::optional<WeightExtents>& weights) {
  const LayerSpec& layer = spec.layer;
  if (weights && weights->local_convolutions) return "convolutions of the tokens";
  if (layer.mlp.form == MlpForm::none) return "layers without MLPs";
  if (layer.attention.latent_width > 0) return "latent keys and values";
  const ScoreBias bias = layer.scores.bias;
  const bool counted = bias == ScoreBias::none || bias == ScoreBias::decomposed ||
                       (bias == ScoreBias::buckets && spec.reads_texts());
  if (!counted && !spec.shifts_windows()) return "biases of relative positions";
  if (layer.scores.soft_cap > 0) return "soft caps";
  if (layer.attention.cosine) return "cosines of queries and keys";
  const AttentionSpec& attention = layer.attention;
  if (attention.heads_norm != HeadsNorm::over_all) return "norms of single heads";
  if (attention.gate != OutputGate::none) return "gates of the heads' output";
  if (attention.decay != DecayGate::none) return "decays from the tokens";
  if (attention.value_width != 0) return "values of another width than keys";
  if (layer.residual_scale != 1 || layer.branch_scale != 1) return "scaled residuals";
  if (layer.norm.position == NormPosition::sandwich) return "norms after each part";
  if (spec.readout.kind == Readout::masked_token) return "heads of masked tokens";
  if (spec.embedding_width() != spec.width) return "token embeddings narrower than the model";
  // Windows are counted per layer, or are as long as the text (check_windows). Rotary angles do not
  // change the number of operations.
  for (const LayerDifference& difference : spec.differences) {
    for (const auto& [member, value] : difference.members) {
      const bool angles =
          member == "rotary.theta" || member == "rotary.scaling" || member == "rotary.factor";
      if (member != "scores.window" && !angles) return "layers that differ";
    }
  }
  return {};
}

/// Throws Error(unsupported) if a window of last tokens, or around each token, is shorter than the
/// input.
void check_windows(const ModelSpec& spec, const std::string& name, std::int64_t tokens) {
  // Windows of a grid are counted.
  if (spec.layer.scores.window_form == WindowForm::tiles || !spec.stages.empty()) return;
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    const std::int64_t window = layer_of(spec, layer).scores.window;
    if (window == 0 || window >= length_of(spec, tokens)) continue;
    throw Error(ErrorKind::unsupported, "windows shorter than the input are not counted")
        .about(name)
        .expected("at most " + std::to_string(window) + " tokens")
        .found(std::to_string(length_of(spec, tokens)))
        .remedy("--tokens " + std::to_string(window));
  }
}

/// Adds the head of a classifier.
void add_head(Network& architecture, const ModelSpec& spec, std::int64_t classes,
              const std::optional<WeightExtents>& weights) {
  architecture.head_outputs = static_cast<std::int64_t>(spec.labels.size());
  if (weights && !weights->head.empty()) {
    architecture.head_hidden.assign(weights->head.begin(), weights->head.end() - 1);
    architecture.head_outputs = weights->head.back();
  }
  if (classes >= 0) architecture.head_outputs = classes;
  if (architecture.head_outputs == 0) {
    architecture.note = "the file names no classes: the head is not counted (set classes=N)";
  }
}

/// The stage of a text's tokens, with their embedding.
Stage text_model_stage(const ModelSpec& spec, const std::string& name, std::int64_t tokens,
                       const std::optional<WeightExtents>& weights) {
  Stage stage = layers_stage(spec, name, length_of(spec, tokens), "text", "512", weights);
  stage.layers = spec.body_layers();
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

/// Adds the stages and the head of a text model: an encoder, a language model, an encoder–decoder.
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
      architecture.linear_biases = architecture.output_biases = false;
      architecture.query_key_value_biases = false;
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

}  // namespace

Network architecture_of(const ModelSpec& spec, const std::string& name, std::int64_t tokens,
                        std::int64_t classes, const std::optional<WeightExtents>& weights) {
  if (const std::string missing = uncounted(spec, weights); !missing.empty()) {
    throw Error(ErrorKind::unsupported, "the operations of " + missing + " are not counted")
        .about(name)
        .remedy("take a model without them");
  }
  check_windows(spec, name, tokens);
  Network architecture;
  architecture.name = architecture.title = name;
  architecture.source = "its weight file";
  architecture.mechanism = spec.layer_mechanisms.empty() ? spec.mechanism : mechanism_of(spec, 0);
  architecture.arithmetic = spec.arithmetic;
  architecture.multiplicative_ends = multiplicative_ends(spec);
  for (const std::int64_t layer : spec.multiplicative_layers) {
    const std::int64_t ends = architecture.multiplicative_ends;
    if (spec.arithmetic == Arithmetic::adder && layer >= ends && layer < spec.layers - ends) {
      architecture.multiplicative_layers.push_back(layer);
    }
  }
  architecture.activation = spec.layer.mlp.activation;
  architecture.rms_norms = spec.layer.norm.kind != Norm::layer;
  const ScoreScale& scale = spec.layer.scores.scale;
  architecture.scaled_scores = scale.rule != ScoreScale::Rule::number || scale.number != 1;
  if (weights) {
    architecture.linear_biases = weights->linear_biases;
    architecture.output_biases = weights->output_biases;
    architecture.router_biases = weights->router_biases;
    architecture.shared_gate = weights->shared_gate;
    architecture.head_norm = weights->head_norm;
    architecture.layer_scales = weights->layer_scales;
    architecture.query_key_value_biases = weights->query_key_value_biases;
    architecture.key_biases = weights->key_biases;
    architecture.head_bias = weights->head_biases;
  }
  if (spec.reads_texts()) {
    add_text(architecture, spec, tokens, classes, weights);
    return architecture;
  }
  architecture.final_norm = spec.layer.norm.position == NormPosition::pre;
  if (weights && !weights->final_norm) architecture.final_norm = false;
  architecture.head_copies = spec.readout.kind == Readout::class_and_distilled ? 2 : 1;
  if (spec.stages.empty()) {
    architecture.stages = vit_stages(spec, name, tokens, weights);
    architecture.native_attention = architecture.stages.front().window_count > 0;
  } else {
    add_pyramid(architecture, spec, tokens);
  }
  if (spec.readout.kind != Readout::none) add_head(architecture, spec, classes, weights);
  if (spec.layer.scores.bias == ScoreBias::decomposed) {
    architecture.note = "the layers alone: without the neck behind them";
  }
  return architecture;
}

}  // namespace attnscope
