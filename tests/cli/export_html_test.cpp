// attnscope export-html, run from a shell. tests/browser opens its pages in a browser.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/input/input.h"
#include "core/model/model.h"
#include "tests/cli/program.h"
#include "tests/support/paths.h"
#include "tests/support/support.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kPagedFiles = source_folder() + "/sample_data/";
const std::string kPagedSoftmax = kPagedFiles + "models/fashion-softmax.h5";
const std::string kPagedAdder = kPagedFiles + "models/fashion-adder.h5";
const std::string kPagedInput = " --input " + kPagedFiles + "inputs/09_ankle_boot.png";

json data_of(const std::string& page) {
  const std::string before = "id=\"data\">";
  const std::size_t begin = page.find(before) + before.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(ExportHtmlCommand, WritesThePageThatItsCommandLineWritesAgain) {
  const TemporaryFolder folder;
  const std::string out = (folder / "p.html").string();
  const ProgramRun run = run_program("export-html " + kPagedSoftmax + " " + kPagedAdder +
                                     kPagedInput + " --layers 0,2 --identity with --out " + out);
  ASSERT_EQ(run.status, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("p.html: 2 models, "));
  const std::string page = read_bytes(out);
  const json data = data_of(page);
  ASSERT_EQ(data.at("subjects").size(), 2U);
  EXPECT_EQ(data.at("subjects").at(1).at("maps").size(), 6U);
  EXPECT_EQ(data.at("identity"), "with");
  const std::string before = "<pre id=\"command\" tabindex=\"0\">attnscope ";
  const std::size_t begin = page.find(before) + before.size();
  const std::string again = page.substr(begin, page.find("</pre>", begin) - begin);
  ASSERT_EQ(run_program(again).status, 0) << again;
  EXPECT_EQ(read_bytes(out), page);
}

TEST(ExportHtmlCommand, SpectraEqualThoseOfTheCommandThatThePageNames) {
  const std::string page =
      run_program("export-html " + kPagedSoftmax + "@adder" + kPagedInput + " --heads 1 --out -")
          .output;
  const std::string before = "<pre id=\"csv\" tabindex=\"0\">attnscope ";
  const std::size_t begin = page.find(before) + before.size();
  std::string command = page.substr(begin, page.find("</pre>", begin) - begin);
  command.replace(command.find("--csv"), 5, "--json");
  const ProgramRun run = run_program(command);
  ASSERT_EQ(run.status, 0) << command << run.errors;
  const json spectra = json::parse(run.output);
  const json maps = data_of(page).at("subjects").at(0).at("maps");
  ASSERT_EQ(maps.size(), 6U);
  for (std::size_t i = 0; i < maps.size(); ++i) {
    for (const char* view : {"without", "with"}) {
      const json& map = spectra.at(view).at("maps").at(i);
      EXPECT_EQ(map.at("layer"), maps[i].at("layer"));
      EXPECT_EQ(map.at("head"), 1);
      EXPECT_EQ(map.at("singular_values"), maps[i].at(view)) << view << " " << i;
    }
  }
}

/// The command after "attnscope" in the element `id`.
std::string command_in(const std::string& page, const std::string& id) {
  const std::string before = "<pre id=\"" + id + "\" tabindex=\"0\">attnscope ";
  const std::size_t begin = page.find(before) + before.size();
  return page.substr(begin, page.find("</pre>", begin) - begin);
}

TEST(ExportHtmlCommand, NamesTheCommandThatWritesEveryEntryOfTheMaps) {
  const TemporaryFolder folder;
  const std::string page =
      run_program("export-html " + kPagedSoftmax + kPagedInput + " --layers 1 --heads 2 --out -")
          .output;
  std::string command = command_in(page, "maps");
  EXPECT_THAT(command, HasSubstr(" --layers 1 --heads 2 --out maps.csv"));
  command.replace(command.find("maps.csv"), 8, (folder / "maps.csv").string());
  const ProgramRun run = run_program(command);
  ASSERT_EQ(run.status, 0) << command << run.errors;
  const Trace trace = load_model(kPagedSoftmax)
                          ->run(open_input(kPagedFiles + "inputs/09_ankle_boot.png"),
                                {"softmax", {}}, TraceRequest(), {});
  std::istringstream lines(read_bytes(folder / "maps.csv"));
  std::int64_t cells = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(",cell,") == std::string::npos) continue;
    const float value = std::stof(line.substr(line.rfind(',') + 1));
    EXPECT_EQ(value, trace.layers[1].implied_map.at(2, cells / 197, cells % 197)) << line;
    ++cells;
  }
  EXPECT_EQ(cells, 197 * 197);
}

TEST(ExportHtmlCommand, NamesAllMapsOfEachModel) {
  const std::string page =
      run_program("export-html " + kPagedSoftmax + " " + kPagedAdder + kPagedInput + " --out -")
          .output;
  EXPECT_THAT(command_in(page, "maps"),
              HasSubstr(" --layers 0,1,2,3,4,5 --heads all --out maps-1.csv\nattnscope figure "
                        "attention-maps "));
  EXPECT_THAT(command_in(page, "maps"), HasSubstr(" --out maps-2.csv"));
}

TEST(ExportHtmlCommand, RefusesToReplaceWhatItReads) {
  const TemporaryFolder folder;
  const std::filesystem::path model = folder / "model.html";
  std::filesystem::copy_file(kPagedSoftmax, model);
  const ProgramRun run =
      run_program("export-html " + model.string() + kPagedInput + " --out " + model.string());
  EXPECT_EQ(run.status, 2) << run.output;
  EXPECT_EQ(std::filesystem::file_size(model), std::filesystem::file_size(kPagedSoftmax));
}

TEST(ExportHtmlCommand, RefusesWrongArgumentsBeforeAnyModelRuns) {
  const std::string good = "export-html " + kPagedSoftmax + kPagedInput;
  EXPECT_EQ(run_program(good).status, 2);  // --out is required
  const ProgramRun name = run_program(good + " --out p.pdf");
  EXPECT_EQ(name.status, 2);
  EXPECT_THAT(name.errors, HasSubstr("ends in .html"));
  const ProgramRun view = run_program(good + " --identity both --out p.html");
  EXPECT_EQ(view.status, 2);
  EXPECT_THAT(view.errors, HasSubstr("without"));
  EXPECT_EQ(run_program(good + " --label a --label b --out p.html").status, 2);
  EXPECT_FALSE(std::filesystem::exists("p.html"));
}

}  // namespace
}  // namespace attnscope
