#include "app/panels/comparison/comparison_panel.h"

#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QFont>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QPalette>
#include <QPushButton>
#include <QSettings>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/matrix/matrix_kind.h"
#include "app/look/theme.h"
#include "app/session/comparison_store.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/table_view.h"
#include "app/widgets/wrapped_label.h"

namespace attnscope {

namespace {

using Quantity = ComparisonQuantity;

/// Columns that identify the map, followed by its numbers, most informative first.
enum PlaceColumn : int { kSubject, kLayer, kHead, kReferenceMap, kPlaceColumns };

struct NumberColumn {
  Quantity quantity;
  int digits;  // digits after the decimal point, for a single map
};
constexpr std::array kNumbers = {NumberColumn{Quantity::divergence, 3},
                                 NumberColumn{Quantity::cosine_distance, 3},
                                 NumberColumn{Quantity::frobenius_distance, 2},
                                 NumberColumn{Quantity::spectrum_distance, 3},
                                 NumberColumn{Quantity::rank_difference, 0},
                                 NumberColumn{Quantity::rank_at_entropy, 0},
                                 NumberColumn{Quantity::cka, 3},
                                 NumberColumn{Quantity::largest_divergence, 3},
                                 NumberColumn{Quantity::relative_frobenius, 2},
                                 NumberColumn{Quantity::rank, 0},
                                 NumberColumn{Quantity::reference_rank, 0},
                                 NumberColumn{Quantity::effective_rank_difference, 1},
                                 NumberColumn{Quantity::stable_rank_difference, 2},
                                 NumberColumn{Quantity::equal_entropy, 3},
                                 NumberColumn{Quantity::equal_entropy_temperature, 2}};

const NumberColumn& number_column(int column) {
  return kNumbers.at(static_cast<std::size_t>(column - kPlaceColumns));
}

const ComparisonQuantityEntry& entry_of(Quantity quantity) {
  return comparison_quantities()[static_cast<std::size_t>(quantity)];
}

/// A sample that estimates a share within about 3 %.
constexpr std::int64_t kItems = 200;
constexpr int kIndexWidth = 30, kPlaceWidth = 44, kNumberWidth = 62;

/// The mean over all items; "–" if no item has the quantity.
QString number_or_dash(const DataSetComparison& result, ComparisonQuantity quantity) {
  const double value = result.mean.mean[quantity];
  return std::isfinite(value) ? QString::number(value, 'f', 3) : QStringLiteral("–");
}

}  // namespace

ComparisonTable::ComparisonTable(Session& session, ComparisonStore& store, QObject* parent)
    : QAbstractTableModel(parent), session_(session), store_(&store) {
  refresh();
}

void ComparisonTable::set_store(ComparisonStore& store) {
  store_ = &store;
  refresh();
}

void ComparisonTable::refresh() {
  beginResetModel();
  rows_.clear();
  comparisons_.clear();
  for (const OpenSubject& open : session_.subjects()) {
    const SubjectId id = open.id;
    const auto comparison = store_->comparison(id);
    if (!comparison) continue;
    comparisons_.push_back(comparison);
    rows_.push_back(
        {{id, -1, -1}, -1, -1, MapPairState::compared, comparison->summary, &comparison->mean});
    auto map = comparison->maps.begin();
    for (const ComparedLayer& layer : comparison->layers) {
      const bool one = map != comparison->maps.end() && map->head == kAllHeads;
      rows_.push_back({{id, layer.layer, -1},
                       layer.reference_layer,
                       -1,
                       one && map->layer == layer.layer ? map->state : MapPairState::compared,
                       layer.why_no_cka,
                       &layer.values});
      for (; map != comparison->maps.end() && map->layer == layer.layer; ++map) {
        if (map->head == kAllHeads) continue;  // the layer's row has its numbers
        rows_.push_back({{id, map->layer, map->head},
                         map->reference_layer,
                         map->reference_head,
                         map->state,
                         {},
                         &map->values});
      }
    }
  }
  endResetModel();
}

int ComparisonTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ComparisonTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kPlaceColumns + static_cast<int>(kNumbers.size());
}

ComparisonTable::Place ComparisonTable::place_of(int row) const {
  return rows_.at(static_cast<std::size_t>(row)).place;
}

int ComparisonTable::row_of(const Place& place) const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (rows_[row].place == place) return static_cast<int>(row);
  }
  return -1;
}

double ComparisonTable::number(const Row& row, int column) const {
  double value = 0;
  switch (column) {
    case kSubject:
      return static_cast<double>(session_.place_of(row.place.subject));
    case kLayer:
      return static_cast<double>(row.place.layer);
    case kHead:
      return static_cast<double>(row.place.head);
    case kReferenceMap:
      return static_cast<double>(row.reference_layer * 10000 + row.reference_head);
    default:
      value = (*row.values)[number_column(column).quantity];
  }
  return std::isnan(value) ? std::numeric_limits<double>::lowest() : value;
}

QString ComparisonTable::text(const Row& row, int column) const {
  switch (column) {
    case kSubject:
      return QString::number(session_.place_of(row.place.subject) + 1);
    case kLayer:
      return row.place.layer < 0 ? tr("all") : QString::number(row.place.layer);
    case kHead:
      return row.place.head < 0 ? tr("mean") : QString::number(row.place.head);
    case kReferenceMap: {
      if (row.place.layer < 0) return {};
      const bool none = row.reference_layer < 0 || (row.place.head >= 0 && row.reference_head < 0);
      if (none) return "–";
      const QString layer = QString::number(row.reference_layer);
      return row.place.head < 0 ? layer : layer + "." + QString::number(row.reference_head);
    }
    default:
      break;
  }
  const NumberColumn& shown = number_column(column);
  const double value = (*row.values)[shown.quantity];
  if (std::isnan(value)) return "–";
  const bool is_rank = shown.digits == 0;
  QString digits = QString::number(value, 'f', is_rank && row.place.head < 0 ? 1 : shown.digits);
  const bool is_difference = shown.quantity == Quantity::rank_difference ||
                             shown.quantity == Quantity::effective_rank_difference ||
                             shown.quantity == Quantity::stable_rank_difference;
  if (is_difference && value > 0) digits = "+" + digits;
  return digits.replace('-', "−");
}

QVariant ComparisonTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Row& row = rows_.at(static_cast<std::size_t>(index.row()));
  switch (role) {
    case Qt::DisplayRole:
      return text(row, index.column());
    case sort_role:
      return number(row, index.column());
    case Qt::TextAlignmentRole:
      return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      if (index.column() == kSubject) {
        const bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
        return subject_colour(session_.place_of(row.place.subject),
                              dark ? Theme::dark : Theme::light);
      }
      return {};
    case Qt::FontRole:
      if (row.place.head < 0) {
        QFont font = number_font(QApplication::font());
        font.setPointSizeF(font.pointSizeF() - 0.5);
        font.setBold(true);
        return font;
      }
      return {};
    case Qt::ToolTipRole:
      if (row.state != MapPairState::compared) return QString::fromUtf8(describe(row.state));
      if (!row.note.empty()) return QString::fromStdString(row.note);
      return {};
    default:
      return {};
  }
}

QVariant ComparisonTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  const bool title = role == Qt::DisplayRole;
  switch (section) {
    case kSubject:
      return title ? tr("#") : tr("The compared model");
    case kLayer:
      return title ? tr("Layer") : tr("Its layer");
    case kHead:
      return title ? tr("Head") : tr("Its head");
    case kReferenceMap:
      return title ? tr("with") : tr("Layer and head of the reference it is compared with");
    default: {
      const ComparisonQuantityEntry& entry = entry_of(number_column(section).quantity);
      QString text = QString::fromUtf8(title ? entry.title : entry.explanation);
      const MatrixChoice analysed = store_->options().analysed;
      const bool of_others = !title && !analysed.is_plain_map() && entry.quantity != Quantity::cka;
      if (of_others) text += tr("; of the %1").arg(QString::fromStdString(in_words(analysed)));
      return text;
    }
  }
}

ComparisonPanel::ComparisonPanel(Session& session, ComparisonStore& store, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session), store_(store) {
  caption_ = new ElidedLabel(Qt::ElideRight);
  caption_->setProperty("role", "muted");
  add_to_header(caption_);

  table_ = new ComparisonTable(session_, store_, this);
  sorted_ = new QSortFilterProxyModel(this);
  sorted_->setSourceModel(table_);
  sorted_->setSortRole(ComparisonTable::sort_role);
  view_ = number_table(*sorted_, "comparison_table",
                       tr("Distances from the reference, of every layer and head"));
  view_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  view_->horizontalHeader()->setMinimumSectionSize(30);
  fit_columns();
  body()->addWidget(view_, 1);

  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  agreement_ = new WrappedLabel;
  agreement_->setObjectName("agreement");
  agreement_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  over_data_set_ = new QPushButton(tr("Over a data set…"));
  over_data_set_->setObjectName("compare_over_data_set");
  over_data_set_->setToolTip(
      tr("How often the models' predictions agree, and their mean distances, over %1 items "
         "spread evenly over a data set")
          .arg(kItems));
  row->addWidget(agreement_, 1);
  row->addWidget(over_data_set_, 0, Qt::AlignBottom);
  body()->addLayout(row);

  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            if (!current.isValid()) return;
            const auto place = table_->place_of(sorted_->mapToSource(current).row());
            const Selection& now = session_.selection();
            selecting_ = true;
            session_.select_map(place.subject, place.layer >= 0 ? place.layer : now.layer,
                                place.head >= 0 ? place.head : now.head);
            selecting_ = false;
          });
  connect(over_data_set_, &QPushButton::clicked, this, &ComparisonPanel::ask_for_data_set);
  connect(&store_, &ComparisonStore::changed, this, &ComparisonPanel::refresh);
  connect(&session_, &Session::subjects_changed, this, &ComparisonPanel::refresh);
  connect(&session_, &Session::view_changed, this, &ComparisonPanel::choose);
  connect(&session_, &Session::reference_changed, this, &ComparisonPanel::choose);
  connect(&session_, &Session::selection_changed, this, &ComparisonPanel::show_selection);
  refresh();
}

ComparisonPanel::~ComparisonPanel() = default;

/// Gives columns the width of their titles and numbers.
void ComparisonPanel::fit_columns() {
  constexpr int kAroundTitle = 10;  // pixels
  const double scale = text_scale_of(font());
  for (int column = 0; column < table_->columnCount(); ++column) {
    const int least = column == 0 ? kIndexWidth : column < 4 ? kPlaceWidth : kNumberWidth;
    const QString title = table_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    view_->setColumnWidth(column, std::max(static_cast<int>(least * scale),
                                           fontMetrics().horizontalAdvance(title) + kAroundTitle));
  }
}

void ComparisonPanel::changeEvent(QEvent* event) {
  DockPanel::changeEvent(event);
  if (event->type() == QEvent::FontChange && view_ != nullptr) fit_columns();
}

bool ComparisonPanel::has_content(const Session& session) { return session.subjects().size() >= 2; }

void ComparisonPanel::choose() {
  const MatrixChoice& matrix = session_.view().matrix;
  const bool pinned = session_.reference() != SubjectId::none;
  if ((pinned && matrix.is_plain_map()) || !isVisible()) {
    table_->set_store(store_);
    if (others_) others_->stop();
    others_.reset();
  } else {
    if (!others_) {
      others_ = std::make_unique<ComparisonStore>(session_);
      others_->compare_unpinned();
      connect(others_.get(), &ComparisonStore::changed, this, &ComparisonPanel::refresh);
    }
    others_->set_analysed(matrix);
    table_->set_store(*others_);
  }
  refresh();
}

void ComparisonPanel::showEvent(QShowEvent* event) {
  DockPanel::showEvent(event);
  choose();
}

void ComparisonPanel::hideEvent(QHideEvent* event) {
  DockPanel::hideEvent(event);
  choose();
}

bool ComparisonPanel::is_behind() const { return !shown().settled() && isVisible(); }

std::vector<ComparedModel> ComparisonPanel::models(std::vector<SubjectId>& ids) const {
  std::vector<ComparedModel> models;
  const auto add = [&](const OpenSubject& open) {
    if (!open.subject.model) return;
    models.push_back({open.subject.label, open.subject.model, open.subject.mechanism});
    ids.push_back(open.id);
  };
  const OpenSubject* const reference = session_.find(shown().reference());
  if (!reference) return models;
  add(*reference);
  if (models.empty()) return models;
  for (const OpenSubject& open : session_.subjects()) {
    if (&open != reference) add(open);
  }
  return models;
}

void ComparisonPanel::ask_for_data_set() {
  const QString file = QFileDialog::getOpenFileName(
      this, tr("Compare over a data set"), QSettings().value("data_set_folder").toString(),
      tr("Data sets (*.gz *-ubyte *.h5 *.hdf5 *.npz);;All files (*)"));
  if (file.isEmpty()) return;
  QSettings().setValue("data_set_folder", QFileInfo(file).absolutePath());
  compare_over(file);
}

void ComparisonPanel::compare_over(const QString& data_set) {
  std::vector<SubjectId> ids;
  const std::vector<ComparedModel> models = this->models(ids);
  session_.jobs().cancel(job_);
  results_.clear();
  problem_.clear();
  stopped_ = false;
  ids_ = ids;
  data_set_ = data_set.toStdString();
  const ComparisonOptions options = shown().options();
  job_ = session_.jobs().submit(
      tr("Comparing over %1").arg(QFileInfo(data_set).fileName()),
      [this, models, options, path = data_set_](const Progress& progress) -> JobQueue::Delivery {
        auto results =
            compare_over_data_set(models, *open_data_set(path), {kItems}, options, progress);
        return [this, results = std::move(results)] {
          job_ = 0;
          results_ = results;
          refresh_agreement();
        };
      },
      [this](const JobFailure& failure) {
        job_ = 0;
        stopped_ = failure.cancelled;
        problem_ = failure.cancelled ? "" : failure.what;
        refresh_agreement();
      },
      this);
  refresh_agreement();
}

void ComparisonPanel::refresh_agreement() {
  std::vector<SubjectId> ids;
  const bool possible = models(ids).size() >= 2;
  over_data_set_->setEnabled(possible && job_ == 0);
  if (ids != ids_ && job_ == 0) {
    ids_.clear();
    results_.clear();
    problem_.clear();
    stopped_ = false;
  }
  QStringList lines;
  const QString name = QFileInfo(QString::fromStdString(data_set_)).fileName();
  if (job_ != 0) lines << tr("Running the models on %1…").arg(name);
  if (stopped_) lines << tr("Cancelled at %1: Resume starts it again").arg(name);
  if (!problem_.empty()) lines << "⚠ " + QString::fromStdString(problem_);
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const DataSetComparison& result = results_[i];
    const PredictionAgreement& p = result.predictions;
    const QString number = QString::number(session_.place_of(ids_[i + 1]) + 1);
    const QString distances = tr("mean JS %1, CKA %2")
                                  .arg(number_or_dash(result, ComparisonQuantity::divergence),
                                       number_or_dash(result, ComparisonQuantity::cka));
    lines << (result.why_no_predictions.empty()
                  ? tr("%1 predicts as the reference on %2 of %3 items (%4 %); %5")
                        .arg(number)
                        .arg(p.agreeing)
                        .arg(p.items)
                        .arg(100 * p.share(), 0, 'f', 1)
                        .arg(distances)
                  : tr("%1: %2; %3")
                        .arg(number, QString::fromStdString(result.why_no_predictions), distances));
  }
  if (lines.isEmpty()) lines << tr("Agreement of predictions: choose a data set");
  agreement_->setText(lines.join("\n"));
  const bool quiet = results_.empty() && problem_.empty();
  set_role(agreement_, quiet ? "muted" : problem_.empty() ? "" : "error");
}

void ComparisonPanel::refresh() {
  {
    const QSignalBlocker quiet(view_->selectionModel());
    table_->refresh();
  }
  const std::int64_t reference = session_.place_of(shown().reference());
  caption_->set_text(reference < 0
                         ? QString()
                         : tr("against %1 · %2")
                               .arg(reference + 1)
                               .arg(QString::fromStdString(alignment_in_words(shown().options()))));
  note_matrix(session_.view().matrix);
  QString instead;
  bool is_error = false;
  if (session_.subjects().size() < 2) {
    instead = tr("Open a second model to compare it with the first.");
  } else if (table_->rowCount() == 0) {
    instead = shown().settled() ? tr("Choose an input.") : tr("Comparing…");
    for (const OpenSubject& open : session_.subjects()) {
      const std::string error = shown().error_of(open.id);
      if (error.empty() || shown().is_stopped()) continue;
      instead = "⚠ " + QString::fromStdString(error);
      is_error = true;
    }
  }
  show_instead(instead, is_error);
  if (table_->rowCount() == 0 && shown().is_stopped()) show_stopped();
  refresh_agreement();
  show_selection();
}

void ComparisonPanel::resume() {
  shown().resume();
  if (stopped_) compare_over(QString::fromStdString(data_set_));
}

void ComparisonPanel::show_selection() {
  if (selecting_) return;  // keeps a click on a row of means
  const Selection& selection = session_.selection();
  const int row = table_->row_of({selection.subject, selection.layer, selection.head});
  if (row < 0) return;
  const QModelIndex index = sorted_->mapFromSource(table_->index(row, 0));
  const QSignalBlocker quiet(view_->selectionModel());
  view_->selectionModel()->setCurrentIndex(
      index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  view_->scrollTo(index);
  view_->viewport()->update();
}

}  // namespace attnscope
