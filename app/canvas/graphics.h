// Whether this machine can draw maps, and with what.
#pragma once

#include <QString>
#include <QSurfaceFormat>

namespace attnscope {

/// Begins to load the graphics driver in another thread, under X11: why_no_graphics then takes less
/// time. Ask once the QApplication is there.
void load_graphics();

/// Why no atlas can be drawn here, what was found, and what to do; empty where it can. Opens an
/// OpenGL context to find out: ask after the QApplication is there and before the first OpenGL
/// widget, which may end the program where there is no OpenGL.
[[nodiscard]] QString why_no_graphics();

/// Whether it is the processor that draws, as Mesa's llvmpipe has it do. Asks why_no_graphics() if
/// that has not been done.
[[nodiscard]] bool graphics_are_software();

/// What maps are drawn with: OpenGL 3.3, core profile.
[[nodiscard]] QSurfaceFormat graphics_format();

}  // namespace attnscope
