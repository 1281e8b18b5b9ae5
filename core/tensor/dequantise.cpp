// Decoding of quantised blocks and their products, compiled once per instruction set. Each layout
// is unpacked to codes, scales and minima, which are then converted to floats.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "core/tensor/dtype.h"
#include "core/tensor/quantised.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/tensor/dequantise.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The following headers must come after foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Byte = std::uint8_t;

inline float half_at(const Byte* at) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return from_half(bits);
}

/// Unpacked block: an element is scale · code − minimum, with one scale and minimum per group of
/// consecutive elements.
struct Unpacked {
  HWY_ALIGN std::int8_t codes[256];
  float scales[16];
  float minima[16];
};

// Each layout has the elements and bytes of a block, the elements of a group, a flag for minima,
// and `unpack`, which reads `bytes` bytes and writes elements / group scales.

struct Q8_0 {
  static constexpr int elements = 32, bytes = 34, group = 32;
  static constexpr bool has_minima = false;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    to.scales[0] = half_at(block);
    std::memcpy(to.codes, block + 2, 32);
  }
};

/// Unpacks 32 codes of 4 bits: the low halves of the bytes are the first 16. Bit i of `fifth` is
/// the fifth bit of code i.
HWY_INLINE void unpack_nibbles(const Byte* nibbles, std::uint32_t fifth, int offset,
                               std::int8_t* codes) {
  for (int i = 0; i < 16; ++i) {
    const int low = nibbles[i] & 15, high = nibbles[i] >> 4;
    codes[i] = static_cast<std::int8_t>((low | static_cast<int>((fifth >> i) & 1) << 4) - offset);
    codes[i + 16] =
        static_cast<std::int8_t>((high | static_cast<int>((fifth >> (i + 16)) & 1) << 4) - offset);
  }
}

HWY_INLINE std::uint32_t word_at(const Byte* at) {
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

struct Q4_0 {
  static constexpr int elements = 32, bytes = 18, group = 32;
  static constexpr bool has_minima = false;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    to.scales[0] = half_at(block);
    unpack_nibbles(block + 2, 0, 8, to.codes);
  }
};

struct Q4_1 {
  static constexpr int elements = 32, bytes = 20, group = 32;
  static constexpr bool has_minima = true;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    to.scales[0] = half_at(block);
    to.minima[0] = -half_at(block + 2);
    unpack_nibbles(block + 4, 0, 0, to.codes);
  }
};

struct Q5_0 {
  static constexpr int elements = 32, bytes = 22, group = 32;
  static constexpr bool has_minima = false;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    to.scales[0] = half_at(block);
    unpack_nibbles(block + 6, word_at(block + 2), 16, to.codes);
  }
};

struct Q5_1 {
  static constexpr int elements = 32, bytes = 24, group = 32;
  static constexpr bool has_minima = true;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    to.scales[0] = half_at(block);
    to.minima[0] = -half_at(block + 2);
    unpack_nibbles(block + 8, word_at(block + 4), 0, to.codes);
  }
};

/// Unpacks 256 codes of 2 bits from 64 bytes: bits 2k and 2k + 1 of byte l of half h are code 128 h
/// + 32 k + l.
HWY_INLINE void unpack_pairs(const Byte* pairs, std::int8_t* codes) {
  for (std::ptrdiff_t half = 0; half < 2; ++half) {
    for (std::ptrdiff_t k = 0; k < 4; ++k) {
      for (std::ptrdiff_t l = 0; l < 32; ++l) {
        codes[128 * half + 32 * k + l] =
            static_cast<std::int8_t>((pairs[32 * half + l] >> (2 * k)) & 3);
      }
    }
  }
}

struct Q2_K {
  static constexpr int elements = 256, bytes = 84, group = 16;
  static constexpr bool has_minima = true;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    const float scale = half_at(block + 80), minimum = half_at(block + 82);
    for (int i = 0; i < 16; ++i) {
      to.scales[i] = scale * static_cast<float>(block[i] & 15);
      to.minima[i] = minimum * static_cast<float>(block[i] >> 4);
    }
    unpack_pairs(block + 16, to.codes);
  }
};

struct Q3_K {
  static constexpr int elements = 256, bytes = 110, group = 16;
  static constexpr bool has_minima = false;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    const Byte* const high_bits = block;
    const Byte* const scales = block + 96;
    const float scale = half_at(block + 108);
    for (int i = 0; i < 16; ++i) {
      const int low = i < 8 ? scales[i] & 15 : scales[i - 8] >> 4;
      const int high = (scales[8 + i % 4] >> (2 * (i / 4))) & 3;
      to.scales[i] = scale * static_cast<float>((low | high << 4) - 32);
    }
    unpack_pairs(block + 32, to.codes);
    for (int k = 0; k < 8; ++k) {  // a cleared bit subtracts 4
      for (int l = 0; l < 32; ++l) {
        std::int8_t& code = to.codes[32 * k + l];
        code = static_cast<std::int8_t>(code - 4 + 4 * ((high_bits[l] >> k) & 1));
      }
    }
  }
};

/// Unpacks the eight scales and minima of Q4_K and Q5_K, 6 bits each, from 12 bytes.
HWY_INLINE void unpack_scales(const Byte* block, Unpacked& to) {
  const float scale = half_at(block), minimum = half_at(block + 2);
  const Byte* const packed = block + 4;
  for (int i = 0; i < 4; ++i) {
    to.scales[i] = scale * static_cast<float>(packed[i] & 63);
    to.minima[i] = minimum * static_cast<float>(packed[i + 4] & 63);
    const int last = packed[i + 8];
    to.scales[i + 4] = scale * static_cast<float>((last & 15) | (packed[i] >> 6) << 4);
    to.minima[i + 4] = minimum * static_cast<float>((last >> 4) | (packed[i + 4] >> 6) << 4);
  }
}

/// Unpacks 256 codes of 4 bits: in each group of 32 bytes, the low halves are 32 codes and the high
/// halves the next 32.
HWY_INLINE void unpack_long_nibbles(const Byte* nibbles, std::int8_t* codes) {
  for (int k = 0; k < 4; ++k) {
    for (int l = 0; l < 32; ++l) {
      codes[64 * k + l] = static_cast<std::int8_t>(nibbles[32 * k + l] & 15);
      codes[64 * k + 32 + l] = static_cast<std::int8_t>(nibbles[32 * k + l] >> 4);
    }
  }
}

struct Q4_K {
  static constexpr int elements = 256, bytes = 144, group = 32;
  static constexpr bool has_minima = true;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    unpack_scales(block, to);
    unpack_long_nibbles(block + 16, to.codes);
  }
};

struct Q5_K {
  static constexpr int elements = 256, bytes = 176, group = 32;
  static constexpr bool has_minima = true;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    const Byte* const high_bits = block + 16;
    unpack_scales(block, to);
    unpack_long_nibbles(block + 48, to.codes);
    for (int k = 0; k < 8; ++k) {
      for (int l = 0; l < 32; ++l) {
        std::int8_t& code = to.codes[32 * k + l];
        code = static_cast<std::int8_t>(code | ((high_bits[l] >> k) & 1) << 4);
      }
    }
  }
};

struct Q6_K {
  static constexpr int elements = 256, bytes = 210, group = 16;
  static constexpr bool has_minima = false;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    const float scale = half_at(block + 208);
    for (int i = 0; i < 16; ++i) {
      to.scales[i] = scale * static_cast<float>(static_cast<std::int8_t>(block[192 + i]));
    }
    for (std::ptrdiff_t half = 0; half < 2; ++half) {
      const Byte* const low = block + 64 * half;
      const Byte* const high = block + 128 + 32 * half;
      std::int8_t* const codes = to.codes + 128 * half;
      for (int l = 0; l < 64; ++l) {
        codes[l] = static_cast<std::int8_t>(low[l] & 15);
        codes[64 + l] = static_cast<std::int8_t>(low[l] >> 4);
      }
      for (int k = 0; k < 4; ++k) {
        for (int l = 0; l < 32; ++l) {
          const int two = (high[l] >> (2 * k)) & 3;
          codes[32 * k + l] = static_cast<std::int8_t>((codes[32 * k + l] | two << 4) - 32);
        }
      }
    }
  }
};

/// Computes scale · code − minimum for the `Layout::group` codes of one group.
template <class Layout>
HWY_INLINE void decode_group(const std::int8_t* codes, float scale, float minimum, float* out) {
  // Vectors have at most 16 lanes, so every group consists of whole vectors.
  const hn::CappedTag<float, 16> d;
  const hn::Rebind<std::int8_t, decltype(d)> d8;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  const auto scales = hn::Set(d, scale);
  const auto minima = hn::Set(d, minimum);
  for (std::size_t i = 0; i < Layout::group; i += hn::Lanes(d)) {
    auto value = hn::Mul(scales, hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, codes + i))));
    if (Layout::has_minima) value = hn::Sub(value, minima);
    hn::StoreU(value, d, out + i);
  }
}

#undef ATTNSCOPE_OPAQUE
// GCC 12 treats some of these functions as free of side effects and drops their calls if it can
// analyse their bodies from outside.
#if defined(__GNUC__) && !defined(__clang__)
#define ATTNSCOPE_OPAQUE __attribute__((noipa))
#else
#define ATTNSCOPE_OPAQUE
#endif

template <class Layout>
ATTNSCOPE_OPAQUE void decode(const Byte* blocks, std::int64_t count, float* out) {
  Unpacked unpacked;
  for (; count > 0; --count, blocks += Layout::bytes, out += Layout::elements) {
    Layout::unpack(blocks, unpacked);
    for (int group = 0; group < Layout::elements / Layout::group; ++group) {
      decode_group<Layout>(unpacked.codes + group * Layout::group, unpacked.scales[group],
                           Layout::has_minima ? unpacked.minima[group] : 0.0F,
                           out + group * Layout::group);
    }
  }
}

/// Products of x with rows; `sums` has the sum of x in each group of a row.
template <class Layout>
ATTNSCOPE_OPAQUE void multiply(const Byte* rows, std::int64_t count, std::int64_t per_row,
                               const float* x, const float* sums, float* out) {
  // Vectors have at most 16 lanes, so every group consists of whole vectors.
  const hn::CappedTag<float, 16> d;
  const hn::Rebind<std::int8_t, decltype(d)> d8;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  constexpr int kGroups = Layout::elements / Layout::group;
  Unpacked unpacked;
  for (std::int64_t row = 0; row < count; ++row) {
    auto total = hn::Zero(d);
    float minima = 0;
    const float* at = x;
    const float* sum = sums;
    for (std::int64_t block = 0; block < per_row; ++block, rows += Layout::bytes) {
      Layout::unpack(rows, unpacked);
      for (int group = 0; group < kGroups; ++group, at += Layout::group, ++sum) {
        const std::int8_t* const codes = unpacked.codes + group * Layout::group;
        auto part = hn::Zero(d);
        for (std::size_t i = 0; i < Layout::group; i += hn::Lanes(d)) {
          const auto code = hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, codes + i)));
          part = hn::MulAdd(code, hn::LoadU(d, at + i), part);
        }
        total = hn::MulAdd(hn::Set(d, unpacked.scales[group]), part, total);
        if (Layout::has_minima) minima += unpacked.minima[group] * *sum;
      }
    }
    out[row] = hn::GetLane(hn::SumOfLanes(d, total)) - minima;
  }
}

/// Calls use(layout) with the layout of this number; returns false if there is none.
template <class Use>
HWY_INLINE bool with_layout(std::uint32_t ggml_type, const Use& use) {
  switch (ggml_type) {
    case 2:
      return use(Q4_0()), true;
    case 3:
      return use(Q4_1()), true;
    case 6:
      return use(Q5_0()), true;
    case 7:
      return use(Q5_1()), true;
    case 8:
      return use(Q8_0()), true;
    case 10:
      return use(Q2_K()), true;
    case 11:
      return use(Q3_K()), true;
    case 12:
      return use(Q4_K()), true;
    case 13:
      return use(Q5_K()), true;
    case 14:
      return use(Q6_K()), true;
    default:
      return false;
  }
}

/// Decodes blocks; returns false if there is no decoder for the layout.
bool Decode(std::uint32_t ggml_type, const Byte* blocks, std::int64_t count, float* out) {
  return with_layout(ggml_type, [&]<class Layout>(Layout) { decode<Layout>(blocks, count, out); });
}

/// The number of elements in a group; 0 if there is no decoder for the layout.
int GroupSize(std::uint32_t ggml_type) {
  int size = 0;
  with_layout(ggml_type, [&]<class Layout>(Layout) { size = Layout::group; });
  return size;
}

void Multiply(std::uint32_t ggml_type, const Byte* rows, std::int64_t count, std::int64_t per_row,
              const float* x, const float* sums, float* out) {
  with_layout(ggml_type,
              [&]<class Layout>(Layout) { multiply<Layout>(rows, count, per_row, x, sums, out); });
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(Decode);
HWY_EXPORT(GroupSize);
HWY_EXPORT(Multiply);

namespace {

/// The value of a byte with `exponent` and then `fraction` bits below its sign, without infinities:
/// E2M1, E4M3.
float small_float(unsigned byte, int exponent, int fraction) {
  const int bias = (1 << (exponent - 1)) - 1;
  const unsigned parts = 1U << fraction;
  const int power = static_cast<int>((byte >> fraction) & ((1U << exponent) - 1));
  const auto part = static_cast<float>(byte % parts) / static_cast<float>(parts);
  const float size = power == 0 ? std::ldexp(part, 1 - bias) : std::ldexp(1 + part, power - bias);
  return (byte >> (exponent + fraction)) != 0 ? -size : size;
}

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

/// The values of each byte of E2M1 pairs, E4M3, and powers of 2.
struct ByteValues {
  std::array<std::array<float, 2>, 256> pairs;
  std::array<float, 256> floats, powers;
};

const ByteValues& byte_values() {
  static const ByteValues values = [] {
    ByteValues made;
    for (unsigned byte = 0; byte < 256; ++byte) {
      made.pairs[byte] = {small_float(byte & 15U, 2, 1), small_float(byte >> 4U, 2, 1)};
      made.floats[byte] = (byte & 127U) == 127U ? kNotANumber : small_float(byte, 4, 3);
      made.powers[byte] =
          byte == 255 ? kNotANumber : std::ldexp(1.0F, static_cast<int>(byte) - 127);
    }
    return made;
  }();
  return values;
}

void decode_bytes(const BlockLayout& layout, const std::uint8_t* bytes, std::int64_t count,
                  float* out) {
  const ByteValues& values = byte_values();
  const auto& singles = &layout == &kTiledFloat8 ? values.floats : values.powers;
  for (std::int64_t i = 0; i < count; ++i) {
    if (&layout == &kMxfp4) {
      std::copy_n(values.pairs[bytes[i]].begin(), 2, out + 2 * i);
    } else {
      out[i] = singles[bytes[i]];
    }
  }
}

}  // namespace

void dequantise(const BlockLayout& layout, const std::byte* blocks, std::int64_t count,
                float* out) {
  check_readable(layout);
  if (layout.ggml_type == kNoGgmlType) {
    decode_bytes(layout, reinterpret_cast<const std::uint8_t*>(blocks), count, out);
    return;
  }
  HWY_DYNAMIC_DISPATCH(Decode)
  (layout.ggml_type, reinterpret_cast<const std::uint8_t*>(blocks), count, out);
}

void multiply_rows(const BlockLayout& layout, const std::byte* rows, std::int64_t count,
                   std::int64_t per_row, const float* x, float* out) {
  check_readable(layout);
  const auto group = static_cast<std::int64_t>(HWY_DYNAMIC_DISPATCH(GroupSize)(layout.ggml_type));
  std::vector<float> sums;
  for (std::int64_t at = 0; at < per_row * layout.elements; at += group) {
    sums.push_back(static_cast<float>(std::accumulate(x + at, x + at + group, 0.0)));
  }
  HWY_DYNAMIC_DISPATCH(Multiply)
  (layout.ggml_type, reinterpret_cast<const std::uint8_t*>(rows), count, per_row, x, sums.data(),
   out);
}

}  // namespace attnscope
#endif  // HWY_ONCE
