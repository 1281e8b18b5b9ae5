// What one run of one model on one input recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/mechanism.h"
#include "core/attention/token_layout.h"
#include "core/input/image.h"
#include "core/tensor/tensor.h"
#include "core/trace/implied_maps.h"
#include "core/trace/seen_keys.h"

namespace attnscope {

struct Trace;

/// What to keep of a run. Implied maps are H·N² floats a layer.
struct TraceRequest {
  bool implied_maps = true;
  bool queries_keys_values = false;
  bool tokens = false;               ///< the token representations before and after each layer
  bool factors = false;              ///< of the implied maps, where the mechanism has them
  bool quantities = false;           ///< the mechanism's own
  std::vector<std::int64_t> layers;  ///< all if empty
  /// Whose implied map, where each channel has its own (DAFT); their mean if absent.
  std::optional<std::int64_t> channel = std::nullopt;
  /// More bytes of implied maps than this are refused: Error(usage) says which layers would do.
  std::int64_t most_map_bytes = std::int64_t{4} << 30;
  /// If not `refused`, maps of more than 1 GiB are computed where they are looked at, from tokens,
  /// or queries and keys, that are kept (ImpliedMaps::are_computed): of softmax and adder attention
  /// to whose scores the model adds nothing. `alone`: where they come to more than most_map_bytes
  /// neither vectors nor tokens are recorded beside them, whatever else is asked for.
  enum class LargeMaps { refused, computed, computed_alone };
  LargeMaps large_maps = LargeMaps::refused;
  /// Called with each recorded layer as soon as it is whole, in order. It may take maps out of the
  /// trace that it needs no longer: most_map_bytes is then for one layer, unless they are computed.
  std::function<void(Trace& trace, std::int64_t layer)> layer_recorded;
  /// Changes the implied map [N, M] of a head, in place, before it is multiplied with the values:
  /// what runs is then that map, and so is what is recorded. Called for several heads at once, from
  /// several threads. Refused where channels have maps of their own (DAFT).
  std::function<void(std::int64_t layer, std::int64_t head, MatrixMap map)> change_map;
  bool token_logits = false;  ///< of every position of a text; else of the last alone
  /// Laid over the model's own parameters of its mechanism, by layer: hash codes learnt here.
  std::shared_ptr<const std::vector<NamedTensors>> parameters;
};

/// Whose attention a layer is, where a model has several kinds.
enum class LayerKind { plain, encoder, decoder, cross, class_attention };

struct LayerTrace {
  ImpliedMaps implied_map;       ///< [H, N, M]; with I where the mechanism has identity mapping
  Tensor queries, keys, values;  ///< [H, N, d]; keys and values [H, M, d]
  Tensor tokens;                 ///< [N, D], after this layer
  NamedTensors quantities;
  std::optional<MechanismChoice> mechanism;  ///< what it ran with, where that is not the trace's
  std::optional<bool>
      identity;  ///< whether I is part of implied_map, where that is not the trace's
  std::optional<MapFactors> factors;  ///< of implied_map; never with I
  std::int64_t rank_bound = 0;        ///< of each map without I, in exact arithmetic; 0 if unknown
  /// What the layer's mask lets its queries see; none where a trace does not say.
  std::optional<SeenKeys> seen;
  /// What q·k was multiplied with; none where scores are no q·k, or a trace does not say: 1/√d
  /// then.
  std::optional<double> score_scale;
  LayerKind kind = LayerKind::plain;
  TokenLayout layout;      ///< of this layer's queries: the N rows
  TokenLayout key_layout;  ///< of its keys: the M columns; fewer under spatial reduction
  /// The numbers of implied_map before they were rounded to float32, where a file stored them in
  /// double; else null.
  std::shared_ptr<const std::vector<double>> exact_map;
};

struct Trace {
  std::string model_name;
  MechanismChoice mechanism;
  bool identity_in_maps = false;  ///< whether I is part of implied_map (of square maps)
  bool mechanism_trained = true;  ///< false when it was laid over weights trained with another
  std::string input_label;
  LayerKind kind = LayerKind::plain;
  TokenLayout layout;                       ///< of the first layer's queries
  std::int64_t map_channels = 1;            ///< maps each head has: 1, or one a channel (DAFT)
  std::optional<std::int64_t> map_channel;  ///< whose map is kept; their mean if absent
  std::optional<Image> image;               ///< what the patches cover, for overlays
  bool causal = false;                      ///< no token sees later ones: the maps are triangles
  Tensor embedded;                          ///< [N, D], what the first layer is given; if asked for
  std::vector<LayerTrace> layers;  ///< one per layer of the model; empty tensors if not asked for
  Tensor features;                 ///< [D], what the head reads; empty where nothing is read out
  Tensor logits;        ///< [classes]; empty without a head; of a text, of what comes after its end
  Tensor token_logits;  ///< [N, vocabulary]: of what comes after each token, if asked for
  std::vector<std::string> labels;
  std::map<std::string, std::string> provenance;  ///< program version, model file, options, …

  /// Of the layer that has most; layers may differ: pyramids.
  [[nodiscard]] std::int64_t heads() const;
  [[nodiscard]] std::int64_t tokens() const;
  /// Of one layer: heads, queries N and keys M; 0 where it recorded nothing, or there is no such.
  [[nodiscard]] std::int64_t heads(std::int64_t layer) const;
  [[nodiscard]] std::int64_t queries(std::int64_t layer) const;
  [[nodiscard]] std::int64_t keys(std::int64_t layer) const;
  /// Whether all layers that recorded anything have the same heads and tokens, and each as many
  /// keys as queries: what stacking and multiplying maps of several layers needs.
  [[nodiscard]] bool uniform() const;
};

/// Whether I is part of the recorded map of that layer.
[[nodiscard]] bool has_identity(const Trace& trace, std::int64_t layer);

/// Whether a view takes maps as the mechanism has them, without I, or with I.
enum class IdentityView { as_is, without, with };

/// True if the maps of `trace` seen so contain I, where they are square.
[[nodiscard]] bool shows_identity(const Trace& trace, IdentityView view);

/// The maps of one layer seen so, [H, N, M]: I added or taken away where needed and they are
/// square.
[[nodiscard]] ImpliedMaps maps_seen(const Trace& trace, std::int64_t layer, IdentityView view);

}  // namespace attnscope
