// Parts of an atlas's chrome, which paint_chrome draws in order, and their common helpers.
#pragma once

#include <QColor>
#include <QFont>
#include <QRectF>
#include <cstdint>

#include "app/canvas/atlas_chrome.h"

class QPainter;

namespace attnscope {

/// `pixels`: text height at the window's default font size.
[[nodiscard]] QFont sized(const QFont& font, double pixels, bool bold = false);
[[nodiscard]] QColor faded(QColor colour, double alpha);
[[nodiscard]] QRectF map_on_screen(const AtlasScene& scene, std::int64_t layer,
                                   std::int64_t column);

/// Highlights row and column of the cell under the cursor.
void paint_crosshair(QPainter& painter, const AtlasScene& scene);

/// Draws token names along the enlarged map under the middle of the viewport.
void paint_rulers(QPainter& painter, const AtlasScene& scene, const QFont& font);

/// Draws the lines of `readout` next to the cell under the cursor.
void paint_readout(QPainter& painter, const AtlasScene& scene, const QFont& font);

}  // namespace attnscope
