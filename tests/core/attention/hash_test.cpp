// Hashed attention: codes, buffers and refused input.
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <random>

#include "core/attention/hash_codes.h"
#include "core/attention/kernels/hamming.h"
#include "core/attention/score_blocks.h"
#include "core/error.h"
#include "tests/support/naive_attention.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

std::unique_ptr<const Mechanism> hash(const char* mode, std::int64_t bits, std::int64_t supports) {
  return make_mechanism(
      {"hash", {{"mode", std::string(mode)}, {"bits", bits}, {"supports", supports}}});
}

TEST(Hash, PackedBitsAreTheSigns) {
  const RandomAttention data(70, 70, 1, 8, 3, 51);
  const ConstStridedMatrixMap keys = head_columns(data.input().keys, 1, 0);
  const HashCodes codes = hash_function(nullptr, 1, 0, keys, {.bits = 64}).codes_of(keys, false);
  for (std::int64_t i = 0; i < 70; ++i) {
    for (std::int64_t r = 0; r < 64; ++r) {
      const bool set = (codes.words[static_cast<std::size_t>(i)] >> r & 1U) != 0;
      ASSERT_EQ(codes.signs(i, r), set ? 1.0F : -1.0F);
    }
  }
}

TEST(Hash, LikeTokensHaveLikeCodes) {
  // Kernelised hashing preserves similarity: near tokens share more bits than distant ones.
  RandomAttention data(60, 60, 1, 8, 3, 52);
  data.keys.matrix().bottomRows(30) =
      data.keys.matrix().topRows(30) + 0.01F * data.queries.matrix().topRows(30);
  const ConstStridedMatrixMap keys = head_columns(data.input().keys, 1, 0);
  const HashCodes codes = hash_function(nullptr, 1, 0, keys, {.bits = 32}).codes_of(keys, false);
  double near = 0, far = 0;
  for (std::int64_t i = 0; i < 30; ++i) {
    near += static_cast<double>(codes.signs.row(i).dot(codes.signs.row(i + 30))) / 30;
    far += static_cast<double>(codes.signs.row(i).dot(codes.signs.row((i + 7) % 30))) / 30;
  }
  EXPECT_GT(near, 28);
  EXPECT_LT(far, 16);
}

TEST(Hash, EqualTokensAttendUniformly) {
  RandomAttention data(26, 26, 2, 4, 3, 53);
  data.keys.matrix().setConstant(0.5F);
  data.queries = data.keys;
  const Tensor map = hash("paper", 16, 25)->implied_map(data.input());
  for (const float weight : map.values()) EXPECT_FLOAT_EQ(weight, 1.0F / 26);
}

TEST(Hash, CodesAreQuantities) {
  RandomAttention data(30, 30, 2, 4, 3, 54);
  const NamedTensors quantities = hash("paper", 7, 5)->quantities(data.input());
  EXPECT_EQ(quantities.at("codes").shape(), (Shape{2, 30, 7}));
  EXPECT_EQ(quantities.at("key_codes").shape(), (Shape{2, 30, 7}));
  for (const float sign : quantities.at("codes").values()) EXPECT_EQ(std::abs(sign), 1.0F);
}

TEST(Hash, UpstreamKeepsAZeroThatThePaperMapsToABit) {
  // A is zero, so that the projected kernel of every token is zero.
  RandomAttention data(3, 3, 1, 2, 1, 55);
  add_hash_buffers(data.parameters, 1, 2, 1, 2, 56);
  data.parameters.insert_or_assign("ksh.A", Tensor({1, 2, 1}));
  const Tensor paper = hash("paper", 2, 1)->implied_map(data.input());
  const Tensor upstream = hash("upstream", 2, 1)->implied_map(data.input());
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      EXPECT_FLOAT_EQ(paper.slice(0)(i, j), 1.0F / 3);
      EXPECT_FLOAT_EQ(upstream.slice(0)(i, j), i == j ? 1.0F / 3 : 0.0F);
    }
  }
}

TEST(Hash, AffinitiesOfPackedCodesCountEqualBits) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> codes(71);
  for (std::uint64_t& code : codes) code = random();
  for (std::size_t count = 0; count <= codes.size(); ++count) {
    std::vector<float> found(count + 1, -7);
    hamming_affinities(codes[5], std::span(codes).first(count), 64, 2, found.data());
    for (std::size_t j = 0; j < count; ++j) {
      ASSERT_EQ(found[j], static_cast<float>(64 - 2 * std::popcount(codes[5] ^ codes[j])));
    }
    ASSERT_EQ(found[count], -7) << "written past the end";
  }
}

TEST(Hash, HyperplanesPartTokensByTheirAngle) {
  // Charikar 2002: a bit differs with probability angle / π.
  const RandomAttention data(64, 64, 1, 6, 3, 59);
  const ConstStridedMatrixMap keys = head_columns(data.input().keys, 1, 0);
  const HashCodes codes =
      hash_function(nullptr, 1, 0, keys, {.kind = HashKind::lsh, .bits = 64}).codes_of(keys, false);
  double expected = 0, found = 0;
  for (Eigen::Index i = 0; i < 64; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      const double cosine = static_cast<double>(keys.row(i).dot(keys.row(j)) /
                                                (keys.row(i).norm() * keys.row(j).norm()));
      const double equal =
          (64 + static_cast<double>(codes.signs.row(i).dot(codes.signs.row(j)))) / 128;
      expected += std::acos(cosine) / std::numbers::pi / 2016;
      found += (1 - equal) / 2016;
      EXPECT_NEAR(1 - equal, std::acos(cosine) / std::numbers::pi, 0.32);  // 5 standard deviations
    }
  }
  EXPECT_NEAR(found, expected, 0.03);
}

TEST(Hash, PlainSignsAreTheBestOfTheirScale) {
  // Eq. 5: no other scale of the same signs is nearer to the token.
  const RandomAttention data(20, 20, 1, 9, 3, 60);
  const ConstStridedMatrixMap keys = head_columns(data.input().keys, 1, 0);
  const HashCodes codes =
      hash_function(nullptr, 1, 0, keys, {.kind = HashKind::sign}).codes_of(keys, false);
  ASSERT_EQ(codes.bits(), 9);
  const MatrixD tokens = unit_rows(keys);
  for (Eigen::Index i = 0; i < 20; ++i) {
    const auto scale = static_cast<double>(codes.scales[static_cast<std::size_t>(i)]);
    const Eigen::RowVectorXd signs = codes.signs.row(i).cast<double>();
    const auto error = [&](double of) { return (tokens.row(i) - of * signs).squaredNorm(); };
    EXPECT_LE(error(scale), error(scale * 1.01));
    EXPECT_LE(error(scale), error(scale * 0.99));
    EXPECT_EQ(signs.cwiseProduct(tokens.row(i)).minCoeff() >= 0, true);
  }
}

TEST(Hash, CausalNeverLooksAhead) {
  for (const char* codes : {"learned", "klsh", "lsh", "sign"}) {
    for (const char* mode : {"paper", "upstream"}) {
      SCOPED_TRACE(std::string(codes) + " " + mode);
      RandomAttention data(30, 30, 2, 4, 3, 61);
      if (std::string(codes) == "learned") add_hash_buffers(data.parameters, 2, 16, 5, 4, 62);
      const auto mechanism = make_mechanism({"hash",
                                             {{"mode", std::string(mode)},
                                              {"codes", std::string(codes)},
                                              {"supports", std::int64_t{5}}}});
      AttentionInput input = data.input();
      input.causal = true;
      const Tensor before = mechanism->forward(input), map = mechanism->implied_map(input);
      for (std::int64_t head = 0; head < 2; ++head) {
        const MatrixD weights = map.slice(head).cast<double>();
        EXPECT_EQ(weights.triangularView<Eigen::StrictlyUpper>().toDenseMatrix().norm(), 0);
        const MatrixD values = data.values.matrix().middleCols(head * 3, 3).cast<double>();
        const MatrixD output = before.matrix().middleCols(head * 3, 3).cast<double>();
        EXPECT_LT((weights * values - output).cwiseAbs().maxCoeff(), 1e-5);
      }
      data.queries.matrix().bottomRows(10).setConstant(0.3F);
      data.keys.matrix().bottomRows(10).setConstant(-2.0F);
      data.values.matrix().bottomRows(10).setConstant(9.0F);
      const Tensor after = mechanism->forward(input);
      EXPECT_EQ(before.matrix().topRows(20), after.matrix().topRows(20));
      EXPECT_NE(before.matrix().bottomRows(10), after.matrix().bottomRows(10));
    }
  }
}

TEST(Hash, RefusesUntrainedLearnedCodes) {
  // Random codes under the name "learned" would be mistaken for learned ones.
  RandomAttention data(30, 30, 2, 4, 3, 63);
  const auto with = [](const char* codes) {
    return make_mechanism({"hash", {{"codes", std::string(codes)}, {"supports", std::int64_t{5}}}});
  };
  for (const bool causal : {false, true}) {
    AttentionInput input = data.input();
    input.causal = causal;
    const Error error = refusal_of([&] { (void)with("learned")->forward(input); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("codes=klsh"), std::string::npos) << error.what();
    EXPECT_EQ(with("auto")->forward(input).matrix(), with("klsh")->forward(input).matrix());
  }
  add_hash_buffers(data.parameters, 2, 16, 5, 4, 62);
  EXPECT_EQ(with("auto")->forward(data.input()).matrix(),
            with("learned")->forward(data.input()).matrix());
  EXPECT_NE(with("auto")->forward(data.input()).matrix(),
            with("klsh")->forward(data.input()).matrix());
}

TEST(Hash, RefusesInvalidArguments) {
  EXPECT_THROW((void)hash("paper", 65, 25), Error);
  EXPECT_THROW((void)hash("paper", 0, 25), Error);
  EXPECT_THROW((void)hash("other", 16, 25), Error);
  RandomAttention data(10, 10, 2, 4, 3, 57);
  EXPECT_THROW((void)hash("paper", 16, 11)->forward(data.input()), Error) << "supports > tokens";
  add_hash_buffers(data.parameters, 2, 16, 5, 4, 58);
  EXPECT_NO_THROW((void)hash("paper", 16, 5)->forward(data.input()));
  EXPECT_THROW((void)hash("paper", 8, 5)->forward(data.input()), Error) << "bits of the buffers";
  EXPECT_THROW((void)hash("paper", 16, 4)->forward(data.input()), Error);
  data.parameters.erase("ksh.mvec");
  const Error error = refusal_of([&] { (void)hash("paper", 16, 5)->forward(data.input()); });
  EXPECT_EQ(error.subject(), "ksh.mvec");
  const RandomAttention broad(30, 30, 1, 65, 2, 1);
  EXPECT_THROW(
      (void)make_mechanism({"hash", {{"codes", std::string("sign")}}})->forward(broad.input()),
      Error)
      << "more channels than a word has bits";
  EXPECT_THROW((void)make_mechanism({"hash", {{"codes", std::string("other")}}}), Error);
  const RandomAttention wide(3, 50, 1, 4, 2, 1);
  EXPECT_THROW((void)hash("upstream", 16, 25)->forward(wide.input()), Error);
}

}  // namespace
}  // namespace attnscope
