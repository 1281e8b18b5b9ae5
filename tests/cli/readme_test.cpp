// Runs every command that README.md prints.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = source_folder();

/// The lines of the blocks marked sh without comments, with an empty line at each block boundary.
std::vector<std::string> commands_of(const fs::path& file) {
  std::istringstream text(read_bytes(file));
  std::vector<std::string> commands;
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) {
      inside = line == "```sh";
      commands.emplace_back();
      continue;
    }
    const std::string command = line.substr(0, line.find_first_of('#'));
    const std::size_t end = command.find_last_not_of(' ');
    if (inside && end != std::string::npos) commands.push_back(command.substr(0, end + 1));
  }
  return commands;
}

/// A copy of the parts of the source tree that the commands read, which keeps their output out of
/// the sources.
class ClonedTree {
 public:
  ClonedTree() {
    for (const char* part : {"sample_data", "docs"}) {
      fs::copy(kSource / part, folder_ / part, fs::copy_options::recursive);
    }
    fs::create_directories(folder_ / "build/release");
    fs::create_directory_symlink(fs::path(built_program()).parent_path(),
                                 folder_ / "build/release/bin");
  }
  [[nodiscard]] const fs::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST(Readme, ItsCommandsWorkAsTheyArePrinted) {
  const ClonedTree tree;
  const fs::path log = tree.path() / "log";
  std::string before = "cd '" + tree.path().string() + "'";
  int run = 0;
  for (const std::string& command : commands_of(kSource / "README.md")) {
    if (command.empty()) before = before.substr(0, before.find(" && cd "));  // a new block
    if (command.empty()) continue;
    if (command.starts_with("scripts/")) {
      EXPECT_EQ(::access((kSource / command).c_str(), X_OK), 0) << command;
      continue;
    }
    if (command.starts_with("export ")) {
      before += " && " + command;
      continue;
    }
    if (command.starts_with("cd ")) {
      before += " && " + command;
      continue;
    }
    ASSERT_TRUE(command.starts_with("attnscope ")) << "no test knows how to run: " << command;
    const bool opens_window = command.starts_with("attnscope gui");
    const int status = std::system(("unset DISPLAY WAYLAND_DISPLAY QT_QPA_PLATFORM; " + before +
                                    " && " + command + " >'" + log.string() + "' 2>&1")
                                       .c_str());
    const std::string said = read_bytes(log);
    // Without a display the command of the window is parsed and fails with an error about the
    // display.
    EXPECT_EQ(WEXITSTATUS(status), opens_window ? 1 : 0) << command << "\n" << said;
    if (opens_window) {
      EXPECT_NE(said.find("no display"), std::string::npos) << said;
    }
    ++run;
  }
  EXPECT_GT(run, 12);
}

TEST(Readme, ThePathItNamesIsWhereScriptsRunBuilds) {
  EXPECT_NE(read_bytes(kSource / "README.md").find("export PATH=\"$PWD/build/release/bin:$PATH\""),
            std::string::npos);
  EXPECT_NE(read_bytes(kSource / "scripts/run").find("$PWD/build/release/bin/attnscope"),
            std::string::npos);
}

}  // namespace
}  // namespace attnscope
