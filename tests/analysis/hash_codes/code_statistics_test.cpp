// Statistics of codes compared with NumPy, and pairs of tokens chosen by attention.
#include "analysis/hash_codes/code_statistics.h"

#include <cmath>
#include <gtest/gtest.h>

#include "analysis/hash_codes/learning.h"
#include "core/error.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

HashCodes codes_of(const std::vector<float>& signs, std::int64_t tokens, std::int64_t bits) {
  HashCodes codes;
  codes.signs = ConstMatrixMap(signs.data(), tokens, bits);
  for (std::int64_t i = 0; i < tokens; ++i) {
    std::uint64_t word = 0;
    for (std::int64_t r = 0; r < bits; ++r) {
      if (codes.signs(i, r) > 0) word |= std::uint64_t{1} << r;
    }
    codes.words.push_back(word);
  }
  return codes;
}

class CodesAgainstNumPy : public testing::TestWithParam<std::size_t> {};

TEST_P(CodesAgainstNumPy, EveryNumberIsTheSame) {
  const nlohmann::json reference =
      read_test_data("hash_codes/reference.json").at("cases").at(GetParam());
  const std::int64_t tokens = reference.at("tokens"), keys = reference.at("keys"),
                     bits = reference.at("bits");
  const HashCodes queries = codes_of(reference.at("queries"), tokens, bits);
  const HashCodes of_keys = codes_of(reference.at("key_codes"), keys, bits);
  const std::vector<float> attention = reference.at("attention");

  const nlohmann::json& expected = reference.at("statistics");
  const CodeStatistics found = code_statistics(queries);
  EXPECT_EQ(found.distinct, expected.at("distinct").get<std::int64_t>());
  EXPECT_EQ(found.commonest, expected.at("commonest").get<std::int64_t>());
  EXPECT_NEAR(found.entropy, expected.at("entropy").get<double>(), 1e-12);
  EXPECT_NEAR(found.greatest_entropy,
              std::min(static_cast<double>(bits), std::log2(static_cast<double>(tokens))), 1e-12);
  for (std::int64_t r = 0; r < bits; ++r) {
    const auto at = static_cast<std::size_t>(r);
    EXPECT_NEAR(found.balance[at], expected.at("balance").at(at).get<double>(), 1e-12);
    for (std::int64_t s = 0; s < bits; ++s) {
      const nlohmann::json& value =
          expected.at("correlation").at(at).at(static_cast<std::size_t>(s));
      if (value.is_null()) {
        EXPECT_TRUE(std::isnan(found.correlation(r, s)));
      } else {
        EXPECT_NEAR(found.correlation(r, s), value.get<double>(), 1e-8);
      }
    }
  }

  const SimilarPairs pairs =
      similar_pairs({attention.data(), tokens, keys}, reference.at("pairs").get<std::int64_t>());
  const PairDistances distances = pair_distances(queries, of_keys, pairs);
  EXPECT_NEAR(distances.auc, reference.at("auc").get<double>(), 1e-12);
  EXPECT_NEAR(distances.auc_against_all, reference.at("auc_against_all").get<double>(), 1e-12);
  EXPECT_NEAR(reconstruction_error(queries, of_keys, pairs), reference.at("error").get<double>(),
              1e-10);
}

INSTANTIATE_TEST_SUITE_P(Cases, CodesAgainstNumPy, testing::Values(0, 1, 2));

TEST(SimilarPairs, AreTheGreatestAndTheLeastOfEveryRow) {
  const std::vector<float> attention = {0.1F, 0.4F, 0.2F, 0.3F,  //
                                        0.5F, 0.0F, 0.5F, 0.0F};
  const SimilarPairs pairs = similar_pairs({attention.data(), 2, 4}, 1);
  ASSERT_EQ(pairs.similar.size(), 2U);
  EXPECT_EQ(pairs.similar[0].key, 1);
  EXPECT_EQ(pairs.similar[1].key, 0) << "of equals the earlier";
  EXPECT_EQ(pairs.dissimilar[0].key, 0);
  EXPECT_EQ(pairs.dissimilar[1].key, 1);
  EXPECT_THROW((void)similar_pairs({attention.data(), 2, 4}, 3), Error);
  EXPECT_THROW((void)similar_pairs({attention.data(), 2, 4}, 0), Error);
}

TEST(SimilarPairs, LieNeverAheadOfTheQueryInACausalMap) {
  const std::vector<float> attention = {1,    0,    0,    0,  //
                                        0.3F, 0.7F, 0,    0,  //
                                        0.2F, 0.5F, 0.3F, 0,  //
                                        0.1F, 0.2F, 0.3F, 0.4F};
  const SimilarPairs pairs = similar_pairs({attention.data(), 4, 4}, 2);
  EXPECT_EQ(pairs.similar.size(), 4U) << "0, 1, 1 and 2 of the rows";
  EXPECT_EQ(pairs.dissimilar.size(), 4U);
  for (const auto& list : {pairs.similar, pairs.dissimilar}) {
    for (const TokenPair& pair : list) EXPECT_LE(pair.key, pair.query);
  }
}

TEST(PairDistances, HaveNoAucWithoutBothKindsOfPairs) {
  const HashCodes codes = codes_of({1, -1, 1, 1}, 2, 2);
  SimilarPairs pairs{2, 2, {{0, 1}, {0, 0}}, {{1, 1}}};
  EXPECT_TRUE(std::isnan(pair_distances(codes, codes, pairs).auc)) << "a token and itself";
}

TEST(CodeRanks, TheCommonestIsFirst) {
  const HashCodes codes = codes_of({-1, 1, 1, 1}, 4, 1);
  EXPECT_EQ(code_ranks(codes), (std::vector<std::int64_t>{1, 0, 0, 0}));
}

TEST(CodeColours, EqualCodesLookEqualAndOthersDiffer) {
  const HashCodes codes = codes_of({-1, 1, 1, 1, 1, 1, 1, -1, 1, -1, 1, 1}, 4, 3);
  const std::vector<Colour> colours = code_colours(codes);
  const auto same = [](const Colour& a, const Colour& b) {
    return a.red == b.red && a.green == b.green && a.blue == b.blue;
  };
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(same(colours[i], colours[j]), codes.words[i] == codes.words[j]) << i << ' ' << j;
    }
  }
  EXPECT_TRUE(code_colours(HashCodes{}).empty());
}

}  // namespace
}  // namespace attnscope
