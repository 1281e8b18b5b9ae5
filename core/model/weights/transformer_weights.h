// Reads all weights of a transformer from a checkpoint by role.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/architecture.h"
#include "core/model/parts/block.h"
#include "core/model/parts/embedding.h"
#include "core/model/parts/token_readout.h"
#include "core/model/weights/weight_reader.h"
#include "core/progress.h"

namespace attnscope {

/// The layers on one grid or of one text. Models without a pyramid have one stage; a decoder or a
/// class-attention tail is a second one.
struct StageWeights {
  std::optional<TextEmbedding> text;     ///< embedding of a decoder's text
  Tensor class_token;                    ///< [1, D], prepended to the tokens (CaiT), or empty
  std::vector<EmbeddingStep> steps;      ///< convolutions before `embedding` (MLLA)
  std::optional<Convolution> embedding;  ///< patch embedding of the previous grid
  std::optional<PatchMerging> merging;   ///< replaces `embedding` (Swin)
  std::optional<LayerNorm> embedding_norm;
  std::vector<Block> blocks;
  std::optional<DepthwiseConvolution> positions;  ///< added after the first block (Twins)
  std::optional<FirstConvolution> convolution;    ///< applied after the first block (DeBERTa v2)
  std::optional<LayerNorm> norm;                  ///< norm after the last block (PVTv2, an encoder)
};

struct TransformerWeights {
  Embedding embedding;
  std::vector<StageWeights> stages;
  TokenReadout readout;
};

/// Throws Error(damaged) naming a tensor whose shape does not fit the spec.
[[nodiscard]] TransformerWeights read_transformer_weights(const Checkpoint& checkpoint,
                                                          const Architecture& architecture,
                                                          const Progress& progress = {});

/// One layer's weights. Throws Error(damaged) naming a tensor whose shape does not fit the spec.
[[nodiscard]] Block read_block(const WeightReader& reader, const Architecture& architecture,
                               std::int64_t layer);

}  // namespace attnscope
