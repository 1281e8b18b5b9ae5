// Every printed figure, recomputed and compared with the paper and with the values of an
// independent computation (tests/data/energy/published_values.csv).
#include "analysis/energy/published.h"

#include <cmath>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "core/error.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

/// The independent value of each row, in order; NaN if the row has only a formula.
const std::vector<double>& independent_values() {
  static const std::vector<double> values = [] {
    std::ifstream file(source_folder() + "/tests/data/energy/published_values.csv");
    std::vector<double> all;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      // A formula may end in the number that it evaluates to.
      const std::size_t start = line.find_last_of(",= ");
      char* end = nullptr;
      const double value = std::strtod(line.c_str() + start + 1, &end);
      all.push_back(*end == '\0' && end != line.c_str() + start + 1 ? value : std::nan(""));
    }
    return all;
  }();
  return values;
}

class Published : public testing::TestWithParam<std::size_t> {};

TEST_P(Published, MatchesItsVerdict) {
  const PublishedFigure& figure = published_figures()[GetParam()];
  const ReproducedFigure reproduced = reproduce(figure);
  EXPECT_TRUE(reproduced.holds()) << figure.printed << " printed, " << reproduced.computed
                                  << " computed: " << figure.recipe;
  if (figure.verdict == Verdict::off) {
    EXPECT_FALSE(figure.note.empty()) << "it must say why";
  }
}

TEST_P(Published, EqualsAnIndependentComputation) {
  const PublishedFigure& figure = published_figures()[GetParam()];
  // Figures that are not computed stand at the end, and the independent computation has none.
  if (GetParam() >= independent_values().size()) {
    EXPECT_EQ(figure.verdict, Verdict::printed);
    EXPECT_TRUE(std::isnan(reproduce(figure).computed));
    EXPECT_FALSE(reproduce(figure).rounds_to_print);
    return;
  }
  const double expected = independent_values()[GetParam()];
  if (std::isnan(expected) || figure.paper + figure.table == "DAFTTable1") {
    EXPECT_EQ(figure.verdict, Verdict::formula);
    return;
  }
  // The file has six significant digits.
  EXPECT_NEAR(reproduce(figure).computed, expected, 5.1e-6 * std::abs(expected)) << figure.recipe;
}

std::string row_name(const testing::TestParamInfo<std::size_t>& info) {
  const PublishedFigure& figure = published_figures()[info.param];
  std::string name = std::to_string(info.param) + "_" + figure.paper + figure.table + "_" +
                     figure.model + "_" + figure.method + "_" + figure.quantity;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryRow, Published,
                         testing::Range<std::size_t>(0, published_figures().size()), row_name);

TEST(PublishedTables, AreThoseOfThePapers) {
  for (const char* table :
       {"adder:1",     "adder:2",     "adder:3",     "adder:4",     "ecoformer:1", "ecoformer:2",
        "ecoformer:3", "ecoformer:4", "ecoformer:5", "ecoformer:6", "ecoformer:7", "ecoformer:8",
        "ecoformer:9", "daft:1",      "daft:2",      "daft:3",      "daft:4",      "daft:5",
        "daft:6",      "daft:7",      "daft:8"}) {
    EXPECT_FALSE(reproduce_table(table).empty()) << table;
  }
  const Error error =
      refusal_of([&] { (void)reproduce_table("adder:5"); }, testing::Message() << "no such table");
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_THAT(error.what(), testing::HasSubstr("adder:1, adder:2, adder:3"));
}

TEST(PublishedTables, CallWhatWasChosenToMatchFitted) {
  for (const PublishedFigure& figure : published_figures()) {
    for (const char* word : {"reconstructed", "inferred", "cuts digits", "cut off"}) {
      EXPECT_EQ(figure.note.find(word), std::string::npos) << figure.note;
    }
  }
}

}  // namespace
}  // namespace attnscope
