// The attention of a layer: projections, norms of queries and keys, rotary positions, the
// mechanism, and the output projection.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/layer_spec.h"
#include "core/model/layer_run.h"
#include "core/model/parts/convolution.h"
#include "core/model/parts/latent.h"
#include "core/model/parts/layer_norm.h"
#include "core/model/parts/linear.h"
#include "core/model/parts/recurrent_parts.h"

namespace attnscope {

/// Keys and values computed from a coarser grid (PVT, Wang et al. 2021, Eq. 2; PVTv2-Li).
struct KeyReduction {
  Convolution convolution;
  std::optional<LayerNorm> norm;
  std::int64_t pooled = 0;  ///< side of the pooled grid before the convolution (PVTv2-Li), or 0

  [[nodiscard]] GridExtents output_grid(const GridExtents& grid) const;
  /// Maps [grid, D] to [output_grid, D].
  [[nodiscard]] Tensor operator()(const Tensor& tokens, const GridExtents& grid) const;
};

/// Tokens that queries, keys and values are computed from: silu(convolution(projection(x))) (MLLA).
struct InnerTokens {
  Linear projection;  ///< D → D
  DepthwiseConvolution convolution;

  [[nodiscard]] Tensor operator()(const Tensor& tokens, const GridExtents& grid) const;
};

struct AttentionPart {
  std::optional<InnerTokens> inner;
  Linear query;               ///< D → H·d; with `query_latent` r′ → H·d
  std::optional<Linear> key;  ///< D → Hk·d; if empty, the queries serve as keys (EcoFormer)
  Linear value;               ///< D → Hk·dv; with `latent` r → H·dv
  /// Latents of queries, and of keys and values. With `latent`, `key` gives the channels of each
  /// head's keys that are not rotated, r → H·(d − r_R).
  std::optional<LatentPart> query_latent, latent;
  /// Convolutions after the projections.
  std::optional<ShortConvolution> query_convolution, key_convolution, value_convolution;
  std::optional<LayerNorm> query_norm, key_norm;  ///< per head [d], or over all heads [H·d], [Hk·d]
  std::optional<KeyReduction> reduction;          ///< reduction of the inputs of keys and values
  std::int64_t grid_window = 0;       ///< side of the grid windows (Swin, Twins, SAM), or 0
  std::vector<float> rotary_periods;  ///< periods of RotaryGrid::patches [d / 4], or empty
  Tensor position_biases;             ///< biases of ScoreBias::buckets and ::table, or empty
  Tensor relative_positions;          ///< [2·buckets, D] of ScoreBias::disentangled, or empty
  /// Projections of relative_positions, D → H·d. If empty, those of the tokens are used.
  std::optional<Linear> relative_query, relative_key;
  /// Tables of ScoreBias::decomposed, [2·side − 1, d] for the window or the grid, or empty.
  Tensor relative_rows, relative_columns;
  std::vector<float> sinks;       ///< [H], or empty
  NamedTensors mechanism;         ///< the tensors that AttentionInput::parameters points to
  RecurrentGates gates;           ///< gates that the mechanism reads
  std::vector<float> value_skip;  ///< [H], o_h += D_h v_h, which is no part of the map; or empty
  std::optional<Linear> gate;     ///< D → H·dv, of OutputGate
  std::optional<LayerNorm> heads_norm;  ///< norm of each head's output [dv], or of all [H·dv]
  std::optional<Linear> out;  ///< H·dv → D; empty if the model has no output projection

  [[nodiscard]] bool convolves() const {
    return query_convolution || key_convolution || value_convolution;
  }
};

/// The attention output for the tokens [N, D], [N, D]; records what the run requests. Throws
/// Error(usage) if the mechanism does not support the layer's score terms. `own`, if not null, may
/// own the tokens; it is emptied once queries, keys and values are computed.
[[nodiscard]] Tensor attend(const AttentionPart& part, const LayerSpec& layer, const LayerRun& run,
                            const Tensor& tokens, Tensor* own = nullptr);

}  // namespace attnscope
