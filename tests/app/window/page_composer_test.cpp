// The composer of pages under mouse and keys, and the page that it edits.
#include "app/window/page_composer.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSettings>
#include <QTabWidget>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/window/page_canvas.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

/// The figures of a page: "a b / c".
std::string figures_of(const PageDraft& draft) {
  std::string text;
  for (const auto& row : draft.rows()) {
    if (!text.empty()) text += " /";
    for (const PagePanel& panel : row) text += (text.empty() ? "" : " ") + panel.cell.figure;
  }
  return text;
}

PageDraft page_of(const std::vector<std::vector<const char*>>& rows) {
  PageDraft draft;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 0; column < rows[row].size(); ++column) {
      draft.add({.figure = rows[row][column]}, PagePlace{row, column, column == 0});
    }
  }
  return draft;
}

TEST(PageDraft, MovesPanelsAndCanBeUndone) {
  PageDraft draft = page_of({{"a", "b"}, {"c"}});  // ids 1, 2, 3
  EXPECT_EQ(figures_of(draft), "a b / c");
  draft.move(1, {0, 2});
  EXPECT_EQ(figures_of(draft), "b a / c");
  draft.move(1, {0, 0, true});
  EXPECT_EQ(figures_of(draft), "a / b / c");
  draft.move(3, {1, 0});
  EXPECT_EQ(figures_of(draft), "a / c b") << "the empty row is gone";
  draft.move_by(1, 0, 1);
  EXPECT_EQ(figures_of(draft), "a c b");
  draft.move_by(1, 1, 0);
  EXPECT_EQ(figures_of(draft), "c a b");
  draft.move_by(1, 0, -1);
  EXPECT_EQ(figures_of(draft), "a / c b");
  draft.move_by(1, 0, -1);
  EXPECT_EQ(figures_of(draft), "a / c b") << "alone in the first row";
  draft.remove(3);
  EXPECT_EQ(figures_of(draft), "a / b");
  EXPECT_TRUE(draft.undo());
  EXPECT_EQ(figures_of(draft), "a / c b");
  EXPECT_TRUE(draft.redo());
  EXPECT_EQ(figures_of(draft), "a / b");
  EXPECT_FALSE(draft.redo());
}

TEST(PageDraft, AddsTwoFiguresToARow) {
  PageDraft draft;
  for (const char* figure : {"a", "b", "c"}) draft.add({.figure = figure});
  EXPECT_EQ(figures_of(draft), "a b / c");
}

TEST(PageDraft, WidensPanelsInTwelfths) {
  PageDraft draft = page_of({{"a", "b"}, {"c"}});
  const auto widths = [&] { return twelfths_of(draft.rows()[0]); };
  EXPECT_EQ(widths(), (std::vector<int>{6, 6}));
  draft.widen(1, 2);
  EXPECT_EQ(widths(), (std::vector<int>{8, 4}));
  EXPECT_EQ(draft.rows()[0][0].cell.share, 2);
  EXPECT_EQ(draft.rows()[0][1].cell.share, 1);
  draft.widen(2, 1);
  EXPECT_EQ(widths(), (std::vector<int>{7, 5})) << "the last panel widens, too";
  draft.widen(1, 100);
  EXPECT_EQ(widths(), (std::vector<int>{11, 1}));
  draft.widen(3, 3);
  EXPECT_EQ(draft.rows()[1][0].cell.share, 1) << "a row of its own";
}

class ComposerTest : public WindowTest {
 protected:
  ComposerTest() {
    QSettings().remove("export_page");
    QSettings().setValue("export_folder", QString::fromStdString(folder().string()));
    QSettings().setValue("page_folder", QString::fromStdString(folder().string()));
    QSettings().setValue("export_opens", false);
  }

  void open_samples() {
    const std::string samples = source_folder() + "/sample_data/";
    session().set_input(samples + "inputs/00_t_shirt.png");
    for (const char* model : {"fashion-softmax.h5", "fashion-adder.h5"}) {
      session().open(samples + "models/" + model);
    }
    ASSERT_TRUE(wait_until_settled());
  }

  void show_composer() {
    composer_ = std::make_unique<PageComposer>(session(), &window());
    composer_->show();
    QApplication::setActiveWindow(composer_.get());
  }

  template <class Widget>
  Widget* get(const char* name) {
    Widget* found = composer_->findChild<Widget*>(QLatin1String(name));
    if (found == nullptr) throw std::runtime_error(name);
    return found;
  }

  PageCanvas& canvas() { return *get<PageCanvas>("page_canvas"); }
  std::string figures() { return figures_of(composer_->draft()); }

  /// Adds a figure from the list, as Enter and a double click do.
  void add(const char* recipe) {
    auto* const list = get<QListWidget>("composer_figures");
    for (int row = 0; row < list->count(); ++row) {
      if (list->item(row)->data(Qt::UserRole).toString() != recipe) continue;
      list->setCurrentRow(row);
      list->setFocus();
      QTest::keyClick(list, Qt::Key_Return);
      return;
    }
    FAIL() << recipe << " is not in the list";
  }

  [[nodiscard]] bool wait_until_drawn() {
    return wait_until([this] {
      QApplication::processEvents();
      return get<QLabel>("composer_size")->text().contains("mm") && session().idle();
    });
  }

  int id(std::size_t row, std::size_t column) {
    return composer_->draft().rows().at(row).at(column).id;
  }

  void drag(const QPoint& from, const QPoint& to) {
    QTest::mousePress(&canvas(), Qt::LeftButton, {}, from);
    QTest::mouseMove(&canvas(), from + QPoint(30, 0));
    QTest::mouseMove(&canvas(), to);
    QTest::mouseRelease(&canvas(), Qt::LeftButton, {}, to);
  }

  std::unique_ptr<PageComposer> composer_;
};

TEST_F(ComposerTest, ArrangesPanelsByMouse) {
  open_samples();
  show_composer();
  EXPECT_FALSE(get<QPushButton>("composer_write")->isEnabled()) << "the page is empty";
  for (const char* figure : {"rank-by-layer", "cumulative-spectrum", "attention-maps"}) add(figure);
  EXPECT_EQ(figures(), "rank-by-layer cumulative-spectrum / attention-maps");
  ASSERT_TRUE(wait_until_drawn());
  EXPECT_TRUE(get<QPushButton>("composer_write")->isEnabled());
  EXPECT_EQ(canvas().selected(), id(1, 0)) << "the one that was added";

  const QRect first = canvas().place_of(id(0, 0)), second = canvas().place_of(id(0, 1));
  const QRect below = canvas().place_of(id(1, 0));
  EXPECT_LT(first.right(), second.left());
  EXPECT_LT(second.bottom(), below.top());
  drag(first.center(), QPoint(second.right() - 5, second.center().y()));
  EXPECT_EQ(figures(), "cumulative-spectrum rank-by-layer / attention-maps");
  EXPECT_EQ(canvas().selected(), id(0, 1)) << "the panel stays selected where it is now";
  ASSERT_TRUE(wait_until_drawn());
  drag(canvas().place_of(id(1, 0)).center(),
       QPoint(canvas().place_of(id(0, 0)).center().x(), canvas().place_of(id(0, 0)).top() + 2));
  EXPECT_EQ(figures(), "attention-maps / cumulative-spectrum rank-by-layer");
  ASSERT_TRUE(wait_until_drawn());

  // The boundary between two panels of a row.
  const QRect left = canvas().place_of(id(1, 0));
  const QPoint boundary(left.right() + 4, left.center().y());
  const int sixth = (canvas().width() - 48) / 6;
  drag(boundary, boundary + QPoint(sixth, 0));
  EXPECT_GT(composer_->draft().rows()[1][0].cell.share, composer_->draft().rows()[1][1].cell.share);
}

TEST_F(ComposerTest, ArrangesPanelsByKeys) {
  open_samples();
  show_composer();
  for (const char* figure : {"rank-by-layer", "cumulative-spectrum", "attention-maps"}) add(figure);
  canvas().setFocus();
  QTest::keyClick(&canvas(), Qt::Key_Up);
  QTest::keyClick(&canvas(), Qt::Key_Left);
  EXPECT_EQ(canvas().selected(), id(0, 0));
  EXPECT_TRUE(canvas().accessibleDescription().contains("row 1, column 1"));
  QTest::keyClick(&canvas(), Qt::Key_Right, Qt::ControlModifier);
  EXPECT_EQ(figures(), "cumulative-spectrum rank-by-layer / attention-maps");
  QTest::keyClick(&canvas(), Qt::Key_Down, Qt::ControlModifier);
  EXPECT_EQ(figures(), "cumulative-spectrum / attention-maps rank-by-layer");
  QTest::keyClick(&canvas(), Qt::Key_Plus);
  EXPECT_GT(composer_->draft().rows()[1][1].cell.share, composer_->draft().rows()[1][0].cell.share);
  QTest::keyClick(&canvas(), Qt::Key_Delete);
  EXPECT_EQ(figures(), "cumulative-spectrum / attention-maps");
  QTest::keyClick(composer_.get(), Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(figures(), "cumulative-spectrum / attention-maps rank-by-layer");
}

TEST_F(ComposerTest, NamesPanelsAndModelsInTheirPlace) {
  open_samples();
  show_composer();
  add("rank-by-layer");
  ASSERT_TRUE(wait_until_drawn());
  QTest::mouseDClick(&canvas(), Qt::LeftButton, {}, canvas().place_of(id(0, 0)).center());
  auto* title = get<QLineEdit>("page_title");
  ASSERT_TRUE(title->isVisible());
  title->setText("Ranks");
  QTest::keyClick(title, Qt::Key_Return);
  EXPECT_FALSE(title->isVisible());
  EXPECT_TRUE(composer_->isVisible()) << "Enter did not press a button";
  EXPECT_EQ(composer_->draft().rows()[0][0].cell.title, "Ranks");
  canvas().edit_title(id(0, 0));
  title->setText("Other");
  QTest::keyClick(title, Qt::Key_Escape);
  EXPECT_TRUE(composer_->isVisible());
  EXPECT_EQ(composer_->draft().rows()[0][0].cell.title, "Ranks");

  auto* models = get<QListWidget>("composer_models");
  ASSERT_EQ(models->count(), 2);
  models->item(0)->setText("Softmax");
  models->item(1)->setCheckState(Qt::Unchecked);
  EXPECT_EQ(composer_->draft().rows()[0][0].cell.subjects, std::vector<std::size_t>{0});
  EXPECT_EQ(composer_->draft().names.at(0), "Softmax");
}

TEST_F(ComposerTest, ExportsWhatTheCommandWritesAndKeepsThePage) {
  open_samples();
  show_composer();
  get<QListWidget>("composer_models");
  add("rank-by-layer");
  add("attention-maps");
  get<QListWidget>("composer_models")->item(0)->setText("Softmax");
  get<QDoubleSpinBox>("composer_width")->setValue(139.7);
  EXPECT_TRUE(get<QComboBox>("export_place")->currentText().startsWith("NeurIPS"));
  ASSERT_TRUE(wait_until_drawn());
  const fs::path file = folder() / "sheet.json", page = folder() / "sheet-page.json";
  get<QLineEdit>("export_file")->setText(QString::fromStdString(file.string()));
  QTest::mouseClick(get<QPushButton>("composer_write"), Qt::LeftButton);
  ASSERT_TRUE(wait_until([this] { return !composer_->isVisible(); }))
      << get<QLabel>("export_problem")->text().toStdString();
  const std::string once = read_bytes(file);
  const nlohmann::json figure = nlohmann::json::parse(once);
  EXPECT_EQ(figure.at("width_mm"), 139.7);
  EXPECT_TRUE(figure.at("shared_legend"));
  EXPECT_EQ(figure.at("areas").size(), 2U);
  const std::string command = figure.at("command");
  EXPECT_NE(command.find("sheet-page.json"), std::string::npos) << command;
  fs::remove(file);
  ASSERT_EQ(std::system((built_program() + command.substr(9)).c_str()), 0) << command;
  EXPECT_EQ(read_bytes(file), once);

  // The page is there the next time, and opens from its file.
  composer_.reset();
  show_composer();
  EXPECT_EQ(figures(), "rank-by-layer attention-maps");
  EXPECT_EQ(composer_->draft().look.width_mm, 139.7);
  composer_->open_page(page);
  EXPECT_EQ(figures(), "rank-by-layer attention-maps");
  EXPECT_EQ(composer_->draft().names.at(0), "Softmax");
  EXPECT_EQ(composer_->draft().rows()[0][0].cell.subjects, (std::vector<std::size_t>{0, 1}));
}

TEST_F(ComposerTest, KeepsPanelsOfModelsThatAreNotOpen) {
  open_samples();
  std::ofstream(folder() / "other.json") << R"({"models": ["missing.pt"], "rows": [[
      {"figure": "rank-by-layer"}, {"figure": "energy-share", "models": []}]]})";
  show_composer();
  composer_->open_page(folder() / "other.json");
  ASSERT_TRUE(wait_until_drawn());
  EXPECT_FALSE(get<QPushButton>("composer_write")->isEnabled());
  EXPECT_TRUE(get<QLabel>("export_problem")->text().contains("Open missing.pt"))
      << get<QLabel>("export_problem")->text().toStdString();
  const PageFile saved = composer_->draft().to_file({});
  EXPECT_EQ(saved.subjects[0][0].models, std::vector<std::string>{"missing.pt"});
}

TEST_F(ComposerTest, FitsASmallScreenAndNamesEveryControl) {
  open_samples();
  show_composer();
  for (const char* figure : {"rank-by-layer", "attention-overlay"}) add(figure);
  get<QTabWidget>("composer_side")->setCurrentIndex(1);
  QApplication::processEvents();
  const QSize least = composer_->minimumSizeHint();
  EXPECT_LE(least.width(), 1024 - 20);
  EXPECT_LE(least.height(), 768 - 60);
  for (const QWidget* widget : composer_->findChildren<QWidget*>()) {
    const bool control = qobject_cast<const QAbstractButton*>(widget) ||
                         qobject_cast<const QComboBox*>(widget) ||
                         qobject_cast<const QAbstractSpinBox*>(widget);
    if (!control || !widget->isVisible()) continue;
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    const bool inside = qobject_cast<const QComboBox*>(widget->parentWidget()) != nullptr;
    EXPECT_TRUE(inside || !widget->accessibleName().isEmpty() ||
                (button != nullptr && !button->text().isEmpty()))
        << widget->metaObject()->className() << " " << widget->objectName().toStdString();
  }
}

}  // namespace
}  // namespace attnscope
