// The window's type face for those who draw text without Qt.
#pragma once

#include <QByteArray>
#include <QFont>

namespace attnscope {

/// The face that Qt draws `font` with, as the bytes of a font file; empty if it has no outlines.
[[nodiscard]] QByteArray font_file(const QFont& font);

}  // namespace attnscope
