// One measure of all maps, ranks first: as a table, as a layer × head heat map, and over depth. A
// click selects the map.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "analysis/figure/recipe.h"
#include "analysis/matrix/matrix_kind.h"
#include "analysis/spectrum/rank.h"
#include "app/panels/all_maps/map_table.h"
#include "app/panels/frame/dock_panel.h"
#include "app/session/spectrum_store.h"
#include "app/session/subject_id.h"

class QComboBox;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace attnscope {

class ElidedLabel;
class FigurePage;
class Session;

class AllMapsPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("All maps");

  AllMapsPanel(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override;
  [[nodiscard]] bool is_stopped() const override;
  void resume() override;
  /// "ranks", "heads" or "depth": the table of ranks, the heat map, the view over depth.
  bool show_page(const std::string& page) override;
  /// The figure of the heat map or the view over depth, if it is in front; null before the first.
  [[nodiscard]] const Figure* figure() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  enum class View { table, heat_map, depth };
  void add_header();
  void add_measures();
  void make_table();
  [[nodiscard]] FigurePage* make_figure(const char* recipe, View view);
  [[nodiscard]] View view() const;
  [[nodiscard]] const MapMeasure& measure() const;
  /// Draws the measure in the view in front. Measures that the view lacks are greyed.
  void choose();
  [[nodiscard]] FigureRequest request(View view) const;
  [[nodiscard]] std::string depth_recipe() const;

  void refresh();
  void fit_columns();
  void show_selection();
  [[nodiscard]] QString why_none(bool& is_error) const;
  [[nodiscard]] int width_of(int column);

  /// Numbers that no store keeps: spectra of another matrix than the map, or tables of heads.
  struct Computed {
    std::shared_ptr<const Trace> trace;
    MapTable::Known known;
    QString error;
    bool stopped = false;
    std::int64_t job = 0;
  };
  /// The models and settings of the numbers; when they change, the numbers are computed again.
  struct ComputedOf {
    MatrixChoice matrix;
    bool heads = false;
    std::optional<RankThreshold> threshold = {};
    bool operator==(const ComputedOf&) const = default;
  };
  /// nullopt if the store of spectra has the numbers of the table.
  [[nodiscard]] std::optional<ComputedOf> computed_of() const;
  void request_numbers();
  void compute(SubjectId subject);
  [[nodiscard]] MapTable::Known known(SubjectId subject) const;

  Session& session_;
  SpectrumStore& spectra_;
  QComboBox* measure_;
  QToolButton* in_table_;
  QToolButton* as_heat_map_;
  QToolButton* over_depth_;
  ElidedLabel* formula_;
  QStackedWidget* pages_;
  MapTable* table_;
  QSortFilterProxyModel* sorted_;
  QTableView* view_ = nullptr;
  FigurePage* heat_map_;
  FigurePage* depth_;
  /// Width of a column, and the texts that it was measured for, with every digit replaced by 0.
  struct Measured {
    std::set<QString> texts;
    int width = 0;
  };
  std::map<int, Measured> measured_;
  std::map<SubjectId, Computed> computed_;
  std::optional<ComputedOf> computed_for_;
  bool selecting_ = false;
};

}  // namespace attnscope
