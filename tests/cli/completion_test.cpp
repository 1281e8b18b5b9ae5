// Completion and manual page, generated from the tables of --help, in the programs that read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <sys/wait.h>

#include "app/cli/command_table.h"
#include "app/cli/program.h"
#include "tests/cli/program.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Runs `script` in `shell` and returns its output, or "not installed".
std::string printed(const TemporaryFolder& folder, const std::string& shell,
                    const std::string& script) {
  if (std::system(("command -v " + shell + " >/dev/null").c_str()) != 0) return "not installed";
  const auto file = folder.write("script", script);
  const std::string out = (folder / "out").string();
  const int status = std::system(("PATH=$(dirname '" + built_program() + "'):$PATH " + shell +
                                  " '" + file.string() + "' >'" + out + "' 2>&1")
                                     .c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0) << read_bytes(out);
  return read_bytes(out);
}

/// Completions that bash offers for the last word of `line`.
std::vector<std::string> offered(const TemporaryFolder& folder, const std::string& line) {
  std::istringstream words(printed(
      folder, "bash",
      "cd " + source_folder() + "\nsource <(attnscope completion bash)\nCOMP_WORDS=(" + line +
          ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_attnscope\nprintf '%s\\n' "
          "\"${COMPREPLY[@]}\"\n"));
  std::vector<std::string> list;
  for (std::string word; words >> word;) list.push_back(word);
  return list;
}

TEST(Completion, BashOffersCommandsOptionsValuesAndFiles) {
  const TemporaryFolder folder;
  EXPECT_THAT(offered(folder, "attnscope sp"), testing::ElementsAre("spectrum"));
  EXPECT_THAT(offered(folder, "attnscope spectrum --thr"), testing::ElementsAre("--threshold"));
  EXPECT_THAT(offered(folder, "attnscope spectrum --identity wi"),
              testing::UnorderedElementsAre("with", "without"));
  EXPECT_THAT(offered(folder, "attnscope spectrum --mechanism add"),
              testing::UnorderedElementsAre("adder", "additive"));
  EXPECT_THAT(offered(folder, "attnscope figure rank-b"), Contains("rank-by-layer"));
  EXPECT_THAT(offered(folder, "attnscope list arch"), testing::ElementsAre("architectures"));
  EXPECT_THAT(offered(folder, "attnscope list architectures READ"), IsEmpty());
  EXPECT_THAT(offered(folder, "attnscope figure sample_data/pa"),
              Contains("sample_data/page.json"));
  EXPECT_THAT(offered(folder, "attnscope ablate --other add"),
              testing::UnorderedElementsAre("adder", "additive"));
  EXPECT_THAT(offered(folder, "attnscope inspect READ"), Contains("README.md"));
  EXPECT_THAT(offered(folder, "attnscope figure rank-by-layer x --out READ"),
              Contains("README.md"));
  EXPECT_THAT(offered(folder, "attnscope energy --convention ad"), testing::ElementsAre("adder"));
  EXPECT_THAT(offered(folder, "attnscope spectrum --count 1"), IsEmpty());
  // Names that were replaced are not offered.
  EXPECT_THAT(offered(folder, "attnscope figure --mod"), Not(Contains("--model")));
}

TEST(Completion, FishOffersTheSame) {
  const TemporaryFolder folder;
  const std::string said =
      printed(folder, "fish",
              "attnscope completion fish | source\ncomplete -C 'attnscope spec'\n"
              "complete -C 'attnscope spectrum --identity wi'\n"
              "complete -C 'attnscope evaluate --data'\n");
  if (said == "not installed") GTEST_SKIP() << "fish is not installed";
  EXPECT_THAT(said, AllOf(HasSubstr("spectrum\t"), HasSubstr("without"), HasSubstr("--dataset")));
}

TEST(Completion, ZshReadsItsScript) {
  const TemporaryFolder folder;
  // The script prints the arguments of zsh's own functions.
  const std::string said =
      printed(folder, "zsh",
              "_describe() { local list=$@[-1]; print -rl -- ${(P)list} }; _arguments() { print "
              "-rl -- $@ }\n"
              "words=(attnscope s); CURRENT=2; source <(attnscope completion zsh)\n"
              "words=(attnscope spectrum --id); CURRENT=3; source <(attnscope completion zsh)\n");
  if (said == "not installed") GTEST_SKIP() << "zsh is not installed";
  EXPECT_THAT(said, AllOf(HasSubstr("spectrum:"), HasSubstr("train:"),
                          HasSubstr(":as-is|without|with|both:(as-is without with both)")));
}

TEST(Completion, AnUnknownShellIsNamedWithTheKnown) {
  const ProgramRun run = run_program("completion csh");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.errors, HasSubstr("bash, zsh, fish"));
}

TEST(ManualPage, HasEveryCommandAndOptionAndNoWarning) {
  const ProgramRun run = run_program("man");
  ASSERT_EQ(run.status, 0) << run.errors;
  const Program program = make_program();
  for (const CommandTable& command : command_table(*program.app).subcommands) {
    std::string name = command.name;
    for (std::size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2) {
      name.replace(at, 1, "\\-");
    }
    EXPECT_THAT(run.output, HasSubstr(".SS \"" + name + "\"")) << command.name;
  }
  const std::size_t heading = run.output.find(".SH \"COMMANDS: MEASURE ATTENTION\"\n");
  ASSERT_NE(heading, std::string::npos);
  EXPECT_LT(heading, run.output.find(".SS \"attnscope spectrum\"\n"));
  EXPECT_LT(run.output.find(".SS \"attnscope spectrum\"\n"),
            run.output.find(".SH \"COMMANDS: CHANGE IT AND SEE\"\n"));
  const TemporaryFolder folder;
  const auto page = folder.write("attnscope.1", run.output);
  const std::string said = printed(
      folder, "bash",
      "command -v groff >/dev/null || exit 0\nLC_ALL=C.UTF-8 groff -ww -Kutf8 -man -Tutf8 '" +
          page.string() + "' 2>&1 >/dev/null\n");
  EXPECT_EQ(said, "");
}

}  // namespace
}  // namespace attnscope
