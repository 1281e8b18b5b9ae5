// Implied maps that keep what a layer's queries and keys are projected from: half as much as these.
#pragma once

#include <cstdint>
#include <optional>

#include "core/architecture/spec/layer_spec.h"
#include "core/model/layer_run.h"
#include "core/model/parts/layer_norm.h"
#include "core/model/parts/linear.h"
#include "core/model/parts/rotary.h"

namespace attnscope {

/// What makes queries and keys of a layer's tokens. Copies share the weights, which live as long as
/// any of them.
struct HeadProjections {
  Linear query = {};                         ///< D → H·d
  std::optional<Linear> key = std::nullopt;  ///< D → Hk·d; none: as queries
  std::optional<LayerNorm> query_norm = std::nullopt, key_norm = std::nullopt;
  std::optional<RotaryTurns> turns = std::nullopt;  ///< of all N tokens
  std::int64_t heads = 1;                           ///< H
  std::int64_t key_heads = 1;                       ///< Hk

  /// Of `tokens` [N, D] those of `count` heads from `first` on, [N, count · d]: as the mechanism is
  /// to have them. Of projections that are apart. Throw as Linear::part.
  [[nodiscard]] Tensor queries_of(const Tensor& tokens, std::int64_t first,
                                  std::int64_t count) const;
  [[nodiscard]] Tensor keys_of(const Tensor& tokens, std::int64_t first, std::int64_t count) const;

  /// Whether each head's can be had without the others': of multiplicative projections, and norms
  /// [d] of each head by itself.
  [[nodiscard]] bool are_apart() const;
  /// Bytes of all queries and keys of `tokens` tokens, and of what they are made of.
  [[nodiscard]] std::int64_t bytes_of_vectors(std::int64_t tokens) const;
  [[nodiscard]] std::int64_t bytes_of_sources(std::int64_t tokens) const;
};

/// The implied maps [H, N, N] of a layer that attends to its `tokens` [N, D], as it reads them.
/// They keep these. Queries and keys of a head are projected when rows of its map are wanted, as in
/// the forward pass; those of the heads that were looked at last, by whomever, are remembered: one
/// for each thread and a few, and as many as are looked at in turn, up to thrice a layer's. Of
/// projections that are apart, mechanisms with MechanismEntry::rows, and layers that add nothing to
/// their scores. Where the weights are still in their file, and that has been written to since,
/// rows are NaN.
[[nodiscard]] ImpliedMaps projected_maps(HeadProjections projections, const LayerRun& run,
                                         bool causal, Tensor tokens);

}  // namespace attnscope
