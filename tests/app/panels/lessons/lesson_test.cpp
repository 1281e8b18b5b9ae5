#include "app/panels/lessons/lesson.h"

#include <QWidget>
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>

#include "app/look/theme.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/panels/lessons/steps/lesson_loan.h"
#include "app/panels/lessons/steps/step_runner.h"
#include "app/panels/panels.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "core/attention/mechanism.h"
#include "core/error.h"

namespace attnscope {
namespace {

using Kind = LessonBlock::Kind;

TEST(Lesson, IsSplitAtItsFences) {
  const Lesson lesson = parse_lesson(
      "# Title\n\nWords.\n\n```step Do this\nopen a\nselect layer=1\n```\nMore.\n"
      "```question Why?\n**Because.**\n```\n```experiment ranks\n```\n");
  EXPECT_EQ(lesson.title, "Title");
  ASSERT_EQ(lesson.blocks.size(), 5U);
  EXPECT_EQ(lesson.blocks[0].kind, Kind::text);
  EXPECT_EQ(lesson.blocks[0].body, "Words.");
  EXPECT_EQ(lesson.blocks[1].kind, Kind::step);
  EXPECT_EQ(lesson.blocks[1].title, "Do this");
  EXPECT_EQ(lesson.blocks[1].body, "open a\nselect layer=1");
  EXPECT_EQ(lesson.blocks[1].line, 5);
  EXPECT_EQ(lesson.blocks[2].body, "More.");
  EXPECT_EQ(lesson.blocks[3].title, "Why?");
  EXPECT_EQ(lesson.blocks[4].title, "ranks");
  EXPECT_EQ(parse_lesson("# T\n```summary\n* a\n```\n").blocks[0].kind, Kind::summary);
}

TEST(Lesson, LeavesPlainCodeAlone) {
  const Lesson lesson = parse_lesson("# T\n```text\n# not a title\n```\nend\n");
  ASSERT_EQ(lesson.blocks.size(), 1U);
  EXPECT_NE(lesson.blocks[0].body.find("# not a title"), std::string::npos);
}

TEST(Lesson, SaysWhichLineIsWrong) {
  const auto refusal = [](const char* text) -> std::string {
    try {
      (void)parse_lesson(text);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_NE(refusal("# T\n\n```step Open\nopen a\n").find("line 3"), std::string::npos);
  EXPECT_NE(refusal("# T\n```question\n```\n").find("line 2"), std::string::npos);
  EXPECT_NE(refusal("words only\n").find("title"), std::string::npos);
}

TEST(Step, RefusesUnknownCommands) {
  EXPECT_THROW((void)parse_step("opn fashion-softmax"), Error);
  EXPECT_THROW((void)parse_step("open"), Error);
  EXPECT_THROW((void)parse_step("select lyer=1"), Error);
  EXPECT_EQ(parse_step("overlay 1 adder identity=true").front().values.at("identity"), "true");
  EXPECT_EQ(parse_step("input text:a=b").front().words.front(), "text:a=b");
  EXPECT_EQ(parse_step("panel spectrum a=on").front().values.at("a"), "on");
}

// Every lesson of the program: its steps name existing samples, mechanisms and panels, and its
// experiments exist.
class EveryLesson : public testing::TestWithParam<std::string_view> {};

TEST_P(EveryLesson, CanBeDone) {
  load_assets();
  Session session;
  SpectrumStore spectra(session);
  LessonLoan loan(session);
  const Lesson lesson = load_lesson(GetParam());
  EXPECT_EQ(lesson.blocks.back().kind, Kind::summary);
  int steps = 0, questions = 0, experiments = 0;
  for (const LessonBlock& block : lesson.blocks) {
    SCOPED_TRACE(std::string(GetParam()) + " line " + std::to_string(block.line));
    if (block.kind == Kind::question) {
      ++questions;
      EXPECT_FALSE(block.body.empty());
    }
    if (block.kind == Kind::experiment) {
      ++experiments;
      const ExperimentContext context{session, spectra, loan, experiment_settings(block.body)};
      std::unique_ptr<QWidget> widget(make_experiment(block.title, context));
      EXPECT_NE(widget, nullptr);
    }
    if (block.kind != Kind::step) continue;
    ++steps;
    for (const StepCommand& command : parse_step(block.body)) {
      if (command.name == "open") {
        EXPECT_TRUE(sample_file("models", command.words[0]).is_absolute()) << command.words[0];
      }
      if (command.name == "input" && !command.words[0].starts_with("text:")) {
        EXPECT_TRUE(sample_file("inputs", command.words[0]).is_absolute()) << command.words[0];
      }
      if (command.name == "overlay") {
        EXPECT_NO_THROW((void)find_mechanism(command.words[1]));
      }
      if (command.name == "panel") {
        const std::vector<std::string> names = panel_names();
        EXPECT_NE(std::ranges::find(names, command.words[0]), names.end()) << command.words[0];
      }
    }
  }
  EXPECT_GT(steps, 0);
  EXPECT_GT(questions, 0);
  EXPECT_GT(experiments, 0);
}

INSTANTIATE_TEST_SUITE_P(All, EveryLesson, testing::ValuesIn(lesson_names()), [](const auto& info) {
  return "n" + std::string(info.param.substr(0, 1));
});

}  // namespace
}  // namespace attnscope
