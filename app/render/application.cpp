#include "app/render/application.h"

#include <QApplication>

namespace attnscope {

std::unique_ptr<QApplication> drawing_application() {
  if (QCoreApplication::instance() != nullptr) return nullptr;
  const bool has_display =
      qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
  if (!has_display && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
  }
  // QApplication keeps references to both for as long as it lives.
  static int count = 1;
  static char name[] = "attnscope";
  static char* arguments[] = {name, nullptr};
  return std::make_unique<QApplication>(count, arguments);
}

}  // namespace attnscope
