// Hashed attention: codes, buffers, and what is refused.
#include <gtest/gtest.h>

#include "core/attention/hash_codes.h"
#include "core/attention/score_blocks.h"
#include "core/error.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

std::unique_ptr<const Mechanism> hash(const char* mode, std::int64_t bits, std::int64_t supports) {
  return make_mechanism(
      {"hash", {{"mode", std::string(mode)}, {"bits", bits}, {"supports", supports}}});
}

TEST(Hash, PackedBitsAreTheSigns) {
  const RandomAttention data(70, 70, 1, 8, 3, 51);
  const ConstStridedMatrixMap keys = head_columns(data.input().keys, 1, 0);
  const HashCodes codes = hash_function(nullptr, 1, 0, keys, 64, 25).codes_of(keys, false);
  for (std::int64_t i = 0; i < 70; ++i) {
    for (std::int64_t r = 0; r < 64; ++r) {
      const bool set = (codes.words[static_cast<std::size_t>(i)] >> r & 1U) != 0;
      ASSERT_EQ(codes.signs(i, r), set ? 1.0F : -1.0F);
    }
  }
}

TEST(Hash, LikeTokensHaveLikeCodes) {
  // Kernelised hashing keeps similarity: near tokens share more bits than far ones.
  RandomAttention data(60, 60, 1, 8, 3, 52);
  data.keys.matrix().bottomRows(30) =
      data.keys.matrix().topRows(30) + 0.01F * data.queries.matrix().topRows(30);
  const ConstStridedMatrixMap keys = head_columns(data.input().keys, 1, 0);
  const HashCodes codes = hash_function(nullptr, 1, 0, keys, 32, 25).codes_of(keys, false);
  double near = 0, far = 0;
  for (std::int64_t i = 0; i < 30; ++i) {
    near += static_cast<double>(codes.signs.row(i).dot(codes.signs.row(i + 30))) / 30;
    far += static_cast<double>(codes.signs.row(i).dot(codes.signs.row((i + 7) % 30))) / 30;
  }
  EXPECT_GT(near, 28);
  EXPECT_LT(far, 16);
}

TEST(Hash, AlikeTokensAttendUniformly) {
  RandomAttention data(26, 26, 2, 4, 3, 53);
  data.keys.matrix().setConstant(0.5F);
  data.queries = data.keys;
  const Tensor map = hash("paper", 16, 25)->implied_map(data.input());
  for (const float weight : map.values()) EXPECT_FLOAT_EQ(weight, 1.0F / 26);
}

TEST(Hash, CodesAreItsQuantities) {
  RandomAttention data(30, 30, 2, 4, 3, 54);
  const NamedTensors quantities = hash("paper", 7, 5)->quantities(data.input());
  EXPECT_EQ(quantities.at("codes").shape(), (Shape{2, 30, 7}));
  EXPECT_EQ(quantities.at("key_codes").shape(), (Shape{2, 30, 7}));
  for (const float sign : quantities.at("codes").values()) EXPECT_EQ(std::abs(sign), 1.0F);
}

TEST(Hash, UpstreamKeepsAZeroWhereThePaperHasABit) {
  // A token of which the kernel says nothing: A is zero.
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

TEST(Hash, WhatDoesNotFitIsRefused) {
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
  try {
    (void)hash("paper", 16, 5)->forward(data.input());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.subject(), "ksh.mvec");
  }
  const RandomAttention wide(3, 50, 1, 4, 2, 1);
  EXPECT_THROW((void)hash("upstream", 16, 25)->forward(wide.input()), Error);
}

}  // namespace
}  // namespace attnscope
