// Everything around and over the maps that is drawn with a painter: title, labels, frames, the
// crosshair and its readout, the colour bar.
#pragma once

#include <QColor>
#include <QMarginsF>
#include <QRectF>
#include <QString>
#include <cstdint>
#include <memory>
#include <optional>

#include "app/canvas/atlas_layout.h"
#include "app/canvas/shown_maps.h"
#include "app/canvas/value_range.h"
#include "app/look/theme.h"
#include "app/session/selection.h"

class QFont;
class QPainter;

namespace attnscope {

/// The parts of an atlas's widget, in logical pixels.
struct AtlasFrame {
  QRectF title, head_labels, layer_labels, viewport, colour_bar;
};
[[nodiscard]] AtlasFrame atlas_frame(QSizeF widget);

/// What one picture of an atlas shows.
struct AtlasScene {
  const WindowColours* colours = nullptr;
  AtlasFrame frame;

  QString number, title, subtitle;
  QString mark;  ///< what it is in a comparison: "reference", "less 1"
  QColor subject_colour;
  bool current = false;  ///< the selected subject
  bool focused = false;

  std::shared_ptr<const ShownMaps> maps;  ///< null: `message` instead
  bool difference = false;                ///< they are differences from the reference
  std::shared_ptr<const ShownMaps> over;  ///< the reference's maps, laid over; null: none
  double over_opacity = 0;
  std::optional<double> wipe;  ///< the divider's place in the widget; the reference is at its left
  QString reference_number;    ///< of the pinned subject, where this one is beside it
  QColor reference_colour;
  QString message;
  bool message_is_error = false;

  AtlasZoom zoom;
  bool names_tokens = false;  ///< beside the map: over all maps at once they would hide some
  ColourScale scale;
  ValueRange range;
  QString value_name;  ///< what the colours stand for
  bool range_by_hand = false;
  bool without_values = false;  ///< some cells have none: the colour bar explains the stripes

  std::optional<MapCell> selected;   ///< map and query row
  std::optional<MapCell> crosshair;  ///< the cell under the cursor, here or in a linked atlas
  bool cursor_here = false;
};

void paint_chrome(QPainter& painter, const AtlasScene& scene, const QFont& font);

/// What the names of a layer's tokens take at the left of and above an enlarged map.
[[nodiscard]] QMarginsF ruler_room(const ShownMaps& maps, std::int64_t layer, const QFont& font);
/// Logical pixels a cell must have at least for its token to be named.
inline constexpr double smallest_named_cell = 14;

/// "mean of heads", "head 3"
[[nodiscard]] QString column_name(HeadFusion fusion, std::int64_t column);

/// What stands in the readout: value, for a difference what it is made of, tokens and map, one line
/// each.
[[nodiscard]] QStringList readout(const ShownMaps& maps, const MapCell& cell);

}  // namespace attnscope
