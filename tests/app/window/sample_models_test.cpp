// The window on the sample models of the program.
#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSpinBox>
#include <QTimer>
#include <QToolButton>
#include <algorithm>
#include <gtest/gtest.h>

#include "analysis/figure/caption.h"
#include "analysis/figure/figure_command.h"
#include "analysis/figure/recipes/map_grid.h"
#include "app/panels/frame/highlight.h"
#include "app/panels/mechanism/key_maps_page.h"
#include "app/panels/mechanism/position_bias_page.h"
#include "app/panels/models/subject_card.h"
#include "app/panels/models/subject_dialogs.h"
#include "app/session/job_queue.h"
#include "app/session/shown_figure.h"
#include "app/widgets/elided_label.h"
#include "app/window/first_minute.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/model_shapes.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using State = OpenSubject::State;

const std::filesystem::path kSamples = std::filesystem::path(source_folder()) / "sample_data";

class SampleModelsTest : public WindowTest {
 protected:
  void open_softmax() {
    session().set_input((kSamples / "inputs/09_ankle_boot.png").string());
    window().open_file(kSamples / "models/fashion-softmax.h5");
    ASSERT_TRUE(wait_until_settled());
    ASSERT_EQ(session().subjects().at(0).state, State::ready) << session().subjects()[0].error;
  }
  /// Clicks the button with that accessible name on the first card.
  void click_card(const QString& name) {
    for (auto* button : window().findChild<SubjectCard*>()->findChildren<QToolButton*>()) {
      if (button->accessibleName() == name) QTest::mouseClick(button, Qt::LeftButton);
    }
  }
  static void accept(QDialog& dialog) {
    QTest::mouseClick(dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok),
                      Qt::LeftButton);
  }
};

TEST_F(SampleModelsTest, TheFirstMinuteShowsBothModelsOnOneImage) {
  window().open_samples();
  EXPECT_FALSE(session().idle());
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(session().subjects().size(), 2U);
  for (const OpenSubject& open : session().subjects()) {
    EXPECT_EQ(open.state, State::ready) << open.error;
    EXPECT_EQ(open.subject.trace->tokens(), 197);
  }
  EXPECT_EQ(session().subjects()[0].subject.mechanism.name, "softmax");
  EXPECT_EQ(session().subjects()[1].subject.mechanism.name, "adder");
}

TEST_F(SampleModelsTest, TheFirstMinuteFramesEverythingThatItSpeaksOf) {
  window().show_first_minute();
  ASSERT_TRUE(wait_until_settled());
  auto* card = child<FirstMinuteCard>("first_minute");
  auto* next = child<QPushButton>("first_minute_next");
  const auto frames = [this] {
    qsizetype count = 0;
    for (const auto* one : window().findChildren<Highlight*>()) {
      if (one->isVisible()) count += one->frames().size();
    }
    return count;
  };
  QString before;
  for (const qsizetype wanted : {1, 2, 1, 2, 1, 1}) {
    const QString said = child<QLabel>("first_minute_said")->text();
    EXPECT_NE(said, before);
    before = said;
    EXPECT_TRUE(wait_until([&] { return frames() == wanted; }, 5))
        << said.toStdString() << " frames " << frames();
    EXPECT_FALSE(card->findChild<QPushButton*>("door_lessons")->isVisible());
    QTest::mouseClick(next, Qt::LeftButton);
  }
  EXPECT_EQ(frames(), 0);
  EXPECT_FALSE(next->isVisible());
  EXPECT_TRUE(card->findChild<QPushButton*>("door_lessons")->isVisible());
  EXPECT_TRUE(FirstMinuteCard::is_wanted());
  QTest::mouseClick(child<QPushButton>("first_minute_close"), Qt::LeftButton);
  EXPECT_FALSE(card->isVisible());
  EXPECT_FALSE(FirstMinuteCard::is_wanted());
  child<QAction>("first_minute")->trigger();
  EXPECT_TRUE(card->isVisible());
  EXPECT_EQ(session().subjects().size(), 2U);
}

TEST_F(SampleModelsTest, TheAnswerStandsOverTheMapsAndFollowsInputAndMechanism) {
  open_softmax();
  const auto answers = [this] {
    QStringList texts;
    for (const auto* label : window().findChildren<ElidedLabel*>("prediction")) {
      if (label->isVisible()) texts << label->full_text();
    }
    return texts;
  };
  ASSERT_EQ(answers().size(), 1);
  EXPECT_TRUE(answers()[0].startsWith("Ankle boot 77 %")) << answers()[0].toStdString();
  const auto* label = window().findChild<ElidedLabel*>("prediction");
  EXPECT_EQ(label->toolTip().count('\n'), 5) << label->toolTip().toStdString();
  session().set_input((kSamples / "inputs/01_trouser.png").string());
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(answers()[0].startsWith("Trouser")) << answers()[0].toStdString();
  // An item of a data set has a true class, and another mechanism may predict a different one.
  session().set_input((kSamples / "inputs/twelve.npz").string() + "#9");
  ASSERT_TRUE(wait_until_settled());
  EXPECT_TRUE(answers()[0].contains("✓")) << answers()[0].toStdString();
  session().overlay(id(0), {"adder", {}});
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(answers().size(), 2);
  EXPECT_NE(answers()[0], answers()[1]);
  bool said = false;
  for (const auto* mark : window().findChildren<QLabel*>("mark")) {
    said |= mark->isVisible() && mark->text().contains("not trained");
  }
  EXPECT_TRUE(said);
}

TEST_F(SampleModelsTest, ALanguageModelShowsTheNextToken) {
  session().set_input("text:To be, or not");
  window().open_file(kSamples / "models/shakespeare-softmax.h5");
  ASSERT_TRUE(wait_until_settled());
  const auto* label = window().findChild<ElidedLabel*>("prediction");
  EXPECT_TRUE(label->full_text().startsWith("next: ")) << label->full_text().toStdString();
}

TEST_F(SampleModelsTest, OverlaysAnotherMechanismByItsDialog) {
  open_softmax();
  on_dialog([](QDialog& dialog) {
    auto* mechanism = dialog.findChild<QComboBox*>("mechanism");
    mechanism->setCurrentIndex(mechanism->findData("adder"));
    auto* identity = dialog.findChild<QCheckBox*>("parameter_identity");
    ASSERT_NE(identity, nullptr);
    identity->setChecked(true);
    accept(dialog);
  });
  click_card("Overlay another mechanism");
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(session().subjects().size(), 2U);
  const Subject& laid_over = session().subjects()[1].subject;
  ASSERT_TRUE(laid_over.trace) << session().subjects()[1].error;
  EXPECT_EQ(laid_over.mechanism.name, "adder");
  EXPECT_TRUE(laid_over.trace->identity_in_maps);
  EXPECT_FALSE(laid_over.trace->mechanism_trained);
  EXPECT_EQ(laid_over.model, session().subjects()[0].subject.model);
}

TEST_F(SampleModelsTest, AWholeNumberOfADialogMayBeAWord) {
  open_softmax();
  bool seen = false;
  on_dialog([&seen](QDialog& dialog) {
    const auto* const overlay = qobject_cast<OverlayDialog*>(&dialog);
    ASSERT_NE(overlay, nullptr);
    auto* const mechanism = dialog.findChild<QComboBox*>("mechanism");
    mechanism->setCurrentIndex(mechanism->findData("daft-conv"));
    auto* const dimensions = dialog.findChild<QSpinBox*>("parameter_dimensions");
    ASSERT_NE(dimensions, nullptr);
    EXPECT_EQ(dimensions->text(), "auto");
    const auto chosen = [overlay] { return overlay->mechanism().parameters.at("dimensions"); };
    EXPECT_EQ(chosen(), ParameterValue(std::string("auto")));
    dimensions->setValue(2);
    EXPECT_EQ(chosen(), ParameterValue(std::int64_t{2}));
    seen = true;
    dialog.reject();
  });
  click_card("Overlay another mechanism");
  EXPECT_TRUE(seen);
}

TEST_F(SampleModelsTest, ReloadsAModelWithOptionsAndCorrectsAWrongOne) {
  open_softmax();
  const auto set = [this](const QString& option, const QString& value) {
    on_dialog([option, value](QDialog& dialog) {
      auto* field = dialog.findChild<QLineEdit*>("option_" + option);
      ASSERT_NE(field, nullptr);
      field->setText(value);
      accept(dialog);
    });
    click_card("Model options and assumptions");
    ASSERT_TRUE(wait_until_settled());
  };
  const auto before = session().trace(id(0));
  set("norm_eps", "0.5");
  ASSERT_EQ(session().subjects()[0].state, State::ready) << session().subjects()[0].error;
  EXPECT_EQ(session().trace(id(0))->heads(), 3);
  EXPECT_NE(session().trace(id(0))->logits.data()[0], before->logits.data()[0]);
  // The file gives the number of heads, which must not be contradicted.
  set("heads", "6");
  EXPECT_EQ(session().subjects()[0].state, State::failed);
  EXPECT_FALSE(session().subjects()[0].error.empty());
  EXPECT_FALSE(session().trace(id(0)));
  set("heads", "3");
  EXPECT_EQ(session().subjects()[0].state, State::ready) << session().subjects()[0].error;
}

TEST_F(SampleModelsTest, TheCardHidesAssumptionsOfAKnownModel) {
  open_softmax();
  const auto* card = window().findChild<SubjectCard*>();
  EXPECT_TRUE(card->findChild<QPushButton*>("model_status")->isHidden());
}

TEST_F(SampleModelsTest, TheCardListsAssumptions) {
  const TemporaryFolder folder;
  write_hashed_safetensors(folder / "vit.safetensors", timm_shapes({}));
  window().open_file(folder / "vit.safetensors");
  ASSERT_TRUE(wait_until_settled());
  ASSERT_TRUE(session().subjects().at(0).subject.model);
  const auto* card = window().findChild<SubjectCard*>();
  const auto* status = card->findChild<QPushButton*>("model_status");
  EXPECT_FALSE(status->isHidden());
  EXPECT_TRUE(status->text().startsWith("Unconfirmed: ")) << status->text().toStdString();
  EXPECT_TRUE(status->toolTip().contains("activation = gelu")) << status->toolTip().toStdString();
}

TEST_F(SampleModelsTest, AnotherInputRunsTheModelAgain) {
  open_softmax();
  const auto before = session().trace(id(0));
  for (auto* button : window().findChildren<QToolButton*>()) {
    if (button->accessibleName().startsWith("Sample input 01")) {
      QTest::mouseClick(button, Qt::LeftButton);
    }
  }
  ASSERT_TRUE(wait_until_settled());
  EXPECT_NE(session().trace(id(0)), before);
  EXPECT_NE(session().input_locator().find("01_trouser"), std::string::npos);
}

TEST_F(SampleModelsTest, ASampleThatNoModelReadsIsGreyedAndOffersAModel) {
  open_softmax();
  QToolButton* text = nullptr;
  for (auto* button : window().findChildren<QToolButton*>()) {
    const QString name = button->accessibleName();
    if (name == "Sample input 20 prospero") text = button;
    if (!name.startsWith("Sample input 0")) continue;
    EXPECT_TRUE(button->accessibleDescription().isEmpty()) << name.toStdString();
  }
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text->accessibleDescription(), "No open model reads texts.");
  EXPECT_TRUE(text->toolTip().contains("No open model reads texts."));
  QTimer::singleShot(100, &window(), [this] {
    auto* const menu = child<QMenu>("unreadable_sample");
    ASSERT_NE(menu, nullptr);
    for (QAction* action : menu->actions()) {
      if (action->text() != "Open shakespeare-softmax for it") continue;
      menu->setActiveAction(action);
      QTest::keyClick(menu, Qt::Key_Return);
    }
  });
  QTest::mouseClick(text, Qt::LeftButton);
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(session().subjects().size(), 2U);
  EXPECT_EQ(session().subjects()[1].state, OpenSubject::State::ready);
  EXPECT_TRUE(text->accessibleDescription().isEmpty()) << "a model reads it now";
}

TEST_F(SampleModelsTest, OneModelIsSeenOnTwoInputs) {
  session().set_input((kSamples / "inputs/09_ankle_boot.png").string());
  window().open_file(kSamples / "models/fashion-softmax.h5");
  ASSERT_TRUE(wait_until_settled());
  press(Qt::Key_K);
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(session().subjects().size(), 2U);
  const auto boot = session().trace(id(1));
  session().set_input((kSamples / "inputs/03_dress.png").string());
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().trace(id(1)), boot) << "it is kept on the boot";
  EXPECT_EQ(session().trace(id(0))->input_label, "03_dress.png");
  EXPECT_EQ(session().subjects()[1].subject.label, "fashion-softmax on 09_ankle_boot.png");
  EXPECT_NE(session().trace(id(0))->layers[0].implied_map.values()[1],
            session().trace(id(1))->layers[0].implied_map.values()[1]);
  // An overlay keeps the input of its model.
  session().overlay(id(1), {"adder", {}});
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().trace(id(2))->input_label, "09_ankle_boot.png");

  // Figures show every model, and their command line gives the input of each.
  const FigureRequest request = request_of(session());
  EXPECT_EQ(subject_groups(request, true).size(), 3U);
  const std::string command = figure_command("cumulative-spectrum", request);
  for (const char* part :
       {"fashion-softmax.h5 ", "@,input=", "@adder,identity=false,input=", "--input "}) {
    EXPECT_NE(command.find(part), std::string::npos) << part << " is not in\n" << command;
  }

  const std::filesystem::path file = folder() / "two inputs.json";
  session().save(file);
  session().restore(file);
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(session().subjects().size(), 3U);
  EXPECT_EQ(session().trace(id(0))->input_label, "03_dress.png");
  EXPECT_EQ(session().trace(id(1))->input_label, "09_ankle_boot.png");
  EXPECT_EQ(session().subjects()[1].subject.label, "fashion-softmax on 09_ankle_boot.png");
  EXPECT_TRUE(std::ranges::equal(session().trace(id(1))->layers[2].implied_map.values(),
                                 boot->layers[2].implied_map.values()));
}

TEST_F(SampleModelsTest, ATypedTextIsInTheSessionFile) {
  session().set_input("text:To be, or not");
  window().open_file(kSamples / "models/shakespeare-softmax.h5");
  ASSERT_TRUE(wait_until_settled());
  const std::filesystem::path file = folder() / "text.json";
  session().save(file);
  session().set_input("text:that is");
  ASSERT_TRUE(wait_until_settled());
  session().restore(file);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().input_locator(), "text:To be, or not");
  ASSERT_TRUE(session().trace(id(0))) << session().subjects()[0].error;
  EXPECT_EQ(session().trace(id(0))->tokens(), 13);
}

TEST_F(SampleModelsTest, ACancelledRunCanBeResumed) {
  session().set_input((kSamples / "inputs/09_ankle_boot.png").string());
  window().open_file(kSamples / "models/fashion-softmax.h5");
  session().jobs().cancel_all();
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().subjects()[0].state, State::failed);
  EXPECT_TRUE(session().subjects()[0].stopped) << session().subjects()[0].error;
  session().set_input((kSamples / "inputs/09_ankle_boot.png").string());
  session().reload(id(0));
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().subjects()[0].state, State::ready) << session().subjects()[0].error;
}

TEST_F(SampleModelsTest, TheChannelOfADaftModelIsChosenOnItsCard) {
  session().set_input((kSamples / "inputs/09_ankle_boot.png").string());
  window().open_file(kSamples / "models/fashion-daft-conv.h5");
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(session().subjects().at(0).state, State::ready) << session().subjects()[0].error;
  const auto before = session().trace(id(0));
  EXPECT_EQ(before->map_channels, 16);
  EXPECT_FALSE(before->map_channel);
  auto* channel = window().findChild<SubjectCard*>()->findChild<QSpinBox*>("channel");
  ASSERT_NE(channel, nullptr);
  ASSERT_TRUE(channel->isVisibleTo(&window()));
  EXPECT_EQ(channel->text(), "mean");
  channel->setFocus();
  QTest::keyClick(channel, Qt::Key_Up);
  QTest::keyClick(channel, Qt::Key_Up);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().trace(id(0))->map_channel, 1);
  EXPECT_NE(session().trace(id(0))->layers[0].implied_map.whole().matrix(),
            before->layers[0].implied_map.whole().matrix());
  EXPECT_EQ(session().trace(id(0))->logits.matrix(), before->logits.matrix());

  const std::filesystem::path saved = folder() / "daft.attnscope";
  session().save(saved);
  session().restore(saved);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().trace(id(0))->map_channel, 1);
}

TEST_F(SampleModelsTest, PositionBiasesAndKeysOfADaftModelAreDrawn) {
  session().set_input((kSamples / "inputs/09_ankle_boot.png").string());
  window().open_file(kSamples / "models/fashion-softmax.h5");
  window().open_file(kSamples / "models/fashion-daft-full.h5");
  ASSERT_TRUE(wait_until_settled());
  window().show_panel("key-maps");
  auto* biases = window().findChild<PositionBiasPage*>();
  auto* keys = window().findChild<KeyMapsPage*>();
  ASSERT_TRUE(biases && keys);
  ASSERT_TRUE(wait_until([&] { return keys->figure() != nullptr; }));
  window().show_panel("position-bias");
  ASSERT_TRUE(wait_until([&] { return biases->figure() != nullptr; }));
  EXPECT_EQ(biases->figure()->panels.size(), 6U) << "of the one model that has any";
  const std::int64_t across = maps_across(keys->figure()->width_mm);
  EXPECT_GT(across, 1);
  EXPECT_EQ(std::ssize(keys->figure()->panels), 6 * std::min<std::int64_t>(16, across))
      << "channels that the panel has room for, of each layer";
  for (auto* button : biases->header()->findChildren<QToolButton*>()) {
    if (button->text() == "Query") QTest::mouseClick(button, Qt::LeftButton);
  }
  Selection selection = session().selection();
  selection.query = 50;
  session().select(selection);
  ASSERT_TRUE(wait_until([&] {
    return !biases->is_behind() && biases->figure()->command.find("query=50") != std::string::npos;
  }));
}

}  // namespace
}  // namespace attnscope
