#include "app/render/application.h"

#include <QApplication>
#include <clocale>
#include <cstdio>

namespace attnscope {

namespace {

/// Qt's messages without the one every server and container would see: drawing needs no runtime
/// folder.
void print_message(QtMsgType, const QMessageLogContext&, const QString& message) {
  if (message.startsWith("QStandardPaths: XDG_RUNTIME_DIR")) return;
  std::fprintf(stderr, "%s\n", qPrintable(message));
}

}  // namespace

std::unique_ptr<QApplication> drawing_application() {
  if (QCoreApplication::instance() != nullptr) return nullptr;
  const bool has_display =
      qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
  if (!has_display && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
  }
  qInstallMessageHandler(print_message);
  // QApplication keeps references to both for as long as it lives.
  static int count = 1;
  static char name[] = "attnscope";
  static char* arguments[] = {name, nullptr};
  auto application = std::make_unique<QApplication>(count, arguments);
  std::setlocale(LC_NUMERIC, "C");  // Qt takes the user's, and printf would write 0,9
  return application;
}

}  // namespace attnscope
