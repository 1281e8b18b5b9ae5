// The values that an atlas shows: a trace's maps under the lens's settings, computed on access, so
// that only visible values are copied.
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

/// The part of ViewSettings that changes values; the rest only changes colours.
struct ValueSettings {
  double temperature = 1.0;
  IdentityView identity = IdentityView::as_is;
  HeadFusion head_fusion = HeadFusion::none;
  bool hide_prefix_tokens = false;

  ValueSettings() = default;
  explicit ValueSettings(const ViewSettings& view);
  bool operator==(const ValueSettings&) const = default;
};

/// Reference of a comparison, and what to show of it.
struct ComparedWith {
  enum class Shown {
    difference,  ///< w − r
    absolute,    ///< |w − r|
    relative,    ///< (w − r) / (|w| + |r|); 0 where both are 0
    counterpart  ///< r itself, in place of w
  };
  std::shared_ptr<const Trace> reference;
  std::shared_ptr<const MapAlignment> alignment;  ///< covers every layer of the compared trace
  Shown shown = Shown::difference;

  bool operator==(const ComparedWith&) const = default;
};

/// Maps of one trace under one ValueSettings, in this order: the map A without I; each row to the
/// power 1/T and rescaled to its former sum (of magnitudes: signs are kept); heads fused; I added
/// if the view shows it; special tokens removed; then, if compared, the same of the reference's
/// map. Cheap to construct. Safe to share between threads.
class ShownMaps {
 public:
  ShownMaps(std::shared_ptr<const Trace> trace, const ValueSettings& settings);
  /// Maps compared with a reference. A map without a counterpart, or with one of another shape, is
  /// empty; with Shown::counterpart, a map has the reference's shape.
  ShownMaps(std::shared_ptr<const Trace> trace, const ValueSettings& settings, ComparedWith with);
  ~ShownMaps();

  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] const ValueSettings& settings() const { return settings_; }
  /// Layers × shown columns (1 column if heads are fused).
  [[nodiscard]] const AtlasGrid& grid() const { return grid_; }
  /// Shape of a shown map; 0 × 0 if the layer or head was not recorded.
  [[nodiscard]] MapExtent extent(std::int64_t layer, std::int64_t column) const;
  [[nodiscard]] MapExtent largest_extent() const;
  /// The token of a shown row or column of a layer's maps.
  [[nodiscard]] std::int64_t query_of(std::int64_t layer, std::int64_t row) const;
  [[nodiscard]] std::int64_t key_of(std::int64_t layer, std::int64_t column) const;
  /// The shown row or column of a token; −1 if the token is not shown.
  [[nodiscard]] std::int64_t row_of(std::int64_t layer, std::int64_t query) const;
  [[nodiscard]] std::int64_t column_of(std::int64_t layer, std::int64_t key) const;
  /// True if a shown map contains I; false for differences of two maps.
  [[nodiscard]] bool identity_shown(std::int64_t layer, std::int64_t column) const;

  /// Writes `values.size()` values of row `query`, from key `first_key` on; both count shown tokens
  /// from 0.
  void row(std::int64_t layer, std::int64_t column, std::int64_t query, std::int64_t first_key,
           std::span<float> values) const;
  [[nodiscard]] float value(const MapCell& cell) const;

  /// Null if these maps are not compared.
  [[nodiscard]] const ComparedWith* compared_with() const { return reference_ ? &with_ : nullptr; }
  /// The two weights a difference is made of.
  struct Weights {
    float own = 0, reference = 0;
  };
  [[nodiscard]] Weights compared_weights(const MapCell& cell) const;
  /// Name of a compared map's counterpart, such as "head 2 of layer 3"; empty if it has none.
  [[nodiscard]] std::string counterpart_name(std::int64_t layer, std::int64_t column) const;
  /// The reason why a compared map is empty, such as "50 × 50 here, 17 × 17 in the reference";
  /// otherwise empty.
  [[nodiscard]] std::string why_empty(std::int64_t layer, std::int64_t column) const;

  /// Means of blocks of 2^level × 2^level cells over the cells [row0, row1) × [key0, key1), aligned
  /// at their start. Blocks at the edge are means of the cells that they contain. A NaN in a block
  /// makes its mean NaN. Row-major; the number of blocks is rounded up.
  [[nodiscard]] std::vector<float> block_means(std::int64_t layer, std::int64_t column, int level,
                                               std::int64_t row0, std::int64_t row1,
                                               std::int64_t key0, std::int64_t key1) const;

 private:
  /// Tokens shown of a layer that hides special tokens, which in an encoder–decoder may come from
  /// two texts. Empty if only leading tokens are hidden.
  struct Kept {
    std::vector<std::int64_t> queries, keys;
  };
  [[nodiscard]] Kept kept_of(std::int64_t layer) const;
  [[nodiscard]] const Kept& kept(std::int64_t layer) const;
  [[nodiscard]] std::int64_t token_of(const std::vector<std::int64_t>& kept,
                                      std::int64_t shown) const;
  [[nodiscard]] std::int64_t shown_of(const std::vector<std::int64_t>& kept,
                                      std::int64_t token) const;
  /// Position of a map's counterpart; layer −1 if it has none.
  struct Counterpart {
    std::int64_t layer = -1, column = -1;
  };
  [[nodiscard]] Counterpart counterpart(std::int64_t layer, std::int64_t column) const;
  [[nodiscard]] MapExtent own_extent(std::int64_t layer, std::int64_t column) const;
  void own_row(std::int64_t layer, std::int64_t column, std::int64_t query, std::int64_t first_key,
               std::span<float> values) const;
  /// Like own_row, but counts all tokens.
  void token_row(std::int64_t layer, std::int64_t column, std::int64_t query,
                 std::int64_t first_key, std::span<float> values) const;
  void head_row(std::int64_t layer, std::int64_t head, std::int64_t query, std::int64_t first_key,
                std::span<float> values) const;

  std::shared_ptr<const Trace> trace_;
  ValueSettings settings_;
  AtlasGrid grid_;
  std::int64_t first_token_ = 0;  ///< number of hidden leading tokens
  std::vector<Kept> kept_;        ///< one per layer; empty if no tokens of a text are hidden
  ComparedWith with_;
  std::unique_ptr<const ShownMaps> reference_;  ///< null if not compared
};

}  // namespace attnscope
