#include "core/model/weights/transformer_weights.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/architecture/pyramid_grid.h"
#include "core/error.h"
#include "core/model/parts/embedding.h"
#include "core/model/parts/position_grid.h"
#include "core/model/weights/weight_reader.h"

namespace attnscope {

namespace {

// ---- the convolutions before the patch embedding, and batch norms ----

/// A BatchNorm in evaluation mode: y = scale ⊙ x + shift, per channel.
struct ChannelScale {
  std::vector<float> scale, shift;

  /// Folds the norm into the weight rows and the bias of the preceding layer.
  void take_into(MatrixMap weight, std::vector<float>& bias) const;
};

void ChannelScale::take_into(MatrixMap weight, std::vector<float>& bias) const {
  if (bias.empty()) bias.assign(scale.size(), 0.0F);
  for (std::size_t channel = 0; channel < scale.size(); ++channel) {
    weight.row(static_cast<Eigen::Index>(channel)) *= scale[channel];
    bias[channel] = bias[channel] * scale[channel] + shift[channel];
  }
}

/// (x − running_mean) / √(running_var + eps) ⊙ weight + bias; empty if the role has no statistics.
/// Throws Error(damaged) if it has only one of the two.
std::optional<ChannelScale> read_batch_norm(const WeightReader& reader, const std::string& role,
                                            std::int64_t channels, double eps) {
  if (!reader.has(role + ".running_mean") && !reader.has(role + ".running_var")) {
    return std::nullopt;
  }
  const std::vector<float> mean = reader.read_vector(role + ".running_mean", channels);
  const std::vector<float> variance = reader.read_vector(role + ".running_var", channels);
  const std::vector<float> weight = reader.read_vector(role + ".weight", channels, false);
  const std::vector<float> bias = reader.read_vector(role + ".bias", channels, false);
  ChannelScale result;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double scale = (weight.empty() ? 1.0 : static_cast<double>(weight[i])) /
                         std::sqrt(static_cast<double>(variance[i]) + eps);
    const double shift = bias.empty() ? 0.0 : static_cast<double>(bias[i]);
    result.scale.push_back(static_cast<float>(scale));
    result.shift.push_back(static_cast<float>(shift - scale * static_cast<double>(mean[i])));
  }
  return result;
}

/// Reads a LayerNorm, independent of the kind of norm in the layers.
std::optional<LayerNorm> read_layer_norm(const WeightReader& reader, const std::string& role,
                                         std::int64_t width, double eps) {
  if (!reader.has(role + ".weight")) return std::nullopt;
  std::vector<float> bias = reader.read_vector(role + ".bias", width, false);
  if (bias.empty()) bias.assign(static_cast<std::size_t>(width), 0.0F);
  return LayerNorm{reader.read_vector(role + ".weight", width), std::move(bias), eps, false};
}

/// Empty for a model without a stem.
std::optional<Stem> read_stem(const WeightReader& reader, const InputSpec& input) {
  const StemSpec& spec = input.stem;
  if (spec.widths.empty()) return std::nullopt;
  Stem stem;
  stem.activation = spec.activation;
  std::int64_t channels = input.channels;
  for (std::size_t i = 0; i < spec.widths.size(); ++i) {
    const std::int64_t width = spec.widths[i], kernel = spec.kernels[i];
    const std::string role = "stem." + std::to_string(i);
    const std::string norm = "stem_norm." + std::to_string(i);
    Tensor weight = reader.read(role + ".weight", {width, channels, kernel, kernel});
    std::vector<float> bias = reader.read_vector(role + ".bias", width, false);
    const auto batch = read_batch_norm(reader, norm, width, spec.norm_eps);
    const MatrixMap rows(weight.data(), width, channels * kernel * kernel);
    if (batch) batch->take_into(rows, bias);
    stem.layers.push_back({{weight, std::move(bias), spec.strides[i], spec.paddings[i]}, {}});
    if (!batch) stem.layers.back().norm = read_layer_norm(reader, norm, width, spec.norm_eps);
    channels = width;
  }
  return stem;
}

// ---- the embedding ----

/// Index of each (channel, row, column) in flattened patches stored as (row, column, channel).
std::vector<std::int64_t> channels_first_order(const InputSpec& input) {
  std::vector<std::int64_t> order;
  const std::int64_t pixels = input.patch_height * input.patch_width;
  for (std::int64_t channel = 0; channel < input.channels; ++channel) {
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      order.push_back(pixel * input.channels + channel);
    }
  }
  return order;
}

/// Reorders patches from (row, column, channel) to (channel, row, column).
void reorder_patches(const InputSpec& input, Tensor& kernel, std::optional<LayerNorm>& norm) {
  const std::vector<std::int64_t> order = channels_first_order(input);
  Tensor ordered(kernel.shape());
  for (std::size_t i = 0; i < order.size(); ++i) {
    ordered.matrix().col(static_cast<std::int64_t>(i)) = kernel.matrix().col(order[i]);
  }
  kernel = std::move(ordered);
  if (!norm) return;
  const LayerNorm stored = *norm;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<std::size_t>(order[i]);
    norm->weight[i] = stored.weight[from];
    norm->bias[i] = stored.bias[from];
  }
}

/// Class tokens, then registers. Empty if there are none, or if a tail adds them.
Tensor read_prefix_tokens(const WeightReader& reader, const ModelSpec& spec) {
  const InputSpec& input = spec.input;
  if (input.prefix_tokens() == 0 || spec.tail.kind == Tail::class_attention) return {};
  Tensor tokens({input.prefix_tokens(), spec.width});
  const char* const roles[] = {"class_token", "distillation_token"};
  for (std::int64_t i = 0; i < input.class_tokens; ++i) {
    tokens.matrix().row(i) = reader.read(roles[i], {1, spec.width}).matrix().row(0);
  }
  if (input.register_tokens > 0) {
    tokens.matrix().bottomRows(input.register_tokens) =
        reader.read("register_tokens", {input.register_tokens, spec.width}).matrix();
  }
  return tokens;
}

/// Reads positions: adds those of prefix tokens to them, and resamples those of patches to the
/// spec's grid.
void read_patch_positions(const WeightReader& reader, const Architecture& architecture,
                          PatchEmbedding& embedding) {
  const ModelSpec& spec = architecture.spec;
  if (spec.positions.kind != Positions::learned) return;
  const std::int64_t patches = architecture.position_rows * architecture.position_columns;
  const std::int64_t before = architecture.position_prefix;
  const Tensor stored = reader.read("positions", {before + patches, spec.width});
  if (before > 0) {
    embedding.prefix_tokens.matrix().topRows(before) += stored.matrix().topRows(before);
  }
  embedding.stored = {architecture.position_rows, architecture.position_columns};
  embedding.positions = rows_of(stored, before, patches);
  if (spec.input.keeps_sizes()) return;
  const PositionGrid grid{spec.input.grid_rows(), spec.input.grid_columns()};
  embedding.positions =
      resample_positions(embedding.positions, embedding.stored, grid, spec.positions.resize);
  embedding.stored = grid;
}

/// The kernels [D, C·ph·pw] of patches. Those of several frames, [D, C, frames, ph, pw], are added,
/// because the frames of an image are equal.
Tensor read_kernels(const WeightReader& reader, const ModelSpec& spec) {
  const InputSpec& input = spec.input;
  const std::int64_t channels = input.patch_channels(), frames = input.frames;
  const std::int64_t pixels = input.patch_height * input.patch_width;
  if (frames == 1) return reader.read("patch.weight", {spec.width, channels * pixels});
  const Tensor stored = reader
                            .read("patch.weight", {spec.width, channels, frames, input.patch_height,
                                                   input.patch_width})
                            .reshaped({spec.width, channels * frames * pixels});
  Tensor kernels({spec.width, channels * pixels});
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    MatrixMap all = kernels.matrix();
    auto sum = all.middleCols(channel * pixels, pixels);
    for (std::int64_t frame = 0; frame < frames; ++frame) {
      sum += seen(stored).middleCols((channel * frames + frame) * pixels, pixels);
    }
  }
  return kernels;
}

PatchEmbedding read_patches(const WeightReader& reader, const Architecture& architecture) {
  const ModelSpec& spec = architecture.spec;
  const std::int64_t inputs =
      spec.input.patch_channels() * spec.input.patch_height * spec.input.patch_width;
  PatchEmbedding embedding;
  embedding.stem = read_stem(reader, spec.input);
  Tensor kernel = read_kernels(reader, spec);
  embedding.norm_before = reader.read_norm("patch_norm_before", inputs);
  const auto batch = read_batch_norm(reader, "patch_norm_after", spec.width, spec.input.norm_eps);
  if (!batch) embedding.norm_after = reader.read_norm("patch_norm_after", spec.width);
  if (spec.input.patch_order == PatchOrder::channels_last) {
    reorder_patches(spec.input, kernel, embedding.norm_before);
  }
  // Adder networks keep the patch embedding multiplicative (Adder, section 4.1).
  std::vector<float> bias = reader.read_vector("patch.bias", spec.width, false);
  if (batch) batch->take_into(kernel.matrix(), bias);
  embedding.patch = Linear(std::move(kernel), std::move(bias));
  embedding.prefix_tokens = read_prefix_tokens(reader, spec);
  read_patch_positions(reader, architecture, embedding);
  return embedding;
}

/// True if a text's positions have the model width while its token embeddings are narrower.
bool adds_positions_late(const WeightReader& reader, const Architecture& architecture) {
  const ModelSpec& spec = architecture.spec;
  return spec.embedding_width() != spec.width &&
         reader.size_of("positions") == architecture.position_rows * spec.width;
}

TextEmbedding read_text_embedding(const WeightReader& reader, const Architecture& architecture) {
  const ModelSpec& spec = architecture.spec;
  const std::int64_t width = spec.embedding_width();
  TextEmbedding embedding;
  embedding.tokens = reader.read_matrix("token_embedding.weight", spec.input.vocabulary, width);
  if (spec.positions.kind == Positions::learned && !adds_positions_late(reader, architecture)) {
    embedding.positions = reader.read("positions", {architecture.position_rows, width});
    embedding.position_offset = spec.positions.offset;
  }
  if (spec.input.token_types > 0) {
    embedding.types = reader.read("token_types", {spec.input.token_types, width});
  }
  embedding.scale = embedding_scale(spec);
  embedding.dropped = spec.input.dropped_token;
  if (embedding.dropped >= 0) embedding.scale *= 0.88F;
  return embedding;
}

SoundEmbedding read_sound(const WeightReader& reader, const ModelSpec& spec) {
  SoundEmbedding embedding;
  embedding.first = reader.read_sequence_convolution("sound1", spec.width, spec.input.channels, 1);
  embedding.second = reader.read_sequence_convolution("sound2", spec.width, spec.width, 2);
  embedding.positions = reader.read("positions", {spec.input.context, spec.width});
  return embedding;
}

/// Throws Error(damaged) naming a tensor whose shape does not fit the spec.
Embedding read_embedding(const WeightReader& reader, const Architecture& architecture) {
  const ModelSpec& spec = architecture.spec;
  Embedding embedding;
  if (spec.is_pyramid()) return embedding;
  if (spec.input.kind == InputKind::patches) embedding.patches = read_patches(reader, architecture);
  if (spec.reads_texts()) embedding.text = read_text_embedding(reader, architecture);
  if (spec.is_audio()) embedding.sound = read_sound(reader, spec);
  if (reader.has("input_projection.weight")) {
    embedding.projection = reader.read_linear("input_projection", spec.width,
                                              spec.embedding_width(), Arithmetic::multiplicative);
  }
  embedding.norm = reader.read_norm("embedding_norm", spec.embedding_width());
  const bool given = spec.input.kind == InputKind::embeddings;
  const bool late = given || (spec.reads_texts() && adds_positions_late(reader, architecture));
  if (late && spec.positions.kind == Positions::learned) {
    embedding.late_positions = reader.read("positions", {architecture.position_rows, spec.width});
  }
  return embedding;
}

// ---- stages, read-out and decoder ----

constexpr Arithmetic kPlain = Arithmetic::multiplicative;

/// Reads the convolutions before the last one of a stage's embedding, MLLA's: those that keep the
/// number of channels have stride 1, and the input of two of them is added to their output; other
/// 3×3 ones and depthwise ones have stride 2. `channels` becomes the number of their outputs.
/// Throws Error(damaged) if they do not have the stride of the stage.
std::vector<EmbeddingStep> read_steps(const WeightReader& reader, const PyramidStage& stage,
                                      const std::string& role, double eps, std::int64_t& channels) {
  std::vector<EmbeddingStep> steps;
  std::vector<bool> keeps;
  std::int64_t stride = 1;
  for (int i = 0; reader.has(role + "stem." + std::to_string(i) + ".weight"); ++i) {
    const std::string name = role + "stem." + std::to_string(i);
    const std::int64_t outputs = reader.outputs_of(name + ".weight");
    const std::int64_t taps = reader.size_of(name + ".weight") / std::max<std::int64_t>(outputs, 1);
    const bool depthwise = taps == 9 && outputs == channels;
    const std::int64_t side = !depthwise && taps == channels ? 1 : 3;
    Tensor weight = reader.read(name + ".weight", {outputs, depthwise ? 1 : channels, side, side});
    std::vector<float> bias = reader.read_vector(name + ".bias", outputs, false);
    const auto batch =
        read_batch_norm(reader, role + "stem_norm." + std::to_string(i), outputs, eps);
    if (!batch && bias.empty()) {
      throw Error(ErrorKind::damaged, "a convolution without a bias has no BatchNorm")
          .about(role + "stem_norm." + std::to_string(i) + ".running_mean");
    }
    if (batch) batch->take_into({weight.data(), outputs, weight.size() / outputs}, bias);
    keeps.push_back(!depthwise && side == 3 && outputs == channels);
    const std::int64_t step = side == 3 && !keeps.back() ? 2 : 1;
    stride *= step;
    EmbeddingStep& added = steps.emplace_back();
    if (depthwise) {
      added.depthwise = DepthwiseConvolution(weight, std::move(bias), step);
    } else {
      added.convolution = Convolution(weight, std::move(bias), step, side / 2);
    }
    channels = outputs;
  }
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (keeps[i] && keeps[i - 1] && !steps[i - 1].ends) steps[i - 1].begins = steps[i].ends = true;
  }
  if (!steps.empty() && stride != stage.stride) {
    throw Error(ErrorKind::damaged, "the convolutions of an embedding do not have its stride")
        .about(role + "stem.0.weight")
        .expected(std::to_string(stage.stride))
        .found(std::to_string(stride));
  }
  return steps;
}

/// Reads the weights of a pyramid stage except for its blocks.
StageWeights read_stage(const WeightReader& reader, const ModelSpec& spec, std::size_t index) {
  const PyramidStage& stage = spec.stages[index];
  const std::int64_t channels = index == 0 ? spec.input.channels : spec.stages[index - 1].width;
  const std::string role = "stage." + std::to_string(index) + ".";
  StageWeights weights;
  if (reader.has(role + "merge.weight")) {
    const std::int64_t inputs = stage.kernel * stage.kernel * channels;
    std::optional<LayerNorm> norm =
        reader.read_norm(role + "merge_norm", inputs, spec.input.norm_eps);
    if (!norm) {
      throw Error(ErrorKind::damaged, "the norm of the patch merging is missing")
          .about(role + "merge_norm");
    }
    const GridExtents grid = pyramid_grids(spec)[index - 1];
    if (!spec.shifts_windows() && (grid.rows % 2 != 0 || grid.columns % 2 != 0)) {
      throw Error(ErrorKind::unsupported, "the grid of the patch merging has an odd side")
          .about(role + "merge")
          .expected("an image whose grids have even sides")
          .found(std::to_string(grid.rows) + " × " + std::to_string(grid.columns));
    }
    weights.merging = PatchMerging{std::move(*norm),
                                   reader.read_linear(role + "merge", stage.width, inputs, kPlain)};
    weights.positions = reader.read_depthwise(role + "positions", stage.width);
    return weights;
  }
  std::int64_t inputs = channels;
  weights.steps = read_steps(reader, stage, role, spec.input.norm_eps, inputs);
  if (weights.steps.empty()) {
    // Adder networks keep embeddings multiplicative (Adder, section 4.1).
    weights.embedding = reader.read_convolution(role + "patch", stage.width, channels, stage.kernel,
                                                stage.stride, padding_of(stage));
    weights.embedding_norm =
        reader.read_norm(role + "patch_norm", stage.width, spec.input.norm_eps);
  } else {
    Tensor weight = reader.read(role + "patch.weight", {stage.width, inputs, 1, 1});
    std::vector<float> bias = reader.read_vector(role + "patch.bias", stage.width, false);
    const auto batch =
        read_batch_norm(reader, role + "patch_norm", stage.width, spec.input.norm_eps);
    if (batch) batch->take_into({weight.data(), stage.width, inputs}, bias);
    weights.embedding = Convolution(weight, std::move(bias), 1, 0);
  }
  weights.positions = reader.read_depthwise(role + "positions", stage.width);
  weights.norm = reader.read_norm(role + "norm", stage.width);
  return weights;
}

FirstConvolution read_first_convolution(const WeightReader& reader, const ModelSpec& spec) {
  std::optional<LayerNorm> norm = reader.read_norm("convolution_norm", spec.width);
  if (!norm) {
    throw Error(ErrorKind::damaged, "the convolution has no norm").about("convolution_norm");
  }
  return {reader.read_sequence_convolution("convolution", spec.width, spec.width, 1),
          std::move(*norm), spec.layer.mlp.activation};
}

/// Reads the weights of a decoder except for its blocks. Without own token embeddings it uses the
/// encoder's.
StageWeights read_decoder(const WeightReader& reader, const ModelSpec& spec,
                          const Embedding& encoder) {
  StageWeights weights;
  TextEmbedding text = *encoder.text;
  if (reader.has("decoder_token_embedding.weight")) {
    text.tokens = reader.read_matrix("decoder_token_embedding.weight", spec.output_vocabulary(),
                                     spec.embedding_width());
  }
  if (spec.positions.kind == Positions::learned) {
    const std::int64_t rows = reader.outputs_of("decoder_positions");
    text.positions = reader.read("decoder_positions", {rows, spec.width});
  }
  weights.text = std::move(text);
  weights.embedding_norm = reader.read_norm("decoder_embedding_norm", spec.width);
  return weights;
}

bool same_numbers(const WeightMatrix& a, const WeightMatrix& b) {
  constexpr std::int64_t block = 256;
  if (a.rows() != b.rows() || a.columns() != b.columns()) return false;
  std::vector<float> of_a, of_b;
  bool same = true;
  for (std::int64_t first = 0; same && first < a.rows(); first += block) {
    const std::int64_t count = std::min(block, a.rows() - first);
    const float* const begin = a.read(first, count, of_a);
    same = std::equal(begin, begin + count * a.columns(), b.read(first, count, of_b));
  }
  a.release_pages();
  b.release_pages();
  return same;
}

/// Reads the hidden layer of a head, with `outputs` channels, and the norm after it.
void read_transform(const WeightReader& reader, const ModelSpec& spec, std::int64_t outputs,
                    TokenReadout& readout) {
  readout.transform = reader.read_linear("head_transform", outputs, spec.width, kPlain);
  readout.transform_norm = reader.read_norm("head_transform_norm", outputs);
}

/// Reads the head of a language model. It is tied unless the file has a separate weight; a bias is
/// optional in both cases.
void read_token_head(const WeightReader& reader, const ModelSpec& spec, const WeightMatrix& table,
                     TokenReadout& readout) {
  const bool own = reader.has("head.0.weight");
  WeightMatrix head =
      own ? reader.read_matrix("head.0.weight", spec.output_vocabulary(), spec.embedding_width())
          : table;
  // Training code often saves the same tensor under both names.
  readout.tied_head = !own || same_numbers(head, table);
  readout.head.emplace_back(std::move(head),
                            reader.read_vector("head.0.bias", spec.output_vocabulary(), false));
  if (reader.has("output_projection.weight")) {
    readout.projection =
        reader.read_linear("output_projection", spec.embedding_width(), spec.width, kPlain);
  }
  const bool transforms =
      spec.readout.kind == Readout::masked_token && reader.has("head_transform.weight");
  if (spec.embedding_width() != spec.width && !transforms && !readout.projection) {
    throw Error(ErrorKind::damaged,
                "the token embeddings are narrower than the model, and the projection to their "
                "width is missing")
        .about("output_projection")
        .expected("[" + std::to_string(spec.embedding_width()) + ", " + std::to_string(spec.width) +
                  "]");
  }
  if (transforms) read_transform(reader, spec, spec.embedding_width(), readout);
}

/// Reads queries, keys and values of attention pooling, separate or fused.
void read_pooling_projections(const WeightReader& reader, std::int64_t width,
                              AttentionPooling& pooling) {
  const auto part = [&](const char* role, std::int64_t parts, std::int64_t index) {
    const std::vector<float> bias =
        reader.read_vector(std::string(role) + ".bias", parts * width, false);
    return Linear(reader.read_matrix(std::string(role) + ".weight", parts * width, width)
                      .with_rows(counted_rows(index * width, width)),
                  part_of(bias, index * width, width));
  };
  if (reader.has("pooling.qkv.weight")) {
    pooling.query = part("pooling.qkv", 3, 0);
    pooling.key = part("pooling.qkv", 3, 1);
    pooling.value = part("pooling.qkv", 3, 2);
    return;
  }
  pooling.query = part("pooling.query", 1, 0);
  const bool fused = reader.has("pooling.key_value.weight");
  pooling.key = fused ? part("pooling.key_value", 2, 0) : part("pooling.key", 1, 0);
  pooling.value = fused ? part("pooling.key_value", 2, 1) : part("pooling.value", 1, 0);
}

AttentionPooling read_attention_pooling(const WeightReader& reader, const ModelSpec& spec) {
  AttentionPooling pooling;
  pooling.heads = spec.layer.attention.heads;
  pooling.probe = reader.read("pooling.probe", {1, spec.width});
  read_pooling_projections(reader, spec.width, pooling);
  pooling.out = reader.read_linear("pooling.out", spec.width, spec.width, kPlain);
  pooling.norm = reader.read_norm("pooling.norm", spec.width);
  if (!reader.has("pooling.mlp1.weight") && !reader.has("pooling.mlp2.weight")) return pooling;
  Mlp mlp;
  const std::int64_t hidden = reader.outputs_of("pooling.mlp1.weight");
  mlp.activation = spec.layer.mlp.activation;
  mlp.mlp1 = reader.read_linear("pooling.mlp1", hidden, spec.width, kPlain);
  mlp.mlp2 = reader.read_linear("pooling.mlp2", spec.width, hidden, kPlain);
  pooling.mlp = std::move(mlp);
  return pooling;
}

/// Reads the layers of a head that takes `inputs` features.
void read_class_head(const WeightReader& reader, const Checkpoint& checkpoint,
                     const ModelSpec& spec, std::int64_t inputs, TokenReadout& readout) {
  for (int i = 0; i < 10; ++i) {
    const std::string role = "head." + std::to_string(i);
    if (!reader.has(role + ".weight")) continue;
    const std::int64_t outputs = reader.outputs_of(role + ".weight");
    readout.head.push_back(reader.read_linear(role, outputs, inputs, kPlain));
    inputs = outputs;
  }
  const Readout kind = spec.readout.kind;
  const bool read_alone = kind == Readout::pooler || kind == Readout::attention_pooling ||
                          kind == Readout::end_token || kind == Readout::mean_all ||
                          kind == Readout::last_token;
  if (readout.head.empty() && !read_alone) {
    throw Error(ErrorKind::usage, "the file holds no head to read out")
        .in_file(checkpoint.path())
        .about("readout")
        .expected("none");
  }
  if (spec.readout.kind == Readout::class_and_distilled) {
    readout.distillation_head = reader.read_linear("distillation_head", inputs, spec.width, kPlain);
  }
}

TokenReadout read_readout(const WeightReader& reader, const Checkpoint& checkpoint,
                          const ModelSpec& spec, const TransformerWeights& weights) {
  TokenReadout readout;
  const Readout kind = spec.readout.kind;
  if (spec.readout.final_norm) {
    readout.final_norm =
        reader.read_norm(spec.has_decoder() ? "decoder_final_norm" : "final_norm", spec.width);
  }
  readout.head_norm = reader.read_norm("head_norm", spec.width);
  if (spec.readout.gives_token_logits()) {
    const std::optional<TextEmbedding>& text =
        spec.has_decoder() ? weights.stages.back().text : weights.embedding.text;
    read_token_head(reader, spec, text->tokens, readout);
  }
  if (!spec.readout.gives_features()) return readout;
  if (kind == Readout::pooler) {
    readout.pooler = reader.read_linear("pooler", spec.width, spec.width, kPlain);
  }
  if (kind == Readout::additive_pooling) {
    const std::int64_t hidden = reader.outputs_of("pooling1.weight");
    readout.pooling1 = reader.read_linear("pooling1", hidden, spec.width, kPlain);
    readout.pooling2 = reader.read_linear("pooling2", 1, hidden, kPlain);
  }
  if (kind == Readout::attention_pooling) readout.pooling = read_attention_pooling(reader, spec);
  if (reader.has("head_transform.weight")) read_transform(reader, spec, spec.width, readout);
  read_class_head(reader, checkpoint, spec,
                  kind == Readout::class_and_mean ? 2 * spec.width : spec.width, readout);
  return readout;
}

}  // namespace

TransformerWeights read_transformer_weights(const Checkpoint& checkpoint,
                                            const Architecture& architecture,
                                            const Progress& progress) {
  const WeightReader reader(checkpoint, architecture);
  const ModelSpec& spec = architecture.spec;
  TransformerWeights weights;
  weights.embedding = read_embedding(reader, architecture);
  for (std::size_t i = 0; i < spec.stages.size(); ++i) {
    weights.stages.push_back(read_stage(reader, spec, i));
  }
  if (weights.stages.empty()) weights.stages.emplace_back();
  if (reader.has("convolution.weight")) {
    weights.stages.front().convolution = read_first_convolution(reader, spec);
  }
  if (spec.has_decoder()) {
    weights.stages.front().norm = reader.read_norm("final_norm", spec.width);
    weights.stages.push_back(read_decoder(reader, spec, weights.embedding));
  }
  if (spec.tail.kind == Tail::class_attention) {
    weights.stages.emplace_back().class_token = reader.read("class_token", {1, spec.width});
  }
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    progress.step(static_cast<double>(layer) / static_cast<double>(spec.layers), "reading weights");
    weights.stages[place_of_layer(spec, layer).stage].blocks.push_back(
        read_block(reader, architecture, layer));
  }
  weights.readout = read_readout(reader, checkpoint, spec, weights);
  progress.step(1, "reading weights");
  return weights;
}

}  // namespace attnscope
