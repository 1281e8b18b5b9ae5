// Performer, Linformer, Reformer and Synthesizer: comparison with PyTorch, their own parameters,
// and refused settings. mechanism_test.cpp checks the requirements of all mechanisms.
#include <cmath>
#include <gtest/gtest.h>

#include "core/attention/mechanism.h"
#include "core/attention/random_parameters.h"
#include "core/error.h"
#include "tests/support/naive_attention.h"
#include "tests/support/near.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

MechanismChoice performer(const char* kernel, std::int64_t features) {
  return {"performer",
          {{"kernel", std::string(kernel)}, {"features", features}, {"seed", std::int64_t{1}}}};
}

MechanismChoice linformer(const char* projection, std::int64_t landmarks) {
  return {"linformer",
          {{"projection", std::string(projection)},
           {"landmarks", landmarks},
           {"seed", std::int64_t{1}}}};
}

MechanismChoice reformer(std::int64_t hashes, std::int64_t chunk) {
  return {"reformer", {{"hashes", hashes}, {"chunk", chunk}, {"seed", std::int64_t{1}}}};
}

MechanismChoice synthesizer(const char* scores, std::int64_t factors = 6) {
  return {"synthesizer",
          {{"scores", std::string(scores)}, {"factors", factors}, {"seed", std::int64_t{1}}}};
}

class BaselinesBesidePyTorch : public testing::TestWithParam<std::size_t> {};

TEST_P(BaselinesBesidePyTorch, OutputsAreTheSame) {
  const nlohmann::json reference =
      read_test_data("attention/baselines.json").at("cases").at(GetParam());
  const std::int64_t n = reference.at("n"), heads = reference.at("heads"),
                     width = reference.at("width"), landmarks = reference.at("landmarks"),
                     chunk = reference.at("chunk");
  const unsigned seed = reference.at("seed");
  RandomAttention data = raw_attention(n, heads, width, seed);
  const auto add = [&](const char* name, unsigned offset, const Shape& shape, float scale) {
    Tensor tensor = raw_uniform(shape, seed + offset);
    for (float& value : tensor.values()) value *= scale;
    data.parameters.emplace(name, std::move(tensor));
  };
  const std::int64_t chunks = (n + chunk - 1) / chunk;
  add("features", 3, {heads, 12, width}, 1);
  add("E", 4, {heads, landmarks, n}, 0.25F);
  add("F", 5, {heads, landmarks, n}, 0.25F);
  add("rotations", 6, {2, width, std::max<std::int64_t>(2, chunks + chunks % 2) / 2}, 1);
  add("R", 7, {heads, n, n}, 1);
  add("R1", 8, {heads, n, 6}, 1);
  add("R2", 9, {heads, n, 6}, 1);
  add("W1", 10, {heads, width, width}, 0.25F);
  add("b1", 11, {heads, width}, 1);
  add("W2", 12, {heads, n, width}, 0.25F);
  add("b2", 13, {heads, n}, 1);
  const auto expect = [&](const std::string& name, const MechanismChoice& choice, bool causal) {
    AttentionInput input = data.input();
    input.causal = causal;
    expect_values(make_mechanism(choice)->forward(input),
                  reference.at(name + (causal ? "_causal" : "")), 1e-5, name);
  };
  expect("linformer", linformer("pooling", landmarks), false);
  expect("linformer", linformer("pooling", 0), false);  // 0: the number of rows of E
  for (const bool causal : {false, true}) {
    expect("favor", performer("softmax", 12), causal);
    expect("relu", performer("relu", 12), causal);
    expect("reformer", reformer(2, chunk), causal);
    expect("random", synthesizer("random"), causal);
    expect("factorised", synthesizer("factorised"), causal);
    expect("dense", synthesizer("dense"), causal);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, BaselinesBesidePyTorch, testing::Values(0, 1, 2));

TEST(Performer, OwnFeaturesAreOrthogonalInBlocks) {
  NormalNumbers numbers(1, 0, 0);
  const MatrixD rows = orthogonal_rows(numbers, 150, 64);
  double lengths = 0;
  for (Eigen::Index a = 0; a < rows.rows(); ++a) {
    lengths += rows.row(a).squaredNorm() / 150;
    for (Eigen::Index b = 0; b < a; ++b) {
      if (a / 64 == b / 64) {
        EXPECT_NEAR(rows.row(a).dot(rows.row(b)), 0, 1e-11);
      }
    }
  }
  EXPECT_NEAR(lengths, 64, 4) << "of normal vectors";
}

// A uniformly distributed orthogonal matrix has mean 0, and its entries have variance 1/d.
// Reflections whose signs are not randomised are biased to one side by many standard deviations.
TEST(Performer, OwnDirectionsAreIsotropic) {
  constexpr std::int64_t kWidth = 8, kBlocks = 2000;
  NormalNumbers numbers(1, 0, 0);
  const MatrixD rows = orthogonal_rows(numbers, kWidth * kBlocks, kWidth);
  // The mean of each entry over all blocks has standard deviation 1/√blocks, because the squared
  // lengths average d.
  for (Eigen::Index r = 0; r < kWidth; ++r) {
    for (Eigen::Index c = 0; c < kWidth; ++c) {
      double mean = 0;
      for (std::int64_t block = 0; block < kBlocks; ++block) {
        mean += rows(block * kWidth + r, c) / static_cast<double>(kBlocks);
      }
      EXPECT_NEAR(mean, 0, 5 / std::sqrt(static_cast<double>(kBlocks))) << r << ", " << c;
    }
  }
}

// The error of random features falls as 1/√F without limit. The bias of Q from reflections with
// fixed signs would stop it at 3 % here (NumPy, both ways).
TEST(Performer, ErrorFallsWithTheRootOfTheFeatures) {
  RandomAttention data(24, 24, 1, 8, 3, 64);
  data.queries.matrix() *= 0.25F;  // the variance grows with exp(‖q + k‖²)
  data.keys.matrix() *= 0.25F;
  const Tensor exact = make_mechanism({"softmax", {}})->implied_map(data.input());
  const auto error = [&](std::int64_t features) {
    double mean = 0;
    for (const std::int64_t seed : {1, 2, 3, 4}) {
      MechanismChoice choice = performer("softmax", features);
      choice.parameters["seed"] = seed;
      const Tensor map = make_mechanism(choice)->implied_map(data.input());
      mean +=
          static_cast<double>((map.matrix() - exact.matrix()).norm() / exact.matrix().norm()) / 4;
    }
    return mean;
  };
  const double few = error(256), many = error(32768);
  EXPECT_NEAR(few / many, std::sqrt(128.0), 4);
  EXPECT_LT(many, 0.005);
}

TEST(Performer, ManyFeaturesComeNearTheSoftmax) {
  RandomAttention data(40, 40, 2, 8, 3, 64);
  data.queries.matrix() *= 0.5F;  // the variance grows with exp(‖q + k‖²)
  data.keys.matrix() *= 0.5F;
  const Tensor exact = make_mechanism({"softmax", {}})->implied_map(data.input());
  double before = 1;
  for (const std::int64_t features : {16, 256, 8192}) {
    const Tensor map = make_mechanism(performer("softmax", features))->implied_map(data.input());
    const double error = static_cast<double>((map.matrix() - exact.matrix()).norm()) /
                         static_cast<double>(exact.matrix().norm());
    EXPECT_LT(error, before);
    before = error;
  }
  EXPECT_LT(before, 0.1);
}

TEST(Performer, FarTokensNeitherOverflowNorVanish) {
  // Products reach ± 80 and more, and one key is far larger than all others in every feature.
  for (const bool causal : {false, true}) {
    RandomAttention data(30, 30, 1, 16, 4, 65);
    data.queries.matrix() *= 20;
    data.keys.matrix() *= 20;
    data.keys.matrix().row(3).setZero();
    AttentionInput input = data.input();
    input.causal = causal;
    const auto mechanism = make_mechanism(performer("softmax", 64));
    const Tensor output = mechanism->forward(input), map = mechanism->implied_map(input);
    EXPECT_TRUE(output.matrix().array().isFinite().all());
    for (std::int64_t i = 0; i < 30; ++i) EXPECT_NEAR(map.slice(0).row(i).sum(), 1, 1e-5);
    EXPECT_LT((map.slice(0) * data.values.matrix() - output.matrix()).cwiseAbs().maxCoeff(), 1e-4F);
  }
}

TEST(Linformer, PooledLandmarksGiveWeightsThatSumToOne) {
  const RandomAttention data(197, 197, 3, 16, 4, 66);
  const Tensor map = make_mechanism(linformer("pooling", 0))->implied_map(data.input());
  EXPECT_GE(map.matrix().minCoeff(), 0.0F);
  for (Eigen::Index i = 0; i < map.matrix().rows(); ++i) {
    EXPECT_NEAR(map.matrix().row(i).sum(), 1, 1e-5);
  }
  EXPECT_EQ(make_mechanism(linformer("pooling", 0))->factors(data.input())->left.extent(2), 49);
  // With as many landmarks as tokens, each landmark is a token, and the result is softmax
  // attention.
  const Tensor all = make_mechanism(linformer("pooling", 197))->implied_map(data.input());
  const Tensor softmax = make_mechanism({"softmax", {}})->implied_map(data.input());
  EXPECT_LT((all.matrix() - softmax.matrix()).cwiseAbs().maxCoeff(), 1e-6F);
}

TEST(Reformer, OneBucketOfAlikeTokensIsSoftmaxWithoutItself) {
  // All tokens have the same direction and share one bucket. The chunks hold all of them.
  RandomAttention data(12, 12, 1, 4, 3, 67);
  data.queries.matrix() = data.queries.matrix().cwiseAbs();
  Tensor rotations({1, 4, 1}, {1, 1, 1, 1});
  data.parameters.emplace("rotations", std::move(rotations));
  const Tensor map = make_mechanism(reformer(1, 12))->implied_map(data.input());
  for (std::int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(map.slice(0)(i, i), 0.0F);
    EXPECT_NEAR(map.slice(0).row(i).sum(), 1, 1e-6);
    EXPECT_EQ((map.slice(0).row(i).array() > 0).count(), 11);
  }
}

TEST(Reformer, MoreRoundsReachMoreTokensAndSingleTokensAttendToThemselves) {
  const RandomAttention data(120, 120, 1, 8, 3, 68);
  std::int64_t before = 0;
  for (const std::int64_t hashes : {1, 2, 4, 8}) {
    const Tensor map = make_mechanism(reformer(hashes, 8))->implied_map(data.input());
    const std::int64_t reached = (map.slice(0).array() > 0).count();
    EXPECT_GT(reached, before);
    EXPECT_LE(reached, 120 * hashes * 16) << "at most two chunks a round";
    before = reached;
  }
  const RandomAttention alone(1, 1, 1, 4, 3, 69);
  EXPECT_EQ(make_mechanism(reformer(2, 4))->implied_map(alone.input()).values()[0], 1.0F);
}

TEST(Synthesizer, RandomScoresDoNotDependOnTheInput) {
  const RandomAttention one(20, 20, 2, 8, 3, 70), other(20, 20, 2, 8, 3, 71);
  for (const char* scores : {"random", "factorised"}) {
    const auto mechanism = make_mechanism(synthesizer(scores));
    EXPECT_EQ(mechanism->implied_map(one.input()).values().front(),
              mechanism->implied_map(other.input()).values().front());
  }
  const auto dense = make_mechanism(synthesizer("dense"));
  EXPECT_NE(dense->implied_map(one.input()).values().front(),
            dense->implied_map(other.input()).values().front());
}

TEST(Baselines, OwnParametersDependOnSeedAndLayerOnly) {
  const RandomAttention data(30, 30, 2, 8, 3, 72);
  for (const MechanismChoice& choice :
       {performer("softmax", 16), linformer("gaussian", 7), reformer(2, 4), synthesizer("random"),
        synthesizer("dense"), synthesizer("factorised")}) {
    SCOPED_TRACE(to_string(choice));
    const auto mechanism = make_mechanism(choice);
    const Tensor map = mechanism->implied_map(data.input());
    EXPECT_EQ(map.matrix(), mechanism->implied_map(data.input()).matrix());
    MechanismChoice seeded = choice;
    seeded.parameters["seed"] = std::int64_t{2};
    EXPECT_NE(map.matrix(), make_mechanism(seeded)->implied_map(data.input()).matrix());
    AttentionInput second = data.input();
    second.layer = 1;
    EXPECT_NE(map.matrix(), mechanism->implied_map(second).matrix());
  }
}

// The random numbers of token i do not depend on the number of tokens.
TEST(Baselines, OwnParametersDoNotFollowTheNumberOfTokens) {
  const MatrixD few = rows_of_streams(1, 2, 3, 4, 5), many = rows_of_streams(1, 2, 3, 9, 11);
  EXPECT_EQ(few, many.topLeftCorner(4, 5));
  EXPECT_NE(many.row(0), many.row(1));
}

TEST(Baselines, RefusesInvalidArguments) {
  const auto subject_of = [](const MechanismChoice& choice, const AttentionInput& input) {
    try {
      (void)make_mechanism(choice)->forward(input);
    } catch (const Error& error) {
      return error.subject();
    }
    return std::string("nothing");
  };
  RandomAttention data(10, 10, 2, 4, 3, 73);
  EXPECT_EQ(subject_of(linformer("pooling", 11), data.input()), "linformer landmarks");
  AttentionInput causal = data.input();
  causal.causal = true;
  EXPECT_EQ(subject_of(linformer("pooling", 3), causal), "linformer");
  const RandomAttention wide(4, 9, 1, 4, 3, 74);
  EXPECT_EQ(subject_of(reformer(2, 4), wide.input()), "reformer");
  AttentionInput wide_causal = wide.input();
  wide_causal.causal = true;
  EXPECT_NE(subject_of(performer("softmax", 4), wide_causal), "nothing");
  EXPECT_NE(subject_of(synthesizer("dense"), wide_causal), "nothing");

  data.parameters.emplace("E", Tensor({2, 3, 10}));
  EXPECT_EQ(subject_of(linformer("pooling", 3), data.input()), "F") << "is missing";
  data.parameters.emplace("F", Tensor({2, 3, 9}));
  EXPECT_EQ(subject_of(linformer("pooling", 3), data.input()), "F") << "of another length";
  data.parameters.emplace("features", Tensor({2, 8, 5}));
  EXPECT_EQ(subject_of(performer("softmax", 8), data.input()), "features");
  data.parameters.emplace("rotations", Tensor({2, 3, 7}));
  EXPECT_EQ(subject_of(reformer(2, 4), data.input()), "rotations");
  MechanismChoice odd = reformer(2, 4);
  odd.parameters["buckets"] = std::int64_t{3};
  EXPECT_EQ(subject_of(odd, data.input()), "reformer buckets");
  data.parameters.emplace("R", Tensor({2, 10, 11}));
  EXPECT_EQ(subject_of(synthesizer("random"), data.input()), "R");
  data.parameters.emplace("W2", Tensor({2, 10, 5}));
  EXPECT_EQ(subject_of(synthesizer("dense"), data.input()), "W2");

  EXPECT_THROW((void)make_mechanism(performer("cosine", 8)), Error);
  EXPECT_THROW((void)make_mechanism(performer("relu", 0)), Error);
  EXPECT_THROW((void)make_mechanism(reformer(0, 8)), Error);
  EXPECT_THROW((void)make_mechanism(reformer(1, 0)), Error);
  EXPECT_THROW((void)make_mechanism(linformer("pooling", -1)), Error);
  EXPECT_THROW((void)make_mechanism(synthesizer("learned")), Error);
}

}  // namespace
}  // namespace attnscope
