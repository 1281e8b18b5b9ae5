// Whether this machine can draw maps.
#pragma once

#include <QString>

namespace attnscope {

/// Why no atlas can be drawn here, what was found, and what to do; empty where it can. Opens an
/// OpenGL context to find out: ask after the QApplication is there and before the first OpenGL
/// widget, which may end the program where there is no OpenGL.
[[nodiscard]] QString why_no_graphics();

}  // namespace attnscope
