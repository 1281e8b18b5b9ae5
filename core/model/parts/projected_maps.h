// Implied maps that store the tokens that queries and keys are projected from, which takes half the
// memory.
#pragma once

#include <cstdint>
#include <optional>

#include "core/architecture/layer_spec.h"
#include "core/model/layer_run.h"
#include "core/model/parts/layer_norm.h"
#include "core/model/parts/linear.h"
#include "core/model/parts/rotary.h"

namespace attnscope {

/// The projections of a layer's tokens to queries and keys. Copies share the weights, which live as
/// long as any of them.
struct HeadProjections {
  Linear query = {};                         ///< D → H·d
  std::optional<Linear> key = std::nullopt;  ///< D → Hk·d; if empty, as for queries
  std::optional<LayerNorm> query_norm = std::nullopt, key_norm = std::nullopt;
  std::optional<RotaryTurns> turns = std::nullopt;  ///< rotary positions of all N tokens
  std::int64_t heads = 1;                           ///< H
  std::int64_t key_heads = 1;                       ///< Hk

  /// Queries of `count` heads from `first` on, [N, count · d], computed from `tokens` [N, D] as the
  /// mechanism receives them. Requires are_apart(). Throws like Linear::part.
  [[nodiscard]] Tensor queries_of(const Tensor& tokens, std::int64_t first,
                                  std::int64_t count) const;
  [[nodiscard]] Tensor keys_of(const Tensor& tokens, std::int64_t first, std::int64_t count) const;

  /// True if each head can be projected separately: the projections are multiplicative, and norms
  /// [d] apply to each head.
  [[nodiscard]] bool are_apart() const;
  /// Bytes of all queries and keys of `tokens` tokens.
  [[nodiscard]] std::int64_t bytes_of_vectors(std::int64_t tokens) const;
  [[nodiscard]] std::int64_t bytes_of_sources(std::int64_t tokens) const;
};

/// The implied maps [H, N, N] of a layer that attends to its `tokens` [N, D], which they store.
/// Queries and keys of a head are projected when rows of its map are requested, as in the forward
/// pass. The most recently used heads of all layers and models are cached: four more than the
/// number of threads, and more if heads are used in turn, up to three layers' heads. Requires
/// HeadProjections::are_apart, a mechanism with MechanismEntry::rows, and a layer without score
/// terms. If the weights are still in their file and it was modified since, rows are NaN.
[[nodiscard]] ImpliedMaps projected_maps(HeadProjections projections, const LayerRun& run,
                                         bool causal, Tensor tokens);

}  // namespace attnscope
