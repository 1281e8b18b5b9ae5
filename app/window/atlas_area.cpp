#include "app/window/atlas_area.h"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QMenu>
#include <QOpenGLWidget>
#include <QStackedLayout>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "app/canvas/atlas_canvas.h"
#include "app/canvas/graphics.h"
#include "app/look/theme.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "app/window/atlas_cell.h"
#include "app/window/first_minute.h"
#include "app/window/view_menus.h"

namespace attnscope {

namespace {

constexpr int kSpacing = 4;  // pixels between atlases
constexpr int kFrame = 1;    // pixels at each side of an atlas

/// Number of columns of atlases, and the arrangement of maps within each.
struct Arrangement {
  int columns = 1;
  AtlasArrangement maps;
};

/// The arrangement of `count` atlases, all of the largest one's shape, with the largest maps in
/// `room`. `rows_of_layers`: as AtlasLink::keeps_rows.
Arrangement arrangement_for(const AtlasGrid& largest, int count, QSizeF room, int chrome,
                            double text_scale, bool rows_of_layers) {
  // A single row of atlases is preferred slightly, because layers can then be read across.
  constexpr double kNotInARow = 0.97;
  Arrangement best;
  double best_worth = -1;
  for (int columns = count; columns >= 1; --columns) {
    const int rows = (count + columns - 1) / columns;
    const QSizeF canvas((room.width() - (columns - 1) * kSpacing) / columns - 2 * kFrame,
                        (room.height() - (rows - 1) * kSpacing) / rows - chrome);
    const QSizeF free =
        atlas_frame(canvas, text_scale)
            .viewport.adjusted(fitted_margin, fitted_margin, -fitted_margin, -fitted_margin)
            .size();
    AtlasGrid grid = largest;
    if (!rows_of_layers) {
      grid.arrangement =
          arranged_to_fill(largest.layers, largest.columns, free, band_label_room * text_scale);
    }
    const double worth = fitted_side(grid, free) * (rows > 1 ? kNotInARow : 1);
    if (worth > best_worth) {
      best_worth = worth;
      best = {columns, grid.arrangement};
    }
  }
  return best;
}

}  // namespace

AtlasArea::AtlasArea(Session& session, SpectrumStore& spectra, AtlasLink& link, QMenu& samples,
                     QWidget* parent)
    : QWidget(parent),
      session_(session),
      spectra_(spectra),
      link_(link),
      no_graphics_(why_no_graphics()) {
  if (no_graphics_.isEmpty() && !graphics_are_software()) {
    // The first OpenGL widget added to a visible window makes Qt recreate the window, which
    // flickers and loses the keyboard focus. This hidden one exists from the start.
    auto* first = new QOpenGLWidget(this);
    first->resize(1, 1);
    first->lower();
  }
  stack_ = new QStackedLayout(this);
  stack_->addWidget(make_empty_area(samples));
  auto* all = new QWidget;
  auto* column = new QVBoxLayout(all);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(kSpacing);
  atlases_ = new QWidget;
  atlases_->installEventFilter(this);
  grid_ = new QGridLayout(atlases_);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setSpacing(kSpacing);
  failed_column_ = new QVBoxLayout;
  failed_column_->setSpacing(kSpacing);
  column->addWidget(atlases_, 1);
  column->addLayout(failed_column_);
  stack_->addWidget(all);
  connect(&session_, &Session::subjects_changed, this, &AtlasArea::refresh);
  connect(&session_, &Session::input_changed, this, &AtlasArea::refresh_heads);
  connect(&session_, &Session::input_changed, this, &AtlasArea::update_missing_text);
  // The maps change when heads are fused or another subject is shown alone.
  connect(&session_, &Session::view_changed, this, &AtlasArea::refresh);
  connect(&session_, &Session::selection_changed, this, [this] {
    // The cursor and the selected map, which change often, are not in the heads.
    const SubjectId selected = session_.selection().subject;
    if (selected == std::exchange(selected_, selected)) return;
    alone_ ? refresh() : refresh_heads();
  });
  connect(&session_, &Session::trace_ready, this, &AtlasArea::refresh);
  connect(&link_, &AtlasLink::rows_kept_changed, this, &AtlasArea::arrange);
  connect(&spectra_, &SpectrumStore::spectra_ready, this, &AtlasArea::refresh_heads);
  refresh();
}

QWidget* AtlasArea::make_empty_area(QMenu& samples) {
  auto* area = new QWidget;
  auto* box = new QFrame;
  box->setObjectName("drop_area");
  constexpr int kWidest = 560;  // pixels, for lines of text that are easily read
  box->setMaximumWidth(kWidest);
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(28, 28, 28, 28);
  column->setSpacing(12);
  auto* title = new QLabel(tr("See what attention attends to"));
  QFont large = title->font();
  large.setPointSizeF(large.pointSizeF() + 6);
  large.setWeight(QFont::DemiBold);
  title->setFont(large);
  title->setWordWrap(true);
  title->setAlignment(Qt::AlignCenter);
  auto* doors = new Doors(samples, true);
  connect(doors, &Doors::command_wanted, this, &AtlasArea::command_wanted);
  missing_ = new QLabel;
  missing_->setObjectName("empty_says");
  missing_->setWordWrap(true);
  missing_->setAlignment(Qt::AlignCenter);
  missing_->setProperty("role", "muted");
  column->addWidget(title);
  column->addSpacing(8);
  column->addWidget(doors);
  column->addSpacing(8);
  column->addWidget(missing_);
  update_missing_text();
  auto* middle = new QGridLayout(area);
  middle->addWidget(box, 1, 1);
  middle->setRowStretch(0, 1);
  middle->setRowStretch(2, 1);
  middle->setColumnStretch(0, 1);
  middle->setColumnStretch(1, 8);
  middle->setColumnStretch(2, 1);
  return area;
}

void AtlasArea::update_missing_text() {
  missing_->setText(session_.input_locator().empty()
                        ? tr("Or drop files and folders anywhere on the window.")
                        : tr("The input is chosen. Open a model that reads it."));
}

bool AtlasArea::settled() const {
  return std::ranges::all_of(cells_, [](const AtlasCell* cell) { return cell->settled(); });
}

AtlasCanvas* AtlasArea::canvas(SubjectId subject) {
  const auto found = std::ranges::find(cells_, subject, &AtlasCell::subject);
  return found == cells_.end() ? nullptr : (*found)->canvas();
}

void AtlasArea::make_cells() {
  std::vector<AtlasCell*> next;
  for (const OpenSubject& open : session_.subjects()) {
    const auto known = std::ranges::find(cells_, open.id, &AtlasCell::subject);
    if (known != cells_.end()) {
      next.push_back(*known);
      continue;
    }
    next.push_back(new AtlasCell(session_, spectra_, link_, open.id, no_graphics_, atlases_));
    connect(next.back(), &AtlasCell::enlarge_wanted, this, &AtlasArea::enlarge_wanted);
    auto* const ranks = next.back()->findChild<QLabel*>("mean_ranks");
    if (ranks != nullptr && numbers_ != nullptr) open_on_click(*ranks, *numbers_);
  }
  for (AtlasCell* cell : cells_) {
    if (std::ranges::find(next, cell) != next.end()) continue;
    cell->hide();
    cell->deleteLater();
  }
  cells_ = next;
}

std::vector<AtlasCell*> AtlasArea::shown_cells() const {
  std::vector<AtlasCell*> shown;
  for (AtlasCell* cell : cells_) {
    const bool away = alone_ && cell->subject() != session_.selection().subject;
    if (!away && !cell->failed()) shown.push_back(cell);
  }
  return shown;
}

void AtlasArea::place(const std::vector<AtlasCell*>& cells, int columns) {
  if (cells == placed_ && cells_ == placed_among_ && columns == columns_) return;
  placed_ = cells;
  placed_among_ = cells_;
  columns_ = columns;
  for (int i = 0; i < grid_->columnCount(); ++i) grid_->setColumnStretch(i, 0);
  for (int i = 0; i < grid_->rowCount(); ++i) grid_->setRowStretch(i, 0);
  for (AtlasCell* cell : cells_) {
    grid_->removeWidget(cell);
    failed_column_->removeWidget(cell);
    const auto at = static_cast<int>(std::ranges::find(cells, cell) - cells.begin());
    const bool in_grid = at < static_cast<int>(cells.size());
    if (in_grid) {
      grid_->addWidget(cell, at / columns, at % columns);
      grid_->setColumnStretch(at % columns, 1);
      grid_->setRowStretch(at / columns, 1);
    } else if (cell->failed() && !alone_) {
      failed_column_->addWidget(cell);
    }
    cell->setVisible(in_grid || (cell->failed() && !alone_));
  }
  // Layouts that wait around the area go first. Otherwise a label that becomes visible during the
  // grid's own layout activates them, and a cell that grows then keeps its former content size.
  if (QLayout* const around = window()->layout()) around->activate();
  grid_->activate();  // required during a resize
}

void AtlasArea::arrange() {
  const std::vector<AtlasCell*> shown = shown_cells();
  AtlasGrid largest;
  for (const AtlasCell* cell : shown) {
    const std::shared_ptr<const ShownMaps> maps = link_.maps(cell->subject());
    if (!maps) continue;
    largest.layers = std::max(largest.layers, maps->grid().layers);
    largest.columns = std::max(largest.columns, maps->grid().columns);
  }
  const int count = static_cast<int>(shown.size());
  if (largest.empty() || count == 0) {
    place(shown, std::max(1, count));
    return;
  }
  const Arrangement best =
      arrangement_for(largest, count, QSizeF(atlases_->size()), shown.front()->chrome_height(),
                      text_scale_of(font()), link_.keeps_rows());
  place(shown, best.columns);
  link_.arrange(best.maps);
}

void AtlasArea::set_alone(bool alone) {
  if (alone == alone_) return;
  alone_ = alone;
  refresh();
}

bool AtlasArea::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) arrange();
  return QWidget::eventFilter(watched, event);
}

void AtlasArea::refresh() {
  make_cells();
  stack_->setCurrentIndex(cells_.empty() ? 0 : 1);
  refresh_heads();
  arrange();
}

void AtlasArea::refresh_heads() {
  for (AtlasCell* cell : cells_) cell->refresh();
}

}  // namespace attnscope
