// The weights of a pyramid, read from a checkpoint by role.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/architecture.h"
#include "core/attention/mechanism.h"
#include "core/model/parts/convolution.h"
#include "core/model/parts/linear.h"
#include "core/progress.h"

namespace attnscope {

struct PyramidBlockWeights {
  std::optional<LayerNorm> norm1, norm2;
  Linear query, value;
  std::optional<Linear> key;  ///< none: the queries are the keys (EcoFormer)
  std::optional<Convolution> reduction;
  std::optional<LayerNorm> reduction_norm;
  NamedTensors mechanism;                   ///< what AttentionInput::parameters points at
  std::optional<LayerNorm> attention_norm;  ///< of the heads' output, in adder arithmetic
  Linear out, mlp1, mlp2;
  std::optional<DepthwiseConvolution> mlp_convolution;
};

struct PyramidStageWeights {
  Convolution embedding;
  std::optional<LayerNorm> embedding_norm;
  std::vector<PyramidBlockWeights> blocks;
  std::optional<DepthwiseConvolution> positions;  ///< added after the first block (Twins)
  std::optional<LayerNorm> norm;                  ///< after the last block (PVTv2)
};

struct PyramidWeights {
  std::vector<PyramidStageWeights> stages;
  std::optional<LayerNorm> final_norm;
  std::optional<Linear> head;
};

/// Throws Error(damaged) naming the tensor whose shape does not fit the spec.
[[nodiscard]] PyramidWeights read_pyramid_weights(const Checkpoint& checkpoint,
                                                  const Architecture& architecture,
                                                  const Progress& progress = {});

}  // namespace attnscope
