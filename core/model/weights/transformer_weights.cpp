#include "core/model/weights/transformer_weights.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/architecture/pyramid_grid.h"
#include "core/error.h"
#include "core/model/weights/block_weights.h"
#include "core/model/weights/embedding_weights.h"

namespace attnscope {

namespace {

constexpr Arithmetic kPlain = Arithmetic::multiplicative;

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
  // Adder networks keep embeddings multiplicative (Adder, section 4.1).
  weights.embedding = reader.read_convolution(role + "patch", stage.width, channels, stage.kernel,
                                              stage.stride, padding_of(stage));
  weights.embedding_norm = reader.read_norm(role + "patch_norm", stage.width, spec.input.norm_eps);
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
