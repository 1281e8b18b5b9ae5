// Logits of models with changed maps, against PyTorch.
#include "analysis/intervention/ablation.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>

#include "analysis/intervention/truncation.h"
#include "core/error.h"
#include "core/model/model.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/inside_models.h"
#include "tests/support/reference_maps.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

constexpr double kCloseMap = 1e-5;

class AblationOf : public testing::TestWithParam<const char*> {
 protected:
  const InsideModel model_{GetParam()};

  /// Logits at every token position if the model records them, otherwise its only logits.
  [[nodiscard]] MatrixD run(MapChange change) const {
    const Subject& subject = model_.subject();
    TraceRequest request;
    request.token_logits = true;
    request.change_map = std::move(change);
    const Trace trace = subject.model->run(*subject.input, subject.mechanism, request, {});
    const Tensor& logits = trace.token_logits.empty() ? trace.logits : trace.token_logits;
    return logits.matrix().cast<double>();
  }

  [[nodiscard]] MatrixD truncated(const TruncationRequest& request) const {
    const SeriesRequest series = truncation_series(model_.subject(), request).front();
    return run(series.interventions.front().change(model_.subject(), model_.subject().trace));
  }

  [[nodiscard]] MatrixD ablated(const Ablation& ablation) const {
    return run(change_of(ablation, model_.subject(), model_.subject().trace));
  }

  void expect(const MatrixD& found, const char* name) const {
    EXPECT_LT(greatest_difference(found, model_.expected(std::string("changed_") + name)),
              kCloseMap)
        << name;
  }
};

TEST_P(AblationOf, TruncatedMapsAgreeWithPyTorch) {
  expect(truncated({.ranks = {1}}), "rank_1");
  expect(truncated({.ranks = {3}, .renormalise = {true}}), "rank_3_rows");
  expect(truncated({.ranks = {2}, .where = {{1}, {0}}}), "rank_2_head");
}

TEST_P(AblationOf, ReplacedMapsAgreeWithPyTorch) {
  expect(ablated({.where = {{1}, {2}}}), "zero");
  expect(ablated({.where = {{0}, {1}}, .by = Replacement::uniform}), "uniform");
  expect(ablated({.where = {{1}, {2}}, .by = Replacement::head, .other_head = 0}), "head");
  Ablation other{.where = {{1}, {2}}, .by = Replacement::mechanism};
  other.mechanism = {"linear", {}};
  expect(ablated(other), "mechanism");
}

// The model has "sliding_window": 5. Uniform weights cover only the keys that the head sees.
TEST(Ablation, EqualWeightsKeepToTheWindowOfTheLayer) {
  const TemporaryFolder folder;
  const std::string family = "hugging_face_mistral";
  write_hashed_safetensors(folder / "model.safetensors", family_shapes(family));
  (void)folder.write("config.json",
                     read_test_data("models/families/" + family + ".json")["config"].dump());
  Subject subject;
  subject.model = load_model(folder.path(), {});
  subject.mechanism = subject.model->spec().mechanism;
  Input input;
  input.content = Text{{}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}};
  TraceRequest request;
  const auto whole =
      std::make_shared<const Trace>(subject.model->run(input, subject.mechanism, request, {}));
  request.change_map = change_of({.by = Replacement::uniform}, subject, whole);
  const Trace changed = subject.model->run(input, subject.mechanism, request, {});
  ASSERT_FALSE(changed.layers.empty());
  for (const LayerTrace& layer : changed.layers) {
    const Matrix map = layer.implied_map.head(0);
    ASSERT_EQ(map.rows(), 12);
    for (Eigen::Index i = 0; i < 12; ++i) {
      for (Eigen::Index j = 0; j < 12; ++j) {
        const bool seen = j <= i && j > i - 5;
        const float weight = 1.0F / static_cast<float>(std::min<Eigen::Index>(i + 1, 5));
        ASSERT_FLOAT_EQ(map(i, j), seen ? weight : 0.0F) << i << ", " << j;
      }
    }
  }
}

TEST_P(AblationOf, TheMeanOfOneInputChangesNothing) {
  Ablation mean{.by = Replacement::mean};
  auto maps = std::make_shared<LayerMaps>();
  for (const LayerTrace& layer : model_.subject().trace->layers) maps->push_back(layer.implied_map);
  mean.mean = maps;
  EXPECT_LT(greatest_difference(ablated(mean), model_.expected("logits")), kCloseMap);
}

TEST_P(AblationOf, ReportsTheChangesOfOneRun) {
  const AblatedAnswer answer =
      ablate_once(model_.subject(), *model_.subject().input, {.where = {{1}, {2}}});
  const MatrixD expected = model_.expected("changed_zero");
  const auto last = expected.row(expected.rows() - 1);
  for (const LogitChange& one : answer.greatest(3)) {
    EXPECT_NEAR(one.after, last(one.index), kCloseMap);
  }
  EXPECT_GT(answer.divergence, 0);
}

INSTANTIATE_TEST_SUITE_P(Inside, AblationOf, testing::Values("vit", "gpt2"),
                         [](const auto& one) { return std::string(one.param); });

TEST(Ablation, RefusesMissingLayersHeadsAndMaps) {
  const InsideModel model("vit");
  const auto refused = [&](const Ablation& ablation) {
    EXPECT_THROW((void)change_of(ablation, model.subject(), model.subject().trace), Error)
        << in_words(ablation);
  };
  refused({.where = {{2}, {}}});
  refused({.where = {{}, {3}}});
  refused({.by = Replacement::mean});
  refused({.by = Replacement::head, .other_head = 3});
  EXPECT_THROW((void)ablation_series(model.subject(), {.where = {{9}, {}}}, AblatedUnit::head),
               Error);
}

TEST(Ablation, HasAColumnForEachHeadOrLayer) {
  const InsideModel model("vit");
  const Ablation all;
  EXPECT_EQ(ablation_series(model.subject(), all, AblatedUnit::head).interventions.size(), 6U);
  EXPECT_EQ(ablation_series(model.subject(), all, AblatedUnit::layer).interventions.size(), 2U);
  EXPECT_EQ(ablation_series(model.subject(), all, AblatedUnit::all).interventions.size(), 1U);
}

}  // namespace
}  // namespace attnscope
