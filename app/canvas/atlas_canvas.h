// The atlas of one subject: all its maps, layers × heads, on the graphics card.
#pragma once

#include <QOpenGLWidget>
#include <QPointF>
#include <QPointer>
#include <QVariantAnimation>
#include <cstdint>
#include <memory>
#include <optional>

#include "app/canvas/atlas_chrome.h"
#include "app/canvas/atlas_layout.h"
#include "app/canvas/atlas_link.h"

class QLabel;
class QNativeGestureEvent;
class QOpenGLFunctions_3_3_Core;

namespace attnscope {

class CellNumbers;
class Lens;
class MapPainter;
class MapTextures;
class Session;

/// Several stand side by side, linked through the session: the selection, the cursor's tokens and
/// (AtlasLink) the zoom. The first subject's carries the lens.
///
/// Drag or two fingers move, the wheel zooms at the cursor, a click selects map and query, a
/// double click enlarges a map. F or Escape: all maps; R: the lens as it was at the start, too.
/// Arrows: layers and heads, with Shift: the query. C: the class token's row. L: the lens.
class AtlasCanvas : public QOpenGLWidget {
  Q_OBJECT
 public:
  /// `subject`: index into session.subjects(); the atlas stays with that subject when others come
  /// and go.
  AtlasCanvas(Session& session, std::int64_t subject, QWidget* parent = nullptr);
  ~AtlasCanvas() override;

  [[nodiscard]] std::int64_t subject_id() const { return subject_id_; }

  /// By default, the first subject's atlas alone has it.
  void set_lens_shown(std::optional<bool> shown);
  [[nodiscard]] bool lens_shown() const;
  /// Opened or closed to its title. Kept in the link's reserve.
  void set_lens_open(bool open);

  /// Nothing is left to load or to move: the picture stands.
  [[nodiscard]] bool settled() const;

  /// The cell under a point of the widget.
  [[nodiscard]] std::optional<MapCell> cell_at(QPointF position) const;
  /// Where a map lies in the widget, logical pixels.
  [[nodiscard]] QRectF map_rect(std::int64_t layer, std::int64_t column) const;
  /// Where a control of the lens lies; empty when there is none.
  [[nodiscard]] QRectF lens_control(const std::string& name) const;
  [[nodiscard]] const AtlasZoom& zoom() const { return zoom_; }

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void initializeGL() override;
  void paintGL() override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool event(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void keyReleaseEvent(QKeyEvent* event) override;

 private:
  void free_graphics();
  void check_graphics();
  void take_zoom(bool smoothly);
  [[nodiscard]] AtlasZoom wanted_zoom() const;
  [[nodiscard]] AtlasGrid grid() const;
  [[nodiscard]] AtlasFrame frame() const;
  [[nodiscard]] std::shared_ptr<const ShownMaps> maps() const;
  [[nodiscard]] std::int64_t subject() const;
  void place_the_lens();
  void set_zoom_by_hand(const AtlasZoom& zoom);
  void zoom_at(QPointF position, double factor);
  void hover(QPointF position);
  void stop_hovering();
  void click(QPointF position);
  void walk(std::int64_t layers, std::int64_t heads, std::int64_t queries);
  void reset_lens();
  void update_accessible_name();
  [[nodiscard]] std::optional<MapCell> selected_cell(const ShownMaps& maps) const;
  [[nodiscard]] std::optional<MapCell> crosshair(const ShownMaps& maps) const;
  [[nodiscard]] AtlasScene scene() const;
  void draw_maps(const AtlasScene& scene);
  void draw_numbers(const AtlasScene& scene);
  void draw_lens(const AtlasScene& scene);

  Session& session_;
  AtlasLink& link_;
  std::int64_t subject_id_ = 0;

  AtlasZoom zoom_;  ///< as drawn: on its way to wanted_zoom() while it moves
  AtlasZoom zoom_from_;
  QVariantAnimation movement_;

  std::optional<bool> lens_wanted_;
  bool lens_open_ = true;
  LensPlace lens_place_;

  QPointF pressed_at_, dragged_from_;
  bool pressed_ = false, dragging_ = false;

  QLabel* no_graphics_ = nullptr;
  QOpenGLFunctions_3_3_Core* gl_ = nullptr;
  std::unique_ptr<MapTextures> textures_;
  std::unique_ptr<MapPainter> painter_;
  std::unique_ptr<CellNumbers> numbers_;
  std::unique_ptr<Lens> lens_;
  bool all_loaded_ = false;
};

}  // namespace attnscope
