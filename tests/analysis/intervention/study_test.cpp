// Studies: saved results, resumption and statistics.
#include "analysis/intervention/study.h"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>

#include "analysis/sweep/sweep.h"
#include "core/error.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

/// The answers of make_study.py as the result of a study.
StudyResult answers(const nlohmann::json& stored, bool of_text) {
  StudyResult result;
  result.of_text = of_text;
  StudySeries series;
  series.label = "model";
  series.columns = {{.name = "whole"}, {.name = "rank 1", .rank = 1}};
  series.predicted = stored.at("predicted").get<std::vector<std::int64_t>>();
  series.characters = stored.at("characters").get<std::vector<std::int64_t>>();
  series.correct = stored.at("correct").get<std::vector<std::int64_t>>();
  series.not_finite = stored.at("not_finite").get<std::vector<std::int64_t>>();
  series.nats = stored.at("nats").get<std::vector<double>>();
  series.divergence = stored.at("divergence").get<std::vector<double>>();
  series.count = series.done = std::ssize(series.predicted);
  series.rank_sums.assign(series.predicted.size(), 12.5);
  series.rank_maps.assign(series.predicted.size(), 5);
  result.series = {series};
  return result;
}

void expect_outcome(const Outcome& outcome, const nlohmann::json& expected) {
  const std::pair<const char*, double> numbers[] = {
      {"accuracy", outcome.accuracy},
      {"accuracy_error", outcome.accuracy_error},
      {"accuracy_change", outcome.accuracy_change},
      {"accuracy_change_error", outcome.accuracy_change_error},
      {"divergence", outcome.divergence},
      {"divergence_error", outcome.divergence_error},
      {"bits_per_token", outcome.bits_per_token},
      {"bits_per_token_error", outcome.bits_per_token_error}};
  for (const auto& [name, value] : numbers) {
    EXPECT_NEAR(value, expected.at(name).get<double>(), 1e-9) << name;
  }
  if (!expected.contains("bits_per_character")) return;
  EXPECT_NEAR(outcome.bits_per_character, expected["bits_per_character"].get<double>(), 1e-9);
  EXPECT_NEAR(outcome.bits_per_character_error, expected["bits_per_character_error"].get<double>(),
              1e-9);
}

TEST(Outcome, AgreesWithNumPy) {
  const nlohmann::json file = read_test_data("intervention/study.json");
  for (const char* const kind : {"images", "text"}) {
    const nlohmann::json& of = file.at(kind);
    const StudyResult result = answers(of, std::string(kind) == "text");
    for (const std::size_t column : {0U, 1U}) {
      SCOPED_TRACE(kind);
      expect_outcome(outcome_of(result, 0, column), of.at("outcomes").at(column));
    }
    EXPECT_DOUBLE_EQ(mean_equivalent_rank(result.series[0]).value_or(0), 2.5);
  }
}

/// A data set of 40 items that repeats the twelve sample images.
class RepeatedImages final : public DataSet {
 public:
  [[nodiscard]] std::int64_t size() const override { return 40; }
  [[nodiscard]] Input item(std::int64_t index) const override {
    Input input = open_input(source_folder() + "/sample_data/inputs/twelve.npz#" +
                             std::to_string(index % 12));
    return input;
  }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return names_; }
  [[nodiscard]] std::vector<std::filesystem::path> files() const override {
    return {source_folder() + "/sample_data/inputs/twelve.npz"};
  }

 private:
  std::vector<std::string> names_;
};

StudyRequest without_heads(const std::filesystem::path& out) {
  StudyRequest request;
  SeriesRequest series;
  series.subject.label = series.label = "fashion-softmax";
  series.subject.model = load_model(source_folder() + "/sample_data/models/fashion-softmax.h5");
  series.subject.mechanism = series.subject.model->spec().mechanism;
  series.interventions.push_back(
      {.name = "layer 0 head 1",
       .layer = 0,
       .head = 1,
       .needs = {},
       .change = [](const Subject&, const std::shared_ptr<const Trace>&) -> MapChange {
         return [](std::int64_t layer, std::int64_t head, MatrixMap map) {
           if (layer == 0 && head == 1) map.setZero();
         };
       }});
  request.kind = StudyKind::ablation;
  request.series = {series};
  request.data_set = std::make_shared<RepeatedImages>();
  request.out = out;
  request.checkpoint_seconds = 0;
  return request;
}

TEST(Study, ResumesAfterAnInterruption) {
  const TemporaryFolder folder;
  const StudyRequest request = without_heads(folder / "study.h5");
  std::stop_source stop;
  const Progress progress({}, stop.get_token());
  EXPECT_THROW((void)run_study(request, progress,
                               [&](const StudyResult& so_far) {
                                 EXPECT_FALSE(so_far.complete());
                                 stop.request_stop();
                               }),
               Cancelled);
  EXPECT_TRUE(std::filesystem::exists(sweep_checkpoint(request.out)));
  const StudyResult before = read_study(sweep_checkpoint(request.out));
  EXPECT_GT(before.series[0].done, 0);
  EXPECT_LT(before.series[0].done, 40);
  const StudyResult resumed = run_study(request);
  EXPECT_FALSE(std::filesystem::exists(sweep_checkpoint(request.out)));
  const StudyResult at_once = run_study(without_heads({}));
  EXPECT_EQ(resumed.series[0].nats, at_once.series[0].nats);
  EXPECT_EQ(resumed.series[0].correct, at_once.series[0].correct);
  const StudyResult stored = read_study(request.out);
  EXPECT_EQ(stored.series[0].divergence, resumed.series[0].divergence);
  EXPECT_EQ(stored.series[0].columns[1].head, 1);
  bool advanced = false;
  (void)run_study(request, {}, [&](const StudyResult&) { advanced = true; });
  EXPECT_FALSE(advanced) << "what is there already is not computed again";
}

TEST(Study, AFinishedResultRemovesItsOwnUnfinishedWork) {
  const TemporaryFolder folder;
  StudyRequest request = without_heads(folder / "study.h5");
  request.choice.count = 2;
  (void)run_study(request);
  const std::filesystem::path unfinished = sweep_checkpoint(request.out);
  std::filesystem::copy_file(request.out, unfinished);  // killed before it was removed
  (void)run_study(request);
  EXPECT_FALSE(std::filesystem::exists(unfinished));
  StudyRequest other = request;
  other.out = folder / "other.h5";
  other.choice.count = 3;
  (void)run_study(other);
  std::filesystem::copy_file(other.out, unfinished);
  (void)run_study(request);
  EXPECT_TRUE(std::filesystem::exists(unfinished)) << "work of another study";
}

TEST(Study, DoesNotResumeAnotherStudy) {
  const TemporaryFolder folder;
  StudyRequest request = without_heads(folder / "study.h5");
  request.choice.count = 2;
  (void)run_study(request);
  request.fingerprint = "something else";
  EXPECT_THROW((void)run_study(request), Error);
  request.restart = true;
  EXPECT_NO_THROW((void)run_study(request));
}

}  // namespace
}  // namespace attnscope
