// Each figure's SVG compared with a committed reference: texts, positions, colours and dashes.
// ATTNSCOPE_UPDATE_REFERENCES=1 writes the references. Look at the difference before a commit.
#include <QImage>
#include <QTransform>
#include <QXmlStreamReader>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "analysis/figure/recipe.h"
#include "analysis/figure/style.h"
#include "app/render/render.h"
#include "tests/app/render/svg_transform.h"
#include "tests/support/paths.h"
#include "tests/support/sample_figures.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

const fs::path references = source_folder() + "/tests/data/figure";

/// A summary of an SVG that does not depend on the versions of Qt and FreeType: one line per text
/// with its position in millimetres, and one per run of shapes that look the same.
class SvgSummary {
 public:
  explicit SvgSummary(const std::string& svg) {
    QXmlStreamReader xml(QByteArray::fromStdString(svg));
    while (!xml.atEnd()) {
      if (xml.readNext() == QXmlStreamReader::EndElement && xml.name() == u"g") groups_.pop_back();
      if (!xml.isStartElement()) continue;
      const QXmlStreamAttributes attributes = xml.attributes();
      if (xml.name() == u"svg") {
        lines_ << "page " << attributes.value("width").toString().toStdString() << " × "
               << attributes.value("height").toString().toStdString() << "\n";
      } else if (xml.name() == u"g") {
        groups_.push_back(attributes);
      } else if (xml.name() == u"text") {
        take_text(xml);
      } else if (xml.name() == u"path" || xml.name() == u"polyline" || xml.name() == u"rect" ||
                 xml.name() == u"image") {
        take_shape(xml.name().toString(), attributes);
      }
    }
    EXPECT_FALSE(xml.hasError()) << xml.errorString().toStdString();
    end_run();
  }

  [[nodiscard]] std::string text() const { return lines_.str(); }

 private:
  [[nodiscard]] QString inherited(const QString& name) const {
    for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
      if (group->hasAttribute(name)) return group->value(name).toString();
    }
    return {};
  }

  void take_text(QXmlStreamReader& xml) {
    end_run();
    const QXmlStreamAttributes attributes = xml.attributes();
    QTransform transform;
    for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
      transform = transform * transform_in(*group);
    }
    const QPointF place =
        transform.map(QPointF(attributes.value("x").toDouble(), attributes.value("y").toDouble()));
    const QString colour = inherited("fill");
    const QString said = xml.readElementText(QXmlStreamReader::IncludeChildElements);
    // Positions are in whole millimetres, because other font versions move a text by less.
    lines_ << "text (" << std::lround(place.x() / 100) << ", " << std::lround(place.y() / 100)
           << ") \"" << said.toStdString() << "\" " << colour.toStdString() << "\n";
  }

  void take_shape(const QString& name, const QXmlStreamAttributes& attributes) {
    const auto value = [&](const QString& key) {
      return attributes.hasAttribute(key) ? attributes.value(key).toString() : inherited(key);
    };
    QString look = name + " fill=" + value("fill") + " stroke=" + value("stroke");
    const QString dash = value("stroke-dasharray");
    if (!dash.isEmpty() && value("stroke") != "none") look += " dashes";
    if (look != run_) end_run();
    run_ = look;
    ++count_;
  }

  void end_run() {
    if (count_ > 0) lines_ << run_.toStdString() << " x" << count_ << "\n";
    count_ = 0;
    run_.clear();
  }

  std::vector<QXmlStreamAttributes> groups_;
  QString run_;
  int count_ = 0;
  std::ostringstream lines_;
};

std::string summary_of(const std::string& name, const Figure& figure) {
  const TemporaryFolder folder;
  const fs::path file = folder / (name + ".svg");
  export_figure(figure, file);
  return SvgSummary(read_bytes(file)).text();
}

void compare(const std::string& name, const std::string& found) {
  const fs::path reference = references / (name + ".txt");
  if (std::getenv("ATTNSCOPE_UPDATE_REFERENCES") != nullptr) {
    std::ofstream(reference, std::ios::binary) << found;
  }
  ASSERT_TRUE(fs::exists(reference)) << reference << " is missing: see the top of this file";
  EXPECT_EQ(found, read_bytes(reference)) << name;
}

void compare(const std::string& name, const Figure& figure) {
  compare(name, summary_of(name, figure));
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<std::string> figure_names() {
  std::vector<std::string> names;
  for (const FigureRecipe& recipe : figure_recipes()) names.emplace_back(recipe.name);
  return names;
}

/// True for figures of which only words and numbers are compared, because the last bit of a map's
/// colours depends on the processor.
bool has_many_computed_colours(const std::string& name) {
  return name == "position-bias" || name == "key-maps" || name == "hash-codes" ||
         name == "token-importance" || name == "components" || name == "heads-by-layer" ||
         name == "token-mixing" || name == "logit-lens" || name == "logit-attribution" ||
         name == "relevance" || name == "tokens-over-depth" || name == "head-similarity" ||
         name == "ablation" || name == "patching" || name == "rank-accuracy" ||
         name == "over-training" || name == "trained-ranks" || name == "attention-lines" ||
         name == "score-channels" || name == "query-key-scatter" ||
         name == "rank-against-entropy" || name == "random-networks" || name == "patch-features" ||
         name == "rotary-use" || name == "spatial-frequencies" || name == "group-maps" ||
         name == "groups-over-depth" || name == "receiver-heads" || name == "token-experts";
}

std::string words_alone(const std::string& summary) {
  std::istringstream lines(summary);
  std::string words;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("text ")) words += line + "\n";
  }
  return words;
}

class SvgReference : public testing::TestWithParam<std::string> {};

TEST_P(SvgReference, EqualsTheApprovedImage) {
  std::string summary = summary_of(GetParam(), sample_figure(GetParam()));
  if (has_many_computed_colours(GetParam())) summary = words_alone(summary);
  EXPECT_FALSE(summary.empty());
  compare(GetParam(), summary);
}

// Every figure of the program is listed: a new one fails until its reference is committed.
INSTANTIATE_TEST_SUITE_P(Figures, SvgReference, testing::ValuesIn(figure_names()), test_name);

/// The titles and visible ticks of the figure, with the number of times that each occurs.
std::map<std::string, int> labels_of(const Figure& figure) {
  std::map<std::string, int> labels;
  for (const Panel& panel : figure.panels) {
    if (!panel.title.empty() && panel.title.find('\n') == std::string::npos) ++labels[panel.title];
    for (const Axis* axis : {&panel.x, &panel.y}) {
      if (!axis->visible) continue;
      for (const Tick& tick : axis->ticks) {
        const bool seen = (!axis->minimum || tick.value >= *axis->minimum) &&
                          (!axis->maximum || tick.value <= *axis->maximum);
        if (seen) ++labels[tick.label];
      }
    }
  }
  return labels;
}

class Labels : public testing::TestWithParam<std::string> {};

TEST_P(Labels, AreAllThere) {
  for (const double width_mm : {84.0, 174.0}) {
    const Figure figure = sample_figure(GetParam(), {}, width_mm);
    const std::string summary = summary_of(GetParam(), figure);
    for (const auto& [label, wanted] : labels_of(figure)) {
      int found = 0;
      const std::string quoted = " \"" + label + "\" ";
      for (std::size_t at = summary.find(quoted); at != std::string::npos;
           at = summary.find(quoted, at + 1)) {
        ++found;
      }
      EXPECT_GE(found, wanted) << label << " at " << width_mm << " mm";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Figures, Labels, testing::ValuesIn(figure_names()), test_name);

TEST(SvgReferences, DressedFiguresEqualTheApprovedImages) {
  compare("grey-lines", dressed(sample_figure("rank-by-layer"),
                                {.lines = LineLook::grey, .shared_legend = true}));
  const Figure page = sample_figure(
      "composite",
      {{"page",
        "attention-maps[subjects=0; layers=0] | attention-maps[subjects=1; layers=0; title=Adder] "
        "/ cumulative-spectrum[share=2] | rank-by-layer"},
       {"shared-colours", true}},
      174);
  compare("page-of-four", dressed(page, {.shared_legend = true}));
}

/// Mean difference of the colour channels of two images, 0 to 255; 255 if their sizes differ.
double difference(const QImage& a, const QImage& b) {
  if (a.size() != b.size()) return 255;
  double sum = 0;
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      const QColor one = a.pixelColor(x, y), other = b.pixelColor(x, y);
      sum += std::abs(one.red() - other.red()) + std::abs(one.green() - other.green()) +
             std::abs(one.blue() - other.blue());
    }
  }
  return sum / (3.0 * a.width() * a.height());
}

class ImageReference : public testing::TestWithParam<std::string> {};

TEST_P(ImageReference, EqualsTheApprovedImage) {
  constexpr double dpi = 72;
  const QImage found = figure_as_image(sample_figure(GetParam()), dpi);
  const QString reference = QString::fromStdString((references / (GetParam() + ".png")).string());
  if (std::getenv("ATTNSCOPE_UPDATE_REFERENCES") != nullptr) {
    ASSERT_TRUE(found.save(reference));
  }
  const QImage expected(reference);
  ASSERT_FALSE(expected.isNull()) << reference.toStdString();
  // Other versions change the antialiasing of edges. A wrong colour or position changes areas.
  EXPECT_LT(difference(found, expected), 2);
}

INSTANTIATE_TEST_SUITE_P(Figures, ImageReference,
                         testing::Values("cumulative-spectrum", "attention-maps",
                                         "attention-overlay"),
                         test_name);

/// A shared legend shows each series of all panels once, below the panels.
TEST(SharedLegend, ListsEachSeriesOnce) {
  const Figure page =
      sample_figure("composite", {{"page", "rank-by-layer | rank-by-layer[measure=stable]"}}, 174);
  const Figure figure = dressed(page, {.shared_legend = true});
  const std::string summary = summary_of("shared-legend", figure);
  for (const char* label : {"\"softmax\"", "\"softmax + I\"", "\"adder\"", "\"adder + I\""}) {
    const std::size_t first = summary.find(label);
    ASSERT_NE(first, std::string::npos) << label << "\n" << summary;
    EXPECT_EQ(summary.find(label, first + 1), std::string::npos) << label;
  }
}

}  // namespace
}  // namespace attnscope
