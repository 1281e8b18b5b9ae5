// The values an atlas shows: a trace's maps as the lens asks for them, computed where they are
// looked at, so that nothing is copied that is not on the screen.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/comparison/alignment.h"
#include "app/canvas/atlas_layout.h"
#include "app/session/selection.h"
#include "core/trace/trace.h"

namespace attnscope {

/// The part of ViewSettings that changes values (the rest changes colours only).
struct ValueSettings {
  double temperature = 1.0;
  IdentityView identity = IdentityView::as_is;
  HeadFusion head_fusion = HeadFusion::none;
  bool hide_prefix_tokens = false;

  ValueSettings() = default;
  explicit ValueSettings(const ViewSettings& view);
  bool operator==(const ValueSettings&) const = default;
};

/// What maps are compared with.
struct ComparedWith {
  enum class Shown {
    difference,  ///< w − r
    absolute,    ///< |w − r|
    relative,    ///< (w − r) / (|w| + |r|); 0 where both are 0
    counterpart  ///< r itself, in the place of w
  };
  std::shared_ptr<const Trace> reference;
  std::shared_ptr<const MapAlignment> alignment;  ///< of every layer of the compared trace
  Shown shown = Shown::difference;

  bool operator==(const ComparedWith&) const = default;
};

/// Maps of one trace under one ValueSettings. In this order: the map A without I; each row to the
/// power 1/T and scaled back to its old sum (of magnitudes: signs are kept); heads fused; I added
/// where the view shows it; special tokens left out; then, where they are compared, the same of the
/// reference's map beside it. Cheap to make. Safe to share between threads.
class ShownMaps {
 public:
  ShownMaps(std::shared_ptr<const Trace> trace, const ValueSettings& settings);
  /// Beside a reference. A map without a counterpart, or with one of another size, is empty; as
  /// `counterpart`, a map has the reference's size.
  ShownMaps(std::shared_ptr<const Trace> trace, const ValueSettings& settings, ComparedWith with);
  ~ShownMaps();

  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] const ValueSettings& settings() const { return settings_; }
  /// Layers × shown columns (1 when heads are fused).
  [[nodiscard]] const AtlasGrid& grid() const { return grid_; }
  /// Of a shown map; 0×0 where the layer or head was not recorded.
  [[nodiscard]] MapExtent extent(std::int64_t layer, std::int64_t column) const;
  [[nodiscard]] MapExtent largest_extent() const;
  /// The token that a shown row or column of a layer's maps is of.
  [[nodiscard]] std::int64_t query_of(std::int64_t layer, std::int64_t row) const;
  [[nodiscard]] std::int64_t key_of(std::int64_t layer, std::int64_t column) const;
  /// The shown row or column of a token; −1 for one that is left out.
  [[nodiscard]] std::int64_t row_of(std::int64_t layer, std::int64_t query) const;
  [[nodiscard]] std::int64_t column_of(std::int64_t layer, std::int64_t key) const;
  /// Whether the maps shown contain I.
  [[nodiscard]] bool identity_shown() const { return identity_shown_; }

  /// Row `query` and keys from `first_key` on of those that are shown, both counted from 0;
  /// `values.size()` of them.
  void row(std::int64_t layer, std::int64_t column, std::int64_t query, std::int64_t first_key,
           std::span<float> values) const;
  [[nodiscard]] float value(const MapCell& cell) const;

  /// Null unless these maps are compared.
  [[nodiscard]] const ComparedWith* compared_with() const { return reference_ ? &with_ : nullptr; }
  /// The two weights a difference is made of.
  struct Weights {
    float own = 0, reference = 0;
  };
  [[nodiscard]] Weights compared_weights(const MapCell& cell) const;
  /// "head 2 of layer 3": the counterpart of a compared map; empty if it has none.
  [[nodiscard]] std::string counterpart_name(std::int64_t layer, std::int64_t column) const;
  /// Why a compared map is empty: "50 × 50 here, 17 × 17 in the reference"; else empty.
  [[nodiscard]] std::string why_empty(std::int64_t layer, std::int64_t column) const;

  /// Means of blocks of 2^level × 2^level cells over the cells [row0, row1) × [key0, key1) (block
  /// aligned at their start); blocks at the edge are means of what they hold. A NaN in a block
  /// makes its mean NaN. Row-major, ceil over both extents.
  [[nodiscard]] std::vector<float> block_means(std::int64_t layer, std::int64_t column, int level,
                                               std::int64_t row0, std::int64_t row1,
                                               std::int64_t key0, std::int64_t key1) const;

 private:
  /// The tokens shown of a layer of texts that leaves some out: of an encoder–decoder those of two
  /// texts. Empty where all but the first are shown.
  struct Kept {
    std::vector<std::int64_t> queries, keys;
  };
  [[nodiscard]] Kept kept_of(std::int64_t layer) const;
  [[nodiscard]] const Kept& kept(std::int64_t layer) const;
  [[nodiscard]] std::int64_t token_of(const std::vector<std::int64_t>& kept,
                                      std::int64_t shown) const;
  [[nodiscard]] std::int64_t shown_of(const std::vector<std::int64_t>& kept,
                                      std::int64_t token) const;
  /// Where a map's counterpart is; layer −1 if it has none.
  struct Counterpart {
    std::int64_t layer = -1, column = -1;
  };
  [[nodiscard]] Counterpart counterpart(std::int64_t layer, std::int64_t column) const;
  [[nodiscard]] MapExtent own_extent(std::int64_t layer, std::int64_t column) const;
  void own_row(std::int64_t layer, std::int64_t column, std::int64_t query, std::int64_t first_key,
               std::span<float> values) const;
  /// The same, all tokens counted.
  void token_row(std::int64_t layer, std::int64_t column, std::int64_t query,
                 std::int64_t first_key, std::span<float> values) const;
  void head_row(const LayerTrace& layer, std::int64_t head, std::int64_t query,
                std::int64_t first_key, std::span<float> values) const;

  std::shared_ptr<const Trace> trace_;
  ValueSettings settings_;
  AtlasGrid grid_;
  std::int64_t first_token_ = 0;  ///< tokens left out before the first shown one
  std::vector<Kept> kept_;        ///< of each layer; none where no token of a text is left out
  bool identity_shown_ = false;
  bool identity_of_own_ = false;  ///< the same before any comparison
  ComparedWith with_;
  std::unique_ptr<const ShownMaps> reference_;  ///< null unless compared
};

}  // namespace attnscope
