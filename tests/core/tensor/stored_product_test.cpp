#include "core/tensor/stored_product.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "core/tensor/blas.h"
#include "core/tensor/half.h"

namespace attnscope {
namespace {

/// Random blocks with small scales: the exponent byte of every scale in float16 is set.
std::vector<std::byte> random_blocks(const BlockLayout& layout, std::int64_t count,
                                     std::initializer_list<int> halves) {
  std::mt19937 random(5);
  std::vector<std::byte> bytes(static_cast<std::size_t>(layout.bytes * count));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 255);
  for (std::int64_t block = 0; block < count; ++block) {
    for (const int at : halves) {
      bytes[static_cast<std::size_t>(block * layout.bytes + at + 1)] = std::byte{0x1C};  // ≈ 0.004
    }
  }
  return bytes;
}

Tensor random_rows(std::int64_t rows, std::int64_t columns) {
  std::mt19937 random(6);
  std::normal_distribution<float> normal;
  Tensor x({rows, columns});
  for (float& value : x.values()) value = normal(random);
  return x;
}

ConstStridedMatrixMap strided_rows(const Tensor& tensor) {
  return {tensor.data(), tensor.extent(0), tensor.extent(1),
          Eigen::OuterStride<>(tensor.extent(1))};
}

/// Compares the product with that of all decoded weights in double. The k products of both orders
/// of summation have rounding errors of 2^-24 each.
void expect_product(const TensorView& weights, std::int64_t rows) {
  const std::int64_t k = weights.columns(), n = weights.rows();
  const Tensor x = random_rows(rows, k);
  Tensor out({rows, n});
  multiply_transposed(strided_rows(x), weights, {out.data(), rows, n, Eigen::OuterStride<>(n)});
  const MatrixD w = ConstMatrixMap(weights.to_float().data(), n, k).cast<double>();
  const MatrixD expected = x.matrix().cast<double>() * w.transpose();
  const MatrixD magnitudes = x.matrix().cast<double>().cwiseAbs() * w.transpose().cwiseAbs();
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      ASSERT_NEAR(out.matrix()(i, j), expected(i, j),
                  magnitudes(i, j) * static_cast<double>(k) * 0x1p-24)
          << i << ", " << j;
    }
  }
}

TEST(StoredProduct, MultipliesQuantisedWeights) {
  for (const std::int64_t n : {1, 127, 128, 129, 300}) {
    const BlockLayout& q4_k = *block_layout(12);
    const std::vector<std::byte> blocks = random_blocks(q4_k, n * 2, {0, 2});
    expect_product({DType::quantised, {n, 512}, {512, 1}, blocks.data(), {}, &q4_k}, 7);
    const BlockLayout& q8_0 = *block_layout(8);
    const std::vector<std::byte> small = random_blocks(q8_0, n * 3, {0});
    expect_product({DType::quantised, {n, 96}, {96, 1}, small.data(), {}, &q8_0}, 1);
  }
}

TEST(StoredProduct, MultipliesPlainWeights) {
  const Tensor w = random_rows(130, 33);
  expect_product({DType::f32, {130, 33}, {33, 1}, reinterpret_cast<const std::byte*>(w.data()), {}},
                 5);
  std::vector<std::uint16_t> halves(130 * 33);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, w.data() + i, 4);
    halves[i] = static_cast<std::uint16_t>(bits >> 16);
  }
  const auto* const data = reinterpret_cast<const std::byte*>(halves.data());
  expect_product({DType::bf16, {130, 33}, {33, 1}, data, {}}, 5);
  expect_product({DType::bf16, {33, 130}, {1, 33}, data, {}}, 5);             // transposed
  expect_product({DType::bf16, {2, 65, 33}, {65 * 33, 33, 1}, data, {}}, 5);  // leading axes joined
  expect_product({DType::bf16, {13, 33, 10}, {330, 1, 33}, data, {}}, 5);
}

/// Two runs give the same bits: the old content of a tile's memory does not matter.
TEST(StoredProduct, DoesNotDependOnEarlierComputations) {
  const BlockLayout& q6_k = *block_layout(14);
  const std::vector<std::byte> blocks = random_blocks(q6_k, 500, {208});
  const TensorView weights{DType::quantised, {500, 256}, {256, 1}, blocks.data(), {}, &q6_k};
  const Tensor x = random_rows(3, 256);
  Tensor first({3, 500}), second({3, 500});
  for (Tensor* out : {&first, &second}) {
    multiply_transposed(strided_rows(x), weights, {out->data(), 3, 500, Eigen::OuterStride<>(500)});
  }
  EXPECT_TRUE(std::equal(first.values().begin(), first.values().end(), second.values().begin()));
}

}  // namespace
}  // namespace attnscope
