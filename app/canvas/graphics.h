// OpenGL support of this machine.
#pragma once

#include <QString>
#include <QSurfaceFormat>

namespace attnscope {

/// Starts to load the graphics driver in another thread, under X11 only; why_no_graphics then takes
/// less time. Call once the QApplication exists.
void load_graphics();

/// Explains why atlases cannot be drawn here, with the version found and a remedy; empty if they
/// can. Opens an OpenGL context to find out. Call once the QApplication exists and before the first
/// OpenGL widget, which may end the program without OpenGL.
[[nodiscard]] QString why_no_graphics();

/// True if the CPU renders, as with Mesa's llvmpipe. Calls why_no_graphics() if it has not been
/// called yet.
[[nodiscard]] bool graphics_are_software();

/// The surface format for maps: OpenGL 3.3, core profile.
[[nodiscard]] QSurfaceFormat graphics_format();

}  // namespace attnscope
