// The program as Qt knows it.
#pragma once

#include <QApplication>
#include <memory>

namespace attnscope {

/// A QApplication in which numbers are written with a point, whatever the language of the desktop:
/// Qt takes LC_NUMERIC from the environment, and with it "0,9" for what strtod and printf read and
/// write. Numbers in files, settings and on the screen are those of the papers.
class Application : public QApplication {
 public:
  /// Where Qt finds no platform to run on, which it answers by abort(), this prints one line on
  /// stderr and ends the program with status 1.
  Application(int& argc, char** argv);
};

/// One for programs and subcommands that draw but show nothing: always on the offscreen platform,
/// whatever display or QT_QPA_PLATFORM there is, so that a figure is the same everywhere. Null if
/// there is one already. Keep it until the drawing is done.
[[nodiscard]] std::unique_ptr<Application> drawing_application();

}  // namespace attnscope
