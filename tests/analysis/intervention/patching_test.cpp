// Activation patching and path patching, against PyTorch
// (tests/data/intervention/make_patching.py).
#include "analysis/intervention/patching.h"

#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>

#include "analysis/tables/patch_report.h"
#include "core/model/model.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

constexpr double kClosePatch = 1e-5;

const nlohmann::json& patching_reference() { return read_test_data("intervention/patching.json"); }

Subject subject_of(std::shared_ptr<const Model> model) {
  Subject subject;
  subject.model = std::move(model);
  subject.mechanism = subject.model->spec().mechanism;
  subject.label = "model";
  return subject;
}

Subject hashed_subject(const std::string& family) {
  const TemporaryFolder folder;
  write_hashed_safetensors(folder / "model.safetensors", family_shapes(family));
  (void)folder.write("config.json",
                     read_test_data("models/families/" + family + ".json")["config"].dump());
  return subject_of(load_model(folder.path(), {}));
}

Input ids(const std::vector<std::int64_t>& tokens) {
  Input input;
  input.content = Text{{}, tokens};
  input.label = "ids";
  return input;
}

class PatchingOf : public testing::TestWithParam<const char*> {
 protected:
  PatchingOf() {
    request_.answer = patching_reference()["answer"].dump();
    request_.against = patching_reference()["against"].dump();
  }

  [[nodiscard]] std::shared_ptr<const Patching> patching() const {
    return std::make_shared<const Patching>(subject_, ids(patching_reference()["input"]),
                                            ids(patching_reference()["from"]), request_);
  }

  /// Compares the differences of all places with the rows of an expected table.
  void expect(const char* name) const {
    const nlohmann::json& rows = expected(name);
    const PatchTable table = patch_each(patching());
    std::vector<double> all;
    for (const nlohmann::json& row : rows) all.insert(all.end(), row.begin(), row.end());
    ASSERT_EQ(table.differences.size(), all.size()) << name;
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_NEAR(table.differences[i], all[i], kClosePatch) << name << " " << i;
    }
  }

  void expect(PatchedPart of, const char* name) {
    request_.of = of;
    expect(name);
  }

  [[nodiscard]] static const nlohmann::json& expected(const char* name) {
    return patching_reference()["models"][GetParam()][name];
  }

  Subject subject_ = hashed_subject(GetParam());
  PatchRequest request_;
};

TEST_P(PatchingOf, UnchangedRunsAgreeWithPyTorch) {
  const auto both = patching();
  EXPECT_NEAR(both->corrupted(), expected("corrupted"), kClosePatch);
  EXPECT_NEAR(both->clean(), expected("clean"), kClosePatch);
  EXPECT_EQ(both->effect(both->corrupted()), 0);
  EXPECT_EQ(both->effect(both->clean()), 1);
}

TEST_P(PatchingOf, PatchedHeadsAgreeWithPyTorch) {
  expect(PatchedPart::head_output, "head-output");
  expect(PatchedPart::map, "map");
  request_.positions = {9};
  expect(PatchedPart::head_output, "head-output at 9");
  expect(PatchedPart::map, "map at 9");
}

TEST_P(PatchingOf, PatchedPositionsAgreeWithPyTorch) {
  expect(PatchedPart::residual, "residual");
  expect(PatchedPart::attention, "attention");
  expect(PatchedPart::mlp, "mlp");
}

TEST_P(PatchingOf, PathsAgreeWithPyTorch) {
  const std::string last = std::to_string(subject_.model->spec().layers - 1);
  const auto expect_path = [&](const std::string& to) {
    request_.path = path_receivers(to, "--to");
    expect(("to " + to).c_str());
  };
  expect_path("end");
  expect_path(last + ".1.query");
  expect_path(last + ".1.key");
  expect_path(last + ".1.value");
  expect_path(last + ".0.query," + last + ".1.value");
  request_.path = path_receivers("end", "--to");
  request_.through_mlps = false;
  expect("to end, frozen MLPs");
  request_.through_mlps = true;
  expect(PatchedPart::mlp, "mlp to end");
}

// The last layer's input at every position is all that the answer depends on.
TEST_P(PatchingOf, AllPositionsTogetherGiveTheOtherRun) {
  request_.of = PatchedPart::residual;
  request_.where.layers = {1};
  const auto both = patching();
  EXPECT_NEAR(both->difference(both->places()), both->clean(), kClosePatch);
  EXPECT_EQ(both->difference({}), both->corrupted());
}

INSTANTIATE_TEST_SUITE_P(Families, PatchingOf,
                         testing::Values("hugging_face_gpt2", "hugging_face_llama",
                                         "hugging_face_gpt_neox"));

class PatchedGpt2 : public testing::Test {
 protected:
  /// The error of a patching with this request and these ids as the other input; empty if none.
  [[nodiscard]] std::string error(PatchRequest request,
                                  const std::vector<std::int64_t>& from = {1, 2, 4}) const {
    return error_of([&] {
      return Patching(subject_, ids({1, 2, 3}), ids(from), std::move(request)).clean();
    });
  }

  Subject subject_ = hashed_subject("hugging_face_gpt2");
  PatchRequest request_{.answer = "3", .against = "4"};
};

void expect_words(const std::string& error, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(error.find(word), std::string::npos) << word << " in: " << error;
  }
}

TEST_F(PatchedGpt2, NamesBothNumbersOfTokensWhenTheyDiffer) {
  expect_words(error(request_, {1, 2}), {"same number of tokens", "3 tokens", "2 tokens"});
}

TEST_F(PatchedGpt2, RefusesAnswersThatDoNotDifferOrDoNotExist) {
  PatchRequest request = request_;
  request.against = "3";
  expect_words(error(request), {"--against", "must differ"});
  request.against = "29";
  expect_words(error(request), {"--against", "0 to 28"});
}

TEST_F(PatchedGpt2, ComparesTheLikeliestAnswersWhenNoneAreNamed) {
  const Patching both(subject_, ids({1, 2, 3}), ids({1, 2, 9}), {});
  EXPECT_NE(both.answer_name(), both.against_name());
  EXPECT_LT(both.corrupted(), 0);
  EXPECT_GT(both.clean(), 0);
  expect_words(error({}, {1, 2, 3}), {"likeliest answer is the same"});
}

TEST_F(PatchedGpt2, RefusesPlacesThatDoNotExist) {
  PatchRequest request = request_;
  request.where.layers = {3};
  expect_words(error(request), {"--layers", "0 to 2"});
  request = request_;
  request.positions = {3};
  expect_words(error(request), {"--positions", "0 to 2"});
  request = request_;
  request.place = 3;
  expect_words(error(request), {"--place", "0 to 2"});
}

TEST_F(PatchedGpt2, RefusesPathsWithoutABeginningOrAnEnd) {
  PatchRequest request = request_;
  request.path = path_receivers("1.0.query", "--to");
  request.where.layers = {1};
  expect_words(error(request), {"--layers", "0 to 0"});
  request.of = PatchedPart::map;
  expect_words(error(request), {"--of", "head-output"});
  request = request_;
  request.path = path_receivers("2.4.key", "--to");
  expect_words(error(request), {"--to", "0 to 3"});
  EXPECT_THROW((void)path_receivers("2.4", "--to"), Error);
  EXPECT_THROW((void)path_receivers("2.4.mlp", "--to"), Error);
  EXPECT_THROW((void)path_receivers("", "--to"), Error);
}

TEST_F(PatchedGpt2, ReadsAnotherPosition) {
  request_.place = 1;
  request_.of = PatchedPart::residual;
  const auto both =
      std::make_shared<const Patching>(subject_, ids({1, 2, 3}), ids({1, 5, 4}), request_);
  const PatchTable table = patch_each(both);
  for (std::size_t i = 0; i < table.differences.size(); ++i) {
    // The first position has the same token, and the last is after the one that is read.
    const bool carries = both->places()[i].position == 1;
    EXPECT_NEAR(table.differences[i], carries ? both->clean() : both->corrupted(), kClosePatch);
  }
}

TEST_F(PatchedGpt2, GivesEveryPlaceOnceAndTheSameBitsForAnyNumberOfThreads) {
  const auto both =
      std::make_shared<const Patching>(subject_, ids({1, 2, 3}), ids({1, 5, 4}), request_);
  std::vector<double> found(both->places().size(), -1e9);
  const PatchTable first = patch_each(both, [&](std::size_t place, double difference) {
    EXPECT_EQ(found[place], -1e9);
    found[place] = difference;
  });
  EXPECT_EQ(found, first.differences);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(both->difference({both->places()[i]}), found[i]);
  }
}

TEST_F(PatchedGpt2, StopsAtOnceWhenCancelled) {
  const auto both =
      std::make_shared<const Patching>(subject_, ids({1, 2, 3}), ids({1, 5, 4}), request_);
  std::stop_source stop;
  const Progress progress({}, stop.get_token());
  std::size_t found = 0;
  const auto count = [&](std::size_t, double) {
    ++found;
    stop.request_stop();
  };
  EXPECT_THROW((void)patch_each(both, count, progress), Cancelled);
  EXPECT_LT(found, both->places().size());
}

// The same input twice: no share of a difference exists.
TEST_F(PatchedGpt2, LeavesTheEffectUnknownWhenTheRunsDoNotDiffer) {
  const Patching both(subject_, ids({1, 2, 3}), ids({1, 2, 3}), request_);
  EXPECT_TRUE(std::isnan(both.effect(both.corrupted())));
  const PatchTable table{std::shared_ptr<const Patching>(std::shared_ptr<void>(), &both),
                         std::vector<double>(both.places().size(), 1)};
  EXPECT_TRUE(report_as_json(patched_places_report(table)).front()["effect"].is_null());
}

TEST(PatchedImage, AgreesWithTheOtherImageWhenAllTokensArePatched) {
  const Subject subject =
      subject_of(load_model(source_folder() + "/sample_data/models/fashion-softmax.h5", {}));
  const Input boot = open_input(source_folder() + "/sample_data/inputs/09_ankle_boot.png");
  const Input bag = open_input(source_folder() + "/sample_data/inputs/08_bag.png");
  const Patching both(subject, boot, bag,
                      {.of = PatchedPart::residual, .answer = "Bag", .against = "Ankle boot"});
  EXPECT_LT(both.corrupted(), 0);
  EXPECT_GT(both.clean(), 0);
  std::vector<PatchPlace> last;
  for (const PatchPlace& place : both.places()) {
    if (place.layer == both.layers().back()) last.push_back(place);
  }
  EXPECT_NEAR(both.effect(both.difference(last)), 1, kClosePatch);
}

}  // namespace
}  // namespace attnscope
