#include "tests/cli/program.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/paths.h"

namespace attnscope {

ProgramRun run_program(const std::string& arguments) {
  const std::filesystem::path base =
      std::filesystem::temp_directory_path() / ("attnscope-run-" + std::to_string(::getpid()));
  const std::string out = base.string() + ".out", err = base.string() + ".err";
  const std::string command = "QT_QPA_PLATFORM=offscreen '" + built_program() + "' " + arguments +
                              " >'" + out + "' 2>'" + err + "'";
  const int status = std::system(command.c_str());
  const auto read = [](const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    std::filesystem::remove(path);
    return text;
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(err)};
}

}  // namespace attnscope
