// Type that grows with the room: what is read in a dock is small beside the maps, and large where
// the panel has the window, so that the last row of a class reads it.
#pragma once

#include <QFont>

class QWidget;

namespace attnscope {

/// The program's type, once to twice its size: from where a line has room for more than some eighty
/// letters. `width` in pixels.
[[nodiscard]] QFont type_for_room(int width);

/// Sets all that is on `page` in type_for_room, and returns it. By a style sheet: the program's own
/// stands between a page's font and its children.
QFont set_type_for_room(QWidget& page, int width);

/// The margin at either side of a column of `width` pixels that leaves lines of at most some eighty
/// letters of `font`.
[[nodiscard]] int side_margin(int width, const QFont& font);

}  // namespace attnscope
