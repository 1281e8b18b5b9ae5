#include "core/model/weights/embedding_weights.h"

#include <utility>

#include "core/model/parts/position_grid.h"
#include "core/model/weights/stem_weights.h"

namespace attnscope {

namespace {

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
  embedding.positions = resample_positions(
      rows_of(stored, before, patches), {architecture.position_rows, architecture.position_columns},
      {spec.input.grid_rows(), spec.input.grid_columns()}, spec.positions.resize);
}

PatchEmbedding read_patches(const WeightReader& reader, const Architecture& architecture) {
  const ModelSpec& spec = architecture.spec;
  const std::int64_t inputs =
      spec.input.patch_channels() * spec.input.patch_height * spec.input.patch_width;
  PatchEmbedding embedding;
  embedding.stem = read_stem(reader, spec.input);
  Tensor kernel = reader.read("patch.weight", {spec.width, inputs});
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

TextEmbedding read_text(const WeightReader& reader, const Architecture& architecture) {
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
  return embedding;
}

SoundEmbedding read_sound(const WeightReader& reader, const ModelSpec& spec) {
  SoundEmbedding embedding;
  embedding.first = reader.read_sequence_convolution("sound1", spec.width, spec.input.channels, 1);
  embedding.second = reader.read_sequence_convolution("sound2", spec.width, spec.width, 2);
  embedding.positions = reader.read("positions", {spec.input.context, spec.width});
  return embedding;
}

}  // namespace

Embedding read_embedding(const WeightReader& reader, const Architecture& architecture) {
  const ModelSpec& spec = architecture.spec;
  Embedding embedding;
  if (spec.is_pyramid()) return embedding;
  if (spec.input.kind == InputKind::patches) embedding.patches = read_patches(reader, architecture);
  if (spec.reads_texts()) embedding.text = read_text(reader, architecture);
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

}  // namespace attnscope
