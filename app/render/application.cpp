#include "app/render/application.h"

#include <QLocale>
#include <clocale>
#include <cstdio>
#include <cstdlib>

namespace attnscope {

namespace {

/// Prints Qt's messages except the warning about XDG_RUNTIME_DIR, which every server and container
/// would show: drawing needs no runtime folder.
void print_message(QtMsgType, const QMessageLogContext&, const QString& message) {
  if (message.startsWith("QStandardPaths: XDG_RUNTIME_DIR")) return;
  std::fprintf(stderr, "%s\n", qPrintable(message));
}

QtMessageHandler handler_before = nullptr;

/// Message handler during the construction of the application, when a fatal message of Qt means
/// that no platform is available.
void end_without_platform(QtMsgType type, const QMessageLogContext& context,
                          const QString& message) {
  if (type == QtFatalMsg) {
    const QString list = message.section("Available platform plugins are: ", 1).section('.', 0, 0);
    std::fprintf(stderr,
                 "attnscope: no window can be opened: Qt cannot run on the platform \"%s\""
                 " (expected one of %s); set QT_QPA_PLATFORM or DISPLAY\n",
                 qEnvironmentVariable("QT_QPA_PLATFORM", "of this display").toUtf8().constData(),
                 list.isEmpty() ? "those of Qt" : qPrintable(list));
    std::_Exit(1);
  }
  if (QByteArray(context.category) == "qt.qpa.plugin") return;  // repeats the reason
  if (handler_before != nullptr) {
    handler_before(type, context, message);
  } else {
    std::fprintf(stderr, "%s\n", qPrintable(message));
  }
}

int& caught(int& argc) {
  handler_before = qInstallMessageHandler(end_without_platform);
  return argc;
}

}  // namespace

Application::Application(int& argc, char** argv) : QApplication(caught(argc), argv) {
  qInstallMessageHandler(handler_before);
  std::setlocale(LC_NUMERIC, "C");
  QLocale::setDefault(QLocale::c());
}

std::unique_ptr<Application> drawing_application() {
  if (QCoreApplication::instance() != nullptr) return nullptr;
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qInstallMessageHandler(print_message);
  // QApplication keeps references to both during its lifetime.
  static int count = 1;
  static char name[] = "attnscope";
  static char* arguments[] = {name, nullptr};
  return std::make_unique<Application>(count, arguments);
}

}  // namespace attnscope
