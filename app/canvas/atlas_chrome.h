// Everything around and over the maps that is drawn with a QPainter: labels, frames, the crosshair
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
#include "app/canvas/map_stage.h"
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

  bool operator==(const AtlasFrame&) const = default;
};
/// `text_scale`: size of the window's font relative to the default.
[[nodiscard]] AtlasFrame atlas_frame(QSizeF widget, double text_scale = 1);
/// Space between bands of maps for their labels, times the text scale.
inline constexpr double band_label_room = 16;
/// Space around fitted maps, on every side of the viewport, for the frame of the selected map.
inline constexpr double fitted_margin = 0.5;

/// The colour scales of an atlas's maps.
struct MapScales {
  ColourScale shared;
  std::vector<ColourScale> own;  ///< one per map, layer by layer; empty: `shared` for all
  std::int64_t columns = 0;      ///< maps per layer in `own`

  [[nodiscard]] const ColourScale& of(std::int64_t layer, std::int64_t column) const {
    const auto index = static_cast<std::size_t>(layer * columns + column);
    return index < own.size() ? own[index] : shared;
  }

  bool operator==(const MapScales&) const = default;
};

/// Everything that one picture of an atlas shows.
struct AtlasScene {
  const WindowColours* colours = nullptr;
  AtlasFrame frame;

  QString number;
  QColor subject_colour;
  bool current = false;  ///< this is the selected model
  bool focused = false;

  std::shared_ptr<const ShownMaps> maps;  ///< null: `message` instead
  AtlasArrangement arrangement;
  std::shared_ptr<const std::vector<std::int64_t>> order;  ///< AtlasGrid::order
  bool difference = false;                ///< `maps` are differences from the reference
  std::shared_ptr<const ShownMaps> over;  ///< the reference's maps drawn over `maps`; null: none
  double over_opacity = 0;
  std::optional<double> wipe;  ///< divider's x in the widget; the reference is to its left
  QString reference_number;    ///< number of the reference, if it is shown here
  QColor reference_colour;
  QString message;
  bool message_is_error = false;

  AtlasZoom zoom;
  /// The map that is shown by itself, with its tokens and its profile.
  std::optional<MapStage> stage;
  std::shared_ptr<const TokenAxes> axes;      ///< the stage's; null without a stage
  std::shared_ptr<const MapProfile> profile;  ///< last known of the stage; may be of another cell
  /// The rectangle of the widget that maps are drawn in.
  [[nodiscard]] QRectF sight() const { return stage ? stage->sight : frame.viewport; }
  /// True if the map is drawn: all but one are left out while that one is enlarged.
  [[nodiscard]] bool draws(std::int64_t layer, std::int64_t column) const {
    return !stage || !stage->alone || (stage->layer == layer && stage->column == column);
  }
  MapScales scales;

  std::optional<MapCell> selected;   ///< map and query row
  std::optional<MapBlock> block;     ///< the block of selected maps, if several are
  std::optional<MapCell> crosshair;  ///< the cell under the cursor, here or in a linked atlas
  bool cursor_here = false;
  /// One number per map of the model's own weights, layer by layer; empty: no numbers.
  std::vector<std::optional<PrintedNumber>> numbers;
  double least_number = 0, greatest_number = 0;  ///< over all models

  /// The positions of the maps.
  [[nodiscard]] AtlasGrid grid() const {
    return {maps->grid().layers, maps->grid().columns, arrangement, order};
  }

  bool operator==(const AtlasScene&) const = default;
};

void paint_chrome(QPainter& painter, const AtlasScene& scene, const QFont& font);
/// Draws the crosshair and its readout, which paint_chrome() leaves out.
void paint_cursor(QPainter& painter, const AtlasScene& scene, const QFont& font);

/// Draws the tokens of scene.stage along its map, and the profile of its row and column.
void paint_stage(QPainter& painter, const AtlasScene& scene, const QFont& font);

/// The font at a text height in pixels at the window's default font size.
[[nodiscard]] QFont sized(const QFont& font, double pixels, bool bold = false);

/// Name of a column, such as "mean of heads" or "head 3".
[[nodiscard]] QString column_name(HeadFusion fusion, std::int64_t column);

/// Lines of the readout: value, the two weights of a difference, tokens and map.
[[nodiscard]] QStringList readout(const ShownMaps& maps, const MapCell& cell);

}  // namespace attnscope
