// The atlas of one model: all its attention maps, layers × heads, drawn on the graphics card.
#pragma once

#include <QPointF>
#include <QPointer>
#include <QThreadPool>
#include <QVariantAnimation>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/canvas/atlas_chrome.h"
#include "app/canvas/atlas_layout.h"
#include "app/canvas/atlas_link.h"
#include "app/canvas/graphics_widget.h"
#include "app/canvas/lens_keyboard.h"

class QLabel;
class QNativeGestureEvent;
class QOpenGLFunctions_3_3_Core;

namespace attnscope {

class CellNumbers;
class Lens;
class MapPainter;
class MapTextures;
class MapTitle;
class Session;

/// Atlases of several models are shown side by side and linked through the session (selection,
/// tokens under the cursor) and AtlasLink (zoom, arrangement). The first model's atlas carries the
/// lens.
///
/// Shift and a click, or a drag, select all maps between two. The right button asks for the menu.
/// Drag or two fingers pan, the wheel zooms at the cursor, a click selects map and query, a double
/// click enlarges a map: it then stands by itself, with a title, its tokens along its sides, and
/// the row and column under the cursor, or the selected row, as profiles. A map zoomed to that size
/// has the same. F or Escape: all maps; R: also resets the lens. Tab enters the lens and moves
/// through its fields, whose values the arrow keys change. Arrow keys: layers and heads, with
/// Shift: the query. C: the class token's row. L: the lens. Space: shows the reference's maps
/// instead of this model's, and back; a wipe's divider is dragged.
class AtlasCanvas : public GraphicsWidget {
  Q_OBJECT
 public:
  AtlasCanvas(Session& session, AtlasLink& link, SubjectId subject, QWidget* parent = nullptr);
  ~AtlasCanvas() override;

  [[nodiscard]] SubjectId subject() const { return subject_; }

  /// True or false shows or hides the lens here; unset (default) shows it only on the first model's
  /// atlas.
  void set_lens_shown(std::optional<bool> shown);
  [[nodiscard]] bool lens_shown() const;  ///< independent of AtlasLink::lens_open

  /// True if nothing is left to load or to animate.
  [[nodiscard]] bool settled() const;

  /// The cell under a point of the widget.
  [[nodiscard]] std::optional<MapCell> cell_at(QPointF position) const;
  /// The rectangle of a map in the widget, logical pixels.
  [[nodiscard]] QRectF map_rect(std::int64_t layer, std::int64_t column) const;
  /// The selected map and its selected row in the widget, where they are visible; else empty.
  struct Selected {
    QRectF map, row;
  };
  [[nodiscard]] Selected selected_rects() const;
  /// The rectangle of a control of the lens; empty if it is not shown.
  [[nodiscard]] QRectF lens_control(const std::string& name) const;
  [[nodiscard]] const AtlasZoom& zoom() const { return zoom_; }
  /// The map that is shown by itself: enlarged, or zoomed to at least that size.
  [[nodiscard]] std::optional<MapStage> stage() const;
  /// The position of a wipe's divider in the widget, if there is one.
  [[nodiscard]] std::optional<double> wipe_divider() const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void prepare_graphics() override;
  void draw_graphics() override;
  [[nodiscard]] Stays what_stays() override;
  void draw_on_top(QPainter& painter) override;
  void draw_over(QPainter& painter) override;
  void free_graphics() override;
  void lack_graphics() override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool event(QEvent* event) override;
  bool focusNextPrevChild(bool next) override;
  void focusOutEvent(QFocusEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void keyReleaseEvent(QKeyEvent* event) override;

 private:
  void show_no_graphics(const QString& why);
  void take_zoom(bool smoothly);
  [[nodiscard]] AtlasZoom wanted_zoom() const;
  [[nodiscard]] AtlasZoom fitted_zoom() const;
  [[nodiscard]] std::shared_ptr<const TokenAxes> axes_of(std::int64_t layer) const;
  [[nodiscard]] MapStage empty_stage(std::int64_t layer, std::int64_t column) const;
  void follow_selection();
  void refresh();
  void place_stage();
  void want_profile(const std::optional<MapStage>& stage);
  void read_profile();
  void step_map(int step);
  void leave_for(const std::function<void()>& select);
  [[nodiscard]] AtlasGrid grid() const;
  [[nodiscard]] AtlasFrame frame() const;
  [[nodiscard]] std::shared_ptr<const ShownMaps> maps() const;
  [[nodiscard]] std::int64_t place() const;
  [[nodiscard]] bool lens_up() const;  ///< the lens is shown here and open
  void lens_opened_or_closed();
  void place_the_lens();
  void set_zoom_by_hand(const AtlasZoom& zoom);
  void zoom_at(QPointF position, double factor);
  void hover(QPointF position);
  void stop_hovering();
  void click(QPointF position);
  [[nodiscard]] std::optional<MapIndex> map_under(QPointF position) const;
  void select_up_to(QPointF position);
  void end_block(QPointF position);
  void walk(std::int64_t layers, std::int64_t heads, std::int64_t queries);
  void focus_lens(std::optional<LensField> field);
  bool lens_key(int key);
  void update_accessible_name();
  [[nodiscard]] std::optional<MapCell> selected_cell(const ShownMaps& maps) const;
  [[nodiscard]] AtlasScene scene() const;
  void compare(AtlasScene& scene) const;
  struct Layer;
  /// Shapes of all maps of a grid, layer by layer.
  struct Extents {
    std::int64_t layers = 0, columns = 0;
    std::vector<MapExtent> maps;
  };
  [[nodiscard]] static Extents extents_of(const ShownMaps& maps);
  [[nodiscard]] Layer layer_of(const AtlasScene& scene, const Extents& extents) const;
  [[nodiscard]] Extents not_reached(const AtlasScene& scene) const;
  void draw_maps(AtlasScene& scene);
  void draw_layer(const AtlasScene& scene, const Layer& layer, MapTextures& textures,
                  const MapScales& scales, const QRectF& clip, double opacity);
  void draw_numbers(const AtlasScene& scene, const ShownMaps& maps, const QRectF& clip);
  [[nodiscard]] bool on_divider(QPointF position) const;
  void drag_divider(QPointF position);
  void tiles_arrived();
  void draw_lens(const AtlasScene& scene);

  Session& session_;
  AtlasLink& link_;
  SubjectId subject_;

  Selection selected_;  ///< the drawn selection, without the cell under the cursor

  AtlasZoom zoom_;  ///< drawn zoom: approaches wanted_zoom() during an animation
  AtlasZoom zoom_from_;
  QVariantAnimation movement_;

  MapTitle* title_;
  mutable std::shared_ptr<const TokenAxes> axes_;  ///< axes of the last stage
  std::shared_ptr<const MapProfile> profile_;      ///< profile of the last stage
  std::shared_ptr<const ShownMaps> profile_of_;    ///< maps of the profile wanted; null: none
  MapCell profile_at_;
  bool profile_in_work_ = false;

  std::optional<bool> lens_wanted_;
  std::optional<LensField> lens_field_;  ///< field that the keys act on; empty: the maps
  LensPlace lens_place_;

  QPointF pressed_at_, dragged_from_;
  std::optional<MapIndex> block_from_;  ///< start of the block that is being dragged
  bool block_dragged_ = false;
  bool pressed_ = false, dragging_ = false, wiping_ = false;

  QLabel* no_graphics_ = nullptr;  ///< explains why the maps cannot be drawn
  QOpenGLFunctions_3_3_Core* gl_ = nullptr;
  /// Textures of weights, differences and the reference's maps. They are separate, so that the last
  /// picture stays until the next one is complete.
  enum TextureSet : std::size_t { weights, differences, over, texture_sets };
  std::array<std::unique_ptr<MapTextures>, texture_sets> textures_;
  /// The picture drawn last, which stays until the next one can be drawn.
  TextureSet drawn_set_ = weights;
  std::shared_ptr<const ShownMaps> drawn_maps_;
  MapScales drawn_scales_;
  Extents whole_run_;  ///< maps of the last complete run, whose tiles stay during the next one
  bool over_drawn_ = false;
  /// The scene whose maps draw_graphics() has drawn, until draw_on_top() has drawn the rest.
  std::optional<AtlasScene> maps_drawn_of_;
  /// The scene of the last picture, if that is complete and made of the scene alone.
  std::optional<AtlasScene> settled_;
  std::unique_ptr<MapPainter> painter_;
  std::unique_ptr<CellNumbers> numbers_;
  std::unique_ptr<Lens> lens_;
  bool all_loaded_ = false;
  QThreadPool threads_;  // last member: its work uses this object
};

}  // namespace attnscope
