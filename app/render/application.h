// What drawing without a window needs.
#pragma once

#include <memory>

class QApplication;

namespace attnscope {

/// A QApplication for programs and subcommands that draw but show nothing: on the offscreen
/// platform where no display is given and QT_QPA_PLATFORM does not say otherwise. Null if there is
/// one already. Keep it until the drawing is done.
[[nodiscard]] std::unique_ptr<QApplication> drawing_application();

}  // namespace attnscope
