// The table of ranks; a click selects the map.
#pragma once

#include <QAbstractTableModel>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/matrix/matrix_kind.h"
#include "analysis/spectrum/spectrum.h"
#include "app/panels/frame/dock_panel.h"
#include "app/session/spectrum_store.h"
#include "app/session/subject_id.h"

class QSortFilterProxyModel;
class QTableView;

namespace attnscope {

class ElidedLabel;
class OfButton;
class Session;

/// The ranks of all maps of all models: rows are means and heads, columns models.
class RankTable : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// Role of the number that a column is sorted by; NaN if there is no rank.
  static constexpr int sort_role = Qt::UserRole;

  RankTable(Session& session, SpectrumStore& spectra, QObject* parent = nullptr);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

  /// The layer and head of a row; −1 for a mean over them.
  struct Place {
    std::int64_t layer = -1, head = -1;
    bool operator==(const Place&) const = default;
  };
  [[nodiscard]] Place place_of(int row) const;
  [[nodiscard]] int row_of(std::int64_t layer, std::int64_t head) const;

  /// Reads session and spectra again; resets the model if the rows or columns have changed.
  void refresh();
  /// Source of spectra of other matrices than the maps; empty: spectra of the maps.
  using Source = std::function<std::shared_ptr<const SubjectSpectra>(SubjectId)>;
  void set_source(Source source) { source_ = std::move(source); }

 private:
  enum class Quantity { layer, head, equivalent_rank, effective_rank, stable_rank, symmetry_error };
  struct Column {
    Quantity quantity;
    std::int64_t place = 0;  ///< index of the model among the open ones
    bool identity = false;
    bool operator==(const Column&) const = default;
  };

  [[nodiscard]] double number(const Place& place, const Column& column) const;
  [[nodiscard]] const MapSpectrum* spectrum(const Place& place, const Column& column) const;
  [[nodiscard]] QString text(const Place& place, const Column& column) const;

  Session& session_;
  SpectrumStore& store_;
  Source source_;
  std::vector<Place> rows_;
  std::vector<Column> columns_;
  std::vector<std::shared_ptr<const SubjectSpectra>> spectra_;  // one per model, may be null
};

class RanksPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Ranks");

  RanksPanel(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);

  [[nodiscard]] bool is_stopped() const override;
  void resume() override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void refresh();
  void fit_columns();
  void show_selection();
  void request_other_matrices();
  void find_others(SubjectId subject);
  [[nodiscard]] QString why_none(bool& is_error) const;
  [[nodiscard]] int width_of(int column);

  /// Spectra of another matrix than the maps, computed while it is chosen.
  struct Others {
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const SubjectSpectra> spectra;
    QString error;
    bool stopped = false;
    std::int64_t job = 0;
  };

  Session& session_;
  SpectrumStore& spectra_;
  RankTable* table_;
  QSortFilterProxyModel* sorted_;
  QTableView* view_ = nullptr;
  ElidedLabel* caption_;
  OfButton* of_;
  /// Width of a column, and the texts that it was measured for, with every digit replaced by 0.
  struct Measured {
    std::set<QString> texts;
    int width = 0;
  };
  std::map<int, Measured> measured_;
  std::map<SubjectId, Others> others_;
  MatrixChoice others_of_;  ///< matrix of others_
  SubjectId columns_for_ = SubjectId::none;
  bool selecting_ = false;
};

}  // namespace attnscope
