// The export dialog and the gallery under clicks and keys.
#include "app/window/export_dialog.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScreen>
#include <QSettings>
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/stat.h>

#include "app/panels/frame/figure_panel.h"
#include "app/render/render.h"
#include "app/window/export_dialog_preview.h"
#include "app/window/figure_list.h"
#include "app/window/notice_bar.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

const std::string samples = source_folder() + "/sample_data/";

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string printed_by(const std::string& command, int& status) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  std::size_t count = 0;
  while ((count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
    text.append(buffer.data(), count);
  }
  status = pclose(pipe);
  return text;
}

class ExportTest : public WindowTest {
 protected:
  ExportTest() {
    for (const char* key : {"export_page", "export_folder", "export_width", "export_height",
                            "export_font", "export_font_size", "export_lines"}) {
      QSettings().remove(key);
    }
  }

  void open_samples() {
    session().set_input(samples + "inputs/00_t_shirt.png");
    for (const char* model : {"fashion-softmax.h5", "fashion-adder.h5"}) {
      session().open(samples + "models/" + model);
    }
    ASSERT_TRUE(wait_until_settled());
  }

  /// Shows a dialog that the test itself owns and may inspect at any time.
  void show_dialog() {
    dialog_ = std::make_unique<ExportDialog>(session(), &window());
    dialog_->show();
    ASSERT_TRUE(wait_until_drawn());
  }

  [[nodiscard]] bool wait_until_drawn() {
    return wait_until([&] {
      QApplication::processEvents();
      return get<QLabel>("export_size")->text().contains("mm") && session().idle();
    });
  }

  void choose(const char* recipe) {
    auto* figure = get<QComboBox>("export_figure");
    figure->setCurrentIndex(figure->findData(recipe));
    EXPECT_EQ(figure->currentData().toString(), recipe);
  }

  /// Chooses the width of the journal or slide whose name begins so.
  void choose_place(const QString& name) {
    auto* place = get<QComboBox>("export_place");
    const int index = place->findText(name, Qt::MatchStartsWith);
    ASSERT_GE(index, 0) << name.toStdString();
    place->setCurrentIndex(index);
    emit place->activated(index);
  }

  template <class Widget>
  Widget* get(const char* name) {
    Widget* found = dialog_->findChild<Widget*>(QLatin1String(name));
    if (found == nullptr) throw std::runtime_error(name);
    return found;
  }

  void click(const char* name) { QTest::mouseClick(get<QAbstractButton>(name), Qt::LeftButton); }

  /// Exports to `file` and waits until the dialog closes.
  void write(const fs::path& file) {
    get<QLineEdit>("export_file")->setText(QString::fromStdString(file.string()));
    click("export_write");
    EXPECT_TRUE(wait_until([&] { return !dialog_->isVisible(); }))
        << get<QLabel>("export_problem")->text().toStdString();
  }

  std::unique_ptr<ExportDialog> dialog_;
};

TEST_F(ExportTest, ItsCommandWritesTheSameBytes) {
  open_samples();
  for (const char* extension : {".json", ".csv", ".h5", ".svg", ".png", ".tex", ".pdf"}) {
    show_dialog();
    choose("rank-by-layer");
    get<QDoubleSpinBox>("export_font_size")->setValue(8.5);
    get<QComboBox>("export_lines")->setCurrentIndex(1);
    get<QCheckBox>("export_shared_legend")->click();
    get<QComboBox>("setting_spread")->setCurrentText("none");
    choose_place("Springer, two columns");
    const fs::path file = folder() / ("dialog" + std::string(extension));
    get<QLineEdit>("export_file")->setText(QString::fromStdString(file.string()));
    const std::string command = get<QPlainTextEdit>("export_command")->toPlainText().toStdString();
    write(file);
    const std::string once = content(file);
    ASSERT_GT(once.size(), 500U);
    fs::remove(file);
    ASSERT_EQ(command.rfind("attnscope ", 0), 0U) << command;
    int status = 0;
    const std::string said = printed_by(built_program() + command.substr(9), status);
    ASSERT_EQ(status, 0) << command << "\n" << said;
    EXPECT_TRUE(content(file) == once) << extension << " differs: " << command;
  }
}

TEST_F(ExportTest, ThePreviewHasTheSizeOfThePaper) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  show_dialog();
  auto* preview = get<FigurePreview>("export_preview");
  const auto width_mm = [&] {
    return preview->image().deviceIndependentSize().width() / preview->screen_dpi() * 25.4;
  };
  EXPECT_NEAR(width_mm(), 84, 0.3);
  choose_place("Beamer slide, 4:3");
  ASSERT_TRUE(wait_until([&] { return std::abs(width_mm() - 128) < 0.3; }));
  const double height_mm =
      preview->image().deviceIndependentSize().height() / preview->screen_dpi() * 25.4;
  EXPECT_NEAR(height_mm, 96, 0.3);
  EXPECT_TRUE(get<QComboBox>("export_place")->currentText().startsWith("Beamer slide, 4:3"));
  // A width that no journal has is one's own; a journal's is recognised.
  get<QDoubleSpinBox>("export_width")->setValue(131);
  EXPECT_EQ(get<QComboBox>("export_place")->currentText(), "Own width");
  get<QDoubleSpinBox>("export_height")->setValue(0);
  get<QDoubleSpinBox>("export_width")->setValue(89);
  EXPECT_EQ(get<QComboBox>("export_place")->currentText(), "Nature, one column · 89 mm");
  // The preview is the content of a PNG with that resolution.
  EXPECT_EQ(preview->image().pixelColor(0, 0), QColor(Qt::white));
  get<QCheckBox>("export_transparent")->click();
  ASSERT_TRUE(wait_until([&] { return preview->image().pixelColor(0, 0).alpha() == 0; }));
}

TEST_F(ExportTest, SettingsAreControlsAndGoIntoTheCommand) {
  open_samples();
  show_dialog();
  choose("cumulative-spectrum");
  auto* threshold = get<QDoubleSpinBox>("setting_threshold");
  EXPECT_EQ(threshold->value(), 0.9);
  EXPECT_EQ(threshold->maximum(), 1);
  auto* identity = get<QComboBox>("setting_identity");
  EXPECT_FALSE(identity->isEditable());
  threshold->setValue(0.8);
  identity->setCurrentText("with");
  const QString command = get<QPlainTextEdit>("export_command")->toPlainText();
  EXPECT_TRUE(command.contains("--set threshold=0.8")) << command.toStdString();
  EXPECT_TRUE(command.contains("--set identity=with")) << command.toStdString();
  EXPECT_FALSE(command.contains("--set legend"));
  ASSERT_TRUE(wait_until(
      [&] { return get<QPlainTextEdit>("export_caption")->toPlainText().contains("0.8"); }));
  // The figure is drawn with only one model.
  auto* subjects = get<QListWidget>("export_subjects");
  ASSERT_EQ(subjects->count(), 2);
  subjects->item(0)->setCheckState(Qt::Unchecked);
  EXPECT_FALSE(get<QPlainTextEdit>("export_command")->toPlainText().contains("fashion-softmax.h5"));
}

TEST_F(ExportTest, NumbersAreNumbersWhereACommaIsThePoint) {
  const QLocale before;
  QLocale::setDefault(QLocale(QLocale::German));
  open_samples();
  show_dialog();
  choose("cumulative-spectrum");
  auto* threshold = get<QDoubleSpinBox>("setting_threshold");
  threshold->setLocale(QLocale(QLocale::German));
  threshold->setValue(0.8);
  EXPECT_TRUE(threshold->text().contains("0,8")) << threshold->text().toStdString();
  EXPECT_TRUE(get<QPlainTextEdit>("export_command")->toPlainText().contains("threshold=0.8"));
  EXPECT_TRUE(wait_until(
      [&] { return get<QPlainTextEdit>("export_caption")->toPlainText().contains("0.8"); }));
  QLocale::setDefault(before);
}

TEST_F(ExportTest, FiguresAreListedByTheirQuestions) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  show_dialog();
  EXPECT_EQ(get<QComboBox>("export_figure")->currentData().toString(), "attention-maps");
  std::vector<std::string> listed;
  QString question;
  for (const FigureEntry& entry : figures_by_question({})) {
    if (entry.recipe.empty()) question = entry.title;
    EXPECT_FALSE(question.isEmpty());
    if (!entry.recipe.empty()) listed.push_back(entry.recipe);
  }
  for (const FigureRecipe& recipe : figure_recipes()) {
    const bool is_page = recipe.needs_as_set != nullptr;
    EXPECT_EQ(std::count(listed.begin(), listed.end(), recipe.name), is_page ? 0 : 1)
        << recipe.name;
  }
}

TEST_F(ExportTest, FitsASmallScreenWithEveryFigure) {
  const std::string long_name = "vit_base_patch16_clip_224.laion2b_ft_in12k_in1k_and_further_words";
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 3, 1)), long_name);
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 3, 1)), long_name + " 2");
  ASSERT_TRUE(wait_until_settled());
  show_dialog();
  for (const FigureRecipe& recipe : figure_recipes()) {
    dialog_->show_figure(std::string(recipe.name), {});
    QApplication::processEvents();
    const QSize least = dialog_->minimumSizeHint();
    EXPECT_LE(least.width(), 1024 - 20) << recipe.name;
    EXPECT_LE(least.height(), 768 - 60) << recipe.name;
  }
}

TEST_F(ExportTest, FiguresThatDoNotFitExplainWhy) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  show_dialog();
  auto* figure = get<QComboBox>("export_figure");
  const int scatter = figure->findData("feature-scatter");
  ASSERT_GE(scatter, 0);
  EXPECT_TRUE(figure->itemText(scatter).contains("needs a model with a head"));
  EXPECT_FALSE(figure->model()->flags(figure->model()->index(scatter, 0)) & Qt::ItemIsEnabled);
}

TEST_F(ExportTest, AFigureThatCannotBeMadeSaysWhyAndIsNotExported) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  show_dialog();
  auto* caption = get<QPlainTextEdit>("export_caption");
  ASSERT_TRUE(wait_until([&] { return !caption->toPlainText().isEmpty(); }));
  choose("sweep-ranks");
  const auto reason = [this] {
    return get<FigurePreview>("export_preview")->accessibleDescription();
  };
  EXPECT_TRUE(reason().contains("needs the result of a sweep")) << reason().toStdString();
  EXPECT_TRUE(caption->toPlainText().isEmpty()) << "the caption of the figure before";
  EXPECT_TRUE(get<QPlainTextEdit>("export_command")->toPlainText().isEmpty());
  for (const char* name : {"export_write", "export_add_to_page"}) {
    EXPECT_FALSE(get<QPushButton>(name)->isEnabled()) << name;
    EXPECT_EQ(get<QPushButton>(name)->toolTip(), reason()) << name;
  }
  // A file that is no sweep is an error of the figure, not a crash or an old picture.
  answer_file_dialog(write_sample("maps.h5", sample_trace(1, 2, 3, 1)));
  click("browse_file");
  ASSERT_TRUE(wait_until([&] { return !reason().isEmpty() && !reason().contains("needs the"); }));
  EXPECT_FALSE(get<QPushButton>("export_write")->isEnabled());
  for (const QWidget* widget : dialog_->findChildren<QWidget*>()) {
    EXPECT_FALSE(widget->toolTip().contains("--")) << widget->toolTip().toStdString();
  }
  choose("attention-maps");
  ASSERT_TRUE(wait_until([&] { return !caption->toPlainText().isEmpty(); }));
  EXPECT_TRUE(get<QPushButton>("export_write")->isEnabled());
  EXPECT_TRUE(get<QPushButton>("export_write")->toolTip().isEmpty());
}

TEST_F(ExportTest, TheCaptionIsADraftThatMayBeChanged) {
  open_samples();
  show_dialog();
  choose("rank-by-layer");
  auto* caption = get<QPlainTextEdit>("export_caption");
  ASSERT_TRUE(wait_until([&] { return caption->toPlainText().contains("layer by layer"); }));
  const QString draft = caption->toPlainText();
  for (const char* part : {"fashion-softmax", "00_t_shirt.png", "0.9", "attnscope"}) {
    EXPECT_TRUE(draft.contains(part)) << part << ": " << draft.toStdString();
  }
  caption->setPlainText("Mine.");
  EXPECT_TRUE(get<QPlainTextEdit>("export_command")->toPlainText().contains("--caption Mine."));
  // Changing the look keeps the edited caption.
  get<QDoubleSpinBox>("export_font_size")->setValue(9);
  ASSERT_TRUE(wait_until_drawn());
  EXPECT_EQ(caption->toPlainText(), "Mine.");
  const fs::path file = folder() / "own.csv";
  write(file);
  const auto beside = nlohmann::json::parse(content(file.string() + "-metadata.json"));
  EXPECT_EQ(beside.at("dc:description"), "Mine.");
}

TEST_F(ExportTest, CopiesCaptionAndCommand) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  show_dialog();
  for (QPushButton* button : dialog_->findChildren<QPushButton*>()) {
    if (button->accessibleName() != "Copy the command line") continue;
    QTest::mouseClick(button, Qt::LeftButton);
    EXPECT_EQ(QGuiApplication::clipboard()->text(),
              get<QPlainTextEdit>("export_command")->toPlainText());
    return;
  }
  FAIL() << "no button copies the command line";
}

TEST_F(ExportTest, FiguresAreGatheredOnAPage) {
  open_samples();
  show_dialog();
  choose("rank-by-layer");
  get<QComboBox>("setting_spread")->setCurrentText("none");
  click("export_add_to_page");
  choose("attention-maps");
  click("export_add_to_page");
  EXPECT_EQ(get<QPushButton>("export_show_page")->text(), "Compose 2…");
  bool wanted = false;
  QObject::connect(dialog_.get(), &ExportDialog::page_wanted, dialog_.get(),
                   [&wanted] { wanted = true; });
  click("export_show_page");
  EXPECT_TRUE(wanted);
  EXPECT_FALSE(dialog_->isVisible());
}

TEST_F(ExportTest, AnUnwritablePlaceLeavesTheOldFileAndIsReported) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  show_dialog();
  std::ofstream(folder() / "old.pdf") << "old";
  get<QLineEdit>("export_file")
      ->setText(QString::fromStdString((folder() / "old.pdf" / "figure.pdf").string()));
  click("export_write");
  auto* problem = get<QLabel>("export_problem");
  ASSERT_TRUE(wait_until([&] { return problem->isVisible(); }));
  EXPECT_TRUE(problem->text().contains("cannot be written")) << problem->text().toStdString();
  EXPECT_TRUE(dialog_->isVisible());
  EXPECT_EQ(content(folder() / "old.pdf"), "old");
}

TEST_F(ExportTest, ReplacesAFileOnlyOnConfirmation) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  show_dialog();
  const fs::path file = folder() / "old.csv";
  std::ofstream(file) << "old";
  const auto answer = [this](QMessageBox::StandardButton button) {
    on_dialog([button](QDialog& dialog) {
      auto* const box = qobject_cast<QMessageBox*>(&dialog);
      ASSERT_NE(box, nullptr);
      EXPECT_EQ(box->defaultButton(), box->button(QMessageBox::Cancel));
      box->button(button)->click();
    });
  };
  get<QLineEdit>("export_file")->setText(QString::fromStdString(file.string()));
  answer(QMessageBox::Cancel);
  click("export_write");
  QTest::qWait(300);
  EXPECT_TRUE(dialog_->isVisible());
  EXPECT_EQ(content(file), "old");
  answer(QMessageBox::Yes);
  write(file);
  EXPECT_GT(content(file).size(), 100U);
}

TEST_F(ExportTest, ProposesAnUnusedNameOfTheFigureAndItsModels) {
  QSettings().setValue("export_folder", QString::fromStdString(folder().string()));
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 3, 1)), "vit: tiny/224");
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 3, 1)), "adder");
  ASSERT_TRUE(wait_until_settled());
  std::ofstream(folder() / "attention-maps-adder.pdf") << "old";
  show_dialog();
  choose("attention-maps");
  auto* file = get<QLineEdit>("export_file");
  const auto name = [&] { return QFileInfo(file->text()).fileName(); };
  EXPECT_EQ(name(), "attention-maps-vit-tiny-224-adder.pdf");
  auto* subjects = get<QListWidget>("export_subjects");
  subjects->item(0)->setCheckState(Qt::Unchecked);
  EXPECT_EQ(name(), "attention-maps-adder-2.pdf");
  get<QComboBox>("export_format")->setCurrentIndex(1);
  EXPECT_EQ(name(), "attention-maps-adder.svg");
  // A name of the user's own stays with its figure.
  file->setText(QString::fromStdString((folder() / "mine.pdf").string()));
  subjects->item(0)->setCheckState(Qt::Checked);
  EXPECT_EQ(name(), "mine.pdf");
  choose("rank-by-layer");
  EXPECT_EQ(name(), "rank-by-layer-vit-tiny-224-adder.pdf");
}

TEST_F(ExportTest, OffersTheFileAfterTheExport) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  const QString file = QString::fromStdString((folder() / "offered.csv").string());
  on_dialog([&](QDialog& dialog) {
    dialog.findChild<QLineEdit*>("export_file")->setText(file);
    dialog.findChild<QPushButton*>("export_write")->click();
  });
  press(Qt::Key_E, Qt::ControlModifier);
  EXPECT_TRUE(window().findChild<NoticeBar*>()->text().contains(QFileInfo(file).fileName()));
  QStringList names;
  for (int choice = 0; choice < 3; ++choice) {
    auto* button = child<QPushButton>(("notice_choice_" + std::to_string(choice)).c_str());
    ASSERT_NE(button, nullptr);
    names << button->text();
  }
  EXPECT_EQ(names, QStringList({"Open", "Show in folder", "Copy path"}));
  QTest::mouseClick(child<QPushButton>("notice_choice_2"), Qt::LeftButton);
  EXPECT_EQ(QGuiApplication::clipboard()->text(), file);
  QTest::mouseClick(child<QAbstractButton>("notice_dismiss"), Qt::LeftButton);
  EXPECT_TRUE(window().findChild<NoticeBar*>()->text().isEmpty());
}

TEST_F(ExportTest, AFileThatIsReadIsNeverReplaced) {
  const fs::path read = write_sample("read.h5", sample_trace(1, 2, 3, 1));
  const std::string before = content(read);
  session().open(read);
  ASSERT_TRUE(wait_until_settled());
  show_dialog();
  get<QLineEdit>("export_file")->setText(QString::fromStdString(read.string()));
  click("export_write");
  auto* problem = get<QLabel>("export_problem");
  ASSERT_TRUE(wait_until([&] { return problem->isVisible(); }));
  EXPECT_TRUE(problem->text().contains("would replace an input")) << problem->text().toStdString();
  EXPECT_EQ(content(read), before);
}

/// The panel, the PDF's text and the CSV have the same numbers.
TEST_F(ExportTest, PanelPdfAndCsvAgree) {
  open_samples();
  FigurePanel* panel = nullptr;
  for (FigurePanel* candidate : window().findChildren<FigurePanel*>()) {
    if (candidate->figure() != nullptr && candidate->figure()->name == "cumulative-spectrum") {
      panel = candidate;
    }
  }
  ASSERT_NE(panel, nullptr);
  show_dialog();
  choose("cumulative-spectrum");
  write(folder() / "spectrum.csv");
  show_dialog();
  choose("cumulative-spectrum");
  write(folder() / "spectrum.pdf");
  const std::string csv = content(folder() / "spectrum.csv");
  int status = 0;
  const std::string pdf =
      printed_by("pdftotext -layout " + (folder() / "spectrum.pdf").string() + " -", status);
  if (status != 0) GTEST_SKIP() << "poppler-utils is not installed";
  std::size_t compared = 0;
  for (const auto& [name, values] : panel->figure()->numbers) {
    const std::size_t slash = std::min(name.find('/'), name.size());
    const std::string start = ",number," +
                              csv_field(name.substr(std::min(slash + 1, name.size()))) + "," +
                              csv_field(name.substr(0, slash)) + ",0,,,";
    if (csv.find(start) == std::string::npos) continue;  // a number of another identity view
    const std::string line = start + exact(values.at(0)) + "\n";
    EXPECT_NE(csv.find(line), std::string::npos) << line;
    if (name.rfind("equivalent_rank/", 0) != 0) continue;
    std::ostringstream rank;
    rank << "r = " << values.at(0);
    // pdftotext may drop the narrow spaces around the sign.
    std::string joined = rank.str();
    std::erase(joined, ' ');
    std::string said = pdf;
    std::erase(said, ' ');
    EXPECT_NE(said.find(joined), std::string::npos) << rank.str() << "\n" << pdf;
    ++compared;
  }
  EXPECT_GE(compared, 2U);
}

TEST_F(ExportTest, TheGalleryDrawsAndExports) {
  open_samples();
  press(Qt::Key_G, Qt::ControlModifier);
  auto* gallery = window().findChild<QDialog*>("gallery_window");
  ASSERT_NE(gallery, nullptr);
  ASSERT_TRUE(gallery->isVisible());
  auto* spectrum = gallery->findChild<QPushButton*>("gallery_export_adder-fig-2");
  auto* summary = gallery->findChild<QLabel*>("gallery_summary");
  ASSERT_TRUE(wait_until([&] {
    QApplication::processEvents();
    return !summary->text().isEmpty() && session().idle();
  }));
  EXPECT_TRUE(spectrum->isEnabled());
  EXPECT_FALSE(gallery->findChild<QPushButton*>("gallery_export_fastformer-lm-eq-1")->isEnabled());
  EXPECT_TRUE(gallery->findChild<QLabel*>("gallery_state_fastformer-lm-eq-1")
                  ->text()
                  .contains("additive attention"))
      << gallery->findChild<QLabel*>("gallery_state_fastformer-lm-eq-1")->text().toStdString();
  QString shown;
  on_dialog([&](QDialog& dialog) {
    shown = dialog.findChild<QComboBox*>("export_figure")->currentData().toString();
    dialog.reject();
  });
  QTest::mouseClick(spectrum, Qt::LeftButton);
  EXPECT_EQ(shown, "cumulative-spectrum");
  gallery->close();
}

TEST_F(ExportTest, EveryControlHasAName) {
  open_samples();
  show_dialog();
  for (const char* recipe : {"attention-overlay", "feature-scatter", "energy-growth"}) {
    choose(recipe);
    for (const QWidget* widget : dialog_->findChildren<QWidget*>()) {
      const bool control = qobject_cast<const QAbstractButton*>(widget) ||
                           qobject_cast<const QComboBox*>(widget) ||
                           qobject_cast<const QAbstractSpinBox*>(widget) ||
                           qobject_cast<const QPlainTextEdit*>(widget);
      if (!control || !widget->isVisible()) continue;
      const auto* button = qobject_cast<const QAbstractButton*>(widget);
      const bool inside = qobject_cast<const QComboBox*>(widget->parentWidget()) != nullptr;
      EXPECT_TRUE(inside || !widget->accessibleName().isEmpty() ||
                  (button != nullptr && !button->text().isEmpty()))
          << widget->metaObject()->className() << " " << widget->objectName().toStdString();
    }
  }
}

}  // namespace
}  // namespace attnscope
