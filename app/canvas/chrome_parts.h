// The parts of an atlas's chrome, drawn one over the other by paint_chrome, and what they share.
#pragma once

#include <QColor>
#include <QFont>
#include <QRectF>
#include <cstdint>

#include "app/canvas/atlas_chrome.h"

class QPainter;

namespace attnscope {

/// `pixels`: height of the face where the window's letters have their usual size.
[[nodiscard]] QFont sized(const QFont& font, double pixels, bool bold = false);
[[nodiscard]] QColor faded(QColor colour, double alpha);
[[nodiscard]] QRectF map_on_screen(const AtlasScene& scene, std::int64_t layer,
                                   std::int64_t column);

/// What is said in the place of a map that has no counterpart.
void paint_empty_maps(QPainter& painter, const AtlasScene& scene, const QFont& font);

/// The number of each map in its corner, and under it how much of the full rank that is.
void paint_map_numbers(QPainter& painter, const AtlasScene& scene, const QFont& font);

/// The divider of a wipe, with whose maps are on which side.
void paint_wipe(QPainter& painter, const AtlasScene& scene, const QFont& font);

/// Row and column of the cell under the cursor.
void paint_crosshair(QPainter& painter, const AtlasScene& scene);

/// Token names along the enlarged map under the middle of the viewport.
void paint_rulers(QPainter& painter, const AtlasScene& scene, const QFont& font);

/// Beside that cell, what `readout` says of it.
void paint_readout(QPainter& painter, const AtlasScene& scene, const QFont& font);

}  // namespace attnscope
