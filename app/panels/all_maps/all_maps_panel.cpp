#include "app/panels/all_maps/all_maps_panel.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/matrix/subject_spectra_of.h"
#include "app/panels/frame/figure_page.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/widgets/bold_line.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/segments.h"
#include "app/widgets/table_view.h"
#include "app/widgets/tool_button.h"
#include "core/error.h"

namespace attnscope {

namespace {

// Pixels next to the table, and next to a column's text.
constexpr int kAroundTable = 42, kAroundColumn = 8;

/// Sorts heads by their number, and keeps the rows of means below them.
class HeadsFirst : public QSortFilterProxyModel {
 public:
  HeadsFirst(MapTable& table, QObject* parent) : QSortFilterProxyModel(parent), table_(table) {
    setSourceModel(&table);
    setSortRole(MapTable::sort_role);
  }

 protected:
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override {
    constexpr int kNames = 2;  // the columns of layer and head
    const bool is_mean = table_.place_of(right.row()).head < 0;
    if (left.column() < kNames || is_mean == (table_.place_of(left.row()).head < 0)) {
      return QSortFilterProxyModel::lessThan(left, right);
    }
    return is_mean == (sortOrder() == Qt::AscendingOrder);
  }

 private:
  MapTable& table_;
};

/// Throws Error(usage) for a matrix that a layer has only one of.
void check_per_head(const MatrixChoice& matrix) {
  if (!is_of_layer(matrix.of)) return;
  throw Error(ErrorKind::usage, "the analysed matrix belongs to a layer, not to a head")
      .about(short_words(matrix))
      .remedy("choose the equivalent rank as a table or over depth, or analyse another matrix");
}

}  // namespace

AllMapsPanel::AllMapsPanel(Session& session, SpectrumStore& spectra, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session), spectra_(spectra) {
  add_header();
  add_measures();
  pages_ = new QStackedWidget;
  make_table();
  heat_map_ = make_figure("heads-by-layer", View::heat_map);
  depth_ = make_figure("rank-over-depth", View::depth);
  body()->addWidget(pages_, 1);

  connect(&spectra_, &SpectrumStore::spectra_ready, this, [this] {
    refresh();
    depth_->want();
  });
  connect(&session_, &Session::subjects_changed, this, &AllMapsPanel::refresh);
  connect(&session_, &Session::view_changed, this, &AllMapsPanel::choose);
  connect(&session_, &Session::selection_changed, this, &AllMapsPanel::show_selection);
  choose();
}

void AllMapsPanel::add_header() {
  auto* segments = new Segments;
  in_table_ =
      segment_button("all_maps_table", tr("Table"), tr("Every layer and head in a table"), "first");
  as_heat_map_ =
      segment_button("all_maps_heat_map", tr("Map"), tr("Layer by head, as a heat map"), "middle");
  over_depth_ = segment_button("all_maps_depth", tr("Depth"),
                               tr("Over the layers: each head, and the mean"), "last");
  in_table_->setChecked(true);
  for (QToolButton* button : {in_table_, as_heat_map_, over_depth_}) {
    segments->add(button);
    connect(button, &QToolButton::toggled, this, [this](bool on) {
      if (on) choose();
    });
  }
  add_to_header(segments);
}

void AllMapsPanel::add_measures() {
  measure_ = new ElidedComboBox;
  measure_->setObjectName("all_maps_measure");
  measure_->setAccessibleName(tr("Measure of maps"));
  for (const MapMeasure& measure : map_measures()) {
    measure_->addItem(measure.title, measure.name);
    measure_->setItemData(measure_->count() - 1, measure.formula, Qt::ToolTipRole);
  }
  connect(measure_, &QComboBox::currentIndexChanged, this, &AllMapsPanel::choose);
  formula_ = new ElidedLabel(Qt::ElideRight);
  formula_->setObjectName("all_maps_formula");
  formula_->setProperty("role", "muted");
  formula_->set_whole_or_nothing(true);  // the list's tool tip has it, too
  auto* const row = new QHBoxLayout;
  row->setSpacing(10);
  row->addWidget(measure_);
  row->addWidget(formula_, 1);
  body()->addLayout(row);
}

void AllMapsPanel::make_table() {
  table_ = new MapTable(session_, this);
  sorted_ = new HeadsFirst(*table_, this);
  view_ = number_table(*sorted_, "rank_table", tr("Measure of every layer and head"));
  connect(view_->horizontalHeader(), &QHeaderView::sortIndicatorChanged, view_,
          &QTableView::scrollToTop);
  view_->horizontalHeader()->setMinimumSectionSize(24);
  pages_->addWidget(view_);
  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& current) {
            if (!current.isValid()) return;
            const MapTable::Place place = table_->place_of(sorted_->mapToSource(current).row());
            const Selection& now = session_.selection();
            selecting_ = true;
            session_.select_map(now.subject, place.layer >= 0 ? place.layer : now.layer,
                                place.head >= 0 ? place.head : now.head);
            selecting_ = false;
          });
}

FigurePage* AllMapsPanel::make_figure(const char* recipe, View view) {
  auto* const page =
      new FigurePage(tr(kTitle), recipe, session_, [this, view] { return request(view); });
  pages_->addWidget(page);
  return page;
}

AllMapsPanel::View AllMapsPanel::view() const {
  return as_heat_map_->isChecked()  ? View::heat_map
         : over_depth_->isChecked() ? View::depth
                                    : View::table;
}

const MapMeasure& AllMapsPanel::measure() const {
  return map_measures().at(static_cast<std::size_t>(std::max(measure_->currentIndex(), 0)));
}

bool AllMapsPanel::show_page(const std::string& page) {
  if (page != "ranks" && page != "heads" && page != "depth") return false;
  if (page != "heads") measure_->setCurrentIndex(0);
  (page == "ranks" ? in_table_ : page == "heads" ? as_heat_map_ : over_depth_)->setChecked(true);
  return true;
}

void AllMapsPanel::choose() {
  const View shown = view();
  const auto has = [shown](const MapMeasure& one) {
    return shown == View::table || (shown == View::heat_map ? one.has_heat_map() : one.has_depth());
  };
  auto* const items = qobject_cast<QStandardItemModel*>(measure_->model());
  for (int i = 0; i < measure_->count(); ++i) {
    items->item(i)->setEnabled(has(map_measures()[static_cast<std::size_t>(i)]));
  }
  if (!has(measure())) return measure_->setCurrentIndex(0);  // calls this again
  const MapMeasure& chosen = measure();
  const MatrixChoice& matrix = session_.view().matrix;
  QString formula = chosen.formula;
  if (chosen.of_head != nullptr) {
    formula = QString::fromStdString(formula_of(*chosen.of_head, matrix));
  }
  measure_->setToolTip(chosen.title + ": " + formula);
  formula_->set_text(formula);
  note_matrix(chosen.follows_matrix() ? matrix : MatrixChoice{});
  depth_->set_recipe(depth_recipe());
  pages_->setCurrentIndex(static_cast<int>(shown));
  if (shown == View::heat_map) heat_map_->want();
  if (shown == View::depth) depth_->want();
  refresh();
}

std::string AllMapsPanel::depth_recipe() const {
  if (measure().depth == nullptr) return "heads-over-depth";
  // rank-over-depth shows maps and tokens; other matrices only have a rank per layer.
  return session_.view().matrix.is_plain_map() ? "rank-over-depth" : "rank-by-layer";
}

FigureRequest AllMapsPanel::request(View view) const {
  const ViewSettings& settings = session_.view();
  FigureRequest request;
  if (view == View::depth && measure().depth != nullptr) {
    request = with_spectra(session_, spectra_);
    request.settings["measure"] = measure().depth;
    request.settings["identity"] = std::string(name_of(identity_view_names, settings.identity));
    if (!settings.matrix.is_plain_map()) set_matrix(settings.matrix, request.settings);
  } else {
    request = request_of(session_);
    request.settings["measures"] = std::vector<std::string>{measure().name.toStdString()};
    if (is_rank(*measure().of_head)) {
      check_per_head(settings.matrix);
      set_matrix(settings.matrix, request.settings);
    }
  }
  set_threshold(settings.rank_threshold, request.settings);
  return request;
}

bool AllMapsPanel::is_behind() const {
  const auto* const page = qobject_cast<const FigurePanel*>(pages_->currentWidget());
  return page != nullptr && page->is_behind();
}

const Figure* AllMapsPanel::figure() const {
  const auto* const page = qobject_cast<const FigurePanel*>(pages_->currentWidget());
  return page != nullptr ? page->figure() : nullptr;
}

std::optional<AllMapsPanel::ComputedOf> AllMapsPanel::computed_of() const {
  const ViewSettings& settings = session_.view();
  const bool heads = measure().of_spectrum == nullptr;
  if (!heads && settings.matrix.is_plain_map()) return std::nullopt;
  const bool of_matrix = measure().follows_matrix();
  return ComputedOf{
      .matrix = of_matrix ? settings.matrix : MatrixChoice{},
      .heads = heads,
      .threshold = heads && of_matrix ? std::optional(settings.rank_threshold) : std::nullopt};
}

void AllMapsPanel::request_numbers() {
  const std::optional<ComputedOf> wanted = view() == View::table ? computed_of() : std::nullopt;
  if (computed_for_ != wanted) {
    for (const auto& [subject, known] : computed_) session_.jobs().cancel(known.job);
    computed_.clear();
    computed_for_ = wanted;
  }
  std::erase_if(computed_, [this](const auto& known) { return !session_.find(known.first); });
  if (!wanted) return;
  for (const OpenSubject& open : session_.subjects()) {
    if (!open.subject.trace || computed_[open.id].trace == open.subject.trace) continue;
    compute(open.id);
  }
}

void AllMapsPanel::compute(SubjectId subject) {
  Computed& entry = computed_[subject];
  session_.jobs().cancel(entry.job);
  entry = {};
  entry.trace = session_.trace(subject);
  const auto current = [this, subject, trace = entry.trace, of = *computed_for_]() -> Computed* {
    const auto found = computed_.find(subject);
    const bool is = found != computed_.end() && found->second.trace == trace && computed_for_ == of;
    return is ? &found->second : nullptr;
  };
  entry.job = session_.jobs().submit(
      tr("Computing: %1").arg(measure().title),
      [this, subject = session_.find(subject)->subject, of = *computed_for_,
       current](const Progress& progress) -> JobQueue::Delivery {
        MapTable::Known known;
        if (of.heads) {
          check_per_head(of.matrix);
          HeadOptions options;
          if (of.threshold) options.threshold = *of.threshold;
          options.analysed = of.matrix;
          known.heads = std::make_shared<const HeadTable>(head_table(subject, options, progress));
        } else {
          known.spectra = std::make_shared<const SubjectSpectra>(
              subject_spectra_of(subject, of.matrix, progress));
        }
        return [this, known, current] {
          Computed* const found = current();
          if (!found) return;
          found->known = known;
          refresh();
        };
      },
      [this, current](const JobFailure& failure) {
        Computed* const found = current();
        if (!found) return;
        found->stopped = failure.cancelled;
        found->error = QString::fromStdString(failure.what);
        refresh();
      },
      this);
}

MapTable::Known AllMapsPanel::known(SubjectId subject) const {
  if (!computed_of()) return {.spectra = spectra_.latest(subject)};
  const auto found = computed_.find(subject);
  const bool current = found != computed_.end() && computed_for_ == computed_of() &&
                       found->second.trace == session_.trace(subject);
  return current ? found->second.known : MapTable::Known{};
}

bool AllMapsPanel::is_stopped() const {
  return isVisible() &&
         std::ranges::any_of(computed_, [](const auto& known) { return known.second.stopped; });
}

void AllMapsPanel::resume() {
  spectra_.resume();
  for (auto& [subject, known] : computed_) {
    if (known.stopped) compute(subject);
  }
}

/// The reason for an empty table: missing data or an error.
QString AllMapsPanel::why_none(bool& is_error) const {
  QString instead = session_.subjects().empty()
                        ? tr("Open a model to see the rank of each of its maps.")
                        : tr("Choose an input.");
  for (const OpenSubject& open : session_.subjects()) {
    const auto others = computed_.find(open.id);
    const bool of_others = others != computed_.end();
    const QString error =
        of_others ? others->second.error : QString::fromStdString(spectra_.error_of(open.id));
    if (of_others ? others->second.stopped : spectra_.is_stopped(open.id)) {
      is_error = false;
      return tr("Cancelled. <a href='resume'>Resume</a>");
    }
    if (!error.isEmpty()) {
      instead = "⚠ " + error;
      is_error = true;
    } else if (open.subject.trace) {
      instead = tr("Computing: %1").arg(measure().title);
    } else if (open.state == OpenSubject::State::failed && !open.error.empty()) {
      instead = tr("No maps: the model could not read this input.");
    }
  }
  return instead;
}

void AllMapsPanel::refresh() {
  request_numbers();
  {
    const QSignalBlocker quiet(view_->selectionModel());
    table_->refresh(measure(), [this](SubjectId subject) { return known(subject); });
  }
  if (view() != View::table) return show_instead({});
  bool is_error = false;
  const QString instead = table_->rowCount() == 0 ? why_none(is_error) : QString();
  show_instead(instead, is_error);
  fit_columns();
  show_selection();
}

void AllMapsPanel::resizeEvent(QResizeEvent* event) {
  DockPanel::resizeEvent(event);
  fit_columns();
}

void AllMapsPanel::changeEvent(QEvent* event) {
  DockPanel::changeEvent(event);
  if (event->type() != QEvent::FontChange || view_ == nullptr) return;
  measured_.clear();
  fit_columns();
}

int AllMapsPanel::width_of(int column) {
  const QHeaderView& header = *view_->horizontalHeader();
  const QString heading = table_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
  std::set<QString> texts = {heading};
  for (int row = 0; row < table_->rowCount(); ++row) {
    texts.insert(with_zeros(table_->data(table_->index(row, column), Qt::DisplayRole).toString()));
  }
  Measured& known = measured_[column];
  // Equal texts need no new layout, which would take longer than drawing.
  if (texts != known.texts) {
    const QAbstractItemView& cells = *view_;
    known.width =
        std::max(cells.sizeHintForColumn(column), header.fontMetrics().horizontalAdvance(heading)) +
        kAroundColumn;
    known.texts = std::move(texts);
  }
  return known.width;
}

// Makes each column as wide as its text, and divides the remaining width equally. If not all fit,
// each model keeps the column that the window's identity setting shows.
void AllMapsPanel::fit_columns() {
  QHeaderView* const header = view_->horizontalHeader();
  header->setSectionResizeMode(QHeaderView::Fixed);
  const int columns = table_->columnCount();
  std::vector<int> widths;
  int left = width() - kAroundTable;
  for (int column = 0; column < columns; ++column) {
    widths.push_back(width_of(column));
    left -= widths.back();
  }
  const bool fits = left >= 0;
  int shown = columns;
  for (int column = 0; column < columns; ++column) {
    const bool hides = !fits && table_->is_of_other_view(column);
    header->setSectionHidden(column, hides);
    if (!hides) continue;
    --shown;
    left += widths[static_cast<std::size_t>(column)];
  }
  for (int column = 0; column < columns; ++column) {
    if (header->isSectionHidden(column)) continue;
    header->resizeSection(column,
                          widths[static_cast<std::size_t>(column)] + std::max(0, left / shown));
  }
}

void AllMapsPanel::show_selection() {
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
