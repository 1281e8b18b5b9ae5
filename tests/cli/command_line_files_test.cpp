// Files on the command line: their names, opening them, and inputs that do not suit a figure.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>

#include "tests/cli/program.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

const std::string kDrawnModel = source_folder() + "/sample_data/models/fashion-softmax.h5";
const std::string kDrawnBag = source_folder() + "/sample_data/inputs/08_bag.png";
const std::string kOnDrawnBag = " --input " + kDrawnBag;

TEST(CommandLineFiles, FilesWithoutACommandOpenTheWindow) {
  const TemporaryFolder folder;
  const std::filesystem::path picture = folder / "p.png";
  const ProgramRun run =
      run_program(kDrawnModel + " " + kDrawnBag + " --screenshot " + picture.string());
  EXPECT_EQ(run.status, 0) << run.errors;
  EXPECT_THAT(read_bytes(picture), testing::StartsWith("\x89PNG"));
}

TEST(CommandLineFiles, AnUnknownQtPlatformFailsOnlyCommandsWithAWindow) {
  const TemporaryFolder folder;
  const auto without = [&folder](const std::string& arguments) {
    const std::string command = "QT_QPA_PLATFORM=nowhere '" + built_program() + "' " + arguments +
                                " >/dev/null 2>'" + (folder / "errors").string() + "'";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(without("gui " + kDrawnModel), 1);
  EXPECT_THAT(read_bytes(folder / "errors"),
              testing::HasSubstr("cannot run on the platform \"nowhere\""));
  for (const char* name : {"f.csv", "f.svg"}) {
    const std::filesystem::path file = folder / name;
    EXPECT_EQ(
        without("figure rank-by-layer " + kDrawnModel + kOnDrawnBag + " --out " + file.string()), 0)
        << read_bytes(folder / "errors");
    EXPECT_TRUE(std::filesystem::exists(file)) << name;
  }
}

TEST(CommandLineFiles, ABrokenSessionEndsAScreenshotWithAnError) {
  const TemporaryFolder folder;
  std::ofstream(folder / "s.json") << "{broken";
  const std::filesystem::path picture = folder / "p.png";
  const ProgramRun run = run_program("gui --session " + (folder / "s.json").string() +
                                     " --screenshot " + picture.string());
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.errors, testing::AllOf(testing::HasSubstr("s.json: is not valid JSON"),
                                         testing::HasSubstr("line 1"),
                                         testing::Not(testing::HasSubstr("json.exception"))));
  EXPECT_FALSE(std::filesystem::exists(picture));
}

TEST(CommandLineFiles, ControlCharactersOfFileNamesAreShownAndNeverWritten) {
  const TemporaryFolder folder;
  const std::filesystem::path data = source_folder() + "/tests/data/language/gpt2";
  std::filesystem::copy_file(data / "config.json", folder / "config.json");
  const std::filesystem::path model = folder / "a\a\033[31mb.safetensors";
  std::filesystem::copy_file(data / "model.safetensors", model);
  const auto harmless = [](const std::string& text) {
    return std::ranges::none_of(text, [](char c) {
      return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
    });
  };
  const std::string of_text = " '" + model.string() + "' --input ids:3,1,4,1";
  for (const std::string& arguments :
       {"inspect '" + model.string() + "'", "energy '" + model.string() + "'",
        "energy --csv '" + model.string() + "'", "spectrum" + of_text, "lens" + of_text,
        "heads" + of_text, "truncate" + of_text, "inspect '" + model.string() + "nowhere'"}) {
    const ProgramRun run = run_program(arguments);
    EXPECT_TRUE(harmless(run.output)) << arguments << "\n" << run.output;
    EXPECT_TRUE(harmless(run.errors)) << arguments << "\n" << run.errors;
    EXPECT_THAT(run.output + run.errors, testing::HasSubstr("x1B[31mb")) << arguments;
  }
  const std::filesystem::path base = folder / "f";
  const ProgramRun run = run_program("figure rank-by-layer" + of_text +
                                     " --format svg,tex,csv,json --out " + base.string());
  ASSERT_EQ(run.status, 0) << run.errors;
  EXPECT_TRUE(harmless(run.output + run.errors));
  for (const char* extension : {".svg", ".tex", ".csv", ".json", ".csv-metadata.json"}) {
    const std::string written = read_bytes(base.string() + extension);
    EXPECT_FALSE(written.empty()) << extension;
    EXPECT_TRUE(harmless(written)) << extension;
  }
}

TEST(CommandLineFiles, TheGalleryReportsAFigureThatCouldNotBeDrawn) {
  const TemporaryFolder folder;
  const ProgramRun run = run_program("gallery " + kDrawnModel + kOnDrawnBag + " --dataset " +
                                     kDrawnBag + " --format csv --out " + folder.path().string());
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.errors, testing::HasSubstr("1 figure could not be drawn; the list says why"));
}

}  // namespace
}  // namespace attnscope
