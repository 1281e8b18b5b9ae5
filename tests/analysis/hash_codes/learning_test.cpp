// Learning of hash codes: lower errors, reproducibility, cancellation and data that it refuses.
#include "analysis/hash_codes/learning.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stop_token>

#include "analysis/hash_codes/learned_codes.h"
#include "analysis/hash_codes/report.h"
#include "core/error.h"
#include "tests/support/naive_attention.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

/// Tokens of `groups` groups; a token attends to its own group.
HashExample grouped_example(std::int64_t tokens, std::int64_t groups, bool shared, unsigned seed) {
  const MatrixD centres = random_normal({groups, 8}, seed).matrix().cast<double>();
  const MatrixD noise = random_normal({tokens, 8}, seed + 1).matrix().cast<double>();
  Matrix keys(tokens, 8), queries(tokens, 8), attention(tokens, tokens);
  for (std::int64_t i = 0; i < tokens; ++i) {
    keys.row(i) = (centres.row(i % groups) + 0.4 * noise.row(i)).cast<float>();
    queries.row(i) = shared ? Eigen::RowVectorXf(keys.row(i)) : Eigen::RowVectorXf(-keys.row(i));
  }
  for (std::int64_t i = 0; i < tokens; ++i) {
    for (std::int64_t j = 0; j < tokens; ++j) {
      attention(i, j) = static_cast<float>(i % groups == j % groups ? 1 : 0) +
                        0.001F * keys.row(i).normalized().dot(keys.row(j).normalized());
    }
  }
  const auto strided = [](const Matrix& rows) {
    return ConstStridedMatrixMap(rows.data(), rows.rows(), rows.cols(),
                                 Eigen::OuterStride<>(rows.cols()));
  };
  return {.queries = unit_rows(strided(queries)),
          .keys = unit_rows(strided(keys)),
          .shared = shared,
          .pairs = similar_pairs({attention.data(), tokens, tokens}, 5)};
}

double auc_of(const HashFunction& function, const HashExample& example) {
  const auto codes = [&](const MatrixD& rows) {
    const Matrix tokens = rows.cast<float>();
    return function.codes_of(
        {tokens.data(), tokens.rows(), tokens.cols(), Eigen::OuterStride<>(tokens.cols())}, false);
  };
  return pair_distances(codes(example.queries), codes(example.keys), example.pairs).auc;
}

class LearnHash : public testing::TestWithParam<bool> {};

TEST_P(LearnHash, LowersTheErrorAndPartsThePairs) {
  const std::vector<HashExample> examples = {grouped_example(60, 4, GetParam(), 71)};
  HashLearningOptions options{.bits = 16, .supports = 20, .pairs = 5};
  const LearnedHash learned = learn_hash(examples, 0, options, {});
  EXPECT_LT(learned.error_after, learned.error_before);
  EXPECT_LT(learned.error_after, 1) << "better than no codes at all";
  ASSERT_EQ(learned.error_by_bit.size(), 16U);
  EXPECT_EQ(learned.error_by_bit.back(), learned.error_after);

  // The error recorded for the last bit is the error of the codes.
  const auto codes = [&](const MatrixD& rows) {
    const Matrix tokens = rows.cast<float>();
    return learned.function.codes_of(
        {tokens.data(), tokens.rows(), tokens.cols(), Eigen::OuterStride<>(tokens.cols())}, false);
  };
  EXPECT_NEAR(
      reconstruction_error(codes(examples[0].queries), codes(examples[0].keys), examples[0].pairs),
      learned.error_after, 0.02);

  EXPECT_GT(auc_of(learned.function, examples[0]), 0.9);
}

TEST_P(LearnHash, IsReproducibleForASeedAndDiffersForAnother) {
  const std::vector<HashExample> examples = {grouped_example(40, 3, GetParam(), 72),
                                             grouped_example(30, 3, GetParam(), 73)};
  HashLearningOptions options{.bits = 5, .supports = 9, .pairs = 5, .steps = 20};
  const LearnedHash first = learn_hash(examples, 1, options, {});
  const LearnedHash second = learn_hash(examples, 1, options, {});
  EXPECT_EQ(first.function.weights, second.function.weights);
  EXPECT_EQ(first.function.anchors, second.function.anchors);
  EXPECT_NE(learn_hash(examples, 2, options, {}).function.anchors, first.function.anchors);
  options.seed = 2;
  EXPECT_NE(learn_hash(examples, 1, options, {}).function.anchors, first.function.anchors);
}

INSTANTIATE_TEST_SUITE_P(SharedOrNot, LearnHash, testing::Bool());

TEST_P(LearnHash, KnowsTheErrorOfIndependentBits) {
  const HashExample example = grouped_example(60, 4, GetParam(), 77);
  constexpr std::int64_t kBits = 16, kTrials = 200;
  const auto random_codes = [](unsigned seed) {
    HashCodes codes;
    codes.signs = Matrix(random_normal({60, kBits}, seed).matrix().cwiseSign());
    return codes;
  };
  double mean = 0;
  for (unsigned trial = 0; trial < kTrials; ++trial) {
    const HashCodes keys = random_codes(2 * trial + 1000);
    const HashCodes queries = example.shared ? keys : random_codes(2 * trial + 1001);
    mean += reconstruction_error(queries, keys, example.pairs) / kTrials;
  }
  const double expected = error_of_chance(example.pairs, kBits, example.shared);
  EXPECT_NEAR(mean, expected, 0.01);
  EXPECT_NEAR(expected, 1 + 60.0 / (2 * 5 * kBits), 0.2);
  EXPECT_DOUBLE_EQ(
      learn_hash({example, example}, 0, {.bits = kBits, .steps = 0}, {}).error_of_chance, expected)
      << "a mean over examples";

  HashCodes zeros;
  zeros.signs = Matrix::Zero(60, kBits);
  EXPECT_EQ(reconstruction_error(zeros, zeros, example.pairs), kErrorOfZeros);
}

TEST(LearnHash, DescentNeverMakesABitWorse) {
  const std::vector<HashExample> examples = {grouped_example(60, 5, true, 74)};
  const HashLearningOptions still{.bits = 1, .supports = 20, .pairs = 5, .steps = 0};
  const HashLearningOptions moving{.bits = 1, .supports = 20, .pairs = 5};
  const LearnedHash without = learn_hash(examples, 0, still, {});
  const LearnedHash with = learn_hash(examples, 0, moving, {});
  EXPECT_LE(with.error_after, without.error_after);
  EXPECT_LE(without.error_after, without.error_before);
}

TEST_P(LearnHash, KeepsRandomWeightsAsDrawn) {
  const std::vector<HashExample> examples = {grouped_example(60, 5, GetParam(), 74)};
  HashLearningOptions options{.bits = 6, .supports = 20, .pairs = 5, .random_weights = true};
  const LearnedHash random = learn_hash(examples, 0, options, {});
  options.random_weights = false;
  const LearnedHash learned = learn_hash(examples, 0, options, {});
  EXPECT_EQ(random.error_before, learned.error_before);
  EXPECT_EQ(random.error_after, random.error_before);
  EXPECT_EQ(random.function.anchors, learned.function.anchors);
  EXPECT_EQ(random.function.means, learned.function.means);
  EXPECT_NE(random.function.weights, learned.function.weights);
  options.random_weights = true;
  options.pairs = 9;
  EXPECT_EQ(learn_hash(examples, 0, options, {}).function.weights, random.function.weights)
      << "nothing is learned from the pairs";
}

TEST(LearnHash, RefusesInvalidArguments) {
  const std::vector<HashExample> examples = {grouped_example(20, 2, true, 75)};
  EXPECT_THROW((void)learn_hash(examples, 0, {.bits = 65}, {}), Error);
  EXPECT_THROW((void)learn_hash(examples, 0, {.bits = 0}, {}), Error);
  EXPECT_THROW((void)learn_hash(examples, 0, {.supports = 21}, {}), Error) << "supports > tokens";
  EXPECT_THROW((void)learn_hash({}, 0, {}, {}), Error);
}

TEST(LearnHash, CanBeCancelled) {
  const std::vector<HashExample> examples = {grouped_example(40, 2, true, 76)};
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW((void)learn_hash(examples, 0, {}, Progress({}, stop.get_token())), Cancelled);
}

/// A trained sample model and one of the sample inputs.
class HashCodesOfASample : public testing::Test {
 protected:
  static Subject subject(const std::string& mechanism = "") {
    static const auto model =
        load_model(source_folder() + "/sample_data/models/fashion-softmax.h5");
    Subject made;
    made.label = "fashion-softmax";
    made.model = model;
    made.mechanism =
        mechanism.empty() ? model->spec().mechanism : make_mechanism({mechanism, {}})->choice();
    made.input = std::make_shared<const Input>(
        open_input(source_folder() + "/sample_data/inputs/07_sneaker.png"));
    return made;
  }
};

TEST_F(HashCodesOfASample, LearnedCodesMissTheTargetLeastAndKeepSimilarity) {
  // The sums are means over nine heads.
  double learned = 0, klsh = 0, lsh = 0;
  for (const std::int64_t layer : {0, 3, 5}) {
    for (std::int64_t head = 0; head < 3; ++head) {
      HashCodesRequest request;
      request.layer = layer;
      request.head = head;
      const HashCodesReport report = hash_codes_report(subject(), request, {});
      ASSERT_EQ(report.kinds.size(), 4U);
      EXPECT_EQ(report.bits, 16);
      EXPECT_EQ(report.supports, 25);
      EXPECT_FALSE(report.kinds[0].own);
      EXPECT_EQ(report.kinds[3].queries.bits(), 16) << "signs of 16 channels";
      EXPECT_LT(report.kinds[0].error, report.kinds[1].error);
      EXPECT_LT(report.kinds[0].error, report.kinds[2].error);
      learned += report.kinds[0].distances.auc / 9;
      klsh += report.kinds[1].distances.auc / 9;
      lsh += report.kinds[2].distances.auc / 9;
    }
  }
  // Measured: 0.986 for learned codes, which is more than for random projections in the kernel's
  // space. Random projections of the tokens reach 0.993, though they miss the target.
  EXPECT_GT(learned, klsh + 0.02);
  EXPECT_GT(learned, 0.97);
  EXPECT_GT(lsh, 0.97);
}

TEST_F(HashCodesOfASample, LearnedCodesOfAllHeadsAreOverlaidOnTheModel) {
  const Subject plain = subject();
  const HashLearningOptions options{.bits = 8, .supports = 12, .pairs = 10, .steps = 20};
  const LearnedCodes codes =
      learn_hash_codes(*plain.model, plain.mechanism, {plain.input}, options, {});
  ASSERT_EQ(codes.tensors.layers->size(), 6U);
  EXPECT_EQ(codes.tensors.layers->front().at("ksh.A").shape(), (Shape{3, 8, 12}));
  EXPECT_EQ(codes.tensors.layers->front().at("ksh.anchor").shape(), (Shape{3, 12, 16}));
  EXPECT_LT(codes.error_after.mean(), codes.error_before.mean());

  const TemporaryFolder folder;
  write_learned_tensors(folder.path() / "codes.h5", codes.tensors);
  const LearnedTensors read = read_learned_tensors(folder.path() / "codes.h5");
  EXPECT_EQ(read.mechanism, codes.tensors.mechanism);
  EXPECT_EQ(read.provenance, codes.tensors.provenance);
  ASSERT_EQ(read.layers->size(), 6U);
  for (std::size_t layer = 0; layer < 6; ++layer) {
    for (const auto& [name, tensor] : (*codes.tensors.layers)[layer]) {
      EXPECT_TRUE(std::ranges::equal((*read.layers)[layer].at(name).values(), tensor.values()));
    }
  }

  Subject hashed = plain;
  hashed.mechanism = codes.tensors.mechanism;
  hashed.parameters = read.layers;
  HashCodesRequest request;
  request.kinds = {HashKind::learned};
  const HashCodesReport report = hash_codes_report(hashed, request, {});
  EXPECT_EQ(report.bits, 8);
  EXPECT_EQ(report.supports, 12);
  EXPECT_TRUE(report.kinds[0].own);
  // The tokens of layer 0 do not depend on the mechanism.
  EXPECT_NEAR(report.kinds[0].error, codes.error_after(0, 0), 0.1);
  hashed.parameters = nullptr;
  EXPECT_THROW((void)hash_codes_report(hashed, request, {}), Error) << "nobody learned them";
  hashed.mechanism.parameters["codes"] = std::string("auto");
  EXPECT_FALSE(hash_codes_report(hashed, request, {}).kinds[0].own);
}

TEST_F(HashCodesOfASample, LearnsEachLayerOnTokensOfTheNewCodesBelow) {
  Subject hashed = subject();
  hashed.model = load_model(source_folder() + "/sample_data/models/fashion-hash.h5");
  hashed.mechanism = hashed.model->spec().mechanism;
  const HashLearningOptions options{.steps = 3, .seed = 5};
  const LearnedCodes codes =
      learn_hash_codes(*hashed.model, hashed.mechanism, {hashed.input}, options, {});
  hashed.parameters = codes.tensors.layers;
  for (const std::int64_t layer : {0, 2, 5}) {
    HashCodesRequest request;
    request.kinds = {HashKind::learned};
    request.layer = layer;
    request.head = 1;
    const HashCodesReport report = hash_codes_report(hashed, request, {});
    EXPECT_NEAR(report.kinds[0].error, codes.error_after(layer, 1), 0.01) << "layer " << layer;
  }
}

TEST_F(HashCodesOfASample, RefusesInvalidArguments) {
  const auto expect_refused = [](const Subject& subject, HashCodesRequest request) {
    EXPECT_THROW((void)hash_codes_report(subject, request, {}), Error);
  };
  HashCodesRequest request;
  request.layer = 6;
  expect_refused(subject(), request);
  request.layer = 0;
  request.head = 3;
  expect_refused(subject(), request);
  request.head = 0;
  request.bits = 65;
  expect_refused(subject(), request);
  request.bits = 16;
  request.supports = 198;
  expect_refused(subject(), request);
  request.supports = 25;
  request.pairs = 99;
  expect_refused(subject(), request);
  Subject trace;
  trace.trace = std::make_shared<const Trace>(
      subject().model->run(*subject().input, subject().mechanism, {}, {}));
  EXPECT_THROW((void)hash_codes_report(trace, {}, {}), Error) << "no queries were recorded";
}

TEST_F(HashCodesOfASample, RefusesModelsWithoutARun) {
  Subject without_input = subject();
  without_input.input = nullptr;
  EXPECT_THAT(error_of([&] { return hash_codes_report(without_input, {}, {}); }),
              HasSubstr("found a model without an input"));
  EXPECT_THAT(error_of([] { return hash_codes_report(Subject(), {}, {}); }),
              HasSubstr("found neither"));
}

TEST(LearnedTensors, AnotherFileIsRefused) {
  EXPECT_THROW(
      (void)read_learned_tensors(source_folder() + "/sample_data/models/fashion-softmax.h5"),
      Error);
}

}  // namespace
}  // namespace attnscope
