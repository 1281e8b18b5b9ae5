// All weights of a transformer, read from a checkpoint by role.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/architecture.h"
#include "core/model/parts/block.h"
#include "core/model/parts/embedding.h"
#include "core/model/parts/patch_merging.h"
#include "core/model/parts/token_readout.h"
#include "core/progress.h"

namespace attnscope {

/// Layers on one grid, or of one text. Models without a pyramid have one stage, with nothing of its
/// own; a tail is a second one.
struct StageWeights {
  std::optional<TextEmbedding> text;     ///< of a decoder
  Tensor class_token;                    ///< [1, D], put before the tokens (CaiT), or empty
  std::optional<Convolution> embedding;  ///< of the grid before
  std::optional<PatchMerging> merging;   ///< in place of it (Swin)
  std::optional<LayerNorm> embedding_norm;
  std::vector<Block> blocks;
  std::optional<DepthwiseConvolution> positions;  ///< added after the first block (Twins)
  std::optional<FirstConvolution> convolution;    ///< after the first block (DeBERTa v2)
  std::optional<LayerNorm> norm;                  ///< after the last block (PVTv2, an encoder)
};

struct TransformerWeights {
  Embedding embedding;
  std::vector<StageWeights> stages;
  TokenReadout readout;
};

/// Throws Error(damaged) naming the tensor whose shape does not fit the spec.
[[nodiscard]] TransformerWeights read_transformer_weights(const Checkpoint& checkpoint,
                                                          const Architecture& architecture,
                                                          const Progress& progress = {});

}  // namespace attnscope
