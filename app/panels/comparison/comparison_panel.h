// The table of distances from the reference; a click selects the map. Below it, agreement of the
// models over a data set.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/comparison/data_set_comparison.h"
#include "app/panels/frame/dock_panel.h"
#include "app/session/subject_id.h"

class QLabel;
class QPushButton;
class QSortFilterProxyModel;
class QTableView;

namespace attnscope {

class ElidedLabel;
class ComparisonStore;
class ComparisonTable;
class OfButton;
class Session;

class ComparisonPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Comparison");

  ComparisonPanel(Session& session, ComparisonStore& store, QWidget* parent = nullptr);
  ~ComparisonPanel() override;

  [[nodiscard]] bool is_behind() const override;
  [[nodiscard]] bool is_stopped() const override { return stopped_ && isVisible(); }
  void resume() override;

  /// Runs all open models on the first items of a data set and compares them with the reference.
  void compare_over(const QString& data_set);

 private:
  /// Applies the choice of the matrix to compare.
  void choose();
  /// The store that the table shows: the window's for maps, the panel's own for other matrices.
  [[nodiscard]] ComparisonStore& shown() const { return others_ ? *others_ : store_; }
  void refresh();
  void refresh_agreement();
  void show_selection();
  void ask_for_data_set();
  [[nodiscard]] std::vector<ComparedModel> models(std::vector<SubjectId>& ids) const;

  Session& session_;
  ComparisonStore& store_;
  std::unique_ptr<ComparisonStore> others_;
  OfButton* of_;
  ComparisonTable* table_;
  QSortFilterProxyModel* sorted_;
  QTableView* view_;
  ElidedLabel* caption_;
  QLabel* agreement_;
  QPushButton* over_data_set_;
  bool selecting_ = false, stopped_ = false;

  // Comparison over a data set, valid until other models are open or the reference changes.
  std::int64_t job_ = 0;
  std::vector<SubjectId> ids_;  // the reference first
  std::vector<DataSetComparison> results_;
  std::string data_set_, problem_;
};

}  // namespace attnscope
