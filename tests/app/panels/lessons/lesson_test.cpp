#include "app/panels/lessons/lesson.h"

#include <QWidget>
#include <algorithm>
#include <gtest/gtest.h>
#include <memory>

#include "app/look/theme.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/panels/lessons/predictions/prediction.h"
#include "app/panels/lessons/steps/lesson_loan.h"
#include "app/panels/lessons/steps/step_runner.h"
#include "app/panels/panels.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "tests/support/refusal.h"

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
    return error_of([&] { (void)parse_lesson(text); });
  };
  EXPECT_NE(refusal("# T\n\n```step Open\nopen a\n").find("line 3"), std::string::npos);
  EXPECT_NE(refusal("# T\n```question\n```\n").find("line 2"), std::string::npos);
  EXPECT_NE(refusal("words only\n").find("title"), std::string::npos);
  // Predictions: the line of the file, and the rule.
  const auto expect = [&](const std::string& body, const char* line, const char* rule) {
    const std::string said = refusal(("# T\n\n" + body).c_str());
    EXPECT_NE(said.find(line), std::string::npos) << said;
    EXPECT_NE(said.find(rule), std::string::npos) << said;
  };
  expect("```prediction\n```\n", "line 3", "needs a title");
  expect("```prediction Q\n```\n```seen\n```\n", "line 4", "must ask for something");
  expect("```prediction Q\n\nguess 1: A => 1\n```\n```seen\n```\n", "line 5", "choice, number");
  expect("```prediction Q\nchoice A: B => C\n```\n", "line 4", "at least two options");
  expect("```prediction Q\nchoice A | A: B => C\n```\n", "line 4", "all different");
  expect("```prediction Q\nnumber 5 to 1: B => 2\n```\n", "line 4", "integer bounds");
  expect("```prediction Q\nnumber 1 to 5: B\n```\n", "line 4", "after =>");
  expect("```prediction Q\nnumber 1 to 5\n```\n", "line 4", "after a colon");
  expect("```prediction Q\ntext: B => C\n```\n", "line 4", "set next to it");
  const std::string asked = "```prediction Q\nnumber 1 to 5: B => 2\n```\n";
  const std::string words = "```prediction Q\ntext: B\n```\n";
  expect(asked, "line 3", "followed by ```seen");
  expect(asked + asked + "```seen\n```\n", "line 3", "before the next");
  expect("```seen\n```\n", "line 3", "needs a prediction");
  expect(asked + "```seen window\n```\n", "line 6", "known part");
  expect(words + "```seen\n```\n" + asked + "```seen\n```\n", "line 3", "only the last");
}

TEST(Prediction, AsksForChoicesNumbersAndWords) {
  const std::vector<PredictionField> fields = parse_prediction(
      "choice it rises | it falls: Shuffled: what happens? => @shuffled\n\n"
      "number -1 to 197: Rank => 178\ntext: Five sentences\n",
      7);
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields[0].options, (std::vector<std::string>{"it rises", "it falls"}));
  EXPECT_EQ(fields[0].label, "Shuffled: what happens?");
  EXPECT_EQ(fields[0].reading(), "shuffled");
  EXPECT_EQ(fields[1].kind, PredictionField::Kind::number);
  EXPECT_EQ(fields[1].least, -1);
  EXPECT_EQ(fields[1].most, 197);
  EXPECT_EQ(fields[1].seen, "178");
  EXPECT_EQ(fields[1].reading(), "");
  EXPECT_EQ(fields[2].kind, PredictionField::Kind::text);
  EXPECT_EQ(fields[2].label, "Five sentences");
}

TEST(Prediction, IsAskedInEachStepOfTheRankLesson) {
  const Lesson lesson = load_lesson("10-the-rank-lesson.md");
  int predictions = 0, headings = 0;
  for (const LessonBlock& block : lesson.blocks) {
    predictions += block.kind == Kind::prediction ? 1 : 0;
    for (std::size_t at = block.body.find("## "); block.kind == Kind::text;) {
      if (at == std::string::npos) break;
      ++headings;
      at = block.body.find("## ", at + 1);
    }
  }
  EXPECT_EQ(headings, 10) << "steps";
  EXPECT_EQ(predictions, 10);
}

TEST(Step, KeepsSpacesBetweenQuotes) {
  const StepCommand command =
      parse_step("panel training training_preset=\"The Adder paper\" training_settings=\"\"")
          .front();
  EXPECT_EQ(command.words, std::vector<std::string>{"training"});
  EXPECT_EQ(command.values.at("training_preset"), "The Adder paper");
  EXPECT_EQ(command.values.at("training_settings"), "");
  EXPECT_THROW((void)parse_step("panel training a=\"b"), Error);
}

// Numbers of a lesson hold for this view only, whatever the user has looked at before.
TEST(Step, PlainSetsTheUsualViewAndTheLoanGivesItBack) {
  Session session;
  LessonLoan loan(session);
  StepRunner steps(session, loan);
  ViewSettings mine = session.view();
  mine.rank_threshold = 0.8;
  mine.temperature = 2;
  mine.identity = IdentityView::with;
  mine.matrix.centred = true;
  mine.map_number = MapNumber::entropy;
  mine.colour_map = "magma";
  session.set_view(mine);
  steps.run("plain");
  EXPECT_DOUBLE_EQ(session.view().rank_threshold.level, 0.9);
  EXPECT_DOUBLE_EQ(session.view().temperature, 1);
  EXPECT_EQ(session.view().identity, IdentityView::as_is);
  EXPECT_FALSE(session.view().matrix.centred);
  EXPECT_EQ(session.view().map_number, MapNumber::equivalent_rank);
  EXPECT_EQ(session.view().colour_map, "magma") << "colours are the user's";
  loan.restore();
  EXPECT_TRUE(session.view() == mine);
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
    if (block.kind == Kind::seen) {
      for (const std::string& part : parse_pictures(block.title, block.line)) {
        const std::vector<std::string> names = panel_names();
        const bool known = part == "maps" || part == "experiment" ||
                           std::ranges::find(names, part.substr(5)) != names.end();
        EXPECT_TRUE(known) << part;
      }
    }
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
  return "n" + std::string(info.param.substr(0, info.param.find('-')));
});

}  // namespace
}  // namespace attnscope
