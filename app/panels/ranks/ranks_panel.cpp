#include "app/panels/ranks/ranks_panel.h"

#include <QApplication>
#include <QEvent>
#include <QFont>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QPalette>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "analysis/matrix/subject_spectra_of.h"
#include "analysis/spectrum/estimated_spectrum.h"
#include "analysis/spectrum/rank.h"
#include "app/look/theme.h"
#include "app/panels/frame/of_button.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/table_view.h"

namespace attnscope {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

QString known(double value, int digits) {
  return std::isnan(value) ? QStringLiteral("–") : QString::number(value, 'f', digits);
}

// Pixels next to the table, and next to a column's text.
constexpr int kMargins = 42, kBeside = 8;

}  // namespace

RankTable::RankTable(Session& session, SpectrumStore& spectra, QObject* parent)
    : QAbstractTableModel(parent), session_(session), store_(spectra) {
  refresh();
}

void RankTable::refresh() {
  std::vector<Place> rows;
  std::vector<Column> columns = {{Quantity::layer}, {Quantity::head}};
  spectra_.clear();
  std::map<std::int64_t, std::int64_t> heads_of_layer;
  for (const OpenSubject& open : session_.subjects()) {
    const std::int64_t place = std::ssize(spectra_);
    spectra_.push_back(source_ ? source_(open.id) : store_.of(open.id));
    if (!spectra_.back()) continue;
    columns.push_back({Quantity::equivalent_rank, place, false});
    const bool takes_identity = !source_ || !spectra_.back()->with.empty();
    if (takes_identity) columns.push_back({Quantity::equivalent_rank, place, true});
    for (const MapSpectrum& spectrum : spectra_.back()->without) {
      std::int64_t& heads = heads_of_layer[spectrum.layer];
      heads = std::max(heads, spectrum.head + 1);
    }
  }
  const std::int64_t selected = session_.place_of(session_.selection().subject);
  if (selected >= 0 && spectra_[static_cast<std::size_t>(selected)]) {
    const bool with = session_.view().identity == IdentityView::with &&
                      !(source_ && spectra_[static_cast<std::size_t>(selected)]->with.empty());
    columns.push_back({Quantity::effective_rank, selected, with});
    columns.push_back({Quantity::stable_rank, selected, with});
    columns.push_back({Quantity::symmetry_error, selected, with});
  }
  if (!heads_of_layer.empty()) rows.push_back({-1, -1});
  for (const auto& [layer, heads] : heads_of_layer) {
    rows.push_back({layer, -1});
    for (std::int64_t head = 0; head < heads; ++head) rows.push_back({layer, head});
  }
  if (rows == rows_ && columns == columns_) {
    if (!rows.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
    return;
  }
  beginResetModel();
  rows_ = std::move(rows);
  columns_ = std::move(columns);
  endResetModel();
}

int RankTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RankTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

RankTable::Place RankTable::place_of(int row) const {
  return rows_.at(static_cast<std::size_t>(row));
}

int RankTable::row_of(std::int64_t layer, std::int64_t head) const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (rows_[row].layer == layer && rows_[row].head == head) return static_cast<int>(row);
  }
  return -1;
}

const MapSpectrum* RankTable::spectrum(const Place& place, const Column& column) const {
  const auto& spectra = spectra_.at(static_cast<std::size_t>(column.place));
  if (!spectra || place.head < 0) return nullptr;
  return find_spectrum(column.identity ? spectra->with : spectra->without, place.layer, place.head);
}

double RankTable::number(const Place& place, const Column& column) const {
  if (column.quantity == Quantity::layer) return static_cast<double>(place.layer);
  if (column.quantity == Quantity::head) return static_cast<double>(place.head);
  const auto& spectra = spectra_.at(static_cast<std::size_t>(column.place));
  if (!spectra) return kNone;
  const auto of_one = [&](const MapSpectrum& one) -> double {
    switch (column.quantity) {
      case Quantity::equivalent_rank:
        return static_cast<double>(
            equivalent_rank(one.singular_values, session_.view().rank_threshold));
      case Quantity::effective_rank:
        return one.effective_rank;
      case Quantity::stable_rank:
        return one.stable_rank;
      default:
        return one.symmetry_error;
    }
  };
  double sum = 0;
  std::int64_t count = 0;
  for (const MapSpectrum& one : column.identity ? spectra->with : spectra->without) {
    if (place.layer >= 0 && one.layer != place.layer) continue;
    if (place.head >= 0 && one.head != place.head) continue;
    const double value = one.state == SpectrumState::ready ? of_one(one) : kNone;
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : kNone;
}

QString RankTable::text(const Place& place, const Column& column) const {
  if (column.quantity == Quantity::layer) {
    return place.layer < 0 ? tr("all") : QString::number(place.layer);
  }
  if (column.quantity == Quantity::head) {
    return place.head < 0 ? tr("mean") : QString::number(place.head);
  }
  const double value = number(place, column);
  if (std::isnan(value)) {
    const MapSpectrum* one = spectrum(place, column);
    if (!one) return "–";
    switch (one->state) {
      case SpectrumState::ready:
        return "–";  // the spectrum does not give this quantity
      case SpectrumState::not_finite:
        return tr("NaN");
      case SpectrumState::zero:
        return tr("zero");
      case SpectrumState::not_converged:
        return tr("none");
    }
  }
  if (column.quantity == Quantity::symmetry_error) return QString::number(value, 'f', 2);
  const bool whole = column.quantity == Quantity::equivalent_rank && place.head >= 0;
  const MapSpectrum* one = spectrum(place, column);
  const auto& spectra = *spectra_.at(static_cast<std::size_t>(column.place));
  const bool estimated =
      one ? one->estimate != nullptr
          : are_estimated(column.identity ? spectra.with : spectra.without, place.layer);
  return (estimated ? "≈ " : "") + QString::number(value, 'f', whole ? 0 : 1);
}

QVariant RankTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Place& place = rows_.at(static_cast<std::size_t>(index.row()));
  const Column& column = columns_.at(static_cast<std::size_t>(index.column()));
  switch (role) {
    case Qt::DisplayRole:
      return text(place, column);
    case sort_role:
      return number(place, column);
    case Qt::TextAlignmentRole:
      return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::FontRole:
      if (place.head < 0) {
        QFont font = number_font(QApplication::font());
        font.setPointSizeF(font.pointSizeF() - 0.5);
        font.setBold(true);
        return font;
      }
      return {};
    case Qt::ToolTipRole:
      if (const MapSpectrum* one =
              column.quantity >= Quantity::equivalent_rank ? spectrum(place, column) : nullptr) {
        const std::string_view state = describe(one->state);
        QString tip =
            tr("Layer %1, head %2, %3 I: %4. Rank %5 of %6; effective %7, stable %8, numerical %9")
                .arg(one->layer)
                .arg(one->head)
                .arg(column.identity ? tr("with") : tr("without"))
                .arg(QString::fromUtf8(state.data(), static_cast<qsizetype>(state.size())))
                .arg(one->state == SpectrumState::ready
                         ? QString::number(equivalent_rank(one->singular_values,
                                                           session_.view().rank_threshold))
                         : QStringLiteral("–"))
                .arg(one->tokens)
                .arg(known(one->effective_rank, 1), known(one->stable_rank, 2),
                     one->numerical_rank > 0 ? QString::number(one->numerical_rank)
                                             : QStringLiteral("–"));
        if (one->rank_bound > 0) {
          tip += tr("; the mechanism bounds the rank by %1").arg(one->rank_bound);
        }
        if (one->method == SpectrumMethod::factored) tip += tr("; from the map's factors");
        if (one->estimate) {
          const RankInterval interval = rank_interval(*one, session_.view().rank_threshold);
          tip += tr("; estimated: rank %1 to %2 with 95 % confidence, effective rank ± %6, Σσ = %3 "
                    "± %4, the leading %5 values exact")
                     .arg(interval.low)
                     .arg(interval.high)
                     .arg(one->estimate->nuclear_norm, 0, 'g', 4)
                     .arg(one->estimate->standard_error, 0, 'g', 2)
                     .arg(one->estimate->known)
                     .arg(one->estimate->effective_rank_error, 0, 'g', 2);
        }
        if (one->zero_rows > 0) tip += tr("; %1 rows are all zero").arg(one->zero_rows);
        return tip;
      }
      return {};
    default:
      return {};
  }
}

QVariant RankTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  const Column& column = columns_.at(static_cast<std::size_t>(section));
  const QString subject = QString::number(column.place + 1);
  const QString with_identity = column.identity ? tr("with I") : tr("without I");
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::ForegroundRole && column.quantity >= Quantity::equivalent_rank) {
    const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
    return subject_colour(column.place, dark ? Theme::dark : Theme::light);
  }
  switch (column.quantity) {
    case Quantity::layer:
      if (role == Qt::DisplayRole) return tr("Layer");
      break;
    case Quantity::head:
      if (role == Qt::DisplayRole) return tr("Head");
      break;
    case Quantity::equivalent_rank:
      if (role == Qt::DisplayRole) return column.identity ? subject + " + I" : subject;
      if (role == Qt::ToolTipRole) {
        return tr("Equivalent rank of model %1, %2: the fewest singular values that hold the "
                  "share τ of their sum")
            .arg(subject, with_identity);
      }
      break;
    case Quantity::effective_rank:
      if (role == Qt::DisplayRole) return tr("eff.");
      if (role == Qt::ToolTipRole) {
        return tr("Effective rank of model %1, %2: exp of the entropy of the singular values")
            .arg(subject, with_identity);
      }
      break;
    case Quantity::stable_rank:
      if (role == Qt::DisplayRole) return tr("stab.");
      if (role == Qt::ToolTipRole) {
        return tr("Stable rank of model %1, %2: ‖H‖² / σ₁²").arg(subject, with_identity);
      }
      break;
    case Quantity::symmetry_error:
      if (role == Qt::DisplayRole) return tr("asym.");
      if (role == Qt::ToolTipRole) {
        return tr("Symmetry error of model %1, %2: ‖H − Hᵀ‖ / ‖H‖, 0 for a symmetric map")
            .arg(subject, with_identity);
      }
      break;
  }
  return {};
}

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
