// Pages of several figures as JSON files.
#include "analysis/figure/page_file.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

void expect_same(const PageFile& a, const PageFile& b) {
  EXPECT_EQ(a.page, b.page);
  EXPECT_EQ(a.subjects, b.subjects);
  EXPECT_EQ(a.options, b.options);
  EXPECT_EQ(a.architecture, b.architecture);
  EXPECT_EQ(a.look.width_mm, b.look.width_mm);
  EXPECT_EQ(a.look.font_size_pt, b.look.font_size_pt);
  EXPECT_EQ(a.look.letters, b.look.letters);
  EXPECT_EQ(a.look.shared_colours, b.look.shared_colours);
  EXPECT_EQ(a.look.shared_legend, b.look.shared_legend);
}

TEST(PageFile, WritesTextThatReadsAsTheSamePage) {
  const PageSubjects two{{"a.pt", "a.pt@adder"}, {"cat.png"}, {"A", "B"}};
  PageFile file;
  file.page.rows = {{{.figure = "rank-by-layer", .settings = {{"spread", "none"}}, .share = 2},
                     {.figure = "energy-share"}},
                    {{.figure = "attention-maps",
                      .settings = {{"layers", IndexRanges{{0, 0}, {2, 3}}}, {"ranks", false}},
                      .title = "One \"model\""},
                     {.figure = "attention-maps"},
                     {.figure = "attention-maps"}}};
  file.subjects = {{two, {}},
                   {{{"a.pt"}, {"cat.png"}, {}},
                    {two.models, {"dog.png"}, two.labels},
                    {two.models, two.inputs, {"A", "C"}}}};
  file.look = {.width_mm = 139.7,
               .font_size_pt = 8,
               .letters = false,
               .shared_colours = true,
               .shared_legend = true};
  file.options = {"heads=3"};
  file.architecture = "vit.json";
  expect_same(parse_page_file(page_as_json(file), "."), file);
}

TEST(PageFile, HasNoWidthOfItsOwnUnlessItSaysSo) {
  const PageFile file = parse_page_file(R"({"rows": [[{"figure": "energy-share"}]]})", ".");
  EXPECT_EQ(file.look.width_mm, 0);
  EXPECT_EQ(file.look.font_size_pt, 0);
  EXPECT_TRUE(file.look.letters);
  EXPECT_FALSE(file.look.shared_legend);
  ASSERT_EQ(file.subjects.size(), 1U);
  EXPECT_EQ(file.subjects[0], std::vector<PageSubjects>(1));
}

TEST(PageFile, NamesFilesInItsFolder) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.pt") << "a";
  std::ofstream(folder / "page.json") << R"({"models": ["a.pt", "a.pt@adder", "elsewhere.pt"],
                                             "rows": [[{"figure": "rank-by-layer"}]]})";
  const std::string a = (folder / "a.pt").string();
  EXPECT_EQ(read_page_file(folder / "page.json").subjects[0][0].models,
            (std::vector<std::string>{a, a + "@adder", "elsewhere.pt"}));
}

TEST(PageFile, NamesTheProblem) {
  const std::pair<const char*, const char*> wrong[] = {
      {"{", "not JSON"},
      {"[]", "not valid"},
      {R"({"rows": []})", "no rows"},
      {R"({"rows": [[]]})", "a row of the page is empty"},
      {R"({"rows": [[{"figure": "pie"}]]})", "unknown figure"},
      {R"({"rows": [[{"figure": "energy-share"}]], "width": 3})", "unknown key of a page"},
      {R"({"rows": [[{"figure": "energy-share"}]], "width_mm": 3})", "width_mm"},
      {R"({"rows": [[{"figure": "energy-share", "share": 0}]]})", "above 0"}};
  for (const auto& [text, expected] : wrong) {
    const Error error = refusal_of([&text = text] { (void)parse_page_file(text, "."); },
                                   testing::Message() << text);
    EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
    EXPECT_THAT(error.what(), HasSubstr(expected)) << text;
  }
}

}  // namespace
}  // namespace attnscope
