// The table of ranks; a click selects the map.
#pragma once

#include "app/panels/frame/dock_panel.h"
#include "app/session/subject_id.h"

class QLabel;
class QSortFilterProxyModel;
class QTableView;

namespace attnscope {

class RankTable;
class Session;
class SpectrumStore;

class RanksPanel : public DockPanel {
  Q_OBJECT
 public:
  RanksPanel(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  void fit_columns();
  void show_selection();

  Session& session_;
  SpectrumStore& spectra_;
  RankTable* table_;
  QSortFilterProxyModel* sorted_;
  QTableView* view_;
  QLabel* caption_;
  SubjectId columns_for_ = SubjectId::none;
  bool selecting_ = false;
};

}  // namespace attnscope
