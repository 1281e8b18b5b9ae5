#include "app/canvas/atlas_canvas.h"

#include <QEvent>
#include <QLabel>
#include <QOpenGLContext>
#include <QOpenGLFunctions_3_3_Core>
#include <QOpenGLPaintDevice>
#include <QOpenGLVersionFunctionsFactory>
#include <QPainter>
#include <QStyle>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/canvas/cell_numbers.h"
#include "app/canvas/lens.h"
#include "app/canvas/map_painter.h"
#include "app/canvas/map_textures.h"
#include "app/canvas/map_title.h"
#include "app/session/session.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr int movement_ms = 180;

/// The scene without what only paint_chrome() and paint_cursor() draw.
AtlasScene maps_only(AtlasScene scene) {
  scene.number.clear();
  scene.subject_colour = scene.reference_colour = {};
  scene.reference_number.clear();
  scene.current = scene.focused = scene.cursor_here = false;
  scene.selected.reset();
  scene.block.reset();
  scene.crosshair.reset();
  scene.numbers.clear();
  scene.least_number = scene.greatest_number = 0;
  return scene;
}

}  // namespace

AtlasCanvas::AtlasCanvas(Session& session, AtlasLink& link, SubjectId subject, QWidget* parent)
    : GraphicsWidget(parent), session_(session), link_(link), subject_(subject) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setObjectName("atlas");
  threads_.setMaxThreadCount(1);
  title_ = new MapTitle(this);
  title_->hide();
  connect(title_, &MapTitle::step_wanted, this, &AtlasCanvas::step_map);
  connect(title_, &MapTitle::back_wanted, &link_, &AtlasLink::fit);
  connect(title_, &MapTitle::entered, this, &AtlasCanvas::stop_hovering);

  movement_.setStartValue(0.0);
  movement_.setEndValue(1.0);
  movement_.setEasingCurve(QEasingCurve::OutCubic);
  connect(&movement_, &QVariantAnimation::valueChanged, this, [this](const QVariant& at) {
    const double t = at.toDouble();
    const AtlasZoom to = wanted_zoom();
    // The scale moves geometrically, as in manual zooming; the centre then moves along a straight
    // line.
    zoom_.scale = zoom_from_.scale * std::pow(to.scale / zoom_from_.scale, t);
    const double way = to.scale == zoom_from_.scale ? t
                                                    : (1 / zoom_.scale - 1 / zoom_from_.scale) /
                                                          (1 / to.scale - 1 / zoom_from_.scale);
    zoom_.centre = zoom_from_.centre + (to.centre - zoom_from_.centre) * way;
    refresh();
  });

  connect(&link_, &AtlasLink::zoom_changed, this, &AtlasCanvas::take_zoom);
  connect(&link_, &AtlasLink::lens_changed, this, &AtlasCanvas::lens_opened_or_closed);
  connect(&session_, &Session::selection_changed, this, &AtlasCanvas::follow_selection);
  connect(&link_, &AtlasLink::values_changed, this, &AtlasCanvas::refresh);
  connect(&link_, &AtlasLink::drawn_changed, this, [this] {
    all_loaded_ = false;
    refresh();
  });
  const auto values_changed = [this] {
    all_loaded_ = false;
    place_the_lens();
    take_zoom(false);
    refresh();
  };
  connect(&session_, &Session::view_changed, this, values_changed);
  connect(&session_, &Session::trace_ready, this, values_changed);
  connect(&session_, &Session::subjects_changed, this, values_changed);
  update_accessible_name();
}

AtlasCanvas::~AtlasCanvas() { end_graphics(); }

QSize AtlasCanvas::sizeHint() const { return {480, 640}; }
QSize AtlasCanvas::minimumSizeHint() const { return {100, 100}; }

std::int64_t AtlasCanvas::place() const { return session_.place_of(subject_); }

std::shared_ptr<const ShownMaps> AtlasCanvas::maps() const {
  auto maps = link_.maps(subject_);
  return maps && !maps->grid().empty() ? maps : nullptr;
}

AtlasGrid AtlasCanvas::grid() const {
  const auto shown = maps();
  AtlasGrid grid = shown ? shown->grid() : AtlasGrid{};
  grid.arrangement = link_.arrangement();
  if (shown) grid.order = link_.order(subject_);
  return grid;
}

AtlasFrame AtlasCanvas::frame() const { return atlas_frame(QSizeF(size()), text_scale_of(font())); }

// --- graphics ---------------------------------------------------------------------------------

void AtlasCanvas::prepare_graphics() {
  gl_ = QOpenGLVersionFunctionsFactory::get<QOpenGLFunctions_3_3_Core>(context());
  if (gl_ == nullptr || !gl_->initializeOpenGLFunctions()) {
    gl_ = nullptr;
    lack_graphics();
    return;
  }
  try {
    for (auto& textures : textures_) {
      // Called from another thread, so the picture is requested through the event queue.
      textures = std::make_unique<MapTextures>(
          *gl_, [this] { QMetaObject::invokeMethod(this, &AtlasCanvas::tiles_arrived); });
    }
    painter_ = std::make_unique<MapPainter>(*gl_);
    numbers_ = std::make_unique<CellNumbers>(*gl_);
  } catch (const Error& error) {
    free_graphics();
    return show_no_graphics(QString::fromUtf8(error.what()));
  }
  delete std::exchange(no_graphics_, nullptr);
}

void AtlasCanvas::free_graphics() {
  lens_.reset();
  numbers_.reset();
  painter_.reset();
  for (auto& textures : textures_) textures.reset();
  drawn_maps_ = nullptr;
  whole_run_ = {};
  over_drawn_ = false;
}

void AtlasCanvas::tiles_arrived() { update(); }

void AtlasCanvas::showEvent(QShowEvent* event) {
  GraphicsWidget::showEvent(event);
  place_the_lens();
  take_zoom(false);
}

void AtlasCanvas::lack_graphics() {
  show_no_graphics(
      tr("The maps cannot be drawn: this window has no OpenGL 3.3.\nInstall the graphics driver, "
         "or "
         "Mesa (libgl1-mesa-dri), and start again.\nTables, figures and exports work without it."));
}

void AtlasCanvas::show_no_graphics(const QString& why) {
  if (no_graphics_ != nullptr) return no_graphics_->setText(why);
  no_graphics_ = new QLabel(why, this);
  no_graphics_->setObjectName("no_graphics");
  no_graphics_->setAlignment(Qt::AlignCenter);
  no_graphics_->setWordWrap(true);
  no_graphics_->setMargin(24);
  no_graphics_->setGeometry(rect());
  no_graphics_->show();
}

void AtlasCanvas::resizeEvent(QResizeEvent* event) {
  GraphicsWidget::resizeEvent(event);
  if (no_graphics_ != nullptr) no_graphics_->setGeometry(rect());
  place_the_lens();
  take_zoom(false);
}

void AtlasCanvas::changeEvent(QEvent* event) {
  GraphicsWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) {
    place_the_lens();
    take_zoom(false);
  }
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    settled_.reset();
    update();
  }
}

AtlasScene AtlasCanvas::scene() const {
  AtlasScene scene;
  scene.colours = &colours_of(*this);
  scene.frame = frame();
  const OpenSubject* const found = session_.find(subject_);
  if (!found) {
    scene.message = tr("This model is closed.");
    return scene;
  }
  const OpenSubject& open = *found;
  scene.number = QString::number(place() + 1);
  scene.subject_colour = attnscope::subject_colour(place(), scene.colours->theme);
  scene.current = session_.selection().subject == subject_ && session_.subjects().size() > 1;
  scene.focused = hasFocus();
  scene.maps = maps();
  if (!scene.maps) {
    switch (open.state) {
      case OpenSubject::State::waiting:
        scene.message = tr("Waiting for an input");
        break;
      case OpenSubject::State::loading:
        scene.message = tr("Loading …");
        break;
      case OpenSubject::State::running:
        scene.message = tr("Running …");
        break;
      case OpenSubject::State::ready:
        scene.message = tr("This trace holds no maps.");
        break;
      case OpenSubject::State::failed:
        scene.message = QString::fromStdString(open.error);
        scene.message_is_error = true;
        break;
    }
    return scene;
  }
  scene.zoom = zoom_;
  scene.arrangement = link_.arrangement();
  scene.order = link_.order(subject_);
  scene.stage = stage();
  if (scene.stage) {
    scene.axes = axes_of(scene.stage->layer);
    scene.profile = profile_;
  }
  compare(scene);
  scene.scales.shared = link_.scale(subject_, scene.difference);
  if (!scene.difference && session_.view().range_scope == RangeScope::map) {
    const AtlasGrid& own = scene.maps->grid();
    scene.scales.columns = own.columns;
    for (std::int64_t layer = 0; layer < own.layers; ++layer) {
      for (std::int64_t column = 0; column < own.columns; ++column) {
        const auto range = link_.range_of_map(subject_, layer, column);
        scene.scales.own.push_back(range ? colour_scale(*range, session_.view())
                                         : scene.scales.shared);
      }
    }
  }
  scene.selected = selected_cell(*scene.maps);
  const bool several = session_.selection().to && session_.view().head_fusion == HeadFusion::none;
  if (several) scene.block = block_of(session_.selection());
  scene.crosshair = link_.linked_cell(subject_);
  if (scene.crosshair) {
    const MapCell& cell = *scene.crosshair;
    // A map without a counterpart in the reference has no differences.
    const MapExtent extent = scene.maps->extent(cell.layer, cell.column);
    if (cell.query >= extent.queries || cell.key >= extent.keys) scene.crosshair.reset();
  }
  // Numbers belong to weights only: differences and overlaid maps have other ranks.
  if (!scene.difference && scene.over_opacity == 0) {
    const AtlasGrid grid = scene.grid();
    const AtlasLink::NumberRange range = link_.number_range(subject_);
    scene.least_number = range.least;
    scene.greatest_number = range.greatest;
    for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
      for (std::int64_t column = 0; column < grid.columns; ++column) {
        scene.numbers.push_back(link_.number_on(subject_, layer, column));
      }
    }
  }
  const std::optional<HoveredCell>& hover = session_.selection().hover;
  scene.cursor_here = hover && hover->subject == subject_;
  return scene;
}

void AtlasCanvas::compare(AtlasScene& scene) const {
  const std::int64_t reference = session_.place_of(session_.reference());
  if (reference < 0) return;
  scene.reference_number = QString::number(reference + 1);
  scene.reference_colour = attnscope::subject_colour(reference, scene.colours->theme);
  if (subject_ == session_.reference()) return;
  const AtlasLink::Drawn drawn = link_.drawn(subject_);
  scene.maps = drawn.maps;
  scene.difference = drawn.difference;
  scene.over = drawn.over;
  scene.over_opacity = drawn.over_opacity;
  if (drawn.wipe) {
    const QRectF viewport = scene.frame.viewport;
    scene.wipe = viewport.left() + *drawn.wipe * viewport.width();
  }
}

std::optional<double> AtlasCanvas::wipe_divider() const {
  const AtlasLink::Drawn drawn = link_.drawn(subject_);
  if (!drawn.wipe) return std::nullopt;
  const QRectF viewport = frame().viewport;
  return viewport.left() + *drawn.wipe * viewport.width();
}

void AtlasCanvas::draw_graphics() {
  if (!painter_) return;
  AtlasScene scene = this->scene();
  const QColor ground = scene.colours->sunken;
  gl_->glDisable(GL_SCISSOR_TEST);
  gl_->glClearColor(static_cast<float>(ground.redF()), static_cast<float>(ground.greenF()),
                    static_cast<float>(ground.blueF()), 1);
  gl_->glClear(GL_COLOR_BUFFER_BIT);
  all_loaded_ = true;
  settled_.reset();
  if (scene.maps) draw_maps(scene);
  if (all_loaded_ && scene.maps && !scene.stage && !scene.over && !lens_up()) settled_ = scene;
  if (lens_up()) {
    // The lens covers the labels.
    QOpenGLPaintDevice device(QSizeF(QSizeF(size()) * devicePixelRatioF()).toSize());
    device.setDevicePixelRatio(devicePixelRatioF());
    QPainter painter(&device);
    paint_chrome(painter, scene, font());
    painter.end();
    draw_lens(scene);
  } else {
    maps_drawn_of_ = std::move(scene);
  }
  // Tiles that are still being computed request a new picture when they arrive.
  const bool more = std::any_of(textures_.begin(), textures_.end(),
                                [](const auto& textures) { return textures->has_more(); });
  if (more || (lens_ && lens_up() && lens_->restless())) update();
}

/// The results of other models ask for a new picture, too. Mostly it equals the last one, but for
/// the numbers on the maps, which are compared over all models.
GraphicsWidget::Stays AtlasCanvas::what_stays() {
  const OpenSubject* const open = session_.find(subject_);
  const bool may_stay = settled_ && open != nullptr && !open->layers_so_far && !lens_up();
  if (!may_stay) return Stays::nothing;
  AtlasScene now = scene();
  if (maps_only(now) != maps_only(*settled_)) return Stays::nothing;
  all_loaded_ = true;
  now.crosshair = settled_->crosshair;  // draw_over draws the crosshair
  now.cursor_here = settled_->cursor_here;
  if (now == *settled_) return Stays::picture;
  settled_ = now;
  maps_drawn_of_ = std::move(now);
  return Stays::graphics;
}

void AtlasCanvas::draw_on_top(QPainter& painter) {
  if (maps_drawn_of_) paint_chrome(painter, *maps_drawn_of_, font());
  maps_drawn_of_.reset();
}

void AtlasCanvas::draw_over(QPainter& painter) {
  if (painter_ && session_.selection().hover) paint_cursor(painter, scene(), font());
}

// --- the lens -----------------------------------------------------------------------------------

void AtlasCanvas::set_lens_shown(std::optional<bool> shown) {
  lens_wanted_ = shown;
  place_the_lens();
  update();
}

bool AtlasCanvas::lens_shown() const { return lens_wanted_.value_or(place() == 0); }

void AtlasCanvas::lens_opened_or_closed() {
  if (!link_.lens_open()) focus_lens(std::nullopt);
  place_the_lens();
  update();
}

bool AtlasCanvas::lens_up() const { return lens_shown() && link_.lens_open(); }

QRectF AtlasCanvas::lens_control(const std::string& name) const {
  return lens_ && lens_up() ? lens_->control(name) : QRectF();
}

void AtlasCanvas::place_the_lens() {
  if (!lens_shown()) return;
  const AtlasFrame frame = this->frame();
  if (!link_.lens_open()) {
    link_.reserve({});
    return;
  }
  // The strip may also cover the labels' width.
  const QRectF room(4, frame.viewport.top(), width() - 8.0, frame.viewport.height());
  lens_place_ =
      place_lens(grid(), frame.viewport, room, Lens::tall_size(), Lens::wide_size(room.width()));
  link_.reserve({0, 0, frame.viewport.right() - lens_place_.free.right(),
                 frame.viewport.bottom() - lens_place_.free.bottom()});
}

void AtlasCanvas::draw_lens(const AtlasScene& scene) {
  if (!lens_) lens_ = std::make_unique<Lens>();
  Lens::Input input;
  input.widget = size();
  input.pixel_ratio = devicePixelRatioF();
  input.place = lens_place_.lens;
  input.side = lens_place_.side;
  input.colours = scene.colours;
  input.font = font();
  input.view = session_.view();
  input.range = link_.range(session_.selection().subject);
  input.full = link_.full_range();
  constexpr std::size_t kParts = 48;
  input.histogram = link_.histogram(kParts);
  input.range_choices = [this] { return link_.range_choices(); };
  if (lens_field_) input.focused = control_name(*lens_field_);
  const ViewSettings view = lens_->draw(input);
  const bool open = !lens_->close_wanted();
  if (view == session_.view() && open) return;
  // Queued, not called from within painting: the session's views may want to paint themselves.
  QMetaObject::invokeMethod(
      this,
      [this, view, before = input.view, open] {
        link_.set_lens_open(open);
        if (!(view == before)) session_.set_view(view);
      },
      Qt::QueuedConnection);
}

// --- the zoom -----------------------------------------------------------------------------------

AtlasZoom AtlasCanvas::wanted_zoom() const {
  const AtlasGrid grid = this->grid();
  const QRectF viewport = frame().viewport;
  switch (link_.view()) {
    case AtlasLink::View::free:
      return link_.free_zoom();
    case AtlasLink::View::map: {
      if (grid.empty()) return zoom_;
      const std::int64_t layer = std::min(link_.map_layer(), grid.layers - 1);
      const std::int64_t column = std::min(link_.map_column(), grid.columns - 1);
      return fit_square(grid.map_square(layer, column), viewport, empty_stage(layer, column).room);
    }
    case AtlasLink::View::fit:
      break;
  }
  return grid.empty() ? zoom_ : fitted_zoom();
}

/// The zoom that shows all maps.
AtlasZoom AtlasCanvas::fitted_zoom() const {
  const QRectF viewport = frame().viewport;
  return fit_grid(grid(), viewport, viewport.marginsRemoved(link_.reserved() + fitted_margin));
}

void AtlasCanvas::take_zoom(bool smoothly) {
  const int duration =
      style()->styleHint(QStyle::SH_Widget_Animation_Duration, nullptr, this) > 0 ? movement_ms : 0;
  if (smoothly && isVisible() && duration > 0) {
    zoom_from_ = zoom_;
    movement_.stop();
    movement_.setDuration(duration);
    movement_.start();
    return;
  }
  if (!smoothly && movement_.state() == QAbstractAnimation::Running &&
      link_.view() != AtlasLink::View::free) {
    return;  // the running movement reaches the new target
  }
  movement_.stop();
  zoom_ = wanted_zoom();
  refresh();
}

// --- one map by itself ---------------------------------------------------------------------------

std::shared_ptr<const TokenAxes> AtlasCanvas::axes_of(std::int64_t layer) const {
  const std::shared_ptr<const ShownMaps> shown = maps();
  // The axes depend on the trace and the hidden tokens, not on other settings of the lens.
  const bool known =
      axes_ && axes_->layer == layer && axes_->font == font() &&
      &axes_->maps->trace() == &shown->trace() &&
      axes_->maps->settings().hide_prefix_tokens == shown->settings().hide_prefix_tokens;
  if (!known) axes_ = std::make_shared<const TokenAxes>(token_axes(shown, layer, font()));
  return axes_;
}

/// The stage of a map, without the map.
MapStage AtlasCanvas::empty_stage(std::int64_t layer, std::int64_t column) const {
  const QRectF viewport = frame().viewport;
  const QMarginsF reserved = link_.reserved();
  const QRectF free(0, 0, viewport.right() - reserved.right(),
                    viewport.bottom() - reserved.bottom());
  MapStage stage =
      stage_in(free, title_->sizeHint().height(), *axes_of(layer), text_scale_of(font()));
  stage.layer = layer;
  stage.column = column;
  return stage;
}

std::optional<MapStage> AtlasCanvas::stage() const {
  const auto shown = maps();
  if (!shown || link_.view() == AtlasLink::View::fit) return std::nullopt;
  const AtlasGrid grid = this->grid();
  const QRectF viewport = frame().viewport;
  std::int64_t layer = std::min(link_.map_layer(), grid.layers - 1);
  std::int64_t column = std::min(link_.map_column(), grid.columns - 1);
  const bool alone = link_.view() == AtlasLink::View::map;
  if (!alone) {
    const double side = std::min(viewport.width(), viewport.height());
    const auto place = map_at(grid, zoom_.to_atlas(viewport, viewport.center()));
    if (!place || zoom_.scale < side / 3) return std::nullopt;
    layer = place->layer;
    column = place->column;
  }
  MapStage stage = empty_stage(layer, column);
  const double enlarged = std::min(stage.room.width(), stage.room.height());
  if (stage.room.isEmpty() || (!alone && zoom_.scale < 0.95 * enlarged)) return std::nullopt;
  take_map(stage, map_rect(layer, column), alone);
  return stage;
}

void AtlasCanvas::follow_selection() {
  update_accessible_name();
  Selection selected = session_.selection();
  selected.hover.reset();
  const bool only_cursor = selected == selected_;
  selected_ = selected;
  // The axes and profiles of a stage follow the cursor.
  only_cursor && !stage() ? update_over() : refresh();
}

void AtlasCanvas::refresh() {
  place_stage();
  update();
}

void AtlasCanvas::place_stage() {
  const std::optional<MapStage> stage = this->stage();
  want_profile(stage);
  title_->setVisible(stage.has_value());
  if (!stage) {
    if (link_.view() == AtlasLink::View::fit) axes_ = nullptr;
    return;
  }
  title_->setGeometry(stage->title.toRect());
  const MapIndex map{stage->layer, stage->column};
  title_->set_map(link_.title_of(subject_, map.layer, map.head),
                  tr("Equivalent rank (%1), and mean entropy of the rows")
                      .arg(QString::fromStdString(to_string(session_.view().rank_threshold))),
                  link_.map_beside(subject_, map, -1).has_value(),
                  link_.map_beside(subject_, map, 1).has_value());
}

/// Asks for the profile of the cell under the cursor, or of the selected row.
void AtlasCanvas::want_profile(const std::optional<MapStage>& stage) {
  profile_of_ = stage ? link_.drawn(subject_).maps : nullptr;
  if (!profile_of_) {
    profile_ = nullptr;
    return;
  }
  const auto is_here = [&](const MapCell& cell) {
    return cell.layer == stage->layer && cell.column == stage->column;
  };
  profile_at_ = {stage->layer, stage->column, -1, -1};
  const auto cursor = link_.linked_cell(subject_), selected = selected_cell(*profile_of_);
  if (cursor && is_here(*cursor)) {
    profile_at_ = *cursor;
  } else if (selected && is_here(*selected)) {
    profile_at_.query = selected->query;
  }
  read_profile();
}

void AtlasCanvas::read_profile() {
  const bool known = profile_ && profile_->maps == profile_of_ && profile_->asked == profile_at_;
  if (known || !profile_of_ || profile_in_work_) return;
  profile_in_work_ = true;
  threads_.start([this, maps = profile_of_, cell = profile_at_] {
    auto found = std::make_shared<const MapProfile>(map_profile(maps, cell));
    QMetaObject::invokeMethod(
        this,
        [this, found] {
          profile_in_work_ = false;
          if (profile_of_) profile_ = found;
          read_profile();
          update();
        },
        Qt::QueuedConnection);
  });
}

void AtlasCanvas::step_map(int step) {
  leave_for([this, step] { link_.step_map(step); });
}

/// Selects another map by `select`, from the stage's map on. A zoomed map is left for the same part
/// of the other one.
void AtlasCanvas::leave_for(const std::function<void()>& select) {
  const auto at = stage();
  const bool zoomed = at && link_.view() == AtlasLink::View::free;
  const Selection& selection = session_.selection();
  const bool each_head = session_.view().head_fusion == HeadFusion::none;
  if (zoomed) session_.select_map(subject_, at->layer, each_head ? at->column : selection.head);
  select();
  if (!zoomed) return;
  const AtlasGrid grid = this->grid();
  const QPointF way = grid.map_square(link_.map_layer(), link_.map_column()).topLeft() -
                      grid.map_square(at->layer, at->column).topLeft();
  set_zoom_by_hand({zoom_.scale, zoom_.centre + way});
}

void AtlasCanvas::set_zoom_by_hand(const AtlasZoom& zoom) {
  link_.set_zoom(zoom.kept_in_reach(frame().viewport, grid()));
}

void AtlasCanvas::zoom_at(QPointF position, double factor) {
  const auto shown = maps();
  if (!shown) return;
  // Nothing is smaller than all maps together.
  const double fitted = fitted_zoom().scale;
  if (factor < 1 && zoom_.scale * factor <= fitted) return link_.fit();
  set_zoom_by_hand(zoom_.zoomed(frame().viewport, position, factor, fitted,
                                largest_scale(fitted, shown->largest_extent())));
}

bool AtlasCanvas::settled() const {
  if (no_graphics_ != nullptr) return true;
  return all_loaded_ && link_.settled() && !profile_in_work_ &&
         movement_.state() != QAbstractAnimation::Running &&
         !(lens_ && lens_up() && lens_->restless());
}

std::optional<MapCell> AtlasCanvas::cell_at(QPointF position) const {
  const auto shown = maps();
  const QRectF viewport = frame().viewport;
  const auto stage = this->stage();
  const QRectF sight = stage ? stage->sight : viewport;
  if (!shown || !sight.contains(position)) return std::nullopt;
  const auto place = map_at(grid(), zoom_.to_atlas(viewport, position));
  if (!place) return std::nullopt;
  const MapExtent extent = shown->extent(place->layer, place->column);
  if (extent.queries <= 0 || extent.keys <= 0) return std::nullopt;
  return place->cell(extent);
}

QRectF AtlasCanvas::map_rect(std::int64_t layer, std::int64_t column) const {
  return zoom_.to_screen(frame().viewport, grid().map_square(layer, column));
}

AtlasCanvas::Selected AtlasCanvas::selected_rects() const {
  const auto shown = maps();
  const std::optional<MapCell> cell = shown ? selected_cell(*shown) : std::nullopt;
  if (!cell) return {};
  const QRectF map = map_rect(cell->layer, cell->column), viewport = frame().viewport;
  Selected found{map.intersected(viewport), {}};
  const std::int64_t rows = shown->extent(cell->layer, cell->column).queries;
  if (cell->query < 0 || rows == 0) return found;
  const double tall = map.height() / static_cast<double>(rows);
  const double top = map.top() + tall * static_cast<double>(cell->query);
  found.row = QRectF(map.left(), top, map.width(), tall).intersected(viewport);
  return found;
}

}  // namespace attnscope
