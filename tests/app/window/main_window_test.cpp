// The main window under clicks, keys, drops and dialogs.
#include "app/window/main_window.h"

#include <QAction>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QDragLeaveEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QScreen>
#include <QScrollBar>
#include <QSettings>
#include <QTableView>
#include <QToolButton>
#include <QUrl>
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

#include "app/canvas/atlas_canvas.h"
#include "app/panels/frame/highlight.h"
#include "app/panels/models/subject_card.h"
#include "app/panels/models/subject_dialogs.h"
#include "app/panels/row/query_view.h"
#include "app/session/sample_data.h"
#include "app/window/notice_bar.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using State = OpenSubject::State;

// The text of a cell of the rank table: row 0 is the total, row 1 the mean of the first layer,
// whose heads follow.
QString cell(QTableView& table, int row, int column) {
  return table.model()->index(row, column).data().toString();
}

void click_row(QTableView& table, int row) {
  const QRect place = table.visualRect(table.model()->index(row, 0));
  QTest::mouseClick(table.viewport(), Qt::LeftButton, Qt::NoModifier, place.center());
}

TEST_F(WindowTest, OffersThreeDoorsWhileNothingIsOpen) {
  auto* lessons = window().centralWidget()->findChild<QPushButton*>("door_lessons");
  auto* sample = window().centralWidget()->findChild<QPushButton*>("door_sample");
  ASSERT_TRUE(lessons && sample && lessons->isVisible());
  EXPECT_TRUE(child<QLabel>("empty_says")->text().contains("drop files and folders"));
  session().set_input((folder() / "any.png").string());
  EXPECT_TRUE(child<QLabel>("empty_says")->text().contains("Open a model"));
  EXPECT_GT(sample->menu()->actions().size(), 2);
  on_dialog([](QDialog& dialog) { dialog.reject(); });
  QTest::mouseClick(window().centralWidget()->findChild<QPushButton*>("door_model"),
                    Qt::LeftButton);
  QTest::mouseClick(lessons, Qt::LeftButton);
  EXPECT_TRUE(child<QDockWidget>("lessons")->isVisible());
}

TEST_F(WindowTest, TheFirstWindowFitsOnTheScreen) {
  window().resize_within_screen({100'000, 100'000});
  const QRect free = window().screen()->availableGeometry();
  EXPECT_LT(window().width(), free.width());
  EXPECT_LT(window().height(), free.height());
  window().resize_within_screen({1280, 800});
  EXPECT_EQ(window().size(), QSize(1280, 800));
}

TEST_F(WindowTest, OpensAFileByKeyAndDialog) {
  const auto file = write_sample("maps.h5", sample_trace(2, 3, 3, 1));
  answer_file_dialog(file);
  press(Qt::Key_O, Qt::ControlModifier);
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(session().subjects().size(), 1U);
  EXPECT_EQ(session().subjects()[0].state, State::ready) << session().subjects()[0].error;
}

TEST_F(WindowTest, TheDialogOpensTheFolderOfAModelAndEntersOthers) {
  const std::filesystem::path network = folder() / "others" / "network";
  std::filesystem::create_directories(network);
  std::filesystem::copy_file(sample_models().front(), network / "tf_model.h5");
  bool entered = false;
  on_dialog([&](QDialog& dialog) {
    auto& files = dynamic_cast<QFileDialog&>(dialog);
    auto* line = dialog.findChild<QLineEdit*>("fileNameEdit");
    line->setText(QString::fromStdString(network.parent_path().string()));
    QTest::keyClick(line, Qt::Key_Return);
    entered = files.isVisible() && files.directory().dirName() == "others";
    // The dialog reads the folder in another thread.
    (void)QTest::qWaitFor([&] { return line->text().isEmpty(); });
    QTest::keyClicks(line, "network", Qt::NoModifier, 20);
    QTest::qWait(500);
    QTest::keyClick(line, Qt::Key_Return);
  });
  press(Qt::Key_O, Qt::ControlModifier);
  EXPECT_TRUE(entered) << "a folder that holds no model";
  ASSERT_EQ(session().subjects().size(), 1U);
  EXPECT_EQ(session().subjects()[0].file, network);
  EXPECT_EQ(QSettings().value("recent_files").toStringList().value(0).toStdString(),
            network.string());
}

TEST_F(WindowTest, TheDialogShowsFilesOfEveryFormat) {
  QString filter;
  on_dialog([&filter](QDialog& dialog) {
    filter = dynamic_cast<QFileDialog&>(dialog).nameFilters().value(0);
    dialog.reject();
  });
  press(Qt::Key_O, Qt::ControlModifier);
  for (const char* pattern : {"*.safetensors", "*.index.json", "*.gguf", "*.onnx", "*.keras",
                              "*.ckpt", "*.msgpack", "*.h5", "*.npz"}) {
    EXPECT_TRUE(filter.contains(pattern)) << pattern << " in " << filter.toStdString();
  }
}

TEST_F(WindowTest, ArrowKeysWalkLayersAndHeads) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 3, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  press(Qt::Key_Right);
  press(Qt::Key_Right);
  press(Qt::Key_Down);
  EXPECT_EQ(session().selection().head, 2);
  EXPECT_EQ(session().selection().layer, 1);
  press(Qt::Key_Right);
  EXPECT_EQ(session().selection().head, 2);
  press(Qt::Key_Up);
  press(Qt::Key_Left);
  EXPECT_EQ(session().selection().head, 1);
  EXPECT_EQ(session().selection().layer, 0);
}

TEST_F(WindowTest, AClickInTheTableChoosesAnotherHead) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 3, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  auto* table = child<QTableView>("rank_table");
  ASSERT_EQ(table->model()->rowCount(), 1 + 2 * 4);
  click_row(*table, 7);
  EXPECT_EQ(session().selection().layer, 1);
  EXPECT_EQ(session().selection().head, 1);
}

TEST_F(WindowTest, TheTableFollowsTheSelection) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 3, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  press(Qt::Key_Down);
  EXPECT_EQ(child<QTableView>("rank_table")->currentIndex().row(), 6);
}

TEST_F(WindowTest, AColumnCanBeSortedBy) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 3, 4, 2)), "sample");
  ASSERT_TRUE(wait_until_settled());
  auto* table = child<QTableView>("rank_table");
  for (const auto order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
    table->sortByColumn(2, order);
    std::vector<double> ranks;
    for (int row = 0; row < 6; ++row) {
      EXPECT_NE(cell(*table, row, 1), "mean") << "heads come before means";
      ranks.push_back(cell(*table, row, 2).toDouble());
    }
    if (order == Qt::DescendingOrder) std::ranges::reverse(ranks);
    EXPECT_TRUE(std::ranges::is_sorted(ranks)) << testing::PrintToString(ranks);
    for (int row = 6; row < table->model()->rowCount(); ++row) {
      EXPECT_EQ(cell(*table, row, 1), "mean");
    }
  }
}

TEST_F(WindowTest, AClickInTheAtlasChoosesTheMapAndItsQuery) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 3, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  auto* canvas = window().findChild<AtlasCanvas*>();
  const QRectF map = canvas->map_rect(1, 2);
  ASSERT_FALSE(map.isEmpty());
  QTest::mouseClick(
      canvas, Qt::LeftButton, Qt::NoModifier,
      QPointF(map.left() + 0.5 * map.width(), map.top() + 0.55 * map.height()).toPoint());
  EXPECT_EQ(session().selection().layer, 1);
  EXPECT_EQ(session().selection().head, 2);
  EXPECT_EQ(session().selection().query, 5);  // the sixth of 10 rows
  press(Qt::Key_C);
  EXPECT_EQ(session().selection().query, 0);
}

TEST_F(WindowTest, IdentityHasAKeyAndRanksStandNextToEachOther) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 2, 4, 0.2)), "flat");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().view().identity, IdentityView::as_is);
  press(Qt::Key_I);
  EXPECT_EQ(session().view().identity, IdentityView::with);
  EXPECT_TRUE(child<QToolButton>("identity_2")->isChecked());
  ASSERT_TRUE(wait_until_settled());
  // Nearly constant maps have a low rank, and adding I makes all singular values matter.
  auto* table = child<QTableView>("rank_table");
  EXPECT_GT(cell(*table, 0, 3).toDouble(), cell(*table, 0, 2).toDouble() + 3);
  press(Qt::Key_I);
  EXPECT_EQ(session().view().identity, IdentityView::as_is) << "pressed twice";
  QTest::mouseClick(child<QToolButton>("identity_1"), Qt::LeftButton);
  EXPECT_EQ(session().view().identity, IdentityView::without);
  press(Qt::Key_I);
  EXPECT_EQ(session().view().identity, IdentityView::with) << "each press is seen";
  press(Qt::Key_I);
  EXPECT_EQ(session().view().identity, IdentityView::without);
}

TEST_F(WindowTest, ANarrowTableKeepsTheColumnsOfTheShownIdentity) {
  for (const char* name : {"a.h5", "b.h5", "c.h5"}) {
    window().open_file(write_sample(name, sample_trace(2, 2, 3, 1)));
  }
  window().resize(1280, 800);
  ASSERT_TRUE(wait_until_settled());
  auto* const table = child<QTableView>("rank_table");
  const auto headings = [table] {
    QStringList shown;
    for (int column = 0; column < table->model()->columnCount(); ++column) {
      if (table->isColumnHidden(column)) continue;
      shown << table->model()->headerData(column, Qt::Horizontal).toString();
    }
    return shown.join("|").toStdString();
  };
  EXPECT_TRUE(wait_until([&] { return headings() == "Layer|Head|1|2|3"; })) << headings();
  EXPECT_TRUE(wait_until([&] { return !table->horizontalScrollBar()->isVisible(); }));
  ViewSettings view = session().view();
  view.identity = IdentityView::with;
  session().set_view(view);
  EXPECT_TRUE(wait_until([&] { return headings() == "Layer|Head|1 + I|2 + I|3 + I"; }))
      << headings();
  session().close(id(2));
  session().close(id(1));
  EXPECT_TRUE(wait_until([&] { return headings() == "Layer|Head|1|1 + I"; })) << headings();
}

TEST_F(WindowTest, AKeyChoosesTheNumberOnTheMaps) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 2, 4, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  auto* canvas = window().findChild<AtlasCanvas*>();
  EXPECT_EQ(session().view().map_number, MapNumber::equivalent_rank);
  const QImage with = canvas->grab_picture();
  for (const MapNumber next :
       {MapNumber::effective_rank, MapNumber::stable_rank, MapNumber::entropy, MapNumber::none}) {
    press(Qt::Key_N);
    EXPECT_EQ(session().view().map_number, next);
  }
  ASSERT_TRUE(wait_until_settled());
  EXPECT_NE(with, canvas->grab_picture());
  press(Qt::Key_N);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(with, canvas->grab_picture());
}

TEST_F(WindowTest, MenusShowAndSetTheView) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 2, 4, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(child<QAction>("number_1")->isChecked()) << "the equivalent rank";
  child<QAction>("number_4")->trigger();
  EXPECT_EQ(session().view().map_number, MapNumber::entropy);
  EXPECT_FALSE(child<QAction>("number_1")->isChecked());
  press(Qt::Key_N);
  EXPECT_TRUE(child<QAction>("number_0")->isChecked());
  child<QAction>("number_0")->trigger();
  EXPECT_TRUE(child<QAction>("number_0")->isChecked()) << "chosen again";
  child<QAction>("sorted_by_number")->trigger();
  EXPECT_TRUE(session().view().sorted_by_number);
  EXPECT_EQ(session().view().map_number, MapNumber::equivalent_rank);
  child<QAction>("colours_magma")->trigger();
  EXPECT_EQ(session().view().colour_map, "magma");
  child<QAction>("reversed_colours")->trigger();
  EXPECT_TRUE(session().view().reversed_colours);
  child<QAction>("view_identity_2")->trigger();
  EXPECT_EQ(session().view().identity, IdentityView::with);
}

TEST_F(WindowTest, RanksChangeWithTheThreshold) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 1, 4, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  auto* table = child<QTableView>("rank_table");
  const double before = cell(*table, 0, 2).toDouble();
  auto* threshold = child<QDoubleSpinBox>("rank_threshold");
  threshold->setFocus();
  threshold->selectAll();
  QTest::keyClicks(threshold, "50");
  QTest::keyClick(threshold, Qt::Key_Return);
  EXPECT_EQ(session().view().rank_threshold.level, 0.5);
  EXPECT_LT(cell(*table, 0, 2).toDouble(), before);
  threshold->setValue(90);
  auto* share = child<QToolButton>("rank_share");
  EXPECT_TRUE(share->text().endsWith("Σσ"));
  QTest::mouseClick(share, Qt::LeftButton);
  EXPECT_TRUE(share->text().endsWith("Σσ²"));
  EXPECT_EQ(session().view().rank_threshold, RankThreshold(0.9, RankShare::energy));
  EXPECT_LT(cell(*table, 0, 2).toDouble(), before);
}

TEST_F(WindowTest, AClickOnTheImageChoosesTheQuery) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 3, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  auto* view = child<QueryView>("query_view_0");
  ASSERT_NE(view, nullptr);
  ASSERT_FALSE(view->place_of(4).isEmpty());
  QTest::mouseClick(view, Qt::LeftButton, Qt::NoModifier, view->place_of(4).center().toPoint());
  EXPECT_EQ(session().selection().query, 4);
  const std::vector<float>& weights = view->picture().weights;
  ASSERT_EQ(weights.size(), 10U);
  const auto row = session().trace(id(0))->layers[0].implied_map.slice(0).row(4);
  for (std::size_t key = 0; key < weights.size(); ++key) {
    EXPECT_NEAR(weights[key], row(static_cast<std::int64_t>(key)), 1e-6);
  }
}

TEST_F(WindowTest, NumbersSelectModels) {
  for (const char* name : {"a", "b"}) {
    session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 2, 1)), name);
  }
  ASSERT_TRUE(wait_until_settled());
  press(Qt::Key_2);
  EXPECT_EQ(session().selection().subject, id(1));
  press(Qt::Key_9);
  EXPECT_EQ(session().selection().subject, id(1));
  press(Qt::Key_1);
  EXPECT_EQ(session().selection().subject, id(0));
}

TEST_F(WindowTest, AFailedFileIsShownInItsCardAndTheRestStays) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 2, 1)), "good");
  std::ofstream(folder() / "bad.safetensors") << "this is no checkpoint";
  window().open_file(folder() / "bad.safetensors");
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(session().subjects().size(), 2U);
  EXPECT_EQ(session().subjects()[0].state, State::ready);
  EXPECT_EQ(session().subjects()[1].state, State::failed);
  const auto cards = window().findChildren<SubjectCard*>();
  ASSERT_EQ(cards.size(), 2);
  EXPECT_TRUE(cards[1]->accessibleDescription().contains("bad.safetensors"));
  bool retry = false;
  for (const QPushButton* button : cards[1]->findChildren<QPushButton*>()) {
    retry |= button->isVisible() && button->text() == "Try again";
  }
  EXPECT_TRUE(retry);
  const auto offers = window().findChildren<QPushButton*>("failure_options");
  const auto shown = std::ranges::find_if(offers, &QPushButton::isVisible);
  ASSERT_NE(shown, offers.end()) << "under the maps too";
  bool asked = false;
  on_dialog([&asked](QDialog& dialog) {
    asked = qobject_cast<ModelDialog*>(&dialog) != nullptr;
    dialog.reject();
  });
  QTest::mouseClick(*shown, Qt::LeftButton);
  EXPECT_TRUE(asked);
}

TEST_F(WindowTest, TheCardSaysThatAReplacedFileWasReadAgain) {
  session().open(write_sample("maps.h5", sample_trace(2, 3, 3, 1)));
  ASSERT_TRUE(wait_until_settled());
  const auto note = [this] { return child<QLabel>("file_note"); };
  ASSERT_TRUE(note());
  EXPECT_FALSE(note()->isVisible());
  (void)write_sample("maps.h5", sample_trace(2, 3, 3, 1, 7));
  ASSERT_TRUE(wait_until([&] { return note()->isVisible(); }, 20));
  EXPECT_TRUE(note()->text().startsWith("read again ")) << note()->text().toStdString();
  EXPECT_EQ(note()->property("role"), "muted");
  std::ofstream(folder() / "maps.h5") << "broken";
  ASSERT_TRUE(wait_until([&] { return note()->text().contains("cannot be read"); }, 20));
  EXPECT_EQ(note()->property("role"), "warning");
  EXPECT_EQ(session().subjects()[0].state, State::ready);
}

TEST_F(WindowTest, FilesCanBeDropped) {
  QMimeData files;
  files.setUrls({QUrl::fromLocalFile(
      QString::fromStdString(write_sample("dropped.h5", sample_trace(1, 2, 2, 1)).string()))});
  QDragEnterEvent enter({10, 10}, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window(), &enter);
  EXPECT_TRUE(enter.isAccepted());
  const auto shown = [this] {
    QString text;
    for (const auto* one : window().findChildren<Highlight*>()) text += one->text();
    return text;
  };
  EXPECT_EQ(shown(), "Drop to open the model dropped.h5");
  QDragLeaveEvent leave;
  QApplication::sendEvent(&window(), &leave);
  EXPECT_EQ(shown(), "");
  QApplication::sendEvent(&window(), &enter);
  QDropEvent drop({10, 10}, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window(), &drop);
  EXPECT_EQ(shown(), "");
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(session().subjects().size(), 1U);
  EXPECT_EQ(session().subjects()[0].subject.label, "dropped");
}

TEST_F(WindowTest, SavesAndRestoresByKeys) {
  window().open_file(write_sample("a.h5", sample_trace(2, 2, 2, 1)));
  window().open_file(write_sample("b.h5", sample_trace(2, 2, 2, 1)));
  ASSERT_TRUE(wait_until_settled());
  press(Qt::Key_Down);
  answer_file_dialog(folder() / "work.json");
  press(Qt::Key_S, Qt::ControlModifier);
  ASSERT_TRUE(std::filesystem::exists(folder() / "work.json"));

  std::filesystem::remove(folder() / "b.h5");
  session().close(id(0));
  session().close(id(0));
  ASSERT_TRUE(session().subjects().empty());
  answer_file_dialog(folder() / "work.json");
  press(Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(session().subjects().size(), 2U);
  EXPECT_EQ(session().subjects()[0].state, State::ready);
  EXPECT_EQ(session().subjects()[1].state, State::failed);
  EXPECT_EQ(session().selection().layer, 1);
}

TEST_F(WindowTest, ASessionReplacesAFileOnlyOnConfirmation) {
  const auto file = folder() / "work.json";
  std::ofstream(file) << "mine";
  const auto save_as_work = [&](QMessageBox::StandardButton answer) {
    bool asked = false;
    on_dialog([&, answer](QDialog& chooser) {
      on_dialog([&asked, answer](QDialog& question) {
        auto* const box = qobject_cast<QMessageBox*>(&question);
        ASSERT_NE(box, nullptr);
        EXPECT_TRUE(box->text().contains("work.json"));
        asked = true;
        box->button(answer)->click();
      });
      auto* const name = chooser.findChild<QLineEdit*>("fileNameEdit");
      ASSERT_NE(name, nullptr);
      name->setText(QString::fromStdString((folder() / "work").string()));
      QTest::keyClick(name, Qt::Key_Return);
    });
    press(Qt::Key_S, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_TRUE(asked);
  };
  save_as_work(QMessageBox::Cancel);
  EXPECT_EQ(read_bytes(file), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder() / "work"));
  save_as_work(QMessageBox::Yes);
  EXPECT_NE(read_bytes(file).find("attnscope_session"), std::string::npos);
}

TEST_F(WindowTest, ABrokenSessionIsReportedOverTheAtlases) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 2, 1)), "good");
  std::ofstream(folder() / "broken.json") << R"({"attnscope_session": 2, "subjects": 5})";
  window().open_file(folder() / "broken.json");
  EXPECT_TRUE(window().findChild<NoticeBar*>()->text().contains("broken.json"));
  EXPECT_EQ(session().subjects().size(), 1U);
}

TEST_F(WindowTest, ExportsAFigureAndReportsErrors) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  const QString good = QString::fromStdString((folder() / "figure.pdf").string());
  bool told = false;
  on_dialog([&](QDialog& dialog) {
    auto* file = dialog.findChild<QLineEdit*>("export_file");
    auto* write = dialog.findChild<QPushButton*>("export_write");
    auto* problem = dialog.findChild<QLabel*>("export_problem");
    file->setText("/no/such/folder/figure.pdf");
    QTest::mouseClick(write, Qt::LeftButton);
    told = wait_until([&] { return problem->isVisible() && write->isEnabled(); });
    file->setText(good);
    QTest::mouseClick(write, Qt::LeftButton);
    if (!wait_until([&] { return !dialog.isVisible(); })) dialog.reject();
  });
  press(Qt::Key_E, Qt::ControlModifier);
  EXPECT_TRUE(told);
  ASSERT_TRUE(std::filesystem::exists(folder() / "figure.pdf"));
  std::ifstream pdf(folder() / "figure.pdf", std::ios::binary);
  std::string head(4, ' ');
  pdf.read(head.data(), 4);
  EXPECT_EQ(head, "%PDF");
}

TEST_F(WindowTest, ExportsMapsAsOnePageOfHtmlAndReportsErrors) {
  auto* const notice = window().findChild<NoticeBar*>();
  child<QAction>("export_html")->trigger();
  EXPECT_TRUE(notice->text().contains("open a model and an input first")) << "nothing is open";

  const std::filesystem::path model = write_sample("a.h5", sample_trace(1, 2, 3, 1));
  window().open_file(model);
  window().open_file(write_sample("b.h5", sample_trace(2, 2, 3, 1)));
  ASSERT_TRUE(wait_until_settled());
  QString proposed;
  on_dialog([&](QDialog& dialog) {
    auto* const name = dialog.findChild<QLineEdit*>("fileNameEdit");
    ASSERT_NE(name, nullptr);
    proposed = name->text();
    name->setText(QString::fromStdString((folder() / "maps").string()));
    QTest::keyClick(name, Qt::Key_Return);
  });
  press(Qt::Key_E, Qt::ControlModifier | Qt::AltModifier);
  EXPECT_TRUE(proposed.endsWith(".html")) << proposed.toStdString();
  ASSERT_TRUE(wait_until([&] { return notice->text().contains("Exported maps.html"); }))
      << notice->text().toStdString();
  const std::string page = read_bytes(folder() / "maps.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>")) << page.substr(0, 80);
  EXPECT_NE(page.find("</html>"), std::string::npos);
  EXPECT_NE(page.find("attnscope export-html"), std::string::npos) << "the command that repeats it";

  // The question whether the file may be replaced has been answered with yes, and still the file of
  // an open model stays.
  std::filesystem::create_symlink(model, folder() / "link.html");
  const std::string before = read_bytes(model);
  on_dialog([&](QDialog& chooser) {
    on_dialog([](QDialog& question) {
      auto* const box = qobject_cast<QMessageBox*>(&question);
      ASSERT_NE(box, nullptr);
      box->button(QMessageBox::Yes)->click();
    });
    auto* const name = chooser.findChild<QLineEdit*>("fileNameEdit");
    ASSERT_NE(name, nullptr);
    name->setText(QString::fromStdString((folder() / "link.html").string()));
    QTest::keyClick(name, Qt::Key_Return);
  });
  child<QAction>("export_html")->trigger();
  ASSERT_TRUE(wait_until([&] { return notice->text().contains("link.html"); }))
      << notice->text().toStdString();
  EXPECT_FALSE(notice->text().contains("Exported")) << notice->text().toStdString();
  EXPECT_EQ(read_bytes(model), before);

  answer_file_dialog("/no/such/folder/maps.html");
  child<QAction>("export_html")->trigger();
  EXPECT_TRUE(wait_until([&] { return notice->text().contains("/no/such/folder"); }))
      << notice->text().toStdString();
  EXPECT_FALSE(std::filesystem::exists("/no/such/folder"));
}

TEST_F(WindowTest, EveryControlHasAName) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(1, 2, 2, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  for (const QAbstractButton* button : window().findChildren<QAbstractButton*>()) {
    if (!button->isVisible()) continue;
    EXPECT_FALSE(button->accessibleName().isEmpty() && button->text().isEmpty())
        << button->objectName().toStdString() << " " << button->toolTip().toStdString();
  }
}

}  // namespace
}  // namespace attnscope
