// The selection and the view settings, shared by all views.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include "analysis/comparison/alignment.h"
#include "analysis/figure/figure.h"
#include "analysis/matrix/matrix_kind.h"
#include "analysis/spectrum/rank.h"
#include "app/session/subject_id.h"
#include "core/parameters/enum_names.h"
#include "core/trace/trace.h"

namespace attnscope {

/// The map cell under the cursor. Its tokens are those of the hovered subject; hovered_tokens()
/// finds the tokens at the same position in another subject.
struct HoveredCell {
  SubjectId subject = SubjectId::none;
  std::int64_t layer = 0, head = 0;
  std::int64_t query = 0, key = 0;

  bool operator==(const HoveredCell&) const = default;
};

/// The user's selection. It applies to the same layer and head in every subject that has them, and
/// to the tokens at the same position of the input.
struct Selection {
  SubjectId subject = SubjectId::none;  ///< SubjectId::none if nothing is open
  std::int64_t layer = 0, head = 0;
  std::int64_t query = 0;  ///< a locked query of `layer` of `subject`; 0 is the class token's row
  std::optional<HoveredCell> hover;
  /// The opposite corner of a block of selected maps; nullopt: only one map is selected.
  std::optional<MapIndex> to;

  bool operator==(const Selection&) const = default;
};

/// The selected maps: all heads in a range, in all layers in a range.
struct MapBlock {
  std::int64_t first_layer = 0, last_layer = 0, first_head = 0, last_head = 0;

  [[nodiscard]] bool is_one() const { return first_layer == last_layer && first_head == last_head; }
  [[nodiscard]] bool contains(std::int64_t layer, std::int64_t head) const {
    return layer >= first_layer && layer <= last_layer && head >= first_head && head <= last_head;
  }

  bool operator==(const MapBlock&) const = default;
};
[[nodiscard]] inline MapBlock block_of(const Selection& selection) {
  const MapIndex to = selection.to.value_or(MapIndex{selection.layer, selection.head});
  return {std::min(selection.layer, to.layer), std::max(selection.layer, to.layer),
          std::min(selection.head, to.head), std::max(selection.head, to.head)};
}

enum class HeadFusion { none, mean, maximum, minimum };
inline constexpr EnumName<HeadFusion> head_fusion_names[] = {{HeadFusion::none, "none"},
                                                             {HeadFusion::mean, "mean"},
                                                             {HeadFusion::maximum, "maximum"},
                                                             {HeadFusion::minimum, "minimum"}};

/// Contents of the atlases while a reference is pinned; the reference's own atlas always shows its
/// maps.
enum class ComparisonView {
  maps,                 ///< side by side
  difference,           ///< w − r, with r the reference's weight
  absolute_difference,  ///< |w − r|
  relative_difference,  ///< (w − r) / (|w| + |r|), from −1 to 1
  wipe,                 ///< the reference's maps to the left of a divider
  overlay               ///< the reference's maps on top, translucent
};
inline constexpr EnumName<ComparisonView> comparison_view_names[] = {
    {ComparisonView::maps, "maps"},
    {ComparisonView::difference, "difference"},
    {ComparisonView::absolute_difference, "absolute_difference"},
    {ComparisonView::relative_difference, "relative_difference"},
    {ComparisonView::wipe, "wipe"},
    {ComparisonView::overlay, "overlay"}};

/// The number printed on each map: a rank of its spectrum, or the entropy of its rows.
enum class MapNumber { none, equivalent_rank, effective_rank, stable_rank, entropy };
inline constexpr EnumName<MapNumber> map_number_names[] = {
    {MapNumber::none, "none"},
    {MapNumber::equivalent_rank, "equivalent_rank"},
    {MapNumber::effective_rank, "effective_rank"},
    {MapNumber::stable_rank, "stable_rank"},
    {MapNumber::entropy, "entropy"}};

/// The maps that share an automatic colour range.
enum class RangeScope {
  model,       ///< the maps of one model
  all_models,  ///< the maps of all models
  map          ///< none: every map has its own
};
inline constexpr EnumName<RangeScope> range_scope_names[] = {
    {RangeScope::model, "model"}, {RangeScope::all_models, "all"}, {RangeScope::map, "map"}};

/// Shares of all values that an automatic range can hold. With a share below 1, a few peaks do not
/// darken everything else.
inline constexpr double range_shares[] = {0.95, 0.99, 0.995, 0.999, 1};

/// View settings that change the picture immediately, without running a model.
struct ViewSettings {
  std::string colour_map = "viridis";
  bool reversed_colours = false;
  ScaleNorm norm = ScaleNorm::linear;
  std::optional<double> range_minimum, range_maximum;  ///< set for all maps; else automatic
  RangeScope range_scope = RangeScope::model;
  double range_share = 0.995;  ///< share of values in it, for linear scales; one of range_shares
  double temperature = 1.0;    ///< rows are p^(1/T), normalised to their former sum; 0.1 to 10
  IdentityView identity = IdentityView::as_is;
  MatrixChoice matrix = {};  ///< the matrix that spectra, ranks, components, comparisons are of
  HeadFusion head_fusion = HeadFusion::none;
  std::int64_t shown_rank = 0;  ///< r of the best approximations A_r that are shown; 0: full maps
  bool shows_rest = false;      ///< the remainder A − A_r is shown instead
  bool hide_prefix_tokens = false;  ///< class tokens and registers; for texts [CLS], [SEP], <s> …
  RankThreshold rank_threshold = {};  ///< threshold of the equivalent rank
  MapNumber map_number = MapNumber::equivalent_rank;
  bool sorted_by_number = false;  ///< maps sorted by that number, the least first
  std::int64_t first_layer = 0;   ///< number of the first layer in figures: 0 or 1
  ComparisonView comparison = ComparisonView::maps;
  double wipe_position = 0.5;    ///< position of the divider as a share of an atlas's width, 0 to 1
  double overlay_opacity = 0.5;  ///< opacity of the reference's maps, 0 to 1
  LayerAlignment layer_alignment = LayerAlignment::by_index;
  bool match_heads = false;  ///< heads are next to the most similar ones of the reference

  bool operator==(const ViewSettings&) const = default;
};

}  // namespace attnscope
