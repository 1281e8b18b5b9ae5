#include "app/canvas/atlas_canvas.h"

#include <QLabel>
#include <QOpenGLContext>
#include <QOpenGLFunctions_3_3_Core>
#include <QOpenGLPaintDevice>
#include <QOpenGLVersionFunctionsFactory>
#include <QPainter>
#include <QStyle>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/figure/colour_map.h"
#include "app/canvas/cell_numbers.h"
#include "app/canvas/lens.h"
#include "app/canvas/map_painter.h"
#include "app/canvas/map_textures.h"
#include "app/session/session.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr double load_budget_ms = 40;
constexpr std::int64_t texture_bytes = std::int64_t{256} << 20;
constexpr int movement_ms = 180;

QRectF device(const QRectF& logical, double ratio) {
  return {logical.topLeft() * ratio, logical.size() * ratio};
}

}  // namespace

AtlasCanvas::AtlasCanvas(Session& session, std::int64_t subject, QWidget* parent)
    : QOpenGLWidget(parent), session_(session), link_(AtlasLink::of(session)) {
  if (subject >= 0 && subject < std::ssize(session.subjects())) {
    subject_id_ = session.subjects()[static_cast<std::size_t>(subject)].id;
  }
  QSurfaceFormat format;
  format.setVersion(3, 3);
  format.setProfile(QSurfaceFormat::CoreProfile);
  format.setAlphaBufferSize(0);
  setFormat(format);
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setObjectName("atlas");

  movement_.setStartValue(0.0);
  movement_.setEndValue(1.0);
  movement_.setEasingCurve(QEasingCurve::OutCubic);
  connect(&movement_, &QVariantAnimation::valueChanged, this, [this](const QVariant& at) {
    const double t = at.toDouble();
    const AtlasZoom to = wanted_zoom();
    // The scale moves by factors, as one zooms; the centre then stays on a straight line.
    zoom_.scale = zoom_from_.scale * std::pow(to.scale / zoom_from_.scale, t);
    const double way = to.scale == zoom_from_.scale ? t
                                                    : (1 / zoom_.scale - 1 / zoom_from_.scale) /
                                                          (1 / to.scale - 1 / zoom_from_.scale);
    zoom_.centre = zoom_from_.centre + (to.centre - zoom_from_.centre) * way;
    update();
  });

  connect(&link_, &AtlasLink::zoom_changed, this, &AtlasCanvas::take_zoom);
  connect(&link_, &AtlasLink::hover_changed, this, qOverload<>(&QWidget::update));
  connect(&session_, &Session::selection_changed, this, [this] {
    update_accessible_name();
    update();
  });
  const auto values_changed = [this] {
    place_the_lens();
    take_zoom(false);
    update();
  };
  connect(&session_, &Session::view_changed, this, values_changed);
  connect(&session_, &Session::trace_ready, this, values_changed);
  connect(&session_, &Session::subjects_changed, this, values_changed);
  update_accessible_name();
}

AtlasCanvas::~AtlasCanvas() { free_graphics(); }

QSize AtlasCanvas::sizeHint() const { return {480, 640}; }
QSize AtlasCanvas::minimumSizeHint() const { return {240, 240}; }

std::int64_t AtlasCanvas::subject() const { return session_.index_of(subject_id_); }

std::shared_ptr<const ShownMaps> AtlasCanvas::maps() const {
  auto maps = link_.maps(subject_id_);
  return maps && !maps->grid().empty() ? maps : nullptr;
}

AtlasGrid AtlasCanvas::grid() const {
  const auto shown = maps();
  return shown ? shown->grid() : AtlasGrid{};
}

AtlasFrame AtlasCanvas::frame() const {
  AtlasFrame frame = atlas_frame(QSizeF(size()));
  if (lens_shown() && !lens_open_) {
    frame.colour_bar.setRight(frame.colour_bar.right() - Lens::closed_size().width() - 10);
  }
  return frame;
}

// --- graphics ---------------------------------------------------------------------------------

void AtlasCanvas::initializeGL() {
  // Moving the widget to another window makes another context.
  connect(context(), &QOpenGLContext::aboutToBeDestroyed, this, &AtlasCanvas::free_graphics,
          Qt::UniqueConnection);
  gl_ = QOpenGLVersionFunctionsFactory::get<QOpenGLFunctions_3_3_Core>(context());
  if (gl_ == nullptr || !gl_->initializeOpenGLFunctions()) {
    gl_ = nullptr;
    check_graphics();
    return;
  }
  try {
    textures_ = std::make_unique<MapTextures>(*gl_);
    painter_ = std::make_unique<MapPainter>(*gl_);
    numbers_ = std::make_unique<CellNumbers>(*gl_);
  } catch (const Error& error) {
    free_graphics();
    if (no_graphics_ == nullptr) check_graphics();
    if (no_graphics_ != nullptr) no_graphics_->setText(QString::fromUtf8(error.what()));
  }
}

void AtlasCanvas::free_graphics() {
  if (!textures_ && !painter_ && !numbers_ && !lens_) return;
  makeCurrent();
  lens_.reset();
  numbers_.reset();
  painter_.reset();
  textures_.reset();
  doneCurrent();
}

void AtlasCanvas::showEvent(QShowEvent* event) {
  QOpenGLWidget::showEvent(event);
  place_the_lens();
  take_zoom(false);
  // Only after the first painting is it known whether there is a context.
  QTimer::singleShot(200, this, &AtlasCanvas::check_graphics);
}

void AtlasCanvas::check_graphics() {
  if ((isValid() && gl_ != nullptr) || no_graphics_ != nullptr || !isVisible()) return;
  no_graphics_ = new QLabel(
      tr("The maps need OpenGL 3.3, and there is none here.\nInstall the graphics driver, or Mesa "
         "(libgl1-mesa-dri), and start again.\nTables, figures and exports work without it."),
      this);
  no_graphics_->setObjectName("no_graphics");
  no_graphics_->setAlignment(Qt::AlignCenter);
  no_graphics_->setWordWrap(true);
  no_graphics_->setMargin(24);
  no_graphics_->setGeometry(rect());
  no_graphics_->show();
}

void AtlasCanvas::resizeEvent(QResizeEvent* event) {
  QOpenGLWidget::resizeEvent(event);
  if (no_graphics_ != nullptr) no_graphics_->setGeometry(rect());
  place_the_lens();
  take_zoom(false);
}

void AtlasCanvas::changeEvent(QEvent* event) {
  QOpenGLWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) update();
}

AtlasScene AtlasCanvas::scene() const {
  AtlasScene scene;
  scene.colours = &colours_of(*this);
  scene.frame = frame();
  const std::int64_t index = subject();
  if (index < 0) {
    scene.message = tr("This subject is closed.");
    return scene;
  }
  const OpenSubject& open = session_.subjects()[static_cast<std::size_t>(index)];
  scene.number = QString::number(index + 1);
  scene.title = QString::fromStdString(open.subject.label);
  scene.subject_colour = attnscope::subject_colour(index, scene.colours->theme);
  scene.current = session_.selection().subject == index && session_.subjects().size() > 1;
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
  scene.subtitle = QString::fromStdString(to_string(scene.maps->trace().mechanism));
  // First, because the end of a long line is cut off.
  if (!scene.maps->trace().mechanism_trained)
    scene.subtitle = tr("not trained · ") + scene.subtitle;
  scene.zoom = zoom_;
  scene.range = link_.range();
  scene.scale = colour_scale(scene.range, session_.view());
  scene.without_values = link_.cells_without_value(subject_id_) > 0;
  scene.selected = selected_cell(*scene.maps);
  scene.crosshair = crosshair(*scene.maps);
  scene.cursor_here = link_.hover() && link_.hover()->subject_id == subject_id_;
  return scene;
}

void AtlasCanvas::paintGL() {
  if (!painter_) return;
  const AtlasScene scene = this->scene();
  const QColor ground = scene.colours->sunken;
  gl_->glDisable(GL_SCISSOR_TEST);
  gl_->glClearColor(static_cast<float>(ground.redF()), static_cast<float>(ground.greenF()),
                    static_cast<float>(ground.blueF()), 1);
  gl_->glClear(GL_COLOR_BUFFER_BIT);
  all_loaded_ = true;
  if (scene.maps) {
    draw_maps(scene);
    draw_numbers(scene);
  }
  {
    // Not the widget itself: while a window is grabbed, its painters are led elsewhere.
    QOpenGLPaintDevice device(QSizeF(QSizeF(size()) * devicePixelRatioF()).toSize());
    device.setDevicePixelRatio(devicePixelRatioF());
    QPainter painter(&device);
    paint_chrome(painter, scene, font());
  }
  if (lens_shown()) draw_lens(scene);
  if (!all_loaded_ || (lens_ && lens_->restless())) update();
}

void AtlasCanvas::draw_maps(const AtlasScene& scene) {
  const double ratio = devicePixelRatioF();
  const QSize framebuffer = QSizeF(QSizeF(size()) * ratio).toSize();
  struct Seen {
    QRectF map;
    MapExtent extent;
    std::vector<TileKey> tiles;
  };
  std::vector<Seen> seen;
  std::vector<TileKey> coarse, fine;
  const AtlasGrid grid = scene.maps->grid();
  for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const QRectF map = scene.zoom.to_screen(scene.frame.viewport, grid.map_square(layer, column));
      const QRectF inside = map.intersected(scene.frame.viewport);
      if (inside.isEmpty()) continue;
      const QRectF visible((inside.topLeft() - map.topLeft()) / map.width(),
                           inside.size() / map.width());
      const MapExtent extent = scene.maps->extent(layer, column);
      Seen one{map, extent, tiles_for(layer, column, extent, visible, map.width() * ratio)};
      if (one.tiles.empty()) continue;
      coarse.push_back(one.tiles.front());
      fine.insert(fine.end(), one.tiles.begin() + 1, one.tiles.end());
      seen.push_back(std::move(one));
    }
  }
  textures_->set_maps(scene.maps);
  coarse.insert(coarse.end(), fine.begin(), fine.end());
  all_loaded_ = textures_->load(coarse, load_budget_ms);

  painter_->begin(framebuffer, device(scene.frame.viewport, ratio), ratio, scene.scale,
                  {scene.colours->raised, scene.colours->muted});
  for (const Seen& one : seen) {
    for (const TileKey& tile : one.tiles) {
      const TileCells cells = cells_of(tile, one.extent);
      const QRectF first = cell_square(one.map, one.extent, cells.row0, cells.key0);
      const QRectF last = cell_square(one.map, one.extent, cells.row1, cells.key1);
      painter_->draw(textures_->find(tile), device(QRectF(first.topLeft(), last.topLeft()), ratio),
                     tile.level);
    }
  }
  painter_->end();
  textures_->trim(texture_bytes);
}

void AtlasCanvas::draw_numbers(const AtlasScene& scene) {
  const double ratio = devicePixelRatioF();
  const AtlasGrid grid = scene.maps->grid();
  const QRectF viewport = scene.frame.viewport;
  const ColourMap& colours = find_colour_map(scene.scale.colour_map);
  bool any = false;
  std::vector<float> values;
  for (std::int64_t layer = 0; layer < grid.layers; ++layer) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const QRectF map = scene.zoom.to_screen(viewport, grid.map_square(layer, column));
      const MapExtent extent = scene.maps->extent(layer, column);
      if (!map.intersects(viewport) || extent.keys == 0) continue;
      const QRectF cell = cell_square(map, extent, 0, 0);
      if (cell.width() < smallest_numbered_cell || cell.height() < smallest_numbered_cell / 2) {
        continue;
      }
      if (!any) {
        const double pixels = std::clamp(cell.width() / 5.2, 8.0, 13.0);
        numbers_->set_font(font(), static_cast<int>(std::lround(pixels * ratio)));
        any = true;
      }
      const CellRange keys =
          visible_cells(map.left(), map.right(), extent.keys, viewport.left(), viewport.right());
      const CellRange queries =
          visible_cells(map.top(), map.bottom(), extent.queries, viewport.top(), viewport.bottom());
      values.resize(static_cast<std::size_t>(keys.end - keys.begin));
      for (std::int64_t query = queries.begin; query < queries.end; ++query) {
        scene.maps->row(layer, column, query, keys.begin, values);
        for (std::int64_t key = keys.begin; key < keys.end; ++key) {
          const float value = values[static_cast<std::size_t>(key - keys.begin)];
          const auto fraction = fraction_of(scene.scale, static_cast<double>(value));
          bool bright = scene.colours->theme == Theme::dark;
          if (fraction && std::isfinite(value)) {
            const Colour ground = colour_at(colours, *fraction, scene.scale.reversed);
            bright = 0.30 * ground.red + 0.59 * ground.green + 0.11 * ground.blue < 125;
          }
          numbers_->add(cell_number(value, cell.width()),
                        cell_square(map, extent, query, key).center() * ratio, bright);
        }
      }
    }
  }
  if (any) {
    numbers_->draw(QSizeF(QSizeF(size()) * ratio).toSize(), device(viewport, ratio));
  }
}

// --- the lens -----------------------------------------------------------------------------------

void AtlasCanvas::set_lens_shown(std::optional<bool> shown) {
  lens_wanted_ = shown;
  place_the_lens();
  update();
}

bool AtlasCanvas::lens_shown() const { return lens_wanted_.value_or(subject() == 0); }

void AtlasCanvas::set_lens_open(bool open) {
  lens_open_ = open;
  if (lens_) lens_->set_open(open);
  place_the_lens();
  update();
}

QRectF AtlasCanvas::lens_control(const std::string& name) const {
  return lens_ && lens_shown() ? lens_->control(name) : QRectF();
}

void AtlasCanvas::place_the_lens() {
  if (!lens_shown()) return;
  const AtlasFrame frame = this->frame();
  if (!lens_open_) {
    const QSizeF closed = Lens::closed_size();
    lens_place_.lens =
        QRectF(QPointF(width() - 10 - closed.width(), frame.colour_bar.top() - 2), closed);
    lens_place_.free = frame.viewport;
    link_.reserve({});
    return;
  }
  // The strip may take the width of the labels, too.
  const QRectF room(8, frame.viewport.top(), width() - 16.0, frame.viewport.height() + 4);
  lens_place_ =
      place_lens(grid(), frame.viewport, room, Lens::tall_size(), Lens::wide_size(room.width()));
  link_.reserve({0, 0, frame.viewport.right() - lens_place_.free.right(),
                 frame.viewport.bottom() - lens_place_.free.bottom()});
}

void AtlasCanvas::draw_lens(const AtlasScene& scene) {
  if (!lens_) {
    lens_ = std::make_unique<Lens>();
    lens_->set_open(lens_open_);
  }
  Lens::Input input;
  input.widget = size();
  input.pixel_ratio = devicePixelRatioF();
  input.place = lens_place_.lens;
  input.side = lens_place_.side;
  input.colours = scene.colours;
  input.font = font();
  input.view = session_.view();
  input.range = scene.range;
  input.full = link_.full_range();
  const ViewSettings view = lens_->draw(input);
  const bool open = lens_->open();
  if (view == session_.view() && open == lens_open_) return;
  // Not from within painting: the session's views may want to paint themselves.
  QMetaObject::invokeMethod(
      this,
      [this, view, before = input.view, open] {
        if (open != lens_open_) set_lens_open(open);
        if (!(view == before)) session_.set_view(view);
      },
      Qt::QueuedConnection);
}

void AtlasCanvas::reset_lens() {
  ViewSettings view;
  view.rank_threshold = session_.view().rank_threshold;
  session_.set_view(view);
}

// --- the zoom -----------------------------------------------------------------------------------

AtlasZoom AtlasCanvas::wanted_zoom() const {
  const AtlasGrid grid = this->grid();
  const QRectF viewport = frame().viewport;
  switch (link_.view()) {
    case AtlasLink::View::free:
      return link_.free_zoom();
    case AtlasLink::View::map: {
      const std::int64_t layer = std::clamp<std::int64_t>(
          link_.map_layer(), 0, std::max<std::int64_t>(0, grid.layers - 1));
      const std::int64_t column = std::clamp<std::int64_t>(
          link_.map_column(), 0, std::max<std::int64_t>(0, grid.columns - 1));
      const QMarginsF room = link_.reserved();
      return fit_square(grid.map_square(layer, column), viewport,
                        viewport.marginsRemoved(room).adjusted(4, 4, -4, -4));
    }
    case AtlasLink::View::fit:
      break;
  }
  if (grid.empty()) return zoom_;
  return fit_grid(grid, viewport, viewport.marginsRemoved(link_.reserved()).adjusted(4, 4, -4, -4));
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
    return;  // it arrives at the new place anyway
  }
  movement_.stop();
  zoom_ = wanted_zoom();
  update();
}

void AtlasCanvas::set_zoom_by_hand(const AtlasZoom& zoom) {
  link_.set_zoom(zoom.kept_in_reach(frame().viewport, grid()));
}

void AtlasCanvas::zoom_at(QPointF position, double factor) {
  const auto shown = maps();
  if (!shown) return;
  const ZoomLimits limits = zoom_limits(shown->grid(), frame().viewport, shown->largest_extent());
  set_zoom_by_hand(
      zoom_.zoomed(frame().viewport, position, factor, limits.smallest, limits.largest));
}

bool AtlasCanvas::settled() const {
  return all_loaded_ && movement_.state() != QAbstractAnimation::Running &&
         !(lens_ && lens_->restless());
}

std::optional<MapCell> AtlasCanvas::cell_at(QPointF position) const {
  const auto shown = maps();
  const QRectF viewport = frame().viewport;
  if (!shown || !viewport.contains(position)) return std::nullopt;
  const auto place = map_at(shown->grid(), zoom_.to_atlas(viewport, position));
  if (!place) return std::nullopt;
  const MapExtent extent = shown->extent(place->layer, place->column);
  if (extent.queries <= 0 || extent.keys <= 0) return std::nullopt;
  return place->cell(extent);
}

QRectF AtlasCanvas::map_rect(std::int64_t layer, std::int64_t column) const {
  return zoom_.to_screen(frame().viewport, grid().map_square(layer, column));
}

}  // namespace attnscope
