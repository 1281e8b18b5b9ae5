#include "analysis/frequencies/rotary_use.h"

#include <cmath>
#include <gtest/gtest.h>

#include "analysis/frequencies/frequencies.h"
#include "core/error.h"
#include "core/model/model.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

/// Mean of √(x² + y²) over the tokens of one head.
double mean_norm(const Tensor& vectors, std::int64_t head, std::int64_t x, std::int64_t y) {
  double sum = 0;
  for (std::int64_t i = 0; i < vectors.extent(1); ++i) {
    const auto row = vectors.slice(head).row(i).cast<double>();
    sum += std::hypot(row(x), row(y));
  }
  return sum / static_cast<double>(vectors.extent(1));
}

TEST(RotaryUse, IsTheMeanNormOfQueriesTimesThatOfKeysInEachOfTheModelsPairs) {
  // Llama rotates halves and shares keys, GPT-J rotates neighbours in a part of the head.
  for (const std::string family : {"hugging_face_llama", "hugging_face_gptj"}) {
    const TemporaryFolder folder;
    const Subject subject = family_subject(folder.path(), family, {3, 1, 4, 1, 2, 5});
    const RotarySpec& rotary = subject.model->spec().layer.rotary;
    for (const RotaryUse& use : rotary_uses(subject)) {
      const LayerTrace& layer = subject.trace->layers[static_cast<std::size_t>(use.layer)];
      const std::int64_t width = layer.queries.extent(2);
      const std::int64_t rotated = rotary.width ? rotary.width : width;
      const std::int64_t shared = subject.trace->heads(use.layer) / layer.keys.extent(0);
      ASSERT_EQ(std::ssize(use.pairs), rotated / 2) << family;
      for (std::int64_t c = 0; c < rotated / 2; ++c) {
        const bool neighbours = family == "hugging_face_gptj";
        const std::int64_t x = neighbours ? 2 * c : c, y = neighbours ? x + 1 : c + rotated / 2;
        const auto at = static_cast<std::size_t>(c);
        EXPECT_NEAR(use.use[at],
                    mean_norm(layer.queries, use.head, x, y) *
                        mean_norm(layer.keys, use.head / shared, x, y),
                    1e-9)
            << family;
        const double wavelength =
            2 * M_PI *
            std::pow(rotary.theta, 2.0 * static_cast<double>(c) / static_cast<double>(rotated));
        EXPECT_NEAR(use.pairs[at].wavelength, wavelength, 1e-9 * wavelength);
      }
      EXPECT_GE(use.slow_share, 0);
      EXPECT_LE(use.slow_share, 1);
    }
  }
}

TEST(MeanFrequencyRows, AveragesUsesOverTextsOfDifferentLengths) {
  const TemporaryFolder folder;
  const std::vector<RotaryUse> first = rotary_uses(family_subject(
                                   folder.path(), "hugging_face_llama", {3, 1, 4, 1, 2, 5})),
                               second = rotary_uses(
                                   family_subject(folder.path(), "hugging_face_llama", {2, 6, 5}));
  MeanFrequencyRows mean;
  mean.add(first);
  mean.add(second);
  const auto found = std::get<std::vector<RotaryUse>>(mean.rows());
  ASSERT_EQ(found.size(), first.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i].slow_share, (first[i].slow_share + second[i].slow_share) / 2, 1e-12);
    for (std::size_t c = 0; c < found[i].use.size(); ++c) {
      EXPECT_NEAR(found[i].use[c], (first[i].use[c] + second[i].use[c]) / 2, 1e-12);
      EXPECT_LE(found[i].use[c], found[i].use[found[i].strongest]);
    }
  }
}

TEST(RotaryUse, IsRefusedForModelsWithoutRotaryPositions) {
  const TemporaryFolder folder;
  const Subject subject = family_subject(folder.path(), "hugging_face_gpt2", {3, 1, 4, 1, 2, 5});
  EXPECT_FALSE(has_rotary_positions(subject));
  EXPECT_NE(error_of([&] { return rotary_uses(subject); }).find("no rotary positions"),
            std::string::npos);
  Subject trace_alone = subject;
  trace_alone.model = nullptr;
  EXPECT_NE(error_of([&] { return rotary_uses(trace_alone); }), "");
}

/// Expects each pair to turn by 2π over its wavelength from one token to the next, as the model
/// rotates it: in float32, whose angles have 1e-6 of the greatest angle.
void expect_turns(const RotarySpec& rotary, std::int64_t width, std::int64_t tokens,
                  const TokenLayout& layout) {
  const std::vector<RotaryPair> pairs = rotary_pairs(rotary, width, tokens, layout, {});
  const RotaryTurns turns(rotary, width, tokens, layout, {});
  for (const RotaryPair& pair : pairs) {
    Tensor rows({tokens, width});
    rows.matrix().col(pair.first).setOnes();
    turns.apply(rows, 1);
    const auto angle = [&](std::int64_t token) {
      const auto row = rows.matrix().row(token).cast<double>();
      EXPECT_GT(std::hypot(row(pair.first), row(pair.second)), 0.5);
      return std::atan2(row(pair.second), row(pair.first));
    };
    const std::int64_t step = pair.along == RotaryPair::Along::rows ? layout.columns : 1;
    const double found = angle(layout.prefix + step) - angle(layout.prefix);
    const double turned = (found - 2 * M_PI / pair.wavelength) / (2 * M_PI);
    EXPECT_NEAR(turned, std::round(turned), 1e-5) << pair.first << " " << pair.wavelength;
  }
}

TEST(RotaryPairs, TurnAsTheModelRotatesThem) {
  RotarySpec rotary;
  rotary.form = Rotary::half;
  expect_turns(rotary, 16, 9, {});
  rotary.form = Rotary::pair;
  rotary.width = 8;
  expect_turns(rotary, 16, 9, {});
  rotary.trained_context = 32;
  rotary.factor = 4;
  for (const RotaryScaling scaling :
       {RotaryScaling::linear, RotaryScaling::llama3, RotaryScaling::yarn}) {
    rotary.scaling = scaling;
    expect_turns(rotary, 16, 40, {});
  }
  rotary.scaling = RotaryScaling::dynamic;
  expect_turns(rotary, 16, 50, {});
}

TEST(RotaryPairs, TurnByRowsAndColumnsOfAGrid) {
  RotarySpec rotary;
  rotary.form = Rotary::half;
  rotary.theta = 100;
  for (const RotaryGrid grid : {RotaryGrid::patches, RotaryGrid::cells}) {
    rotary.grid = grid;
    expect_turns(rotary, 16, 26, {.prefix = 2, .rows = 4, .columns = 6});
  }
  rotary.trained_side = 14;
  expect_turns(rotary, 16, 26, {.prefix = 2, .rows = 4, .columns = 6});
}

}  // namespace
}  // namespace attnscope
