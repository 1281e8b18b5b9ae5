// The window's font as a file, for code that draws text without Qt.
#pragma once

#include <QByteArray>
#include <QFont>

namespace attnscope {

/// The face with which Qt draws `font`, as the bytes of a font file; empty if it has no outlines.
[[nodiscard]] QByteArray font_file(const QFont& font);

}  // namespace attnscope
