// Font size that grows with the panel: small next to the maps, and large in a maximised panel,
// where a class must be able to read it.
#pragma once

#include <QFont>

class QWidget;

namespace attnscope {

/// The program's font, scaled between 1 and 1.9 once a line has space for more than about 84
/// letters. `width` in pixels.
[[nodiscard]] QFont type_for_room(int width);

/// Sets type_for_room for everything on `page`, and returns it. It uses a style sheet, because the
/// program's own one overrides the font that children inherit.
QFont set_type_for_room(QWidget& page, int width);

/// The left and right margin of a column of `width` pixels that limits lines to about 84 letters of
/// `font`.
[[nodiscard]] int side_margin(int width, const QFont& font);

}  // namespace attnscope
