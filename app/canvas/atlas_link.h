// What the atlases of a session have in common: one zoom, one lens, one cursor, one range of
// values, one reference.
#pragma once

#include <QMarginsF>
#include <QObject>
#include <QPoint>
#include <QThreadPool>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "app/canvas/atlas_layout.h"
#include "app/canvas/map_number.h"
#include "app/canvas/shown_maps.h"
#include "app/canvas/value_range.h"

namespace attnscope {

class ComparisonStore;
class RankedMaps;
struct MapEntropies;
class Session;
class SpectrumStore;

/// Lives on the window's thread, beside its session and the comparisons with its reference.
class AtlasLink : public QObject {
  Q_OBJECT
 public:
  AtlasLink(Session& session, ComparisonStore& comparisons, QObject* parent = nullptr);
  ~AtlasLink() override;

  // --- the zoom -------------------------------------------------------------------------------
  enum class View {
    fit,  ///< every atlas shows all its maps
    map,  ///< every atlas shows one map, as large as it can
    free  ///< the same zoom everywhere
  };
  [[nodiscard]] View view() const { return view_; }
  [[nodiscard]] std::int64_t map_layer() const { return map_layer_; }
  [[nodiscard]] std::int64_t map_column() const { return map_column_; }
  [[nodiscard]] const AtlasZoom& free_zoom() const { return zoom_; }

  void fit();
  void show_map(std::int64_t layer, std::int64_t column);
  void set_zoom(const AtlasZoom& zoom);

  /// What the lens takes from the fitted maps, in every atlas, so that they stay of one size.
  [[nodiscard]] QMarginsF reserved() const { return reserved_; }
  void reserve(const QMarginsF& margins);

  /// How maps are arranged in every atlas, so that one zoom shows the same maps everywhere. A zoom
  /// by hand ends where the maps move to other places.
  [[nodiscard]] const AtlasArrangement& arrangement() const { return arrangement_; }
  void arrange(const AtlasArrangement& arrangement);

  // --- numbers on the maps ----------------------------------------------------------------------
  /// Where they are read; without it there are none. The store lives as long as this.
  void print_numbers_of(const SpectrumStore& spectra);
  [[nodiscard]] std::optional<PrintedNumber> number_on(SubjectId subject, std::int64_t layer,
                                                       std::int64_t head);
  /// The least and the greatest of these numbers in any subject; equal where there are none.
  struct NumberRange {
    double least = 0, greatest = 0;
  };
  [[nodiscard]] NumberRange number_range();
  /// The maps of a subject, as AtlasGrid::order, where they are to stand sorted by their numbers
  /// and those are known; else null.
  [[nodiscard]] std::shared_ptr<const std::vector<std::int64_t>> order(SubjectId subject);

  // --- the lens -------------------------------------------------------------------------------
  /// Whether the lens is seen. Kept in the session's file.
  [[nodiscard]] bool lens_open() const { return lens_open_; }
  void set_lens_open(bool open);

  // --- the cursor -----------------------------------------------------------------------------
  /// The cell of a subject's shown maps at the place of the cell under the cursor: in the map of
  /// the same layer and head, of the same tokens. None where the cursor is nowhere, or where this
  /// subject has no such map or token.
  [[nodiscard]] std::optional<MapCell> linked_cell(SubjectId subject);

  // --- the values -------------------------------------------------------------------------------
  /// The maps of a subject as the lens shows them; null until there is a trace.
  [[nodiscard]] std::shared_ptr<const ShownMaps> maps(SubjectId subject);

  /// What an atlas draws: maps or differences, and what lies over them.
  struct Drawn {
    std::shared_ptr<const ShownMaps> maps;  ///< null until there is a trace
    bool difference = false;                ///< these are differences from the reference
    std::shared_ptr<const ShownMaps> over;  ///< the reference's maps in their places, or null
    double over_opacity = 0;                ///< 0: not seen
    std::optional<double> wipe;             ///< seen left of this share of the viewport's width
  };
  [[nodiscard]] Drawn drawn(SubjectId subject);

  /// Whether the atlases of the others show the reference's maps for now.
  [[nodiscard]] bool blinking() const { return blinking_; }
  void set_blinking(bool blinking);
  /// Turns blinking on or off; pins the first subject if none is and there are others.
  void blink();

  /// One range over all subjects' maps, another over all differences. From statistics that are
  /// found off the window's thread: until those of a new picture are known, from the last.
  [[nodiscard]] ValueRange range(bool of_differences = false);
  /// The colours of that range.
  [[nodiscard]] ColourScale scale(bool of_differences = false);
  /// Of one map of a subject's weights by itself, where each has a range of its own; none where all
  /// have one, or nothing is known of it yet.
  [[nodiscard]] std::optional<ValueRange> range_of_map(SubjectId subject, std::int64_t layer,
                                                       std::int64_t column);
  /// Smallest and largest value shown anywhere, I included.
  [[nodiscard]] ValueRange full_range();
  /// How the values of all subjects lie in full_range(), in `parts` parts: the roots of their
  /// shares of the fullest part, so that rare ones are seen.
  [[nodiscard]] std::vector<float> histogram(std::size_t parts);
  /// Ranges to choose from that stay as they are: from the least to the greatest value of all maps,
  /// and of the selected one.
  struct RangeChoice {
    const char* title;
    double minimum, maximum;
  };
  [[nodiscard]] std::vector<RangeChoice> range_choices();
  /// Cells without a finite value among those of a subject that were looked at for the range.
  [[nodiscard]] std::int64_t cells_without_value(SubjectId subject);
  /// Whether anything is known of a subject's values: before that, no colour is right.
  [[nodiscard]] bool knows_values_of(SubjectId subject);
  /// Every range is that of the picture.
  [[nodiscard]] bool settled() const { return statistics_in_work_ == 0 && ranked_in_work_ == 0; }

 signals:
  void zoom_changed(bool smoothly);
  void lens_changed();  ///< it was opened or closed
  /// The right button was pressed on a subject's atlas, at a cell or beside its maps.
  void menu_wanted(SubjectId subject, const std::optional<MapCell>& cell, QPoint global);
  void values_changed();  ///< a range is new
  void drawn_changed();   ///< other maps are drawn: another reference, alignment, blinking

 private:
  /// Found in the background for the maps asked for last.
  struct Statistics {
    std::shared_ptr<const ShownMaps> asked;
    std::shared_ptr<const ValueStatistics> values;  ///< of these, or of those asked for before
    std::shared_ptr<const ValueStatistics> last;    ///< that were found, of whatever
    bool in_work = false;
  };
  /// Maps of a lower rank in the place of the trace's own.
  struct Ranked {
    std::shared_ptr<const Trace> own;  ///< whose maps they are
    std::shared_ptr<const RankedMaps> maps;
    std::shared_ptr<const Trace> trace;  ///< of `rank`
    std::int64_t rank = 0;
    bool rest = false, in_work = false;
  };
  struct Shown {
    Ranked ranked;
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const ShownMaps> maps, difference, over;
    Statistics of_maps, of_difference;
    std::shared_ptr<const Trace> entropies_of;  ///< of these they are known, or in work
    std::shared_ptr<const MapEntropies> entropies;
    std::shared_ptr<const std::vector<std::int64_t>> order;
  };
  double entropy(SubjectId subject, std::int64_t layer, std::int64_t head);
  Shown* shown(SubjectId subject);
  /// The trace whose maps are shown: the subject's own, or one of a lower rank as soon as it is
  /// known.
  std::shared_ptr<const Trace> shown_trace(SubjectId subject, Ranked& ranked);
  void find_ranked(SubjectId subject, Ranked& ranked);
  void forget_closed_subjects();
  [[nodiscard]] ComparedWith compared_with(SubjectId subject, ComparedWith::Shown what);
  const ValueStatistics* statistics(SubjectId subject, bool of_difference);
  void find_statistics(SubjectId subject, bool of_difference);
  std::vector<const ValueStatistics*> all_statistics(bool of_differences);

  Session& session_;
  ComparisonStore& comparisons_;
  View view_ = View::fit;
  std::int64_t map_layer_ = 0, map_column_ = 0;
  AtlasZoom zoom_;
  QMarginsF reserved_;
  AtlasArrangement arrangement_;
  const SpectrumStore* spectra_ = nullptr;
  bool lens_open_ = false;
  std::map<SubjectId, Shown> shown_;
  bool blinking_ = false;
  int statistics_in_work_ = 0, ranked_in_work_ = 0;
  QThreadPool threads_;  // last: its work knows this object
};

}  // namespace attnscope
