// Each figure's SVG beside a committed reference: what it says, where, in which colours and dashes.
// ATTNSCOPE_UPDATE_REFERENCES=1 writes the references anew; look at the difference before a commit.
#include <QImage>
#include <QTransform>
#include <QXmlStreamReader>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "analysis/figure/recipe.h"
#include "analysis/figure/style.h"
#include "app/render/render.h"
#include "core/error.h"
#include "core/input/input.h"
#include "core/model/model.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

const fs::path references = ATTNSCOPE_SOURCE_DIR "/tests/data/figure";

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

QTransform transform_in(const QXmlStreamAttributes& attributes) {
  QString text = attributes.value("transform").toString();
  if (!text.startsWith("matrix(")) return {};
  const QStringList parts = text.mid(7).chopped(1).split(',');
  if (parts.size() != 6) return {};
  double v[6];
  for (qsizetype i = 0; i < 6; ++i) v[i] = parts[i].toDouble();
  return {v[0], v[1], v[2], v[3], v[4], v[5]};
}

/// An SVG without what another version of Qt or FreeType writes otherwise: a line for each text
/// with its place in millimetres, and one for each run of shapes of one look.
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
    // Whole millimetres: a font's next version moves a text by less.
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

FigureRequest small_request() {
  FigureRequest request;
  const SubjectShape shape = {.layers = 2, .heads = 2, .grid_rows = 3, .grid_columns = 3};
  request.subjects = {attention_subject("softmax", {"softmax", {}}, shape),
                      attention_subject("adder", {"adder", {}}, shape)};
  return request;
}

std::string summary_of(const std::string& name, const Figure& figure) {
  const TemporaryFolder folder;
  const fs::path file = folder / (name + ".svg");
  export_figure(figure, file);
  return SvgSummary(content(file)).text();
}

void compare(const std::string& name, const std::string& found) {
  const fs::path reference = references / (name + ".txt");
  if (std::getenv("ATTNSCOPE_UPDATE_REFERENCES") != nullptr) {
    std::ofstream(reference, std::ios::binary) << found;
  }
  ASSERT_TRUE(fs::exists(reference)) << reference << " is missing: see the top of this file";
  EXPECT_EQ(found, content(reference)) << name;
}

void compare(const std::string& name, const Figure& figure) {
  compare(name, summary_of(name, figure));
}

class SvgReference : public testing::TestWithParam<const char*> {};

TEST_P(SvgReference, IsWhatWasSeenAndApproved) {
  const bool counts = find_figure(GetParam()).counts_only;
  compare(GetParam(), make_figure(GetParam(), counts ? FigureRequest{} : small_request()));
}

INSTANTIATE_TEST_SUITE_P(Figures, SvgReference,
                         testing::Values("cumulative-spectrum", "rank-by-layer", "rank-over-depth",
                                         "attention-maps", "attention-overlay", "comparison",
                                         "spectrum-comparison", "rank-comparison",
                                         "energy-breakdown", "energy-share", "energy-growth",
                                         "operations-table", "composite"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(SvgReferences, DressedFigures) {
  FigureRequest request = small_request();
  compare("grey-lines", dressed(make_figure("rank-by-layer", request),
                                {.lines = LineLook::grey, .shared_legend = true}));
  request.settings["page"] =
      "attention-maps[subjects=0; layers=0] | attention-maps[subjects=1; layers=0; title=Adder] / "
      "cumulative-spectrum[share=2] | rank-by-layer";
  request.settings["shared-colours"] = "yes";
  request.width_mm = 174;
  compare("page-of-four", dressed(make_figure("composite", request), {.shared_legend = true}));
}

/// A figure of one mechanism's own quantities, of the sample model that has them.
struct SampleFigure {
  const char* name;
  const char* model;
  const char* input;
};

class SampleReference : public testing::TestWithParam<SampleFigure> {};

// Their words and numbers alone: a colour's last bit is the processor's.
TEST_P(SampleReference, SaysWhatWasSeenAndApproved) {
  const fs::path samples = ATTNSCOPE_SOURCE_DIR "/sample_data";
  Subject subject;
  subject.label = GetParam().model;
  subject.model = load_model(samples / "models" / (subject.label + ".h5"));
  subject.mechanism = subject.model->spec().mechanism;
  const std::string text(GetParam().input);
  subject.input = std::make_shared<const Input>(
      open_input(text.starts_with("text:") ? text : (samples / "inputs" / text).string()));
  TraceRequest wanted;
  wanted.quantities = wanted.queries_keys_values = wanted.tokens = true;
  subject.trace = std::make_shared<const Trace>(
      subject.model->run(*subject.input, subject.mechanism, wanted, {}));
  FigureRequest request;
  request.subjects = {subject};
  std::istringstream lines(summary_of(GetParam().name, make_figure(GetParam().name, request)));
  std::string words;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("text ")) words += line + "\n";
  }
  EXPECT_FALSE(words.empty());
  compare(GetParam().name, words);
}

INSTANTIATE_TEST_SUITE_P(
    Figures, SampleReference,
    testing::Values(SampleFigure{"position-bias", "fashion-daft-full", "09_ankle_boot.png"},
                    SampleFigure{"key-maps", "fashion-daft-conv", "09_ankle_boot.png"},
                    SampleFigure{"hash-codes", "fashion-hash", "09_ankle_boot.png"},
                    SampleFigure{"token-importance", "shakespeare-fastformer",
                                 "text:To be, or not to be"}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

/// Mean difference of two pictures' channels, 0 to 255; of other sizes, 255.
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

class ImageReference : public testing::TestWithParam<const char*> {};

TEST_P(ImageReference, IsWhatWasSeenAndApproved) {
  constexpr double dpi = 72;
  const QImage found = figure_as_image(make_figure(GetParam(), small_request()), dpi);
  const QString reference =
      QString::fromStdString((references / (std::string(GetParam()) + ".png")).string());
  if (std::getenv("ATTNSCOPE_UPDATE_REFERENCES") != nullptr) {
    ASSERT_TRUE(found.save(reference));
  }
  const QImage expected(reference);
  ASSERT_FALSE(expected.isNull()) << reference.toStdString();
  // Another version's antialiasing changes edges, a wrong colour or place changes areas.
  EXPECT_LT(difference(found, expected), 2);
}

INSTANTIATE_TEST_SUITE_P(Figures, ImageReference,
                         testing::Values("cumulative-spectrum", "attention-maps",
                                         "attention-overlay"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// One legend for all panels says each series once, and stands under every panel.
TEST(SharedLegend, SaysEachSeriesOnce) {
  FigureRequest request = small_request();
  request.settings["page"] = "rank-by-layer | rank-by-layer[measure=stable]";
  request.width_mm = 174;
  const Figure figure = dressed(make_figure("composite", request), {.shared_legend = true});
  const std::string summary = summary_of("shared-legend", figure);
  for (const char* label : {"\"softmax\"", "\"softmax + I\"", "\"adder\"", "\"adder + I\""}) {
    const std::size_t first = summary.find(label);
    ASSERT_NE(first, std::string::npos) << label << "\n" << summary;
    EXPECT_EQ(summary.find(label, first + 1), std::string::npos) << label;
  }
}

}  // namespace
}  // namespace attnscope
