// The numbers of every figure that prints numbers as text are the same on the screen, in the PDF's
// text and in the CSV.
#include <QBuffer>
#include <QSvgGenerator>
#include <QXmlStreamReader>
#include <algorithm>
#include <gtest/gtest.h>
#include <optional>
#include <qcustomplot.h>
#include <regex>
#include <sstream>

#include "app/render/render.h"
#include "core/text/number_text.h"
#include "tests/app/cli/ran.h"
#include "tests/support/sample_figures.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using Words = std::vector<std::string>;

/// All texts of the figure in a panel of the window, one per line.
std::string panel_text(const Figure& figure) {
  QCustomPlot plot;
  plot.setAttribute(Qt::WA_DontShowOnScreen);
  plot.resize(840, static_cast<int>(840 * figure.height_mm / figure.width_mm));
  plot.show();
  draw(figure, plot, FigureTheme::light);
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize(plot.size());
  QCPPainter painter;
  painter.begin(&generator);
  painter.setMode(QCPPainter::pmVectorized);
  plot.toPainter(&painter);
  painter.end();
  std::string text;
  QXmlStreamReader svg(buffer.data());
  while (!svg.atEnd()) {
    if (svg.readNext() != QXmlStreamReader::StartElement || svg.name() != u"text") continue;
    text += svg.readElementText(QXmlStreamReader::IncludeChildElements).toStdString() + "\n";
  }
  return text;
}

/// The words of `text`, sorted. Commas and quotes, which separate cells of a CSV, count as blanks.
Words words_of(const std::string& text) {
  std::istringstream stream(std::regex_replace(text, std::regex("[,\"]"), " "));
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  std::sort(words.begin(), words.end());
  return words;
}

/// The matches of the first group of `pattern`, sorted.
Words matches(const std::string& text, const char* pattern) {
  const std::regex wanted(pattern);
  Words found;
  for (std::sregex_iterator match(text.begin(), text.end(), wanted), end; match != end; ++match) {
    found.push_back((*match)[1]);
  }
  std::sort(found.begin(), found.end());
  return found;
}

class PrintedNumbers : public testing::Test {
 protected:
  /// Exports the figure; skips the test if pdftotext is missing.
  void read(const Figure& figure) {
    panel_ = panel_text(figure);
    export_figure(figure, folder_ / "figure.csv");
    csv_ = read_bytes(folder_ / "figure.csv");
    export_figure(figure, folder_ / "figure.pdf");
    const Ran ran = run("pdftotext -layout " + (folder_ / "figure.pdf").string() + " -");
    if (ran.status != 0) GTEST_SKIP() << "poppler-utils is not installed";
    pdf_ = ran.output;
  }

  /// The values in rows …,number,SERIES,NAME,INDEX,,,VALUE of the CSV.
  [[nodiscard]] std::vector<double> csv_numbers(const std::string& name) const {
    std::vector<double> numbers;
    std::istringstream lines(csv_);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(",number,") == std::string::npos ||
          line.find("," + name + ",") == std::string::npos) {
        continue;
      }
      numbers.push_back(std::stod(line.substr(line.rfind(',') + 1)));
    }
    return numbers;
  }

  TemporaryFolder folder_;
  std::string panel_, pdf_, csv_;
};

struct Printed {
  const char* figure;
  const char* pattern;  ///< regular expression of a printed number
  const char* numbers;  ///< name in the CSV
  int digits = 17;      ///< number of printed digits
  double scale = 1;
  bool alone = true;  ///< no other text, such as a tick, matches the pattern
  std::optional<int> decimals = std::nullopt;  ///< printed decimals, instead of digits
};

void PrintTo(const Printed& printed, std::ostream* out) {
  *out << printed.figure << ", " << printed.numbers;
}

class PrintedNumbersOf : public PrintedNumbers, public testing::WithParamInterface<Printed> {};

TEST_P(PrintedNumbersOf, AreTheSameEverywhere) {
  const Printed& printed = GetParam();
  for (const double width_mm : {84.0, 174.0}) {
    read(sample_figure(printed.figure, {}, width_mm));
    if (IsSkipped()) return;
    Words expected;
    for (const double value : csv_numbers(printed.numbers)) {
      expected.push_back(printed.decimals ? fixed_text(printed.scale * value, *printed.decimals)
                                          : rounded_text(printed.scale * value, printed.digits));
    }
    std::sort(expected.begin(), expected.end());
    ASSERT_FALSE(expected.empty()) << csv_;
    for (const std::string& text : {panel_, pdf_}) {
      const Words found = matches(text, printed.pattern);
      if (printed.alone) {
        EXPECT_EQ(found, expected) << text;
      } else {
        EXPECT_TRUE(std::includes(found.begin(), found.end(), expected.begin(), expected.end()))
            << text;
      }
    }
  }
}

// pdftotext may drop the narrow spaces around a sign.
constexpr const char* kRank = "r ?= ?([0-9]+)";

INSTANTIATE_TEST_SUITE_P(
    Figures, PrintedNumbersOf,
    testing::Values(
        Printed{"cumulative-spectrum", kRank, "equivalent_rank"},
        Printed{"sweep-spectrum", kRank, "equivalent_rank"},
        Printed{"attention-maps", kRank, "equivalent_rank"},
        Printed{"composite", kRank, "equivalent_rank"},
        Printed{"comparison", "JS ([0-9.]+) bit", "js_divergence_bits", 3},
        Printed{
            .figure = "hash-codes", .pattern = "AUC ([0-9.]+)", .numbers = "auc", .decimals = 3},
        Printed{"hash-codes", "([0-9]+) codes?", "distinct_codes"},
        Printed{"feature-scatter", "component \\(([0-9.]+) ?%", "share_of_variance", 2, 100},
        Printed{"energy-share", "\\b([0-9]+)\\b", "attention_share_of_operations", 2, 1, false},
        Printed{"energy-share", "\\b([0-9]+)\\b", "attention_share_of_energy", 2, 1, false}),
    [](const auto& info) {
      std::string name = std::string(info.param.figure) + "_" + info.param.numbers;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

struct PrintedTable {
  const char* figure;
  ParameterValues settings = {};
};

void PrintTo(const PrintedTable& table, std::ostream* out) { *out << table.figure; }

class PrintedTableOf : public PrintedNumbers, public testing::WithParamInterface<PrintedTable> {};

TEST_P(PrintedTableOf, HasTheSameCellsEverywhere) {
  for (const double width_mm : {84.0, 174.0}) {
    read(sample_figure(GetParam().figure, GetParam().settings, width_mm));
    if (IsSkipped()) return;
    std::string cells;
    std::istringstream lines(csv_);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("#")) cells += line + "\n";
    }
    EXPECT_GT(words_of(cells).size(), 12U) << csv_;
    EXPECT_EQ(words_of(panel_), words_of(cells));
    EXPECT_EQ(words_of(pdf_), words_of(cells));
  }
}

INSTANTIATE_TEST_SUITE_P(Figures, PrintedTableOf,
                         testing::Values(PrintedTable{"operations-table"},
                                         PrintedTable{"mechanism-costs"},
                                         PrintedTable{"position-bias", {{"show", "numbers"}}}),
                         [](const auto& info) {
                           std::string name = info.param.figure;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace attnscope
