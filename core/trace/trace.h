// The record of one run of a model on one input.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/attention/mechanism.h"
#include "core/attention/token_layout.h"
#include "core/input/image.h"
#include "core/parameters/enum_names.h"
#include "core/tensor/tensor.h"
#include "core/trace/implied_maps.h"

namespace attnscope {

/// The keys that the mask of a layer lets its queries attend to: causal masks, sliding windows of a
/// sequence and windows of a grid. Attention weights are not considered. A query sees the keys that
/// are both in its range and in its window of the grid.
struct SeenKeys {
  /// First key and end of the visible keys of each query, [N]. Empty if all keys are visible.
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges = {};
  /// Number of the grid window that each token is in, [N]. Empty if there are no windows.
  std::vector<std::int64_t> windows = {};

  [[nodiscard]] bool sees(std::int64_t query, std::int64_t key) const;
  /// The keys among 0 … `keys` − 1 that a query sees, ascending.
  [[nodiscard]] std::vector<std::int64_t> keys_of(std::int64_t query, std::int64_t keys) const;
  /// Number of the keys among 0 … `keys` − 1 that a query sees.
  [[nodiscard]] std::int64_t count_of(std::int64_t query, std::int64_t keys) const;
  /// True if at least one of `queries` queries does not see all of `keys` keys.
  [[nodiscard]] bool hides_any(std::int64_t queries, std::int64_t keys) const;

  bool operator==(const SeenKeys&) const = default;

 private:
  /// First key and end of the keys among 0 … `keys` − 1 that are in the query's range.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> range_of(std::int64_t query,
                                                               std::int64_t keys) const;
};

/// A causal mask: of `tokens` tokens, query i sees keys 0 … i.
[[nodiscard]] SeenKeys up_to_the_query(std::int64_t tokens);

/// A mask in which tokens see only the tokens of their own block. Each token must be in one of
/// `blocks`.
[[nodiscard]] SeenKeys within_blocks(const std::vector<std::vector<std::int64_t>>& blocks);

struct Trace;

/// A tensor of a layer, with a row for each token, that a run can change.
enum class LayerRows {
  residual,   ///< [N, D], the input of the layer
  queries,    ///< [N, H·d], as the mechanism receives them
  keys,       ///< [M, Hk·d], likewise
  values,     ///< [M, Hk·d], likewise
  heads,      ///< [N, H·d], outputs of the heads, before their norm and the output projection
  attention,  ///< [N, D], output of the attention that is added to the residual, before a layer
              ///< scale
  mlp         ///< [N, D], that of the MLP
};

/// Selects what to record of a run. Implied maps take H·N² floats per layer.
struct TraceRequest {
  bool implied_maps = true;
  bool queries_keys_values = false;
  bool tokens = false;               ///< the token representations before and after each layer
  bool factors = false;              ///< factors of the implied maps, if the mechanism has them
  bool quantities = false;           ///< quantities of the mechanism, and the experts of each token
  std::vector<std::int64_t> layers;  ///< all if empty
  /// The channel whose implied map is recorded if each channel has its own (DAFT). Mean of all
  /// channels if empty.
  std::optional<std::int64_t> channel = std::nullopt;
  /// Upper limit of the bytes of implied maps. Beyond it Error(usage) names the layers that would
  /// fit.
  std::int64_t most_map_bytes = std::int64_t{4} << 30;
  /// Unless `refused`, maps of more than 1 GiB are not stored but computed on access from the
  /// recorded tokens, or queries and keys (ImpliedMaps::are_computed). This works for softmax and
  /// adder attention without additive score terms. With `computed_alone`, if the maps exceed
  /// most_map_bytes, neither vectors nor tokens are recorded with them, even if requested.
  enum class LargeMaps { refused, computed, computed_alone };
  LargeMaps large_maps = LargeMaps::refused;
  /// Called with each recorded layer as soon as it is complete, in order. The callback may remove
  /// maps from the trace; most_map_bytes then applies to one layer, unless the maps are computed.
  std::function<void(Trace& trace, std::int64_t layer)> layer_recorded;
  /// Changes the implied map [N, M] of a head in place before it is multiplied with the values. The
  /// changed map is used and recorded. Called concurrently for several heads, from several threads.
  /// Refused if channels have maps of their own (DAFT).
  std::function<void(std::int64_t layer, std::int64_t head, MatrixMap map)> change_map;
  /// Changes a layer's tensor in place, or reads it. Called in the order of the run, from its
  /// thread. Fastformer's layers pass only `residual` and `mlp`.
  std::function<void(LayerRows of, std::int64_t layer, MatrixMap rows)> change_rows;
  /// Layers before this one are not run: change_rows must set its `residual`. Requires
  /// Transformer::can_skip_layers.
  std::int64_t first_layer = 0;
  bool token_logits = false;  ///< logits at every position of a text (default: last position only)
  /// Parameters that replace the model's own parameters of its mechanism, per layer; for example
  /// learned hash codes.
  std::shared_ptr<const std::vector<NamedTensors>> parameters;
};

/// The kind of attention of a layer, for models with several kinds.
enum class LayerKind { plain, encoder, decoder, cross, class_attention };

struct LayerTrace {
  ImpliedMaps implied_map;       ///< [H, N, M]; contains I if the mechanism has identity mapping
  Tensor queries, keys, values;  ///< [H, N, d]; keys and values [H, M, d]
  Tensor tokens;                 ///< [N, D], after this layer
  NamedTensors quantities;
  std::optional<MechanismChoice> mechanism;  ///< mechanism of this layer if it is not the trace's
  std::optional<bool> identity;       ///< true if implied_map contains I; empty if as in the trace
  std::optional<MapFactors> factors;  ///< factors of implied_map, always without I
  std::int64_t rank_bound = 0;        ///< rank bound of the maps without I; 0 if unknown
  /// The keys that the layer's mask lets its queries see. Empty if unknown.
  std::optional<SeenKeys> seen;
  /// Factor that multiplies q·k. Empty if scores are not q·k or the factor is unknown (1/√d is then
  /// assumed).
  std::optional<double> score_scale;
  LayerKind kind = LayerKind::plain;
  TokenLayout layout;      ///< layout of this layer's queries: the N rows
  TokenLayout key_layout;  ///< layout of its keys: the M columns; fewer under spatial reduction
  /// Values of implied_map before rounding to float32, if a file stored them in double precision;
  /// otherwise null.
  std::shared_ptr<const std::vector<double>> exact_map;
};

struct Trace {
  std::string model_name;
  MechanismChoice mechanism;
  bool identity_in_maps = false;  ///< true if implied_map (of square maps) contains I
  bool mechanism_trained = true;  ///< false if the weights were trained with a different mechanism
  std::string input_label;
  LayerKind kind = LayerKind::plain;
  TokenLayout layout;                       ///< layout of the first layer's queries
  std::int64_t map_channels = 1;            ///< maps per head: 1, or one per channel (DAFT)
  std::optional<std::int64_t> map_channel;  ///< channel of the recorded map; mean if empty
  /// The images that the cells of each TokenLayout::cells cover, for overlays; empty: unknown.
  std::vector<Image> images;
  bool causal = false;             ///< true if no token sees later ones (triangular maps)
  Tensor embedded;                 ///< [N, D], input of the first layer; if requested
  std::vector<LayerTrace> layers;  ///< one per layer of the model; empty tensors if not requested
  Tensor features;                 ///< [D], input of the head; empty if nothing is read out
  Tensor logits;        ///< [classes]; empty without a head; for a text, of the token after its end
  Tensor token_logits;  ///< [N, vocabulary], of the token after each position; if requested
  std::vector<std::string> labels;
  std::map<std::string, std::string> provenance;  ///< program version, model file, options, …

  /// The image of picture `picture`, from 0; null if there is none.
  [[nodiscard]] const Image* image(std::int64_t picture = 0) const {
    const bool known = picture >= 0 && picture < std::ssize(images);
    return known ? &images[static_cast<std::size_t>(picture)] : nullptr;
  }
  /// Maximum over the layers, which may differ in pyramids.
  [[nodiscard]] std::int64_t heads() const;
  [[nodiscard]] std::int64_t tokens() const;
  /// Heads, queries N and keys M of one layer. 0 if the layer recorded nothing or does not exist.
  [[nodiscard]] std::int64_t heads(std::int64_t layer) const;
  [[nodiscard]] std::int64_t queries(std::int64_t layer) const;
  [[nodiscard]] std::int64_t keys(std::int64_t layer) const;
  /// True if all layers are plain and all that recorded anything have the same numbers of heads and
  /// tokens, with as many keys as queries. Stacking or multiplying maps of several layers requires
  /// this.
  [[nodiscard]] bool uniform() const;
};

/// The place of a map in a trace.
struct MapIndex {
  std::int64_t layer = 0, head = 0;

  bool operator==(const MapIndex&) const = default;
};

/// Selects the maps as the mechanism has them, without I, or with I.
enum class IdentityView { as_is, without, with };

/// Names of the identity views in options, settings and sessions.
inline constexpr EnumName<IdentityView> identity_view_names[] = {{IdentityView::as_is, "as-is"},
                                                                 {IdentityView::without, "without"},
                                                                 {IdentityView::with, "with"}};

/// True if the maps of that layer contain I in this view. Maps that are not square never do.
[[nodiscard]] bool has_identity(const Trace& trace, std::int64_t layer,
                                IdentityView view = IdentityView::as_is);

/// True if the square maps of `trace` contain I in this view. Layers may differ in the view as_is:
/// has_identity answers for one layer.
[[nodiscard]] bool shows_identity(const Trace& trace, IdentityView view);

/// The maps of one layer in this view, [H, N, M]: I is added to or subtracted from square maps if
/// needed. Throws Error(usage) if the layer's maps were not recorded.
[[nodiscard]] ImpliedMaps maps_seen(const Trace& trace, std::int64_t layer, IdentityView view);

/// The mechanism of `layer`, a layer of `trace`: its own, or the trace's if it has none.
[[nodiscard]] const MechanismChoice& mechanism_of(const Trace& trace, const LayerTrace& layer);

/// The layout of the queries of layer `layer`: the layer's own, or the trace's if it has none.
[[nodiscard]] const TokenLayout& query_layout(const Trace& trace, std::int64_t layer);

/// The layout of the layer's keys. Empty if the number of keys differs from the number of queries
/// and the layer has no layout of its own for them.
[[nodiscard]] const TokenLayout& key_layout(const Trace& trace, std::int64_t layer);

/// The token of `to` at the location of token `index` of `from`: the same prefix token, or the cell
/// that contains the centre of the token's cell. Without two grids it is the same index. `count` is
/// the number of tokens of `to`, at least 1; the result is clamped to 0 … count − 1.
[[nodiscard]] std::int64_t same_place(const TokenLayout& from, std::int64_t index,
                                      const TokenLayout& to, std::int64_t count);

/// The layer of that number. Throws Error(usage) if `layer` is out of range.
[[nodiscard]] const LayerTrace& recorded_layer(const Trace& trace, std::int64_t layer);

/// True if some maps are computed on access (ImpliedMaps::are_computed).
[[nodiscard]] bool has_computed_maps(const Trace& trace);
/// Calls `look` while no other thread uses a computed map: they are so large that only one may be
/// in memory. `look` may use all cores.
void take_turn_at_computed_map(const std::function<void()>& look);

}  // namespace attnscope
