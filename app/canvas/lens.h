// The lens over the maps: what changes the picture at once, without running a model again.
#pragma once

#include <QByteArray>
#include <QElapsedTimer>
#include <QFont>
#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <QString>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/canvas/atlas_layout.h"
#include "app/canvas/atlas_link.h"
#include "app/canvas/value_range.h"
#include "app/look/theme.h"
#include "app/session/selection.h"

class QKeyEvent;
class QMouseEvent;
class QWheelEvent;
struct ImGuiContext;

namespace attnscope {

/// One Dear ImGui context, drawn into the current OpenGL context; that must be current for `draw`
/// and for destruction.
class Lens {
 public:
  Lens();
  ~Lens();
  Lens(const Lens&) = delete;
  Lens& operator=(const Lens&) = delete;

  /// Whether the user has closed it in the frame drawn last.
  [[nodiscard]] bool close_wanted() const { return close_wanted_; }
  /// Logical pixels it needs as a column, and as a strip this wide.
  [[nodiscard]] static QSizeF tall_size();
  [[nodiscard]] static QSizeF wide_size(double width);

  struct Input {
    QSizeF widget;  ///< logical pixels
    double pixel_ratio = 1;
    QRectF place;  ///< where it stands
    LensSide side = LensSide::bottom;
    const WindowColours* colours = nullptr;
    QFont font;
    ViewSettings view;
    ValueRange range;              ///< the range in use
    ValueRange full;               ///< of all values shown
    std::vector<float> histogram;  ///< heights, 0 to 1, over the full range
    /// Asked for where the user opens their list.
    std::function<std::vector<AtlasLink::RangeChoice>()> range_choices;
    std::int64_t greatest_rank = 1;  ///< of the largest map
    std::string focused;             ///< the control the keys act on; empty: none
  };
  /// Draws it and returns what the user made of the view.
  [[nodiscard]] ViewSettings draw(const Input& input);

  /// Each says whether the lens keeps the event for itself.
  bool mouse(const QMouseEvent& event);
  bool moved(QPointF position);
  bool wheel(const QWheelEvent& event);
  bool key(const QKeyEvent& event, bool down);
  void left();  ///< the cursor left the widget

  /// True while a number is typed.
  [[nodiscard]] bool typing() const { return typing_; }
  /// More frames are needed before the picture stands still.
  [[nodiscard]] bool restless() const { return frames_wanted_ > 0; }
  /// Where a control was drawn last, logical pixels: "identity/with", "open", …
  [[nodiscard]] QRectF control(const std::string& name) const;

 private:
  [[nodiscard]] bool holds(QPointF position) const;
  void wake() { frames_wanted_ = 3; }
  void load_font(const QFont& font, double pixel_ratio);
  [[nodiscard]] static int columns_in(double width);
  void contents(const Input& input, ViewSettings& view);
  void field(const char* title, float ratio);
  void noted(const std::string& name);
  void draw_focus(const Input& input) const;
  void range_field(const Input& input, ViewSettings& view, float ratio, bool list_wanted);
  void range_list(const Input& input, ViewSettings& view, bool wanted);
  std::vector<AtlasLink::RangeChoice> range_choices_;  ///< while their list is open

  ImGuiContext* context_ = nullptr;
  bool close_wanted_ = false;
  bool backend_ready_ = false;
  bool popup_open_ = false, item_held_ = false, typing_ = false;
  int frames_wanted_ = 3;
  double pixel_ratio_ = 0;
  Theme style_theme_ = Theme::dark;
  bool style_ready_ = false;
  QRectF place_;
  QPointF position_{-1e6, -1e6};
  bool buttons_[3] = {false, false, false};
  bool pressed_[3] = {false, false, false};  ///< since the last frame: a quick click is not lost
  QByteArray face_;                          ///< the font file, for as long as the context lives
  QElapsedTimer clock_;
  std::map<std::string, QRectF> controls_;
};

}  // namespace attnscope
