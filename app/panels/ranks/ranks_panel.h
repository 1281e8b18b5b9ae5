// The table of ranks; a click selects the map.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "analysis/matrix/matrix_kind.h"
#include "analysis/spectrum/spectrum.h"
#include "app/panels/frame/dock_panel.h"
#include "app/session/subject_id.h"

class QSortFilterProxyModel;
class QTableView;

namespace attnscope {

class ElidedLabel;
class OfButton;
class RankTable;
class Session;
class SpectrumStore;

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
