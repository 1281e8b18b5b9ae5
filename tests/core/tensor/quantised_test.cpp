// Quantised blocks and their values, written by tests/data/checkpoint/make_gguf.py.
#include "core/tensor/quantised.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

class Quantised : public testing::TestWithParam<const char*> {};

/// Codes times scales are exact in float32 or rounded once, both here and in NumPy.
TEST_P(Quantised, DecodesAsSpecified) {
  const std::string name = GetParam();
  const Checkpoint file = open_checkpoint(test_data("checkpoint/quantised.gguf"));
  const Tensor expected =
      open_checkpoint(test_data("checkpoint/quantised.npz")).at(name).view().to_float();
  const TensorView view = file.at(name + ".weight").view();
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    const Tensor decoded = view.to_float();
    ASSERT_EQ(decoded.shape(), expected.shape());
    for (std::int64_t i = 0; i < decoded.size(); ++i) {
      ASSERT_EQ(decoded.data()[i], expected.data()[i])
          << "element " << i << " by " << hwy::TargetName(target);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST_P(Quantised, GivesSingleRows) {
  const std::string name = GetParam();
  const Checkpoint file = open_checkpoint(test_data("checkpoint/quantised.gguf"));
  const TensorView view = file.at(name + ".weight").view();
  const Tensor all = view.to_float();
  std::vector<float> row(static_cast<std::size_t>(view.columns()));
  view.rows_to_float(1, 2, row.data());
  for (std::int64_t i = 0; i < view.columns(); ++i) {
    EXPECT_EQ(row[static_cast<std::size_t>(i)], all.data()[view.columns() + i]);
  }
  const std::vector<double> doubles = view.to_double();
  EXPECT_TRUE(std::equal(doubles.begin(), doubles.end(), all.data()));
  EXPECT_EQ(view.count_non_finite().nan, 0);
  EXPECT_THROW((void)view.to_int64(), Error);
}

TEST_P(Quantised, MultipliesRowsAsTheyAreStored) {
  const std::string name = GetParam();
  const Checkpoint file = open_checkpoint(test_data("checkpoint/quantised.gguf"));
  const TensorView view = file.at(name + ".weight").view();
  const Tensor rows = view.to_float();
  const Tensor x = hashed_input("x", {1, view.columns()});
  std::vector<float> products(static_cast<std::size_t>(view.rows()));
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    multiply_rows(*view.blocks, view.data, view.rows(), view.columns() / view.blocks->elements,
                  x.data(), products.data());
    for (std::int64_t row = 0; row < view.rows(); ++row) {
      double product = 0, size = 0;
      for (std::int64_t i = 0; i < view.columns(); ++i) {
        const double term =
            static_cast<double>(rows.matrix()(row, i)) * static_cast<double>(x.data()[i]);
        product += term;
        size += std::abs(term);
      }
      EXPECT_NEAR(products[static_cast<std::size_t>(row)], product, 2e-6 * size)
          << "row " << row << " by " << hwy::TargetName(target);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

INSTANTIATE_TEST_SUITE_P(AllReadable, Quantised,
                         testing::Values("q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_k", "q3_k",
                                         "q4_k", "q5_k", "q6_k", "iq4_nl", "iq4_xs", "mxfp4"));

TEST(QuantisedLayouts, AreCountedInWholeBlocks) {
  const BlockLayout* const layout = block_layout(12);
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->name, "Q4_K");
  EXPECT_EQ(byte_count({3, 512}, *layout), 3 * 2 * 144);
  EXPECT_EQ(byte_count({0, 512}, *layout), 0);
  EXPECT_THROW((void)byte_count({3, 100}, *layout), Error);
  EXPECT_THROW((void)byte_count({std::int64_t{1} << 31, std::int64_t{1} << 31}, *block_layout(8)),
               Error);
  EXPECT_EQ(block_layout(4), nullptr);
}

TEST(QuantisedLayouts, CountNansOfBrokenScales) {
  std::vector<std::byte> block(34, std::byte{1});
  block[0] = std::byte{0};
  block[1] = std::byte{0x7E};  // the scale is NaN
  TensorView view{DType::quantised, {1, 32}, {32, 1}, block.data(), {}, block_layout(8)};
  EXPECT_EQ(view.count_non_finite().nan, 32);
}

std::vector<float> decoded(const BlockLayout& layout, const std::vector<std::uint8_t>& bytes) {
  std::vector<float> values(bytes.size() * static_cast<std::size_t>(layout.elements));
  dequantise(layout, reinterpret_cast<const std::byte*>(bytes.data()), std::ssize(bytes),
             values.data());
  return values;
}

TEST(QuantisedLayouts, DecodeSmallFloatsAsTheirFormatsSay) {
  EXPECT_EQ(decoded(kMxfp4, {0x10, 0x32, 0x54, 0x76, 0xF9}),
            (std::vector<float>{0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.5, -6}));
  EXPECT_EQ(decoded(kTiledFloat8, {0x00, 0x01, 0x07, 0x08, 0x38, 0x3C, 0x7E, 0xFE, 0x81}),
            (std::vector<float>{0, 0x1p-9F, 7 * 0x1p-9F, 0x1p-6F, 1, 1.5, 448, -448, -0x1p-9F}));
  EXPECT_EQ(decoded(kPowers, {0, 126, 127, 254}),
            (std::vector<float>{0x1p-127F, 0.5, 1, 0x1p127F}));
  EXPECT_TRUE(std::isnan(decoded(kTiledFloat8, {0x7F})[0]));
  EXPECT_TRUE(std::isnan(decoded(kTiledFloat8, {0xFF})[0]));
  EXPECT_TRUE(std::isnan(decoded(kPowers, {255})[0]));
  EXPECT_THROW((void)decoded(kFloat8, {0}), Error) << "without factors";
}

TEST(QuantisedLayouts, MultiplyElementsWithTheFactorsOfTheirTiles) {
  const std::vector<std::uint8_t> ones(15, 0x38);
  const float tiles[] = {1, 2, 3, 4};
  const TensorView factors{
      DType::f32, {2, 2}, {2, 1}, reinterpret_cast<const std::byte*>(tiles), {}};
  TensorView view{
      DType::quantised, {3, 5}, {5, 1}, reinterpret_cast<const std::byte*>(ones.data()), {},
      &kTiledFloat8};
  view.factors = std::make_shared<const StoredFactors>(StoredFactors{factors, 2, 3});
  const std::vector<float> expected = {1, 1, 1, 2, 2, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4};
  EXPECT_TRUE(std::ranges::equal(view.to_float().values(), expected));
  std::vector<float> last(10);
  view.rows_to_float(1, 3, last.data());
  EXPECT_TRUE(std::equal(last.begin(), last.end(), expected.begin() + 5));
}

}  // namespace
}  // namespace attnscope
