// Everything around and over the maps that is drawn with a painter: labels, frames, the crosshair
// and its readout.
#pragma once

#include <QColor>
#include <QMarginsF>
#include <QRectF>
#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "app/canvas/atlas_layout.h"
#include "app/canvas/map_number.h"
#include "app/canvas/shown_maps.h"
#include "app/canvas/value_range.h"
#include "app/look/theme.h"
#include "app/session/selection.h"

class QFont;
class QPainter;

namespace attnscope {

/// The parts of an atlas's widget, in logical pixels.
struct AtlasFrame {
  QRectF top_labels, left_labels, viewport;
};
/// `text_scale`: of the window's letters.
[[nodiscard]] AtlasFrame atlas_frame(QSizeF widget, double text_scale = 1);
/// What bands of maps leave between them for their labels, times the scale of text.
inline constexpr double band_label_room = 16;
/// What fitted maps leave free at every side of the viewport, for the frame of the selected one.
inline constexpr double fitted_margin = 1;

/// What one picture of an atlas shows.
struct AtlasScene {
  const WindowColours* colours = nullptr;
  AtlasFrame frame;

  QString number;
  QColor subject_colour;
  bool current = false;  ///< the selected subject
  bool focused = false;

  std::shared_ptr<const ShownMaps> maps;  ///< null: `message` instead
  AtlasArrangement arrangement;
  std::shared_ptr<const std::vector<std::int64_t>> order;  ///< of the grid
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
  std::vector<ColourScale> own_scales;  ///< of each map, layer by layer; empty: one for all

  /// Of one map of the grid.
  [[nodiscard]] const ColourScale& scale_of(std::int64_t layer, std::int64_t column) const {
    const auto index = static_cast<std::size_t>(layer * maps->grid().columns + column);
    return index < own_scales.size() ? own_scales[index] : scale;
  }

  std::optional<MapCell> selected;   ///< map and query row
  std::optional<MapBlock> block;     ///< of several selected maps
  std::optional<MapCell> crosshair;  ///< the cell under the cursor, here or in a linked atlas
  bool cursor_here = false;
  /// On each map of own weights, layer by layer; empty: none.
  std::vector<std::optional<PrintedNumber>> numbers;
  double least_number = 0, greatest_number = 0;  ///< of all subjects

  /// Where its maps lie.
  [[nodiscard]] AtlasGrid grid() const {
    return {maps->grid().layers, maps->grid().columns, arrangement, order};
  }
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
