// Weights kept in the dtype of their file give the products of their float32 values.
#include "core/model/parts/weight_matrix.h"

#include <bit>
#include <gtest/gtest.h>

#include "core/model/parts/linear.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

/// `values` truncated to bfloat16, and stored column by column if `transposed`.
TensorView bfloat_view(const Tensor& values, bool transposed) {
  const std::int64_t rows = values.extent(0), columns = values.extent(1);
  const auto stored =
      std::make_shared<std::vector<std::uint16_t>>(static_cast<std::size_t>(values.size()));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto bits = std::bit_cast<std::uint32_t>(values.data()[i * columns + j]);
      (*stored)[static_cast<std::size_t>(transposed ? j * rows + i : i * columns + j)] =
          static_cast<std::uint16_t>(bits >> 16);
    }
  }
  TensorView view;
  view.dtype = DType::bf16;
  view.shape = {rows, columns};
  view.strides = {transposed ? 1 : columns, transposed ? rows : 1};
  view.data = reinterpret_cast<const std::byte*>(stored->data());
  view.storage = stored;
  return view;
}

TEST(WeightMatrix, GivesTheRowsOfItsFile) {
  for (const bool transposed : {false, true}) {
    const TensorView view = bfloat_view(raw_uniform({300, 7}, 1), transposed);
    const Tensor numbers = view.to_float();
    const WeightMatrix matrix(view);
    EXPECT_FALSE(matrix.in_memory());
    ASSERT_EQ(matrix.rows(), 300);
    ASSERT_EQ(matrix.columns(), 7);
    std::vector<float> room;
    for (const auto& [first, count] :
         {std::pair(0, 300), std::pair(0, 1), std::pair(299, 1), std::pair(17, 128)}) {
      const float* const rows = matrix.read(first, count, room);
      EXPECT_TRUE(std::equal(rows, rows + count * 7, numbers.data() + first * 7)) << first;
    }
  }
}

TEST(WeightMatrix, TakesRowsInAnyOrderTwice) {
  const Tensor numbers = raw_uniform({20, 3}, 2);
  const TensorView view = bfloat_view(numbers, false);
  const std::vector<std::int64_t> first = {19, 3, 4, 5, 0}, second = {4, 1, 2};
  const WeightMatrix in_file = WeightMatrix(view).with_rows(first).with_rows(second);
  const WeightMatrix in_memory = WeightMatrix(view.to_float()).with_rows(first).with_rows(second);
  ASSERT_EQ(in_file.rows(), 3);
  std::vector<float> room, other;
  const float* const rows = in_file.read(0, 3, room);
  EXPECT_TRUE(std::equal(rows, rows + 9, in_memory.read(0, 3, other)));
}

TEST(WeightMatrix, MultipliesAsItsFloat32) {
  for (const std::int64_t outputs : {1, 127, 128, 300}) {
    for (const std::int64_t tokens : {1, 9, 70}) {
      const TensorView view = bfloat_view(raw_uniform({outputs, 33}, 3), false);
      const Tensor bias = raw_uniform({outputs}, 4), x = raw_uniform({tokens, 33}, 5);
      const std::vector<float> offsets(bias.values().begin(), bias.values().end());
      const Linear in_file(WeightMatrix(view), offsets);
      const Linear in_memory(view.to_float(), offsets);
      const Tensor a = in_file(x.matrix()), b = in_memory(x.matrix());
      ASSERT_EQ(a.shape(), b.shape());
      for (std::int64_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a.data()[i], b.data()[i], 2e-5);
    }
  }
}

}  // namespace
}  // namespace attnscope
