// Each end of a run: as it is, with changed maps, and with changes that are refused.
#include "app/session/subject_run.h"

#include <gtest/gtest.h>
#include <stop_token>
#include <string>

#include "app/session/sample_data.h"
#include "core/error.h"
#include "core/model/model.h"

namespace attnscope {
namespace {

SubjectRun run_of(const char* model) {
  SubjectRun run;
  run.subject.model = load_model(sample_data_folder() / "models" / model);
  run.subject.mechanism = run.subject.model->spec().mechanism;
  run.subject.own_input = (sample_data_folder() / "inputs/09_ankle_boot.png").string();
  return run;
}

RunEnd end_of(const SubjectRun& run) {
  const auto no_layers = [](const auto&, const auto&, auto) { ADD_FAILURE() << "not requested"; };
  return carry_out(run, no_layers, Progress());
}

TEST(SubjectRun, EndsUnchangedWithoutChanges) {
  const SubjectRun run = run_of("fashion-softmax.h5");
  const RunEnd end = end_of(run);
  EXPECT_EQ(end.state, RunEnd::State::as_is);
  ASSERT_TRUE(end.input);
  EXPECT_EQ(end.input->locator, run.subject.own_input);
  ASSERT_TRUE(end.trace);
  EXPECT_FALSE(end.trace->provenance.contains("changed"));
  EXPECT_FALSE(end.unchanged);
  EXPECT_FALSE(end.ran_with.any());
}

TEST(SubjectRun, EndsWithTheChangedAndTheUnchangedTrace) {
  SubjectRun run = run_of("fashion-softmax.h5");
  run.what_if.rank = 2;
  const RunEnd end = end_of(run);
  EXPECT_EQ(end.state, RunEnd::State::changed);
  EXPECT_EQ(end.ran_with, run.what_if);
  ASSERT_TRUE(end.trace);
  ASSERT_TRUE(end.unchanged);
  EXPECT_EQ(end.trace->provenance.at("changed"), in_words(run.what_if));
  EXPECT_FALSE(end.unchanged->provenance.contains("changed"));
  // The known trace without changes is not computed again.
  run.unchanged = end.unchanged;
  EXPECT_EQ(end_of(run).unchanged, end.unchanged);
}

TEST(SubjectRun, RefusesImpossibleChangesAndRunsUnchanged) {
  SubjectRun run = run_of("fashion-daft-full.h5");
  run.what_if.identity = 0.5;
  const RunEnd end = end_of(run);
  EXPECT_EQ(end.state, RunEnd::State::refused);
  EXPECT_NE(end.error.find("each channel has a map of its own"), std::string::npos) << end.error;
  ASSERT_TRUE(end.trace);
  EXPECT_FALSE(end.trace->provenance.contains("changed"));
  EXPECT_FALSE(end.unchanged);
  EXPECT_FALSE(end.ran_with.any());
}

TEST(SubjectRun, FailsWithoutItsInput) {
  SubjectRun run = run_of("fashion-softmax.h5");
  run.subject.own_input = "/nowhere/to/be/found.png";
  EXPECT_THROW((void)end_of(run), Error);
}

TEST(SubjectRun, CanBeCancelled) {
  std::stop_source stop;
  stop.request_stop();
  const SubjectRun run = run_of("fashion-softmax.h5");
  EXPECT_THROW((void)carry_out(run, {}, Progress({}, stop.get_token())), Cancelled);
}

}  // namespace
}  // namespace attnscope
