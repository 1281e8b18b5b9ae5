#include "core/tensor/tensor_view.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

#include "core/error.h"

namespace attnscope {
namespace {

/// A contiguous view that owns `elements` at an odd address, because files do not align them.
template <class Element>
TensorView stored(DType dtype, const std::vector<Element>& elements, Shape shape) {
  const std::size_t bytes = elements.size() * sizeof(Element);
  auto buffer = std::make_shared<std::vector<std::byte>>(bytes + 1);
  if (bytes > 0) std::memcpy(buffer->data() + 1, elements.data(), bytes);
  std::vector<std::int64_t> strides = TensorView::contiguous_strides(shape);
  return {dtype, std::move(shape), std::move(strides), buffer->data() + 1, buffer};
}

std::vector<float> floats(const TensorView& view) {
  const Tensor tensor = view.to_float();
  EXPECT_EQ(tensor.shape(), view.shape);
  return {tensor.values().begin(), tensor.values().end()};
}

TEST(TensorView, EveryTypeBecomesFloat) {
  using Floats = std::vector<float>;
  EXPECT_EQ(floats(stored<double>(DType::f64, {1.5, -2}, {2})), (Floats{1.5F, -2}));
  EXPECT_EQ(floats(stored<float>(DType::f32, {1.5F, -2}, {2})), (Floats{1.5F, -2}));
  EXPECT_EQ(floats(stored<std::int64_t>(DType::i64, {-7, 9}, {2})), (Floats{-7, 9}));
  EXPECT_EQ(floats(stored<std::int32_t>(DType::i32, {-7, 9}, {2})), (Floats{-7, 9}));
  EXPECT_EQ(floats(stored<std::int16_t>(DType::i16, {-7, 9}, {2})), (Floats{-7, 9}));
  EXPECT_EQ(floats(stored<std::int8_t>(DType::i8, {-7, 9}, {2})), (Floats{-7, 9}));
  EXPECT_EQ(floats(stored<std::uint64_t>(DType::u64, {7, 1ULL << 63}, {2})), (Floats{7, 0x1p63F}));
  EXPECT_EQ(floats(stored<std::uint32_t>(DType::u32, {7, 1U << 31}, {2})), (Floats{7, 0x1p31F}));
  EXPECT_EQ(floats(stored<std::uint16_t>(DType::u16, {7, 65535}, {2})), (Floats{7, 65535}));
  EXPECT_EQ(floats(stored<std::uint8_t>(DType::u8, {7, 255}, {2})), (Floats{7, 255}));
  EXPECT_EQ(floats(stored<std::uint8_t>(DType::boolean, {0, 1, 2}, {3})), (Floats{0, 1, 1}));
}

// The values follow the definition (-1)^s · 2^(e-15) · (1 + f/1024), subnormals 2^-14 · f/1024.
TEST(TensorView, EveryHalfIsExact) {
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  const std::vector<float> values = floats(stored(DType::f16, bits, {65536}));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const int exponent = (bits[i] >> 10) & 31;
    const int fraction = bits[i] & 1023;
    const double sign = (bits[i] & 0x8000) != 0 ? -1 : 1;
    if (exponent == 31) {
      EXPECT_EQ(fraction == 0, std::isinf(values[i])) << i;
      EXPECT_EQ(fraction != 0, std::isnan(values[i])) << i;
    } else {
      const double magnitude = exponent == 0 ? std::ldexp(fraction / 1024.0, -14)
                                             : std::ldexp(1 + fraction / 1024.0, exponent - 15);
      EXPECT_EQ(values[i], static_cast<float>(sign * magnitude)) << i;
      EXPECT_EQ(std::signbit(values[i]), sign < 0) << i;
    }
  }
}

TEST(TensorView, BfloatIsTheUpperHalfOfAFloat) {
  EXPECT_EQ(floats(stored<std::uint16_t>(DType::bf16, {0x3FC0, 0xC000, 0x0001}, {3})),
            (std::vector<float>{1.5F, -2.0F, std::ldexp(1.0F, -133)}));
}

TEST(TensorView, FollowsStrides) {
  TensorView view = stored<float>(DType::f32, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 3, 2});
  EXPECT_TRUE(view.is_contiguous());
  view.shape = {2, 3, 2};  // the axes of a transposed [2, 2, 3]
  view.strides = {6, 1, 3};
  EXPECT_FALSE(view.is_contiguous());
  EXPECT_EQ(floats(view), (std::vector<float>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
  view.shape = {3, 2};  // a broadcast row
  view.strides = {0, 1};
  EXPECT_EQ(floats(view), (std::vector<float>{0, 1, 0, 1, 0, 1}));
  view.shape = {1, 2};  // the stride of a single row is never used
  view.strides = {77, 1};
  EXPECT_TRUE(view.is_contiguous());
  EXPECT_EQ(floats(view), (std::vector<float>{0, 1}));
}

TEST(TensorView, ReadsScalarsAndEmptyTensors) {
  EXPECT_EQ(floats(stored<float>(DType::f32, {3}, {})), (std::vector<float>{3}));
  EXPECT_EQ(floats(stored<float>(DType::f32, {}, {0, std::int64_t{1} << 62, 4})).size(), 0U);
}

TEST(TensorView, CountsNonFiniteElements) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float inf = std::numeric_limits<float>::infinity();
  const auto count = stored<float>(DType::f32, {nan, 1, inf, -inf, nan, nan}, {6});
  EXPECT_EQ(count.count_non_finite().nan, 3);
  EXPECT_EQ(count.count_non_finite().infinite, 2);
  const auto half = stored<std::uint16_t>(DType::f16, {0x7C00, 0x7E00, 0x3C00}, {3});
  EXPECT_EQ(half.count_non_finite().nan, 1);
  EXPECT_EQ(half.count_non_finite().infinite, 1);
  // 1e300 is finite in double but would be infinite in float32.
  EXPECT_EQ(stored<double>(DType::f64, {1e300}, {1}).count_non_finite().infinite, 0);
  EXPECT_EQ(stored<std::int32_t>(DType::i32, {-1}, {1}).count_non_finite().nan, 0);
}

TEST(TensorView, IntegersStayExact) {
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  EXPECT_EQ(stored<std::int64_t>(DType::i64, {large}, {1}).to_int64(),
            std::vector<std::int64_t>{large});
  EXPECT_THROW((void)stored<float>(DType::f32, {1}, {1}).to_int64(), Error);
}

}  // namespace
}  // namespace attnscope
