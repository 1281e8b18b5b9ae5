// The lens over the maps: view settings that change the picture at once, without running a model.
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

/// One Dear ImGui context drawn into the current OpenGL context, which must be current for `draw`
/// and for destruction.
class Lens {
 public:
  Lens();
  ~Lens();
  Lens(const Lens&) = delete;
  Lens& operator=(const Lens&) = delete;

  /// True if the user closed the lens in the last frame.
  [[nodiscard]] bool close_wanted() const { return close_wanted_; }
  /// Size in logical pixels as a column, and as a strip of the given width. In a strip narrower
  /// than a column, the names of the fields stand above them.
  [[nodiscard]] static QSizeF tall_size();
  [[nodiscard]] static QSizeF wide_size(double width);

  struct Input {
    QSizeF widget;  ///< logical pixels
    double pixel_ratio = 1;
    QRectF place;  ///< rectangle of the lens in the widget
    LensSide side = LensSide::bottom;
    const WindowColours* colours = nullptr;
    QFont font;
    ViewSettings view;
    ValueRange range;              ///< the range in use
    ValueRange full;               ///< range of all values shown
    std::vector<float> histogram;  ///< heights, 0 to 1, over the full range
    /// Called when the user opens the list of ranges.
    std::function<std::vector<AtlasLink::RangeChoice>()> range_choices;
    std::string focused;  ///< the control with the keyboard focus; empty: none
  };
  /// Draws the lens and returns the view as the user changed it.
  [[nodiscard]] ViewSettings draw(const Input& input);

  /// Event handlers, each true if the lens consumes the event.
  bool mouse(const QMouseEvent& event);
  bool moved(QPointF position);
  bool wheel(const QWheelEvent& event);
  bool key(const QKeyEvent& event, bool down);
  void left();  ///< the cursor left the widget

  /// True while the user types a number.
  [[nodiscard]] bool typing() const { return typing_; }
  /// True if more frames are needed until the picture is stable.
  [[nodiscard]] bool restless() const { return frames_wanted_ > 0; }
  /// Rectangle of a control in the last frame, logical pixels; names are "identity/with", "open", …
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
  std::vector<AtlasLink::RangeChoice> range_choices_;  ///< filled while their list is open

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
  bool pressed_[3] = {false, false, false};  ///< since the last frame; keeps quick clicks
  bool double_clicked_ = false;              ///< by the last press
  QByteArray face_;                          ///< the font file, kept as long as the context
  QElapsedTimer clock_;
  bool narrow_ = false;  ///< names stand above their fields
  std::map<std::string, QRectF> controls_;
};

}  // namespace attnscope
