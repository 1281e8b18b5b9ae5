// Pages, the gallery, file formats and files that cannot be written, on the command line.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/app/cli/ran.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

class Publish : public testing::Test {
 protected:
  void TearDown() override { ::chmod(folder_.path().c_str(), 0755); }

  [[nodiscard]] std::string out(const std::string& name) const { return (folder_ / name).string(); }

  [[nodiscard]] static std::string models() {
    return " " + samples + "models/fashion-softmax.h5 " + samples +
           "models/fashion-adder.h5 --input " + samples + "inputs/00_t_shirt.png ";
  }

  [[nodiscard]] static std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  [[nodiscard]] static nlohmann::json read(const fs::path& file) {
    std::ifstream in(file);
    return nlohmann::json::parse(in);
  }

  TemporaryFolder folder_;
};

TEST_F(Publish, EveryLookIsAFlagAndPrintedInTheCommand) {
  const std::string file = out("f.json");
  const std::string given =
      "figure attention-maps" + models() +
      "--width page --font-size 9 --font-family 'DejaVu Serif' --background transparent --letters "
      "--shared-legend --colour-map cividis --lines grey --caption 'Maps, seen' --out ";
  const Ran ran = run(program + given + file);
  ASSERT_EQ(ran.status, 0) << ran.output;
  const nlohmann::json figure = read(file);
  EXPECT_EQ(figure.at("width_mm"), 174);
  EXPECT_EQ(figure.at("font_size_pt"), 9);
  EXPECT_EQ(figure.at("font_family"), "DejaVu Serif");
  EXPECT_EQ(figure.at("caption"), "Maps, seen");
  EXPECT_EQ(figure.at("panels").at(0).at("letter"), "a");
  EXPECT_EQ(figure.at("colour_scales").at(0).at("colour_map"), "grey");
  const std::string command = figure.at("command");
  fs::remove(file);
  ASSERT_EQ(run(program + command.substr(10)).status, 0) << command;
  EXPECT_EQ(read(file), figure);
}

TEST_F(Publish, WritesOneFileAFormat) {
  const Ran ran = run(program + "figure rank-by-layer" + models() +
                      "--format pdf,svg,png,tex,csv,json,h5,npz --out " + out("rank"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  for (const char* extension : {".pdf", ".svg", ".png", ".tex", ".csv", ".json", ".h5", ".npz"}) {
    EXPECT_GT(fs::file_size(folder_ / ("rank" + std::string(extension))), 500U) << extension;
  }
  // All formats hold the same numbers.
  const nlohmann::json figure = read(out("rank.json"));
  const double rank = figure.at("numbers").at("mean_rank_by_layer/fashion-adder").at(0);
  std::ostringstream number;
  number.precision(17);
  number << rank;
  EXPECT_NE(content(out("rank.csv")).find(",0,,," + number.str() + "\n"), std::string::npos)
      << number.str();
}

TEST_F(Publish, WritesProvenanceOfACsvOnRequest) {
  const std::string file = out("f.csv"), beside = file + "-metadata.json";
  const std::string make = program + "figure energy-share --out " + file + " --csv-provenance ";
  ASSERT_EQ(run(make + "none").status, 0);
  const std::string bare = content(file);
  EXPECT_FALSE(fs::exists(beside));
  EXPECT_TRUE(bare.starts_with("figure,panel_row,")) << bare.substr(0, 100);
  ASSERT_EQ(run(make + "comment").status, 0);
  EXPECT_FALSE(fs::exists(beside));
  const std::string commented = content(file);
  EXPECT_TRUE(commented.starts_with("# Title: ")) << commented.substr(0, 100);
  EXPECT_NE(commented.find("--csv-provenance comment"), std::string::npos);
  EXPECT_TRUE(commented.ends_with(bare));
  ASSERT_EQ(run(make + "file").status, 0);
  EXPECT_EQ(content(file), bare);
  EXPECT_EQ(read(beside).at("url"), "f.csv");
}

TEST_F(Publish, TheHdf5FileHoldsTheNumbers) {
  ASSERT_EQ(
      run(program + "figure rank-by-layer" + models() + "--format json,h5 --out " + out("rank"))
          .status,
      0);
  const std::string check = R"(
import h5py, json, sys
f = h5py.File(sys.argv[1]); j = json.load(open(sys.argv[2]))
assert f.attrs['name'] == 'rank-by-layer', f.attrs['name']
assert 'fashion-adder.h5' in f.attrs['models']
for p, panel in enumerate(j['panels']):
  for m, mark in enumerate(panel['marks']):
    g = f['panel_%02d/mark_%02d' % (p, m)]
    assert list(g['x'][()]) == mark['x'] and list(g['y'][()]) == mark['y']
    # NeXus: what a reader draws.
    assert g.attrs['NX_class'] == 'NXdata' and g.attrs['signal'] == 'y', dict(g.attrs)
    assert list(g.attrs['axes']) == ['x'] and g['y'].attrs['long_name'] == panel['y']['label']
for name, values in j['numbers'].items():
  assert list(f['numbers/' + name + '/values'][()]) == values, name
# What is shown first: from the root to something that can be drawn.
entry = f[f.attrs['default']]
assert f.attrs['NX_class'] == 'NXroot' and entry.attrs['NX_class'] == 'NXentry'
data = entry[entry.attrs['default']]
assert data[data.attrs['signal']].ndim == len(data.attrs['axes'])
print('same')
)";
  std::ofstream(out("check.py")) << check;
  if (run("/usr/bin/python3 -c 'import h5py'").status != 0) {
    GTEST_SKIP() << "h5py is not installed";
  }
  const Ran ran =
      run("/usr/bin/python3 " + out("check.py") + " " + out("rank.h5") + " " + out("rank.json"));
  EXPECT_NE(ran.output.find("same"), std::string::npos) << ran.output;
}

TEST_F(Publish, TheNpzFileHoldsTheNumbers) {
  ASSERT_EQ(
      run(program + "figure attention-maps" + models() + "--format json,npz --out " + out("maps"))
          .status,
      0);
  std::ofstream(out("check.py")) << R"(
import json, numpy as np, sys
f = np.load(sys.argv[1], allow_pickle=False); j = json.load(open(sys.argv[2]))
assert f['name'].item() == 'attention-maps' and f['command'].item().startswith('attnscope ')
for p, panel in enumerate(j['panels']):
  mark = panel['marks'][0]
  values = f['panel_%02d/mark_00/values' % p]
  assert values.dtype == np.float32 and values.shape == (mark['rows'], mark['columns'])
  assert np.array_equal(values.ravel(), np.array(mark['values'], np.float32))
for name, values in j['numbers'].items():
  assert f['numbers/' + name + '/values'].tolist() == values, name
print('same')
)";
  if (run("/usr/bin/python3 -c 'import numpy'").status != 0) {
    GTEST_SKIP() << "NumPy is not installed";
  }
  const Ran ran =
      run("/usr/bin/python3 " + out("check.py") + " " + out("maps.npz") + " " + out("maps.json"));
  EXPECT_NE(ran.output.find("same"), std::string::npos) << ran.output;
}

TEST_F(Publish, EnergyFiguresAreWrittenAsArraysToo) {
  for (const char* figure : {"energy-breakdown", "energy-growth", "energy-share",
                             "operations-table", "mechanism-costs"}) {
    const Ran ran = run(program + "figure " + figure +
                        (std::string(figure) == "mechanism-costs"
                             ? " --set tokens=16 --set mechanisms='softmax; adder'"
                             : "") +
                        " --format h5,npz --out " + out(figure));
    EXPECT_EQ(ran.status, 0) << figure << "\n" << ran.output;
  }
}

TEST_F(Publish, RefusesUnknownLooks) {
  const std::pair<const char*, const char*> wrong[] = {
      {"--font-family NoSuchFont", "unknown font family"},
      {"--width wide", "column, page, beamer"},
      {"--colour-map jet", "viridis"},
      {"--lines thick", "as-made, distinct, grey"},
      {"--background blue", "light, transparent"},
      {"--csv-provenance here", "file, comment, none"},
      {"--font-size 1", "3 to 48"},
      {"--height 3", "20 to 1000"},
      {"--format pdf,doc", ".pdf, .svg"}};
  for (const auto& [flags, expected] : wrong) {
    const Ran ran =
        run(program + "figure rank-by-layer" + models() + flags + " --out " + out("f.pdf"));
    EXPECT_EQ(ran.status, 2) << flags << "\n" << ran.output;
    EXPECT_NE(ran.output.find(expected), std::string::npos) << ran.output;
    EXPECT_TRUE(fs::is_empty(folder_.path())) << flags;
  }
}

TEST_F(Publish, AnUnwritableFolderLeavesTheOldFile) {
  std::ofstream(out("old.csv")) << "old";
  if (::geteuid() == 0) {
    // Root can write to every folder, but not to a path that is not a folder.
    const Ran ran =
        run(program + "figure rank-by-layer" + models() + "--out " + out("old.csv/f.csv"));
    EXPECT_EQ(ran.status, 1) << ran.output;
  } else {
    ::chmod(folder_.path().c_str(), 0555);
    const Ran ran = run(program + "figure rank-by-layer" + models() + "--out " + out("old.csv"));
    EXPECT_EQ(ran.status, 1) << ran.output;
    EXPECT_NE(ran.output.find("unchanged"), std::string::npos) << ran.output;
  }
  EXPECT_EQ(content(out("old.csv")), "old");
}

TEST_F(Publish, AFullDiskLeavesTheOldFileAndNothingElse) {
  for (const char* extension : {".pdf", ".svg", ".png", ".csv", ".json", ".h5", ".npz", ".tex"}) {
    const std::string file = out("old" + std::string(extension));
    std::ofstream(file) << "old";
    // No file may grow past one block: the error of the system is then that of a full disk.
    const Ran ran = run("trap '' XFSZ; ulimit -f 1; " + program + "figure attention-maps" +
                        models() + "--out " + file);
    EXPECT_EQ(ran.status, 1) << extension << ran.output;
    EXPECT_NE(ran.output.find("cannot be written"), std::string::npos) << ran.output;
    EXPECT_NE(ran.output.find("unchanged"), std::string::npos) << ran.output;
    EXPECT_EQ(content(file), "old");
    fs::remove(file);
    EXPECT_TRUE(fs::is_empty(folder_.path())) << "left something behind";
  }
}

TEST_F(Publish, DrawsAPageFromJson) {
  const nlohmann::json page = {
      {"models", {"softmax.h5", samples + "models/fashion-adder.h5"}},
      {"inputs", {samples + "inputs/00_t_shirt.png"}},
      {"rows",
       {{{{"figure", "rank-by-layer"}, {"settings", {{"spread", "none"}}}, {"share", 2}},
         {{"figure", "energy-share"}, {"models", nlohmann::json::array()}}},
        {{{"figure", "attention-maps"},
          {"title", "One model"},
          {"models", {"softmax.h5"}},
          {"labels", {"S"}},
          {"settings", {{"ranks", false}}}}}}}};
  fs::copy_file(samples + "models/fashion-softmax.h5", folder_ / "softmax.h5");
  std::ofstream(out("page.json")) << page;
  const Ran ran =
      run(program + "figure " + out("page.json") + " --format json,pdf --out " + out("sheet"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  const nlohmann::json figure = read(out("sheet.json"));
  EXPECT_EQ(figure.at("width_mm"), 174);
  EXPECT_EQ(figure.at("areas").size(), 3U);
  EXPECT_EQ(figure.at("areas").at(2).at("title"), "One model");
  EXPECT_TRUE(figure.at("numbers").contains("a/mean_rank_by_layer/fashion-adder"));
  EXPECT_GT(fs::file_size(out("sheet.pdf")), 5000U);
  const std::string command = figure.at("command");
  EXPECT_EQ(command.rfind("attnscope figure ", 0), 0U) << command;
  fs::remove(out("sheet.json"));
  ASSERT_EQ(run(program + command.substr(10)).status, 0) << command;
  EXPECT_EQ(read(out("sheet.json")), figure);
}

TEST_F(Publish, APageMayBeAnyFileOrStandardInput) {
  std::ofstream(out("sheet")) << R"({"rows": [[{"figure": "energy-share"}]]})";
  const Ran named = run(program + "figure " + out("sheet") + " --out " + out("named.csv"));
  EXPECT_EQ(named.status, 0) << named.output;
  const Ran piped = run(program + "figure - --out " + out("piped.csv") + " <" + out("sheet"));
  EXPECT_EQ(piped.status, 0) << piped.output;
  EXPECT_GT(content(out("named.csv")).size(), 100U);
  EXPECT_EQ(content(out("named.csv")), content(out("piped.csv")));
  const Ran missing = run(program + "figure " + out("missing.json") + " --out " + out("f.csv"));
  EXPECT_EQ(missing.status, 1) << missing.output;
  EXPECT_NE(missing.output.find("missing.json"), std::string::npos) << missing.output;
  // A folder is not a page, and its name not that of a figure.
  const Ran folder = run(program + "figure " + folder_.path().string() + " --out " + out("f.csv"));
  EXPECT_EQ(folder.status, 2) << folder.output;
}

TEST_F(Publish, AFilmHasAFrameForEachValueOfASetting) {
  const std::string figure = "figure attention-overlay " + samples + "models/fashion-softmax.h5" +
                             " --input " + samples + "inputs/00_t_shirt.png --dpi 50 ";
  const Ran film =
      run(program + figure + "--film 100 --frames query=0,90-91 --out " + out("film.png"));
  ASSERT_EQ(film.status, 0) << film.output;
  EXPECT_NE(film.output.find("3 pictures, 100 ms each"), std::string::npos) << film.output;
  EXPECT_NE(content(out("film.png")).find("acTL"), std::string::npos);
  for (const char* wrong : {"--frames query=3", "--film 100 --frames query",
                            "--film 100 --frames query=none", "--film 100 --frames queries=1"}) {
    const Ran ran = run(program + figure + wrong + " --out " + out("wrong.png"));
    EXPECT_EQ(ran.status, 2) << wrong << ran.output;
    EXPECT_FALSE(fs::exists(out("wrong.png")));
  }
}

TEST_F(Publish, APageTakesNoArgumentOfASingleFigure) {
  std::ofstream(out("page.json")) << R"({"rows": [[{"figure": "energy-share"}]]})";
  const std::pair<std::string, std::string> refused[] = {
      {samples + "models/fashion-adder.h5", "MODEL"},
      {"--set measure=stable", "--set"},
      {"--heads 0", "--heads"},
      {"--film 5", "--film"},
      {"--frames query=1", "--frames"},
      {"--mechanism adder", "--mechanism"}};
  for (const auto& [argument, name] : refused) {
    const Ran ran =
        run(program + "figure " + out("page.json") + " " + argument + " --out " + out("f.csv"));
    EXPECT_EQ(ran.status, 2) << argument << ran.output;
    EXPECT_NE(ran.output.find(name + ": a page names the models"), std::string::npos) << ran.output;
    EXPECT_FALSE(fs::exists(out("f.csv")));
  }
}

TEST_F(Publish, ReportsErrorsOfAPage) {
  const std::pair<const char*, const char*> wrong[] = {
      {"{", "rows"},
      {R"({"rows": []})", "no rows"},
      {R"({"rows": [[{"figure": "pie"}]]})", "unknown figure"},
      {R"({"rows": [[{"figure": "rank-by-layer", "setings": {}}]]})", "unknown key"},
      {R"({"rows": [[{"figure": "rank-by-layer", "settings": {"a": 1}}]]})", "measure"},
      {R"({"rows": [[{"figure": "rank-by-layer"}]]})", "no model"}};
  for (const auto& [text, expected] : wrong) {
    std::ofstream(out("page.json")) << text;
    const Ran ran = run(program + "figure " + out("page.json") + " --out " + out("f.pdf"));
    EXPECT_EQ(ran.status, 2) << text << ran.output;
    EXPECT_NE(ran.output.find(expected), std::string::npos) << ran.output;
  }
}

TEST_F(Publish, GalleryDrawsAvailableFiguresAndNamesMissingOnes) {
  const Ran ran = run(program + "gallery" + models() + "--dataset " + source_folder() +
                      "/tests/data/input/grey_set.npz --format csv --out " + out("gallery"));
  ASSERT_EQ(ran.status, 0) << ran.output;
  for (const char* name : {"adder-fig-1", "adder-fig-2", "adder-fig-3", "adder-appendix-fig-2",
                           "adder-appendix-fig-3", "ecoformer-fig-2"}) {
    EXPECT_TRUE(fs::exists(folder_ / "gallery" / (std::string(name) + ".csv"))) << name;
  }
  EXPECT_NE(ran.output.find("Fastformer-LM"), std::string::npos);
  const std::string index = content(out("gallery/index.html"));
  EXPECT_NE(index.find("Adder, Fig. 2"), std::string::npos);
  EXPECT_NE(index.find("Not drawn: "), std::string::npos);
  // The command in the metadata writes the same file.
  const fs::path file = folder_ / "gallery" / "adder-fig-2.csv";
  const std::string once = content(file);
  const std::string command = read(file.string() + "-metadata.json")
                                  .at("notes")
                                  .at("Command")
                                  .get<std::string>()
                                  .substr(10);
  fs::remove(file);
  ASSERT_EQ(run(program + command).status, 0) << command;
  EXPECT_EQ(content(file), once);
}

}  // namespace
}  // namespace attnscope
