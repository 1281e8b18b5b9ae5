// The table of distances from the reference, or from the first model while none is pinned; a click
// selects the map. Below it, agreement of the models over a data set.
#pragma once

#include <QAbstractTableModel>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/data_set_comparison.h"
#include "app/panels/frame/dock_panel.h"
#include "app/session/subject_id.h"

class QLabel;
class QPushButton;
class QSortFilterProxyModel;
class QTableView;

namespace attnscope {

class ComparisonStore;
class ElidedLabel;
class Session;

/// All comparisons with the reference: one row per map of each compared model, and one per layer's
/// mean.
class ComparisonTable : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// Role of the number that a column is sorted by; undefined values sort below all others.
  static constexpr int sort_role = Qt::UserRole;

  ComparisonTable(Session& session, ComparisonStore& store, QObject* parent = nullptr);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

  /// The map of a row; layer and head are −1 for a mean over them.
  struct Place {
    SubjectId subject = SubjectId::none;
    std::int64_t layer = -1, head = -1;

    bool operator==(const Place&) const = default;
  };
  [[nodiscard]] Place place_of(int row) const;
  [[nodiscard]] int row_of(const Place& place) const;

  /// Sets the store to read from, which must outlive the table or the next call.
  void set_store(ComparisonStore& store);

  /// Reads the session and the comparisons again.
  void refresh();

 private:
  struct Row {
    Place place;
    std::int64_t reference_layer = -1, reference_head = -1;
    MapPairState state = MapPairState::compared;
    std::string note;  ///< reason for a missing value
    const ComparisonValues* values = nullptr;
  };
  [[nodiscard]] QString text(const Row& row, int column) const;
  [[nodiscard]] double number(const Row& row, int column) const;

  Session& session_;
  ComparisonStore* store_;
  std::vector<std::shared_ptr<const SubjectComparison>> comparisons_;  // owns the rows' values
  std::vector<Row> rows_;
};

class ComparisonPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Compare");

  ComparisonPanel(Session& session, ComparisonStore& store, QWidget* parent = nullptr);
  ~ComparisonPanel() override;

  /// True if two models are open.
  [[nodiscard]] static bool has_content(const Session& session);

  [[nodiscard]] bool is_behind() const override;
  [[nodiscard]] bool is_stopped() const override { return stopped_ && isVisible(); }
  void resume() override;

  /// Runs all open models on the first items of a data set and compares them with the reference.
  void compare_over(const QString& data_set);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void fit_columns();
  /// Chooses the store for the analysed matrix and the reference.
  void choose();
  /// The store that the table shows: the window's for maps and a pinned reference, else the panel's
  /// own.
  [[nodiscard]] ComparisonStore& shown() const { return others_ ? *others_ : store_; }
  void refresh();
  void refresh_agreement();
  void show_selection();
  void ask_for_data_set();
  [[nodiscard]] std::vector<ComparedModel> models(std::vector<SubjectId>& ids) const;

  Session& session_;
  ComparisonStore& store_;
  std::unique_ptr<ComparisonStore> others_;
  ComparisonTable* table_;
  QSortFilterProxyModel* sorted_;
  QTableView* view_ = nullptr;
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
