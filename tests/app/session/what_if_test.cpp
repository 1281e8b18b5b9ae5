#include "app/session/what_if.h"

#include <cmath>
#include <gtest/gtest.h>

#include "analysis/intervention/ablation.h"
#include "app/session/history.h"
#include "app/session/prediction.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "core/input/data_set.h"
#include "core/input/text.h"
#include "core/model/evaluation/text_evaluation.h"
#include "tests/app/support/session_fixture.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

class WhatIfTest : public testing::Test {
 protected:
  SubjectId open(const char* model, const char* input = "09_ankle_boot.png") {
    const std::filesystem::path samples = sample_data_folder();
    if (session_.input_locator().empty()) {
      session_.set_input((samples / "inputs" / input).string());
    }
    const SubjectId id = session_.open(samples / "models" / model);
    EXPECT_TRUE(wait_until([&] { return session_.idle(); }));
    return id;
  }

  void change(SubjectId id, const WhatIf& what_if) {
    session_.set_what_if(id, what_if);
    ASSERT_TRUE(wait_until([&] { return session_.idle(); }));
  }

  std::vector<float> logits(SubjectId id) {
    const auto values = session_.trace(id)->logits.values();
    return {values.begin(), values.end()};
  }

  void expect_same(const std::vector<float>& a, const std::vector<float>& b, double tolerance) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
  }

  Session session_;
};

TEST_F(WhatIfTest, FullIdentityEqualsTheIdentityMapping) {
  const SubjectId id = open("fashion-adder.h5");
  const std::vector<float> as_it_is = logits(id);
  change(id, {.identity = 1.0});
  const std::vector<float> changed = logits(id);
  EXPECT_TRUE(session_.trace(id)->identity_in_maps);
  session_.set_overlay(id, MechanismChoice{"adder", {{"identity", true}}});
  change(id, {});
  ASSERT_TRUE(wait_until([&] { return session_.idle(); }));
  expect_same(changed, logits(id), 1e-4);
  EXPECT_GT(std::abs(changed[0] - as_it_is[0]), 1e-3) << "I changes the answer";
}

TEST_F(WhatIfTest, AnswersAsTheOtherModelAtShareOne) {
  const SubjectId own = open("fashion-softmax.h5");
  const SubjectId other = session_.overlay(own, {"adder", {}});
  ASSERT_TRUE(wait_until([&] { return session_.idle(); }));
  const std::vector<float> before = logits(own);
  change(own, {.toward = other, .share = 1});
  expect_same(logits(own), logits(other), 1e-4);
  change(own, {.toward = other, .share = 0.5});
  const Trace& half = *session_.trace(own);
  const float from = session_.find(own)->unchanged->layers[0].implied_map.slice(1)(3, 5);
  const float to = session_.trace(other)->layers[0].implied_map.slice(1)(3, 5);
  EXPECT_NEAR(half.layers[0].implied_map.slice(1)(3, 5), (from + to) / 2, 1e-6F);
  change(own, {});
  expect_same(logits(own), before, 0);
}

TEST_F(WhatIfTest, FollowsTheOtherModelToAnotherInput) {
  const SubjectId own = open("fashion-softmax.h5");
  const SubjectId other = session_.overlay(own, {"adder", {}});
  ASSERT_TRUE(wait_until([&] { return session_.idle(); }));
  change(own, {.toward = other, .share = 1});
  session_.set_input((sample_data_folder() / "inputs" / "08_bag.png").string());
  ASSERT_TRUE(wait_until([&] { return session_.idle(); }));
  EXPECT_EQ(session_.find(own)->subject.input, session_.input());
  expect_same(logits(own), logits(other), 1e-4);
}

TEST_F(WhatIfTest, RemovesAHeadAndRestoresItByUndo) {
  History history(session_);
  const SubjectId id = open("fashion-softmax.h5");
  const std::vector<float> before = logits(id);
  change(id, {.heads = {{.layer = 2, .head = 1}}});
  EXPECT_TRUE(session_.trace(id)->layers[2].implied_map.slice(1).isZero(0));
  EXPECT_FALSE(session_.trace(id)->layers[2].implied_map.slice(0).isZero(0));
  EXPECT_NE(logits(id), before);
  EXPECT_EQ(session_.find(id)->subject.label, "fashion-softmax, without head 1 of layer 2");
  EXPECT_EQ(history.undo_text(), "change of maps");
  history.undo();
  ASSERT_TRUE(wait_until([&] { return session_.idle(); }));
  expect_same(logits(id), before, 0);
  history.redo();
  ASSERT_TRUE(wait_until([&] { return session_.idle(); }));
  EXPECT_TRUE(session_.trace(id)->layers[2].implied_map.slice(1).isZero(0));
}

TEST_F(WhatIfTest, ReplacesHeadsByUniformMeanRowOrAnotherHead) {
  const SubjectId id = open("fashion-softmax.h5");
  const auto plain = session_.trace(id);
  change(id, {.heads = {{0, 0, HeadReplacement::uniform},
                        {0, 1, HeadReplacement::mean_row},
                        {0, 2, HeadReplacement::other_head, 0}}});
  const LayerTrace& layer = session_.trace(id)->layers[0];
  const LayerTrace& own = plain->layers[0];
  const auto keys = static_cast<float>(own.implied_map.extent(2));
  EXPECT_NEAR(layer.implied_map.slice(0)(4, 7), 1 / keys, 1e-7F);
  EXPECT_NEAR(layer.implied_map.slice(1)(4, 7), own.implied_map.slice(1).col(7).mean(), 1e-6F);
  EXPECT_NEAR(layer.implied_map.slice(2)(4, 7), own.implied_map.slice(0)(4, 7), 1e-7F);
}

TEST_F(WhatIfTest, AHeadTakesAnotherAttentionsMap) {
  for (const char* model : {"fashion-softmax.h5", "fashion-adder-identity.h5"}) {
    const SubjectId id = open(model);
    const std::string own = session_.find(id)->subject.mechanism.name;
    const MechanismChoice other =
        make_mechanism({own == "softmax" ? "adder" : "softmax", {}})->choice();
    const SubjectId beside = session_.overlay(id, other);
    ASSERT_TRUE(wait_until([&] { return session_.idle(); }));
    ReplacedHead head{0, 1, HeadReplacement::other_attention};
    head.mechanism = other;
    change(id, {.heads = {head}});
    ASSERT_TRUE(session_.find(id)->ran_with.any());
    // In the first layer the queries and keys are those of the model with the other mechanism.
    const Matrix shown = session_.trace(id)->layers[0].implied_map.head(1);
    Matrix expected = session_.trace(beside)->layers[0].implied_map.head(1);
    if (session_.trace(id)->identity_in_maps) expected.diagonal().array() += 1;
    EXPECT_LT((shown - expected).cwiseAbs().maxCoeff(), 1e-5F) << model;
    const Matrix first = session_.trace(id)->layers[0].implied_map.head(0);
    EXPECT_EQ(first, Matrix(session_.find(id)->unchanged->layers[0].implied_map.head(0)));
    session_.close(beside);
    session_.close(id);
  }
}

TEST_F(WhatIfTest, AHeadTakesItsMeanOverADataSet) {
  const SubjectId id = open("fashion-softmax.h5");
  const std::string data = (sample_data_folder() / "inputs/twelve.npz").string();
  ReplacedHead head{2, 1, HeadReplacement::mean_over_data};
  head.data_set = data;
  change(id, {.heads = {head}});
  ASSERT_TRUE(session_.find(id)->ran_with.any());
  const auto means = mean_maps(session_.find(id)->subject, *open_data_set(data), {mean_items});
  const Matrix shown = session_.trace(id)->layers[2].implied_map.head(1);
  EXPECT_LT((shown - (*means)[2].head(1)).cwiseAbs().maxCoeff(), 1e-6F);
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "session.json";
  session_.save(file);
  Session again;
  again.restore(file);
  EXPECT_EQ(again.subjects().front().what_if.heads, (std::vector<ReplacedHead>{head}));
}

TEST_F(WhatIfTest, CausalMapsStayCausal) {
  const SubjectId id = open("shakespeare-softmax.h5", "21_gonzalo.txt");
  change(id, {.identity = 0.25,
              .heads = {{0, 0, HeadReplacement::uniform}, {0, 1, HeadReplacement::mean_row}}});
  const LayerTrace& layer = session_.trace(id)->layers[0];
  for (const std::int64_t head : {0, 1}) {
    const auto map = layer.implied_map.slice(head);
    EXPECT_EQ(map(2, 3), 0) << head;
    EXPECT_NEAR(map.row(5).sum(), 1.25, 1e-5) << head;
  }
  EXPECT_NEAR(layer.implied_map.slice(0)(3, 0), 0.25, 1e-6);
}

TEST_F(WhatIfTest, CausalMapsCutOffToARankHideLaterKeys) {
  const SubjectId id = open("shakespeare-softmax.h5", "21_gonzalo.txt");
  change(id, {.rank = 2});
  ASSERT_TRUE(session_.find(id)->ran_with.any());
  const Matrix map = session_.trace(id)->layers[0].implied_map.head(0);
  const Matrix above = map.triangularView<Eigen::StrictlyUpper>();
  EXPECT_EQ(above.cwiseAbs().maxCoeff(), 0);
  EXPECT_NE(map, Matrix(session_.find(id)->unchanged->layers[0].implied_map.head(0)));
}

TEST_F(WhatIfTest, TheTemperatureIsThatOfTheScores) {
  const SubjectId id = open("fashion-softmax.h5");
  const auto row = session_.trace(id)->layers[0].implied_map.slice(0).row(3).eval();
  change(id, {.temperature = 2});
  const auto half = row.array().sqrt().eval();
  const auto changed = session_.trace(id)->layers[0].implied_map.slice(0).row(3).eval();
  for (Eigen::Index i = 0; i < row.size(); ++i) {
    EXPECT_NEAR(changed(i), half(i) / half.sum(), 1e-5) << i;
  }
}

TEST_F(WhatIfTest, KeepsTheUnchangedRunNextToTheChangedOne) {
  SpectrumStore spectra(session_);
  const SubjectId id = open("fashion-softmax.h5");
  const auto before = spectra.of(id);
  ASSERT_TRUE(before);
  EXPECT_FALSE(spectra.of_unchanged(id));
  change(id, {.identity = 0.5});
  EXPECT_EQ(spectra.of_unchanged(id), before);
  EXPECT_GT(mean_equivalent_rank(spectra.of(id)->without, 0.9),
            mean_equivalent_rank(before->without, 0.9) + 1)
      << "half of an I is part of the map, and raises the rank";
  change(id, {.rank = 2});
  for (const MapSpectrum& map : spectra.of(id)->without) EXPECT_LE(map.equivalent_rank, 2);
  change(id, {});
  EXPECT_EQ(spectra.of(id), before);
}

TEST_F(WhatIfTest, SpectraOfTheLastRunStayUntilTheNextAreKnown) {
  SpectrumStore spectra(session_);
  const SubjectId id = open("fashion-softmax.h5");
  change(id, {.temperature = 2});
  ASSERT_TRUE(spectra.of(id));
  int changes = 0;
  QObject::connect(&session_, &Session::subjects_changed, [&] {
    ++changes;
    EXPECT_TRUE(spectra.latest(id));
    EXPECT_TRUE(spectra.of_unchanged(id));
  });
  change(id, {.temperature = 3});
  EXPECT_GT(changes, 1);
}

TEST_F(WhatIfTest, ReportsImpossibleChangesAndRunsTheModelUnchanged) {
  const SubjectId id = open("fashion-daft-full.h5");
  const std::vector<float> before = logits(id);
  QString said;
  QObject::connect(&session_, &Session::failed, [&said](const QString& what) { said = what; });
  change(id, {.identity = 0.5});
  EXPECT_TRUE(said.contains("each channel has a map of its own")) << said.toStdString();
  EXPECT_FALSE(session_.find(id)->what_if.any());
  EXPECT_EQ(session_.find(id)->state, OpenSubject::State::ready);
  expect_same(logits(id), before, 0);
}

TEST_F(WhatIfTest, IsKeptInTheSessionsFile) {
  const TemporaryFolder folder;
  const SubjectId id = open("fashion-softmax.h5");
  const WhatIf what_if{.identity = 0.25,
                       .temperature = 2,
                       .rank = 5,
                       .heads = {{1, 2, HeadReplacement::other_head, 1}}};
  change(id, what_if);
  const std::vector<float> changed = logits(id);
  session_.save(folder.path() / "changed.json");
  Session other;
  other.restore(folder.path() / "changed.json");
  ASSERT_TRUE(wait_until([&] { return other.idle(); }));
  EXPECT_EQ(other.subjects().front().what_if, what_if);
  const auto values = other.subjects().front().subject.trace->logits.values();
  expect_same({values.begin(), values.end()}, changed, 0);
}

TEST_F(WhatIfTest, ADraggedSliderIsOneChangeAndEndsWhereItWasReleased) {
  History history(session_);
  const SubjectId id = open("fashion-softmax.h5");
  for (int i = 1; i <= 20; ++i) session_.set_what_if(id, {.identity = i * 0.05});
  ASSERT_TRUE(wait_until([&] { return session_.idle(); }));
  EXPECT_EQ(session_.find(id)->ran_with, session_.find(id)->what_if);
  EXPECT_TRUE(session_.trace(id)->identity_in_maps) << "the last was ε = 1";
  history.undo();
  EXPECT_FALSE(session_.find(id)->what_if.any());
}

TEST_F(WhatIfTest, TheLossesOfTokensAreThoseOfTheEvaluation) {
  const SubjectId id = open("shakespeare-softmax.h5", "21_gonzalo.txt");
  const OpenSubject& subject = *session_.find(id);
  ASSERT_TRUE(has_token_losses(subject));
  const TokenLosses losses = token_losses(subject);
  ASSERT_EQ(std::ssize(losses.nats), session_.trace(id)->tokens());
  EXPECT_TRUE(std::isnan(losses.nats.front()));
  const TextEvaluation whole =
      evaluate_text(*subject.subject.model, subject.subject.mechanism,
                    std::get<Text>(subject.subject.input->content), {}, {});
  EXPECT_NEAR(losses.bits_per_token(), whole.bits_per_token(), 1e-4);
  change(id, {.heads = {{.layer = 0, .head = 0}}});
  EXPECT_GT(std::abs(token_losses(*session_.find(id)).bits_per_token() - whole.bits_per_token()),
            1e-4);
  EXPECT_FALSE(has_token_losses(*session_.find(open("fashion-softmax.h5"))));
}

}  // namespace
}  // namespace attnscope
