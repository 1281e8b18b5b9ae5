// Runs the program without a display.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <sys/wait.h>

#include "tests/support/paths.h"

namespace attnscope {

struct Ran {
  int status = 0;
  std::string output;  ///< stdout and stderr
};

inline Ran run(const std::string& command) {
  Ran ran;
  FILE* pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  std::size_t count = 0;
  while ((count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
    ran.output.append(buffer.data(), count);
  }
  ran.status = WEXITSTATUS(pclose(pipe));
  return ran;
}

inline const std::string program = "env -u DISPLAY -u WAYLAND_DISPLAY " + built_program() + " ";
inline const std::string samples = source_folder() + "/sample_data/";

}  // namespace attnscope
