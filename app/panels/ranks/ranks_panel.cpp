#include "app/panels/ranks/ranks_panel.h"

#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

#include "app/look/theme.h"
#include "app/panels/ranks/rank_table.h"
#include "app/session/session.h"
#include "app/widgets/number_table.h"

namespace attnscope {

namespace {

constexpr int kColumn = 47, kNameColumn = 39, kNameColumns = 2, kMargins = 42;

}  // namespace

RanksPanel::RanksPanel(Session& session, SpectrumStore& spectra, QWidget* parent)
    : DockPanel(tr("Ranks"), parent), session_(session), spectra_(spectra) {
  caption_ = new QLabel;
  caption_->setProperty("role", "muted");
  add_to_header(caption_);

  table_ = new RankTable(session_, spectra_, this);
  sorted_ = new QSortFilterProxyModel(this);
  sorted_->setSourceModel(table_);
  sorted_->setSortRole(RankTable::sort_role);
  view_ = number_table(*sorted_, "rank_table", tr("Ranks of every layer and head"), font());
  view_->horizontalHeader()->setMinimumSectionSize(38);
  view_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  body()->addWidget(view_, 1);

  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            if (!current.isValid()) return;
            const RankTable::Place place = table_->place_of(sorted_->mapToSource(current).row());
            const Selection& now = session_.selection();
            selecting_ = true;
            session_.select_map(now.subject, place.layer >= 0 ? place.layer : now.layer,
                                place.head >= 0 ? place.head : now.head);
            selecting_ = false;
          });
  connect(this, &DockPanel::link_chosen, this, [this] { spectra_.go_on(); });
  connect(&spectra_, &SpectrumStore::spectra_ready, this, &RanksPanel::refresh);
  connect(&session_, &Session::subjects_changed, this, &RanksPanel::refresh);
  connect(&session_, &Session::view_changed, this, &RanksPanel::refresh);
  connect(&session_, &Session::selection_changed, this, [this] {
    if (columns_for_ != session_.selection().subject) {
      refresh();
    } else {
      show_selection();
    }
  });
  refresh();
}

void RanksPanel::refresh() {
  columns_for_ = session_.selection().subject;
  {
    const QSignalBlocker quiet(view_->selectionModel());
    table_->refresh();
  }
  caption_->setText(tr("equivalent rank at τ = %1").arg(session_.view().rank_threshold, 0, 'f', 2));

  QString instead;
  bool is_error = false;
  if (table_->rowCount() == 0) {
    instead = session_.subjects().empty() ? tr("Open a model to see the rank of each of its maps.")
                                          : tr("Ranks appear here as soon as a model has run.");
    for (const OpenSubject& open : session_.subjects()) {
      const std::string error = spectra_.error_of(open.id);
      if (spectra_.is_stopped(open.id)) {
        instead = tr("Stopped before the ranks were known. <a href='go on'>Go on</a>");
        is_error = false;
      } else if (!error.empty()) {
        instead = "⚠ " + QString::fromStdString(error);
        is_error = true;
      } else if (open.subject.trace) {
        instead = tr("Computing singular values…");
      }
    }
  }
  show_instead(instead, is_error);
  fit_columns();
  show_selection();
}

void RanksPanel::resizeEvent(QResizeEvent* event) {
  DockPanel::resizeEvent(event);
  fit_columns();
}

// All columns side by side where there is room for them, else each as wide as its numbers.
void RanksPanel::fit_columns() {
  const int room = width() - kMargins;
  QHeaderView* header = view_->horizontalHeader();
  const bool all_fit = room >= table_->columnCount() * kColumn;
  header->setSectionResizeMode(all_fit ? QHeaderView::Stretch : QHeaderView::Fixed);
  if (all_fit) return;
  for (int column = 0; column < table_->columnCount(); ++column) {
    header->resizeSection(column, column < kNameColumns ? kNameColumn : kColumn);
  }
}

void RanksPanel::show_selection() {
  const Selection& selection = session_.selection();
  // The user's own click stays where it is: it may be on a row of means.
  const int row = table_->row_of(selection.layer, selection.head);
  if (row < 0 || selecting_) return;
  const QModelIndex index = sorted_->mapFromSource(table_->index(row, 0));
  const QSignalBlocker quiet(view_->selectionModel());
  view_->selectionModel()->setCurrentIndex(
      index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  view_->scrollTo(index);
  view_->viewport()->update();
}

}  // namespace attnscope
