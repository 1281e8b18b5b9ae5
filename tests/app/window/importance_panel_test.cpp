// A language model in the window: a text is entered, and the importance of its tokens is shown.
#include <QPlainTextEdit>
#include <QTableWidget>
#include <cmath>
#include <gtest/gtest.h>

#include "app/panels/frame/text_heat.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

const std::filesystem::path kImportanceSamples = source_folder() + "/sample_data";

class LanguageModelWindow : public WindowTest {
 protected:
  /// True if the first model has a trace of `text`.
  [[nodiscard]] bool has_run_on(const std::string& text) {
    const auto trace = session().trace(id(0));
    if (!trace) return false;
    std::string whole;
    for (const std::string& token : trace->layout.texts) whole += token;
    return whole == text;
  }
};

TEST_F(LanguageModelWindow, ShowsImportancesForTheChosenEnd) {
  session().set_input("text:To be, or not to be");
  session().open(kImportanceSamples / "models/shakespeare-fastformer.h5");
  ASSERT_TRUE(wait_until([&] { return has_run_on("To be, or not to be"); }));
  window().show_panel("token-importance");
  auto* query = child<TextHeat>("text_heat_0");
  auto* key = child<TextHeat>("text_heat_1");
  ASSERT_NE(query, nullptr);
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(query->toPlainText(), "To be, or not to be");
  EXPECT_EQ(session().selection().query, 18);
  auto* table = child<QTableWidget>("top_tokens");
  EXPECT_EQ(table->rowCount(), 4);  // the window of the first layer
  Selection selection = session().selection();
  selection.query = 1;
  session().select(selection);
  EXPECT_EQ(table->rowCount(), 2);
  selection.layer = 5;
  selection.query = 9;
  session().select(selection);
  EXPECT_EQ(table->rowCount(), 10);
  EXPECT_GE(table->item(0, 1)->text().toDouble(), table->item(1, 1)->text().toDouble());
}

TEST_F(LanguageModelWindow, AClickOnATokenEndsTheTextThere) {
  session().set_input("text:To be, or not to be");
  session().open(kImportanceSamples / "models/shakespeare-softmax.h5");
  ASSERT_TRUE(wait_until([&] { return has_run_on("To be, or not to be"); }));
  TextHeat heat;
  heat.resize(300, 120);
  heat.set_texts(session().trace(id(0))->layout.texts);
  heat.show();
  std::int64_t clicked = -1;
  QObject::connect(&heat, &TextHeat::clicked, [&](std::int64_t token) { clicked = token; });
  QTest::mouseClick(heat.viewport(), Qt::LeftButton, Qt::NoModifier, heat.place_of(7).center());
  EXPECT_EQ(clicked, 7);
}

TEST_F(LanguageModelWindow, ATypedTextIsRun) {
  session().open(kImportanceSamples / "models/shakespeare-softmax.h5");
  auto* field = child<QPlainTextEdit>("input_text");
  ASSERT_NE(field, nullptr);
  ASSERT_TRUE(wait_until([&] { return field->isVisible(); }));
  QTest::keyClicks(field, "Good night");
  ASSERT_TRUE(wait_until([&] { return has_run_on("Good night"); }));
  EXPECT_EQ(field->toPlainText(), "Good night");
}

}  // namespace
}  // namespace attnscope
