// State that the atlases of a session share: zoom, lens, cursor, value range, reference.
#pragma once

#include <QMarginsF>
#include <QObject>
#include <QPoint>
#include <QString>
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

/// Lives on the window's thread, like the session and the comparisons with its reference.
class AtlasLink : public QObject {
  Q_OBJECT
 public:
  AtlasLink(Session& session, ComparisonStore& comparisons, QObject* parent = nullptr);
  ~AtlasLink() override;

  // --- the zoom -------------------------------------------------------------------------------
  enum class View {
    fit,  ///< every atlas shows all its maps
    map,  ///< every atlas shows the selected map alone, enlarged
    free  ///< the same zoom everywhere
  };
  [[nodiscard]] View view() const { return view_; }
  /// The layer and column of the selected map, which View::map enlarges.
  [[nodiscard]] std::int64_t map_layer() const;
  [[nodiscard]] std::int64_t map_column() const;
  [[nodiscard]] const AtlasZoom& free_zoom() const { return zoom_; }
  /// True from the enlargement of a map until all maps are shown again, also while it is zoomed.
  [[nodiscard]] bool shows_one_map() const { return one_map_; }

  void fit();
  /// Selects a map and enlarges it.
  void show_map(std::int64_t layer, std::int64_t column);
  /// The map before (−1) or after (1) another one of a model, layer by layer; empty if there is
  /// none.
  [[nodiscard]] std::optional<MapIndex> map_beside(SubjectId subject, MapIndex map, int step);
  /// Selects the map before or after the selected one.
  void step_map(int step);
  void set_zoom(const AtlasZoom& zoom);

  /// Margins that the lens takes from the fitted maps; the same in every atlas, so that all maps
  /// have one size.
  [[nodiscard]] QMarginsF reserved() const { return reserved_; }
  void reserve(const QMarginsF& margins);

  /// Arrangement of the maps in every atlas, so that one zoom shows the same maps everywhere. A
  /// change of the arrangement ends a manual zoom.
  [[nodiscard]] const AtlasArrangement& arrangement() const { return arrangement_; }
  void arrange(const AtlasArrangement& arrangement);
  /// True if layers are rows in one band, as lessons say, even if another arrangement has larger
  /// maps.
  [[nodiscard]] bool keeps_rows() const { return keeps_rows_; }
  void keep_rows(bool keep);

  // --- names and numbers of the maps ------------------------------------------------------------
  /// Name and numbers of a map: "layer 8 · head 2 · rank 52 · entropy 3.21 nats". Numbers that do
  /// not apply to the shown maps, or are not known yet, are left out.
  [[nodiscard]] QString title_of(SubjectId subject, std::int64_t layer, std::int64_t column);
  /// Sets the source of the numbers; without it no numbers are shown. `spectra` must outlive this
  /// object.
  void print_numbers_of(const SpectrumStore& spectra);
  [[nodiscard]] std::optional<PrintedNumber> number_on(SubjectId subject, std::int64_t layer,
                                                       std::int64_t head);
  /// The least and greatest of these numbers over the models that share a range with this one;
  /// equal if there are none.
  struct NumberRange {
    double least = 0, greatest = 0;
  };
  [[nodiscard]] NumberRange number_range(SubjectId subject);
  /// The order of a model's maps (AtlasGrid::order) if the view sorts maps by number and every map
  /// has one; else null.
  [[nodiscard]] std::shared_ptr<const std::vector<std::int64_t>> order(SubjectId subject);

  // --- the lens -------------------------------------------------------------------------------
  /// True if the lens is open. Session files keep this.
  [[nodiscard]] bool lens_open() const { return lens_open_; }
  void set_lens_open(bool open);

  // --- the cursor -----------------------------------------------------------------------------
  /// The cell of a model's shown maps that corresponds to the cell under the cursor: same layer,
  /// head and tokens. Empty if the cursor is outside the maps, or if this model has no such map or
  /// token.
  [[nodiscard]] std::optional<MapCell> linked_cell(SubjectId subject);

  // --- the values -------------------------------------------------------------------------------
  /// The maps of a model as the lens shows them; null until there is a trace.
  [[nodiscard]] std::shared_ptr<const ShownMaps> maps(SubjectId subject);

  /// The maps that an atlas draws: weights or differences, and an overlay.
  struct Drawn {
    std::shared_ptr<const ShownMaps> maps;  ///< null until there is a trace
    bool difference = false;                ///< `maps` are differences from the reference
    std::shared_ptr<const ShownMaps> over;  ///< the reference's maps aligned to these, or null
    double over_opacity = 0;                ///< 0: invisible
    std::optional<double> wipe;             ///< `over` covers this left share of the width
  };
  [[nodiscard]] Drawn drawn(SubjectId subject);

  /// True while the other models' atlases show the reference's maps.
  [[nodiscard]] bool blinking() const { return blinking_; }
  void set_blinking(bool blinking);
  /// Toggles blinking; pins the first model as reference if none is pinned and at least two are
  /// open.
  void blink();

  /// The range of a model's maps, of all models' maps if they share one, or of all differences. The
  /// statistics are computed off the window's thread; until those of the current maps are known,
  /// the last known ones apply.
  [[nodiscard]] ValueRange range(SubjectId subject, bool of_differences = false);
  /// The colour scale of that range.
  [[nodiscard]] ColourScale scale(SubjectId subject, bool of_differences = false);
  /// True if all models share one range: as the view says, with limits set by hand, or because maps
  /// of two models lie over each other.
  [[nodiscard]] bool shares_range() const;
  /// The range of one map of a model, if each map has its own range; empty if maps share one, or
  /// if the statistics are not yet known.
  [[nodiscard]] std::optional<ValueRange> range_of_map(SubjectId subject, std::int64_t layer,
                                                       std::int64_t column);
  /// Smallest and largest value shown anywhere, I included.
  [[nodiscard]] ValueRange full_range();
  /// Histogram of all models' values without I over full_range(), in `parts` bins: fourth roots of
  /// the counts relative to the fullest bin, which keeps rare values visible.
  [[nodiscard]] std::vector<float> histogram(std::size_t parts);
  /// Fixed ranges to choose from: least to greatest value of all maps, and of the selected map.
  struct RangeChoice {
    const char* title;
    double minimum, maximum;
  };
  [[nodiscard]] std::vector<RangeChoice> range_choices();
  /// Number of a model's cells without a finite value, among those that the statistics read.
  [[nodiscard]] std::int64_t cells_without_value(SubjectId subject);
  /// True if the range of a model's maps is known, or that of the maps shown before them.
  [[nodiscard]] bool knows_values_of(SubjectId subject);
  /// True if all statistics and ranked maps are up to date.
  [[nodiscard]] bool settled() const { return statistics_in_work_ == 0 && ranked_in_work_ == 0; }

 signals:
  void zoom_changed(bool smoothly);
  void rows_kept_changed();
  void one_map_changed(bool shown);  ///< shows_one_map() has changed
  void lens_changed();               ///< the lens was opened or closed
  /// Emitted when the right button is pressed on a model's atlas, at a cell or next to its maps.
  void menu_wanted(SubjectId subject, const std::optional<MapCell>& cell, QPoint global);
  void values_changed();  ///< a range has changed
  void drawn_changed();   ///< other maps are drawn: new reference, alignment or blinking

 private:
  /// Statistics of the maps requested last, computed in the background.
  struct Statistics {
    std::shared_ptr<const ShownMaps> asked;
    /// The values of `asked`, or until they are known of the maps shown before, such as those of
    /// the last input. Null: none that would do.
    std::shared_ptr<const ValueStatistics> values;
    std::shared_ptr<const ValueStatistics> last;  ///< the last that were computed, of any maps
    bool in_work = false;
  };
  /// Maps of a lower rank that replace the trace's own.
  struct Ranked {
    std::shared_ptr<const Trace> own;  ///< the trace that `maps` belong to
    std::shared_ptr<const RankedMaps> maps;
    std::shared_ptr<const Trace> trace;  ///< maps truncated to `rank`, or the rest
    std::int64_t rank = 0;
    bool rest = false, in_work = false;
  };
  struct Shown {
    Ranked ranked;
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const ShownMaps> maps, difference, over;
    Statistics of_maps, of_difference;
    std::shared_ptr<const Trace> entropies_of;  ///< trace of `entropies`, known or being computed
    std::shared_ptr<const MapEntropies> entropies;
    /// The entropy of the map named last; `of_one` is its trace.
    std::shared_ptr<const Trace> of_one;
    MapIndex one;
    std::optional<double> entropy_of_one;
    std::shared_ptr<const std::vector<std::int64_t>> order;
  };
  void set_zoom_view(View view);
  std::optional<double> entropy_of_one(SubjectId subject, MapIndex map);
  double entropy(SubjectId subject, std::int64_t layer, std::int64_t head);
  Shown* shown(SubjectId subject);
  /// The trace whose maps are shown: the model's own, or a truncated one once it is available.
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
  bool one_map_ = false;
  MapIndex enlarged_;  ///< the map of View::map that was reported last
  AtlasZoom zoom_;
  QMarginsF reserved_;
  AtlasArrangement arrangement_;
  bool keeps_rows_ = false;
  const SpectrumStore* spectra_ = nullptr;
  bool lens_open_ = false;
  std::map<SubjectId, Shown> shown_;
  bool blinking_ = false;
  int statistics_in_work_ = 0, ranked_in_work_ = 0;
  QThreadPool threads_;  // last member: its work uses this object
};

}  // namespace attnscope
