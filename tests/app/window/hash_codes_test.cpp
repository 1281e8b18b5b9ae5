// The panel of hash codes on a sample model: sliders redraw it, and codes are learned for all
// heads.
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <gtest/gtest.h>

#include "app/panels/mechanism/hash_codes_page.h"
#include "app/session/job_queue.h"
#include "app/widgets/number_slider.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

using State = OpenSubject::State;

const std::filesystem::path kHashSamples = std::filesystem::path(source_folder()) / "sample_data";

class HashCodesPanelTest : public WindowTest {
 protected:
  void open_softmax() {
    session().set_input((kHashSamples / "inputs/09_ankle_boot.png").string());
    window().open_file(kHashSamples / "models/fashion-softmax.h5");
    window().show_panel("hash-codes");
    ASSERT_TRUE(wait_until_settled());
    ASSERT_EQ(session().subjects().at(0).state, State::ready) << session().subjects()[0].error;
  }
  [[nodiscard]] HashCodesPage& panel() { return *window().findChild<HashCodesPage*>(); }
  /// A number of the current figure; empty if there is none.
  [[nodiscard]] std::vector<double> number(const std::string& name) {
    return panel().figure() ? panel().figure()->numbers.at(name) : std::vector<double>();
  }
};

TEST_F(HashCodesPanelTest, IsRedrawnAsBitsAndHeadsChange) {
  open_softmax();
  ASSERT_NE(panel().figure(), nullptr);
  EXPECT_EQ(number("balance/klsh").size(), 16U);
  for (const char* codes : {"auc/learned", "auc/klsh"})
    EXPECT_GT(number(codes).at(0), 0.9) << codes;

  auto* slider = child<NumberSlider>("hash_bits")->findChild<QSlider*>();
  slider->setFocus();
  QTest::keyClick(slider, Qt::Key_Home);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(number("balance/klsh").size(), 1U);
  EXPECT_LE(number("distinct_codes/learned").at(0), 2);

  Selection selection = session().selection();
  selection.layer = 4;
  selection.head = 2;
  session().select(selection);
  ASSERT_TRUE(wait_until_settled());
  EXPECT_NE(panel().figure()->caption.find("layer 4, head 2"), std::string::npos);
}

TEST_F(HashCodesPanelTest, LearnsForAllHeadsAndComesBackWithTheSession) {
  open_softmax();
  child<NumberSlider>("hash_bits")->set_value(4);
  child<NumberSlider>("hash_supports")->set_value(9);
  QTest::mouseClick(child<QToolButton>("learn_codes"), Qt::LeftButton);
  ASSERT_TRUE(wait_until_settled());
  ASSERT_EQ(session().subjects().size(), 2U);
  const OpenSubject& learned = session().subjects()[1];
  ASSERT_EQ(learned.state, State::ready) << learned.error;
  EXPECT_EQ(learned.subject.label,
            "fashion-softmax with hash attention, codes learned here, 4 bits");
  ASSERT_NE(learned.subject.parameters, nullptr);
  const Tensor before = learned.subject.trace->layers[5].implied_map.whole();

  // Another input uses the same learned codes.
  const auto parameters = learned.subject.parameters;
  session().set_input((kHashSamples / "inputs/01_trouser.png").string());
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().subjects()[1].subject.parameters, parameters);

  session().set_input((kHashSamples / "inputs/09_ankle_boot.png").string());
  ASSERT_TRUE(wait_until_settled());
  session().save(folder() / "session.json");
  session().restore(folder() / "session.json");
  ASSERT_TRUE(wait_until_settled());
  const OpenSubject& again = session().subjects().at(1);
  ASSERT_EQ(again.state, State::ready) << again.error;
  EXPECT_EQ(again.subject.label, "fashion-softmax with hash attention, codes learned here, 4 bits");
  EXPECT_TRUE(
      std::ranges::equal(again.subject.trace->layers[5].implied_map.values(), before.values()))
      << "learning is deterministic";
}

TEST_F(HashCodesPanelTest, LearningCanBeCancelled) {
  open_softmax();
  session().learn_codes(id(0), {.bits = 64, .steps = 100'000});
  session().jobs().cancel_all();
  ASSERT_TRUE(wait_until_settled());
  EXPECT_EQ(session().subjects().at(1).state, State::failed);
  EXPECT_TRUE(session().subjects()[1].stopped) << session().subjects()[1].error;
}

}  // namespace
}  // namespace attnscope
