// The answer panel and the step-by-step view under sliders, buttons, menus and keys.
#include <QAbstractButton>
#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>

#include "analysis/training/run_folder.h"
#include "app/panels/all_maps/all_maps_panel.h"
#include "app/panels/answer/answer_panel.h"
#include "app/panels/frame/figure_panel.h"
#include "app/panels/frame/text_heat.h"
#include "app/panels/playground/plane_view.h"
#include "app/panels/playground/playground_view.h"
#include "app/panels/steps/steps_view.h"
#include "app/session/sample_data.h"
#include "app/session/shown_figure.h"
#include "app/window/map_menu.h"
#include "tests/app/support/window_fixture.h"

namespace attnscope {
namespace {

class WhatIfPanelTest : public WindowTest {
 protected:
  void open(const char* model, const char* input = "09_ankle_boot.png") {
    const std::filesystem::path samples = sample_data_folder();
    session().set_input((samples / "inputs" / input).string());
    session().open(samples / "models" / model);
    ASSERT_TRUE(wait_until_settled());
    ASSERT_TRUE(session().trace(id(0)));
  }
  /// Types a number into the field of a slider.
  void type(const char* slider, const char* text) {
    auto* field = child<QWidget>(slider)->findChild<QDoubleSpinBox*>();
    ASSERT_NE(field, nullptr) << slider;
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, QLocale().toString(QString(text).toDouble(), 'f', field->decimals()));
    QTest::keyClick(field, Qt::Key_Return);
    ASSERT_TRUE(wait_until_settled());
  }
  void click(const char* button) {
    QTest::mouseClick(child<QAbstractButton>(button), Qt::LeftButton);
    ASSERT_TRUE(wait_until_settled());
  }
  const OpenSubject& subject() { return session().subjects().front(); }
  AnswerBars& bars() { return *child<AnswerBars>("answer_bars"); }
};

TEST_F(WhatIfPanelTest, ShowsTheAnswerNextToTheMapsWithTheTrueClass) {
  open("fashion-softmax.h5");
  window().show_panel("answer");
  ASSERT_TRUE(wait_until_settled());
  const AnswerBars::Content& content = bars().content();
  ASSERT_EQ(content.rows.size(), 5U);
  EXPECT_EQ(content.title, "fashion-softmax");
  EXPECT_GE(content.rows[0].answer.probability, content.rows[1].answer.probability);
  EXPECT_FALSE(content.rows[0].before) << "nothing is changed";
}

TEST_F(WhatIfPanelTest, ClassesThatTheFileDoesNotNameAreNamedByTheUser) {
  const std::string twelve = (sample_data_folder() / "inputs/twelve.npz").string();
  const RunFolder run{folder() / "run"};
  begin_run_folder(run, Recipe({{"dataset", twelve},
                                {"test_dataset", twelve},
                                {"steps", std::int64_t{1}},
                                {"depth", std::int64_t{1}},
                                {"width", std::int64_t{12}},
                                {"batch", std::int64_t{4}},
                                {"warm_up", std::int64_t{1}}}));
  (void)train(run, {});
  session().set_input((sample_data_folder() / "inputs/09_ankle_boot.png").string());
  session().open(run.model(1));
  window().show_panel("answer");
  ASSERT_TRUE(wait_until_settled());
  auto* const names = child<QToolButton>("class_names_0");
  ASSERT_TRUE(names->isVisible());
  EXPECT_EQ(names->text(), "Name classes");
  const auto first = [this] { return bars().content().rows.at(0).answer.name; };
  EXPECT_EQ(first().size(), 1U) << first() << ": its number";
  const auto choose = [&](const QString& entry) {
    emit names->menu()->aboutToShow();
    for (QAction* const action : names->menu()->actions()) {
      if (action->text() == entry) {
        action->trigger();
        return true;
      }
    }
    return false;
  };
  EXPECT_FALSE(choose("ImageNet-1k")) << "the model has ten classes";
  ASSERT_TRUE(choose("Fashion-MNIST"));
  ASSERT_TRUE(wait_until_settled());
  EXPECT_GT(first().size(), 1U) << first();
  EXPECT_EQ(names->toolTip(), "Class names: Fashion-MNIST");
  EXPECT_EQ(subject().options.overrides.at("labels"), "Fashion-MNIST");
  EXPECT_EQ(request_of(session()).further_arguments,
            (std::vector<std::string>{"--option", "labels=Fashion-MNIST"}));

  const std::filesystem::path few = folder() / "few.txt";
  std::ofstream(few) << "cat\ndog\n";
  answer_file_dialog(few);
  ASSERT_TRUE(choose("Read from a file…"));
  EXPECT_EQ(subject().options.overrides.at("labels"), "Fashion-MNIST") << "two names for ten";
  const std::filesystem::path ten = folder() / "ten.txt";
  std::ofstream(ten) << "c0\nc1\nc2\nc3\nc4\nc5\nc6\nc7\nc8\nc9\n";
  answer_file_dialog(ten);
  ASSERT_TRUE(choose("Read from a file…"));
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(first().starts_with("c")) << first();
  EXPECT_EQ(names->toolTip(), "Class names: ten.txt");
  // An input of a folder of classes offers their names.
  const std::filesystem::path data = folder() / "data";
  for (int i = 0; i < 10; ++i) {
    std::filesystem::create_directories(data / ("folder " + std::to_string(i)));
  }
  std::filesystem::copy(sample_data_folder() / "inputs/09_ankle_boot.png", data / "folder 3");
  session().set_input(data.string() + "#0");
  ASSERT_TRUE(wait_until_settled());
  ASSERT_TRUE(choose("Folders of data"));
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(first().starts_with("folder ")) << first();
  ASSERT_TRUE(choose("As in the file"));
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(first().size(), 1U) << first() << ": its number";
}

TEST_F(WhatIfPanelTest, ANamedModelHasNoChoiceOfNames) {
  open("fashion-softmax.h5");
  window().show_panel("answer");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_FALSE(child<QToolButton>("class_names_0")->isVisible());
}

TEST_F(WhatIfPanelTest, TheIdentitySliderMovesMapsRanksAndAnswerTogether) {
  open("fashion-softmax.h5");
  window().show_panel("answer");
  window().show_panel("what-if");
  const float before = session().trace(id(0))->layers[0].implied_map.slice(0)(3, 3);
  type("what_if_identity", "0.5");
  EXPECT_EQ(subject().what_if.identity, 0.5);
  EXPECT_NEAR(session().trace(id(0))->layers[0].implied_map.slice(0)(3, 3), before + 0.5F, 1e-5F);
  ASSERT_TRUE(bars().content().rows.front().before.has_value());
  EXPECT_NE(bars().content().rows.front().answer.probability,
            *bars().content().rows.front().before);
  EXPECT_TRUE(child<QLabel>("what_if_ranks")->text().contains("mean rank"));
  EXPECT_TRUE(child<QLabel>("mean_ranks")->text().contains("→"));
  press(Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_FALSE(subject().what_if.any());
  EXPECT_EQ(session().trace(id(0))->layers[0].implied_map.slice(0)(3, 3), before);
}

TEST_F(WhatIfPanelTest, TemperatureAndRankChangeTheRunOrOnlyThePicture) {
  open("fashion-softmax.h5");
  window().show_panel("what-if");
  type("what_if_temperature", "2");
  EXPECT_EQ(subject().what_if.temperature, 2);
  EXPECT_EQ(session().view().temperature, 1);
  EXPECT_TRUE(child<QLabel>("what_if_target")->text().contains("run"));
  click("what_if_reset");
  const auto run = session().trace(id(0));
  click("what_if_picture");
  EXPECT_FALSE(child<QWidget>("what_if_identity")->isVisible()) << "it stands in the top bar";
  type("what_if_temperature", "3");
  type("what_if_rank", "4");
  EXPECT_EQ(session().view().temperature, 3);
  EXPECT_EQ(session().view().shown_rank, 4);
  EXPECT_FALSE(subject().what_if.any());
  EXPECT_EQ(session().trace(id(0)), run) << "nothing runs";
  child<QCheckBox>("what_if_rest")->click();
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(session().view().shows_rest);
  click("what_if_reset");
  EXPECT_EQ(session().view().temperature, 1);
  EXPECT_EQ(session().view().shown_rank, 0);
  EXPECT_FALSE(session().view().shows_rest);
}

TEST_F(WhatIfPanelTest, ChangesOnlyThePictureOfATrace) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 2, 4, 1)), "trace");
  ASSERT_TRUE(wait_until_settled());
  window().show_panel("what-if");
  EXPECT_FALSE(child<QToolButton>("what_if_run")->isEnabled());
  type("what_if_temperature", "2");
  EXPECT_EQ(session().view().temperature, 2);
  EXPECT_TRUE(child<QLabel>("what_if_result")->text().contains("A trace holds"));
}

TEST_F(WhatIfPanelTest, KeepsTheCurveBeforeTheChange) {
  open("fashion-softmax.h5");
  const auto lines = [](const Figure& figure, bool faint) {
    return std::ranges::count_if(figure.panels.front().marks, [faint](const Mark& mark) {
      const auto* const line = std::get_if<Line>(&mark);
      return line && !line->keys.empty() && (line->colour.alpha < 255) == faint;
    });
  };
  const FigurePanel* spectrum = nullptr;
  for (const auto* one : window().findChildren<FigurePanel*>()) {
    if (one->title() == "Cumulative spectrum") spectrum = one;
  }
  ASSERT_NE(spectrum, nullptr);
  press(Qt::Key_I);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(lines(*spectrum->figure(), false), 1) << "the one that is shown";
  EXPECT_EQ(lines(*spectrum->figure(), true), 1) << "the one that I has left";
  window().show_panel("what-if");
  type("what_if_identity", "0.25");
  EXPECT_EQ(lines(*spectrum->figure(), false), 1);
  EXPECT_EQ(lines(*spectrum->figure(), true), 1) << "A, as it was";
}

TEST_F(WhatIfPanelTest, RemovesReplacesAndRestoresAHead) {
  open("fashion-softmax.h5");
  window().show_panel("what-if");
  session().select_map(id(0), 2, 1);
  click("what_if_drop");
  ASSERT_EQ(subject().what_if.heads.size(), 1U);
  EXPECT_TRUE(session().trace(id(0))->layers[2].implied_map.slice(1).isZero(0));
  EXPECT_FALSE(child<QPushButton>("what_if_drop")->isEnabled()) << "it is out already";
  auto* const by = child<QComboBox>("what_if_by");
  ASSERT_NE(by, nullptr);
  by->setFocus();
  QTest::keyClick(by, Qt::Key_Down);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(subject().what_if.heads.front().by, HeadReplacement::uniform);
  click("what_if_put_back");
  EXPECT_TRUE(wait_until([this] { return subject().what_if.heads.empty(); }, 10));
}

TEST_F(WhatIfPanelTest, ReachesTheOtherMechanismsAnswerAtShareOne) {
  open("fashion-softmax.h5");
  session().overlay(id(0), {"adder", {}});
  ASSERT_TRUE(wait_until_settled());
  window().show_panel("what-if");
  auto* const other = child<QComboBox>("what_if_toward");
  ASSERT_EQ(other->count(), 2);
  other->setFocus();
  QTest::keyClick(other, Qt::Key_Down);
  type("what_if_share", "1");
  const auto own = session().trace(id(0))->logits.values();
  const auto adders = session().trace(id(1))->logits.values();
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT_NEAR(own[i], adders[i], 1e-4F) << i;
  click("what_if_reset");
  EXPECT_FALSE(subject().what_if.any());
}

TEST_F(WhatIfPanelTest, ChangesAllModelsAtOnce) {
  open("fashion-softmax.h5");
  session().open(sample_data_folder() / "models" / "fashion-adder.h5");
  ASSERT_TRUE(wait_until_settled());
  window().show_panel("what-if");
  click("what_if_all");
  type("what_if_temperature", "2");
  EXPECT_EQ(session().subjects()[0].what_if.temperature, 2);
  EXPECT_EQ(session().subjects()[1].what_if.temperature, 2);
}

TEST_F(WhatIfPanelTest, TheMapsMenuTakesAHeadOut) {
  open("fashion-softmax.h5");
  QMenu menu;
  add_ablation_menu(menu, session(), id(0), 1, 2);
  auto* const mean = menu.findChild<QAction*>("without_mean");
  ASSERT_NE(mean, nullptr);
  mean->trigger();
  ASSERT_TRUE(wait_until_settled());
  const auto map = session().trace(id(0))->layers[1].implied_map.slice(2);
  EXPECT_LT((map.row(0) - map.row(5)).norm(), 1e-6F) << "all rows are one";
  QMenu again;
  add_ablation_menu(again, session(), id(0), 1, 2);
  EXPECT_TRUE(again.findChild<QAction*>("without_mean")->isChecked());
  again.findChild<QAction*>("put_back")->trigger();
  ASSERT_TRUE(wait_until_settled());
  EXPECT_FALSE(subject().what_if.any());
}

TEST_F(WhatIfPanelTest, TheMapsMenuLaysAnotherAttentionOrAMeanOverAHead) {
  open("fashion-softmax.h5");
  const Matrix own = session().trace(id(0))->layers[1].implied_map.head(2);
  const auto trigger = [this](const char* name, const QString& text) {
    QMenu menu(&window());
    add_ablation_menu(menu, session(), id(0), 1, 2);
    for (QAction* action : menu.findChildren<QAction*>(name)) {
      if (action->text() == text) action->trigger();
    }
    ASSERT_TRUE(wait_until_settled());
  };
  trigger("without_as", "adder");
  ASSERT_EQ(subject().what_if.heads.size(), 1U);
  EXPECT_EQ(subject().what_if.heads.front().mechanism.name, "adder");
  const Matrix adder = session().trace(id(0))->layers[1].implied_map.head(2);
  EXPECT_GT((adder - own).norm(), 1e-3F);
  EXPECT_NEAR(adder.row(3).sum(), 1, 1e-4F);
  answer_file_dialog(sample_data_folder() / "inputs/twelve.npz");
  trigger("without_data", "Mean map over a data set…");
  EXPECT_EQ(subject().what_if.heads.front().by, HeadReplacement::mean_over_data);
  const Matrix mean = session().trace(id(0))->layers[1].implied_map.head(2);
  EXPECT_GT((mean - adder).norm(), 1e-3F);
  window().show_panel("what-if");
  EXPECT_TRUE(child<QComboBox>("what_if_by")->currentText().startsWith("its mean over "));
  press(Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(subject().what_if.heads.front().mechanism.name, "adder");
  press(Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_FALSE(subject().what_if.any());
}

TEST_F(WhatIfPanelTest, CannotChangeTheMapsOfATrace) {
  session().add_trace(std::make_shared<const Trace>(sample_trace(2, 2, 3, 1)), "sample");
  ASSERT_TRUE(wait_until_settled());
  QMenu menu;
  add_ablation_menu(menu, session(), id(0), 0, 0);
  EXPECT_TRUE(menu.isEmpty());
}

TEST_F(WhatIfPanelTest, ALanguageModelShowsTheLossOfEachToken) {
  open("shakespeare-softmax.h5", "21_gonzalo.txt");
  window().show_panel("answer");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(bars().content().title.endsWith("next"));
  auto* const text = child<TextHeat>("losses_0");
  ASSERT_NE(text, nullptr);
  EXPECT_TRUE(text->isVisible());
  EXPECT_FALSE(text->toPlainText().isEmpty());
}

TEST_F(WhatIfPanelTest, AClickOnATokenAddsItAndAButtonContinuesTheText) {
  session().set_input("text:To be");
  session().open(sample_data_folder() / "models" / "shakespeare-softmax.h5");
  window().show_panel("answer");
  ASSERT_TRUE(wait_until_settled());
  const AnswerBars::Row second = bars().content().rows.at(1);
  QTest::mouseClick(&bars(), Qt::LeftButton, {}, bars().row_rect(1).center().toPoint());
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().input_locator(), "text:To be" + second.answer.name);
  EXPECT_EQ(child<QPlainTextEdit>("input_text")->toPlainText().toStdString(),
            "To be" + second.answer.name);
  click("continue_0");
  EXPECT_EQ(session().input_locator().size(), std::string("text:To be").size() + 21);
  session().set_input("text:" + std::string(256, 'a'));
  ASSERT_TRUE(wait_until_settled());
  click("continue_0");
  EXPECT_FALSE(child<QToolButton>("continue_0")->isEnabled());
  EXPECT_TRUE(child<QToolButton>("continue_0")->toolTip().contains("context is full"));
}

TEST_F(WhatIfPanelTest, AHeadIsSteppedThroughByKeys) {
  open("fashion-softmax.h5");
  window().show_panel("steps");
  ASSERT_TRUE(wait_until_settled());
  auto* const view = child<StepsView>("steps_view");
  view->setFocus();
  EXPECT_EQ(view->step(), StepsView::Step::vectors);
  QTest::keyClick(view, Qt::Key_Right);
  EXPECT_EQ(view->step(), StepsView::Step::score);
  EXPECT_TRUE(child<QLabel>("steps_words")->text().startsWith("Σ q k")) << "a product";
  QTest::keyClick(view, Qt::Key_Down);
  EXPECT_EQ(view->key(), 1);
  QTest::keyClick(view, Qt::Key_Down, Qt::ShiftModifier);
  EXPECT_EQ(session().selection().query, 1);
  QTest::keyClick(view, Qt::Key_End);
  EXPECT_FALSE(child<QToolButton>("steps_on")->isEnabled());
  click("steps_back");
  EXPECT_EQ(view->step(), StepsView::Step::values);
}

TEST_F(WhatIfPanelTest, HoveringAWeightPointsAtItsCell) {
  open("fashion-adder.h5");
  window().show_panel("steps");
  ASSERT_TRUE(wait_until_settled());
  auto* const view = child<StepsView>("steps_view");
  QTest::keyClick(view, Qt::Key_Right);
  EXPECT_TRUE(child<QLabel>("steps_words")->text().contains("‖q − k‖₁")) << "a distance";
  QTest::qWait(200);  // the side docks make space for the steps
  // Bars are hardly wider than a pixel. The pointer goes to the first pixel that lies inside the
  // bar.
  const QRectF bar = view->bar_of(9);
  QTest::mouseMove(view,
                   QPoint(static_cast<int>(std::ceil(bar.left())), bar.center().toPoint().y()));
  // The earlier position of the pointer may be reported first.
  EXPECT_TRUE(wait_until(
      [this] {
        const auto& hover = session().selection().hover;
        return hover && hover->key == 9;
      },
      5));
}

TEST_F(WhatIfPanelTest, TheVectorsGoIntoThePlayground) {
  open("fashion-softmax.h5");
  window().show_panel("steps");
  ASSERT_TRUE(wait_until_settled());
  click("steps_playground");
  const auto* const playground = child<PlaygroundView>("playground_view");
  ASSERT_NE(playground, nullptr);
  EXPECT_TRUE(playground->isVisible());
  // A lesson has a plane of its own with this name.
  const auto* const plane = playground->findChild<PlaneView*>("playground_plane");
  EXPECT_TRUE(wait_until([plane] { return plane->tokens().queries.size() == 8; }, 5));
}

TEST_F(WhatIfPanelTest, HeadsAndComponentsFollowTheSelection) {
  open("fashion-softmax.h5");
  window().show_panel("heads");
  ASSERT_TRUE(wait_until_settled());
  auto* const heads = window().findChild<AllMapsPanel*>();
  ASSERT_NE(heads->figure(), nullptr);
  const std::string caption = heads->figure()->caption;
  auto* const measure = child<QComboBox>("all_maps_measure");
  measure->setCurrentIndex(measure->findData("normalised_entropy"));
  QTest::qWait(100);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_NE(heads->figure()->caption, caption);
  EXPECT_FALSE(measure->toolTip().isEmpty()) << "its formula";
  window().show_panel("components");
  ASSERT_TRUE(wait_until_settled());
  const FigurePanel* components = nullptr;
  for (const auto* one : window().findChildren<FigurePanel*>()) {
    if (one->title() == "Components") components = one;
  }
  ASSERT_NE(components->figure(), nullptr);
  EXPECT_EQ(components->figure()->panels.size(), 8U) << "four of keys, four of queries";
  session().select_map(id(0), 1, 1);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_NE(components->figure()->caption.find("layer 1, head 1"), std::string::npos);
}

}  // namespace
}  // namespace attnscope
