// Runs every command that the lists of the papers print, on a copy of the sample data.
#include "analysis/papers/papers.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>

#include "tests/cli/program.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

class PaperCommands : public testing::TestWithParam<std::string> {};

TEST_P(PaperCommands, WorkAsTheyArePrinted) {
  const TemporaryFolder folder;
  fs::copy(source_folder() + "/sample_data", folder / "sample_data", fs::copy_options::recursive);
  const std::string log = (folder / "log").string();
  const std::string before = "unset DISPLAY WAYLAND_DISPLAY QT_QPA_PLATFORM; cd '" +
                             (folder / "sample_data").string() + "' && export PATH='" +
                             fs::path(built_program()).parent_path().string() + "':\"$PATH\" && ";
  for (const PaperItem& item : find_paper(GetParam()).items) {
    for (const std::string& command : item.commands) {
      EXPECT_TRUE(command.starts_with("attnscope ")) << command;
      // A long training needs a data set that may not be installed: only its recipe is checked.
      const bool is_long = !item.takes.empty() && command.starts_with("attnscope train ");
      const std::string run = command + (is_long ? " --print-recipe" : "");
      const int status = std::system((before + run + " >'" + log + "' 2>&1").c_str());
      EXPECT_EQ(WEXITSTATUS(status), 0) << item.place << ": " << run << "\n" << read_bytes(log);
    }
  }
}

std::string test_name_of_paper(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(EachPaper, PaperCommands,
                         testing::Values("adder", "adder-appendix", "daft", "fastformer-lm",
                                         "ecoformer"),
                         test_name_of_paper);

TEST(PaperCommand, PrintsListsAndRefusesUnknownNames) {
  const ProgramRun names = run_program("paper");
  EXPECT_EQ(names.status, 0);
  for (const Paper& paper : papers()) {
    EXPECT_NE(names.output.find(paper.name), std::string::npos);
    const ProgramRun text = run_program("paper " + paper.name);
    const ProgramRun table = run_program("paper " + paper.name + " --format markdown");
    for (const PaperItem& item : paper.items) {
      EXPECT_NE(text.output.find(item.place + ": " + item.title), std::string::npos);
      EXPECT_NE(table.output.find("| " + item.place + " | " + item.title), std::string::npos);
      for (const std::string& command : item.commands) {
        EXPECT_NE(text.output.find("    " + command + "\n"), std::string::npos);
      }
    }
  }
  const ProgramRun unknown = run_program("paper addr");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.errors.find("adder-appendix"), std::string::npos) << unknown.errors;
}

}  // namespace
}  // namespace attnscope
