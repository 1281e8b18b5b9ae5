// The attention of a layer: projections, norms of queries and keys, rotary positions, the
// mechanism, and the output's projection.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/spec/layer_spec.h"
#include "core/model/layer_run.h"
#include "core/model/parts/key_reduction.h"
#include "core/model/parts/linear.h"

namespace attnscope {

struct AttentionPart {
  Linear query;               ///< D → H·d
  std::optional<Linear> key;  ///< D → Hk·d; none: the queries are the keys (EcoFormer)
  Linear value;               ///< D → Hk·d
  std::optional<LayerNorm> query_norm, key_norm;  ///< of each head [d], or of all [H·d], [Hk·d]
  std::optional<KeyReduction> reduction;          ///< of what keys and values are made of
  std::int64_t grid_window = 0;  ///< side of the windows of the grid (Swin, Twins, SAM); 0: none
  std::vector<float> rotary_periods;  ///< of RotaryGrid::patches [d / 4], or empty
  Tensor position_biases;             ///< of ScoreBias::buckets and ::table, or empty
  Tensor relative_positions;          ///< of ScoreBias::disentangled [2·buckets, D], or empty
  /// Of these, D → H·d; none: as of tokens.
  std::optional<Linear> relative_query, relative_key;
  /// Of ScoreBias::decomposed, [2·side − 1, d] of the window or the grid, or empty.
  Tensor relative_rows, relative_columns;
  std::vector<float> sinks;             ///< [H], or empty
  NamedTensors mechanism;               ///< what AttentionInput::parameters points at
  std::optional<LayerNorm> heads_norm;  ///< of the heads' output [H·d]
  std::optional<Linear> out;            ///< H·d → D; none if the model leaves it out
};

/// What the tokens [N, D] attend to, [N, D]; records what the run asks for. Throws Error(usage)
/// where the mechanism cannot take what the layer adds to its scores. `own`, if not null, may be
/// what holds the tokens: it is empty once queries, keys and values are known.
[[nodiscard]] Tensor attend(const AttentionPart& part, const LayerSpec& layer, const LayerRun& run,
                            const Tensor& tokens, Tensor* own = nullptr);

}  // namespace attnscope
