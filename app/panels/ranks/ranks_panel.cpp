#include "app/panels/ranks/ranks_panel.h"

#include <QEvent>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <vector>

#include "analysis/matrix/subject_spectra_of.h"
#include "app/look/theme.h"
#include "app/panels/frame/of_button.h"
#include "app/panels/ranks/rank_table.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/number_table.h"

namespace attnscope {

namespace {

// Pixels next to the table, and next to a column's text.
constexpr int kMargins = 42, kBeside = 8;

}  // namespace

RanksPanel::RanksPanel(Session& session, SpectrumStore& spectra, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session), spectra_(spectra) {
  caption_ = new ElidedLabel(Qt::ElideRight);
  caption_->setProperty("role", "muted");
  add_to_header(caption_);
  of_ = new OfButton("rank-by-layer");
  of_->setObjectName("ranks_of");
  add_to_header(of_);

  table_ = new RankTable(session_, spectra_, this);
  sorted_ = new QSortFilterProxyModel(this);
  sorted_->setSourceModel(table_);
  sorted_->setSortRole(RankTable::sort_role);
  view_ = number_table(*sorted_, "rank_table", tr("Ranks of every layer and head"));
  view_->horizontalHeader()->setMinimumSectionSize(24);
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
  connect(of_, &OfButton::another_chosen, this, [this] {
    if (of_->is_map()) {
      table_->set_source({});
    } else {
      table_->set_source([this](SubjectId subject) {
        const auto known = others_.find(subject);
        const bool current =
            known != others_.end() && known->second.trace == session_.trace(subject);
        return current ? known->second.spectra : nullptr;
      });
    }
    refresh();
  });
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

void RanksPanel::request_other_matrices() {
  if (!(others_of_ == of_->analysed())) {
    for (const auto& [subject, known] : others_) session_.jobs().cancel(known.job);
    others_.clear();
    others_of_ = of_->analysed();
  }
  std::erase_if(others_, [this](const auto& known) { return !session_.find(known.first); });
  for (const OpenSubject& open : session_.subjects()) {
    if (!open.subject.trace || others_[open.id].trace == open.subject.trace) continue;
    find_others(open.id);
  }
}

void RanksPanel::find_others(SubjectId subject) {
  Others& known = others_[subject];
  session_.jobs().cancel(known.job);
  known = {};
  known.trace = session_.trace(subject);
  const auto current = [this, subject, trace = known.trace, of = others_of_]() -> Others* {
    const auto found = others_.find(subject);
    const bool is = found != others_.end() && found->second.trace == trace && others_of_ == of;
    return is ? &found->second : nullptr;
  };
  known.job = session_.jobs().submit(
      tr("Ranks of %1").arg(QString::fromStdString(short_words(others_of_))),
      [this, subject = session_.find(subject)->subject, analysed = others_of_,
       current](const Progress& progress) -> JobQueue::Delivery {
        auto spectra =
            std::make_shared<const SubjectSpectra>(subject_spectra_of(subject, analysed, progress));
        return [this, spectra, current] {
          Others* const found = current();
          if (!found) return;
          found->spectra = spectra;
          refresh();
        };
      },
      [this, current](const JobFailure& failure) {
        Others* const found = current();
        if (!found) return;
        found->stopped = failure.cancelled;
        found->error = QString::fromStdString(failure.what);
        refresh();
      },
      this);
}

bool RanksPanel::is_stopped() const {
  return isVisible() && !of_->is_map() &&
         std::ranges::any_of(others_, [](const auto& known) { return known.second.stopped; });
}

void RanksPanel::resume() {
  spectra_.resume();
  for (auto& [subject, known] : others_) {
    if (known.stopped) find_others(subject);
  }
}

/// The reason for an empty table: missing data or an error.
QString RanksPanel::why_none(bool& is_error) const {
  QString instead = session_.subjects().empty()
                        ? tr("Open a model to see the rank of each of its maps.")
                        : tr("Ranks appear here as soon as a model has run.");
  for (const OpenSubject& open : session_.subjects()) {
    const auto others = others_.find(open.id);
    const bool of_others = !of_->is_map() && others != others_.end();
    const QString error =
        of_others ? others->second.error : QString::fromStdString(spectra_.error_of(open.id));
    if (of_others ? others->second.stopped : spectra_.is_stopped(open.id)) {
      is_error = false;
      return tr("Cancelled before the ranks were known. <a href='resume'>Resume</a>");
    }
    if (!error.isEmpty()) {
      instead = "⚠ " + error;
      is_error = true;
    } else if (open.subject.trace) {
      instead = tr("Computing singular values…");
    }
  }
  return instead;
}

void RanksPanel::refresh() {
  if (!of_->is_map()) request_other_matrices();
  columns_for_ = session_.selection().subject;
  {
    const QSignalBlocker quiet(view_->selectionModel());
    table_->refresh();
  }
  caption_->set_text(
      tr("equivalent rank at τ = %1").arg(session_.view().rank_threshold, 0, 'f', 2));

  bool is_error = false;
  const QString instead = table_->rowCount() == 0 ? why_none(is_error) : QString();
  show_instead(instead, is_error);
  fit_columns();
  show_selection();
}

void RanksPanel::resizeEvent(QResizeEvent* event) {
  DockPanel::resizeEvent(event);
  fit_columns();
}

void RanksPanel::changeEvent(QEvent* event) {
  DockPanel::changeEvent(event);
  if (event->type() != QEvent::FontChange || view_ == nullptr) return;
  measured_.clear();
  fit_columns();
}

int RanksPanel::width_of(int column) {
  const QHeaderView& header = *view_->horizontalHeader();
  const QString heading = table_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
  std::set<QString> texts = {heading};
  for (int row = 0; row < table_->rowCount(); ++row) {
    QString text = table_->data(table_->index(row, column), Qt::DisplayRole).toString();
    for (QChar& letter : text) {
      if (letter.isDigit()) letter = u'0';
    }
    texts.insert(std::move(text));
  }
  Measured& known = measured_[column];
  // All digits have one width, so equal texts need no new layout, which would take longer than
  // drawing.
  if (texts != known.texts) {
    const QAbstractItemView& cells = *view_;
    known.width =
        std::max(cells.sizeHintForColumn(column), header.fontMetrics().horizontalAdvance(heading)) +
        kBeside;
    known.texts = std::move(texts);
  }
  return known.width;
}

// Makes each column as wide as its text, and divides the remaining width equally.
void RanksPanel::fit_columns() {
  QHeaderView* const header = view_->horizontalHeader();
  header->setSectionResizeMode(QHeaderView::Fixed);
  const int columns = table_->columnCount();
  std::vector<int> widths;
  int left = width() - kMargins;
  for (int column = 0; column < columns; ++column) {
    widths.push_back(width_of(column));
    left -= widths.back();
  }
  for (int column = 0; column < columns; ++column) {
    header->resizeSection(column,
                          widths[static_cast<std::size_t>(column)] + std::max(0, left / columns));
  }
}

void RanksPanel::show_selection() {
  const Selection& selection = session_.selection();
  // A click of the user stays where it is: it may be on a row of means.
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
