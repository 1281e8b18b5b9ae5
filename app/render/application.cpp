#include "app/render/application.h"

#include <QLocale>
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

Application::Application(int& argc, char** argv) : QApplication(argc, argv) {
  std::setlocale(LC_NUMERIC, "C");
  QLocale::setDefault(QLocale::c());
}

std::unique_ptr<Application> drawing_application() {
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
  return std::make_unique<Application>(count, arguments);
}

}  // namespace attnscope
