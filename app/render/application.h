// The QApplication of the program.
#pragma once

#include <QApplication>
#include <memory>

namespace attnscope {

/// A QApplication that writes numbers with a decimal point, whatever the language of the desktop.
/// Qt takes LC_NUMERIC from the environment, which would make strtod and printf read and write
/// "0,9". Numbers in files, settings and on the screen follow the papers.
class Application : public QApplication {
 public:
  /// If Qt finds no platform, for which it calls abort(), this prints one line on stderr and ends
  /// the program with status 1.
  Application(int& argc, char** argv);
};

/// An application for programs and subcommands that draw but show nothing. It always uses the
/// offscreen platform, whatever the display or QT_QPA_PLATFORM, for identical figures everywhere.
/// Null if an application exists already. Keep it until the drawing is done.
[[nodiscard]] std::unique_ptr<Application> drawing_application();

}  // namespace attnscope
