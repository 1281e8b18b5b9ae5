#include "app/cli/display.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/error.h"

namespace attnscope {

namespace {

/// The value of an environment variable; empty if it is not set.
std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value ? value : "";
}

}  // namespace

void require_display(const std::string& remedy) {
  if (!environment("QT_QPA_PLATFORM").empty() || !environment("WAYLAND_DISPLAY").empty()) return;
  std::string found = "neither DISPLAY nor WAYLAND_DISPLAY is set";
  if (const std::string display = environment("DISPLAY"); !display.empty()) {
    if (display.front() != ':') return;  // remote display: left to Qt
    const std::string number = display.substr(1, display.find('.') - 1);
    std::error_code ignored;
    if (std::filesystem::exists("/tmp/.X11-unix/X" + number, ignored)) return;
    found = "DISPLAY is " + display + ", where nothing answers";
  }
  throw Error(ErrorKind::io, "there is no display to open the window on")
      .found(found)
      .remedy(remedy);
}

}  // namespace attnscope
