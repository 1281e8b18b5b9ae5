// Decoding of quantised blocks and their products, compiled once per instruction set. Each layout
// is unpacked to codes, scales and minima, which are then converted to floats.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
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

HWY_INLINE float half_at(const Byte* at) {
  const hn::CappedTag<float, 1> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d16;
  return hn::GetLane(hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(at))));
}

// Codes of 4 bits that are no evenly spaced numbers: ggml's kvalues_iq4nl, and twice the values of
// E2M1 (OCP Microscaling Formats 1.0).
constexpr std::int8_t kUnevenCodes[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                          1,    13,   25,  38,  53,  69,  89,  113};
constexpr std::int8_t kTwiceE2M1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// Unpacked block: an element is scale · code − minimum, with one scale and minimum per group of
/// consecutive elements.
struct Unpacked {
  HWY_ALIGN std::int8_t codes[256];
  float scales[16];
  float minima[16];
};

// Vectors that 16 or 32 bytes are divided into.
using Sixteen = hn::CappedTag<Byte, 16>;
using Bytes = hn::CappedTag<Byte, 32>;

/// Calls unpack(l) for the first byte l of each vector of 32.
template <class Unpack>
HWY_INLINE void for_lanes(const Unpack& unpack) {
  for (std::size_t l = 0; l < 32; l += hn::Lanes(Bytes())) unpack(l);
}

/// Writes bytes less `offset` as codes.
template <class Vector>
HWY_INLINE void write_codes(Vector bytes, int offset, std::int8_t* codes) {
  const hn::DFromV<Vector> d;
  const hn::RebindToSigned<decltype(d)> signed_d;
  hn::StoreU(
      hn::Sub(hn::BitCast(signed_d, bytes), hn::Set(signed_d, static_cast<std::int8_t>(offset))),
      signed_d, codes);
}

/// Computes factor · b for each of `count` bytes b, signed or not.
template <int count, class Integer>
HWY_INLINE void scale_bytes(const Integer* bytes, float factor, float* out) {
  const hn::CappedTag<float, 8> d;
  const hn::Rebind<Integer, decltype(d)> d8;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto numbers = hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, bytes + i)));
    hn::StoreU(hn::Mul(hn::Set(d, factor), numbers), d, out + i);
  }
}

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

/// Unpacks 32 codes of 4 bits: the low halves of the bytes are the first 16. Bit i of the four
/// bytes `fifth`, if there are any, is the fifth bit of code i.
HWY_INLINE void unpack_nibbles(const Byte* nibbles, const Byte* fifth, int offset,
                               std::int8_t* codes) {
  std::uint64_t sixteens[4] = {};  // in each byte 16 or 0
  for (int i = 0; i < 4 && fifth != nullptr; ++i) {
    // Byte k keeps bit k; adding 127 carries it, whichever it is, to the highest bit.
    const std::uint64_t bits = fifth[i] * 0x0101010101010101U & 0x8040201008040201U;
    sixteens[i] = ((bits + 0x7F7F7F7F7F7F7F7FU) & 0x8080808080808080U) >> 3;
  }
  const auto* const high_bits = reinterpret_cast<const Byte*>(sixteens);
  const Sixteen d;
  for (std::size_t l = 0; l < 16; l += hn::Lanes(d)) {
    const auto both = hn::LoadU(d, nibbles + l);
    const auto low = hn::And(both, hn::Set(d, 15)), high = hn::ShiftRight<4>(both);
    write_codes(hn::Or(low, hn::LoadU(d, high_bits + l)), offset, codes + l);
    write_codes(hn::Or(high, hn::LoadU(d, high_bits + 16 + l)), offset, codes + 16 + l);
  }
}

struct Q4_0 {
  static constexpr int elements = 32, bytes = 18, group = 32;
  static constexpr bool has_minima = false;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    to.scales[0] = half_at(block);
    unpack_nibbles(block + 2, nullptr, 8, to.codes);
  }
};

struct Q4_1 {
  static constexpr int elements = 32, bytes = 20, group = 32;
  static constexpr bool has_minima = true;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    to.scales[0] = half_at(block);
    to.minima[0] = -half_at(block + 2);
    unpack_nibbles(block + 4, nullptr, 0, to.codes);
  }
};

struct Q5_0 {
  static constexpr int elements = 32, bytes = 22, group = 32;
  static constexpr bool has_minima = false;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    to.scales[0] = half_at(block);
    unpack_nibbles(block + 6, block + 2, 16, to.codes);
  }
};

struct Q5_1 {
  static constexpr int elements = 32, bytes = 24, group = 32;
  static constexpr bool has_minima = true;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    to.scales[0] = half_at(block);
    to.minima[0] = -half_at(block + 2);
    unpack_nibbles(block + 8, block + 4, 0, to.codes);
  }
};

/// Looks 32 codes up in a table of 16: the low halves of the bytes are the first 16.
HWY_INLINE void look_up_nibbles(const Byte* nibbles, const std::int8_t* table, std::int8_t* codes) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 16; ++i) {
    codes[i] = table[nibbles[i] & 15];
    codes[16 + i] = table[nibbles[i] >> 4];
  }
#else
  const hn::FixedTag<Byte, 16> d;
  const auto values = hn::LoadU(d, reinterpret_cast<const Byte*>(table));
  const auto both = hn::LoadU(d, nibbles);
  auto* const out = reinterpret_cast<Byte*>(codes);
  hn::StoreU(hn::TableLookupBytes(values, hn::And(both, hn::Set(d, 15))), d, out);
  hn::StoreU(hn::TableLookupBytes(values, hn::ShiftRight<4>(both)), d, out + 16);
#endif
}

struct Iq4Nl {
  static constexpr int elements = 32, bytes = 18, group = 32;
  static constexpr bool has_minima = false;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    to.scales[0] = half_at(block);
    look_up_nibbles(block + 2, kUnevenCodes, to.codes);
  }
};

struct Mxfp4 {
  static constexpr int elements = 32, bytes = 17, group = 32;
  static constexpr bool has_minima = false;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    // 2^(b - 128), since codes are twice the numbers of 4 bits; the least two are subnormal.
    const std::uint32_t power = block[0];
    const std::uint32_t bits = power < 2 ? 0x00200000U << power : (power - 1) << 23;
    std::memcpy(to.scales, &bits, sizeof bits);
    look_up_nibbles(block + 1, kTwiceE2M1, to.codes);
  }
};

// The layouts of 256 elements have pieces of 32 codes. Pairs of bits come from 64 bytes: bits 2k
// and 2k + 1 of byte l of half h are code 128 h + 32 k + l.

struct Q2_K {
  static constexpr int elements = 256, bytes = 84, group = 16;
  static constexpr bool has_minima = true;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    const Sixteen d;
    Byte halves[32];
    for (std::size_t l = 0; l < 16; l += hn::Lanes(d)) {
      const auto both = hn::LoadU(d, block + l);
      hn::StoreU(hn::And(both, hn::Set(d, 15)), d, halves + l);
      hn::StoreU(hn::ShiftRight<4>(both), d, halves + 16 + l);
    }
    scale_bytes<16>(halves, half_at(block + 80), to.scales);
    scale_bytes<16>(halves + 16, half_at(block + 82), to.minima);
    for_lanes([&](std::size_t l) HWY_ATTR {
      for (std::size_t half = 0; half < 2; ++half) {
        auto pairs = hn::LoadU(Bytes(), block + 16 + 32 * half + l);
        for (std::size_t k = 0; k < 4; ++k, pairs = hn::ShiftRight<2>(pairs)) {
          write_codes(hn::And(pairs, hn::Set(Bytes(), 3)), 0, to.codes + 128 * half + 32 * k + l);
        }
      }
    });
  }
};

struct Q3_K {
  static constexpr int elements = 256, bytes = 110, group = 16;
  static constexpr bool has_minima = false;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    // Four of the 16 scales are computed at once.
    std::uint32_t packed[3], words[4];
    std::memcpy(packed, block + 96, sizeof packed);
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t low = packed[i % 2] >> (4 * (i / 2)), high = packed[2] >> (2 * i);
      words[i] = (low & 0x0F0F0F0FU) | (high & 0x03030303U) << 4;
    }
    std::int8_t six_bits[16];
    for (std::size_t l = 0; l < 16; l += hn::Lanes(Sixteen())) {
      write_codes(hn::LoadU(Sixteen(), reinterpret_cast<const Byte*>(words) + l), 32, six_bits + l);
    }
    scale_bytes<16>(six_bits, half_at(block + 108), to.scales);
    for_lanes([&](std::size_t l) HWY_ATTR {
      auto thirds = hn::LoadU(Bytes(), block + l);  // a cleared bit subtracts 4
      for (std::size_t half = 0; half < 2; ++half) {
        auto pairs = hn::LoadU(Bytes(), block + 32 + 32 * half + l);
        for (std::size_t k = 0; k < 4; ++k) {
          const auto third = hn::And(thirds, hn::Set(Bytes(), 1));
          write_codes(hn::Or(hn::And(pairs, hn::Set(Bytes(), 3)), hn::ShiftLeft<2>(third)), 4,
                      to.codes + 128 * half + 32 * k + l);
          pairs = hn::ShiftRight<2>(pairs);
          thirds = hn::ShiftRight<1>(thirds);
        }
      }
    });
  }
};

/// Unpacks the eight scales and minima of Q4_K and Q5_K, 6 bits each, from 12 bytes.
HWY_INLINE void unpack_scales(const Byte* block, Unpacked& to) {
  // Four bytes are computed at once.
  std::uint32_t packed[3];
  std::memcpy(packed, block + 4, sizeof packed);
  const auto join = [](std::uint32_t first, std::uint32_t low, std::uint32_t high) {
    const std::uint32_t last = (low & 0x0F0F0F0FU) | ((high >> 2) & 0x30303030U);
    return (first & 0x3F3F3F3FU) | static_cast<std::uint64_t>(last) << 32;
  };
  const std::uint64_t six_bits[2] = {join(packed[0], packed[2], packed[0]),
                                     join(packed[1], packed[2] >> 4, packed[1])};
  scale_bytes<8>(reinterpret_cast<const Byte*>(&six_bits[0]), half_at(block), to.scales);
  scale_bytes<8>(reinterpret_cast<const Byte*>(&six_bits[1]), half_at(block + 2), to.minima);
}

struct Q4_K {
  static constexpr int elements = 256, bytes = 144, group = 32;
  static constexpr bool has_minima = true;
  /// In each 32 bytes, the low halves are 32 codes and the high halves the next 32.
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    unpack_scales(block, to);
    for_lanes([&](std::size_t l) HWY_ATTR {
      for (std::size_t k = 0; k < 4; ++k) {
        const auto both = hn::LoadU(Bytes(), block + 16 + 32 * k + l);
        write_codes(hn::And(both, hn::Set(Bytes(), 15)), 0, to.codes + 64 * k + l);
        write_codes(hn::ShiftRight<4>(both), 0, to.codes + 64 * k + 32 + l);
      }
    });
  }
};

struct Q5_K {
  static constexpr int elements = 256, bytes = 176, group = 32;
  static constexpr bool has_minima = true;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    unpack_scales(block, to);
    for_lanes([&](std::size_t l) HWY_ATTR {
      auto fifths = hn::LoadU(Bytes(), block + 16 + l);
      const auto with_fifth = [&](auto nibble) HWY_ATTR {
        const auto fifth = hn::And(fifths, hn::Set(Bytes(), 1));
        fifths = hn::ShiftRight<1>(fifths);
        return hn::Or(nibble, hn::ShiftLeft<4>(fifth));
      };
      for (std::size_t k = 0; k < 4; ++k) {
        const auto both = hn::LoadU(Bytes(), block + 48 + 32 * k + l);
        write_codes(with_fifth(hn::And(both, hn::Set(Bytes(), 15))), 0, to.codes + 64 * k + l);
        write_codes(with_fifth(hn::ShiftRight<4>(both)), 0, to.codes + 64 * k + 32 + l);
      }
    });
  }
};

struct Q6_K {
  static constexpr int elements = 256, bytes = 210, group = 16;
  static constexpr bool has_minima = false;
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    scale_bytes<16>(reinterpret_cast<const std::int8_t*>(block + 192), half_at(block + 208),
                    to.scales);
    for_lanes([&](std::size_t l) HWY_ATTR {
      for (std::size_t half = 0; half < 2; ++half) {
        auto pairs = hn::LoadU(Bytes(), block + 128 + 32 * half + l);
        auto* codes = to.codes + 128 * half + l;
        const auto write = [&](auto nibbles) HWY_ATTR {
          const auto pair = hn::And(pairs, hn::Set(Bytes(), 3));
          write_codes(hn::Or(nibbles, hn::ShiftLeft<4>(pair)), 32, codes);
          pairs = hn::ShiftRight<2>(pairs);
          codes += 32;
        };
        const auto first = hn::LoadU(Bytes(), block + 64 * half + l);
        const auto second = hn::LoadU(Bytes(), block + 64 * half + 32 + l);
        write(hn::And(first, hn::Set(Bytes(), 15)));
        write(hn::And(second, hn::Set(Bytes(), 15)));
        write(hn::ShiftRight<4>(first));
        write(hn::ShiftRight<4>(second));
      }
    });
  }
};

struct Iq4Xs {
  static constexpr int elements = 256, bytes = 136, group = 32;
  static constexpr bool has_minima = false;
  /// A scale has 4 low bits in block[4…7] and 2 high bits in block[2…3].
  static HWY_INLINE void unpack(const Byte* block, Unpacked& to) {
    std::int8_t six_bits[8];
    const unsigned high = block[2] | static_cast<unsigned>(block[3]) << 8;
    for (std::size_t group = 0; group < 8; ++group) {
      const unsigned low = block[4 + group / 2] >> (4 * (group % 2)) & 15U;
      six_bits[group] = static_cast<std::int8_t>((low | (high >> (2 * group) & 3U) << 4) - 32);
      look_up_nibbles(block + 8 + 16 * group, kUnevenCodes, to.codes + 32 * group);
    }
    scale_bytes<8>(six_bits, half_at(block), to.scales);
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

/// The products of x with rows.
template <class Layout>
ATTNSCOPE_OPAQUE void multiply(const Byte* rows, std::int64_t count, std::int64_t per_row,
                               const float* x, float* out) {
  // Vectors have at most 16 lanes, so every group consists of whole vectors.
  const hn::CappedTag<float, 16> d;
  const hn::Rebind<std::int8_t, decltype(d)> d8;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  constexpr int kGroups = Layout::elements / Layout::group;
  const hn::CappedTag<float, std::min(kGroups, 8)> dm;
  std::vector<float> sums;  // the sum of x in each group
  if (Layout::has_minima) {
    for (const float* at = x; at < x + per_row * Layout::elements; at += Layout::group) {
      auto sum = hn::Zero(d);
      for (std::size_t i = 0; i < Layout::group; i += hn::Lanes(d)) {
        sum = hn::Add(sum, hn::LoadU(d, at + i));
      }
      sums.push_back(hn::GetLane(hn::SumOfLanes(d, sum)));
    }
  }
  Unpacked unpacked;
  for (std::int64_t row = 0; row < count; ++row) {
    // Each sum waits for its last addition, so there are several.
    decltype(hn::Zero(d)) totals[] = {hn::Zero(d), hn::Zero(d)};
    auto minima = hn::Zero(dm);
    const float* at = x;
    const float* sum = sums.data();
    for (std::int64_t block = 0; block < per_row; ++block, rows += Layout::bytes) {
      Layout::unpack(rows, unpacked);
      for (int group = 0; group < kGroups; ++group, at += Layout::group) {
        const std::int8_t* const codes = unpacked.codes + group * Layout::group;
        auto part = hn::Zero(d);
        for (std::size_t i = 0; i < Layout::group; i += hn::Lanes(d)) {
          const auto code = hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, codes + i)));
          part = hn::MulAdd(code, hn::LoadU(d, at + i), part);
        }
        auto& total = totals[group % 2];
        total = hn::MulAdd(hn::Set(d, unpacked.scales[group]), part, total);
      }
      if (!Layout::has_minima) continue;
      for (int group = 0; group < kGroups; group += static_cast<int>(hn::Lanes(dm))) {
        minima = hn::MulAdd(hn::LoadU(dm, unpacked.minima + group), hn::LoadU(dm, sum), minima);
        sum += hn::Lanes(dm);
      }
    }
    out[row] = hn::GetLane(hn::SumOfLanes(d, hn::Add(totals[0], totals[1]))) -
               hn::GetLane(hn::SumOfLanes(dm, minima));
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
    case 20:
      return use(Iq4Nl()), true;
    case 23:
      return use(Iq4Xs()), true;
    case 39:
      return use(Mxfp4()), true;
    default:
      return false;
  }
}

/// Decodes blocks; returns false if there is no decoder for the layout.
bool Decode(std::uint32_t ggml_type, const Byte* blocks, std::int64_t count, float* out) {
  return with_layout(ggml_type, [&]<class Layout>(Layout) { decode<Layout>(blocks, count, out); });
}

void Multiply(std::uint32_t ggml_type, const Byte* rows, std::int64_t count, std::int64_t per_row,
              const float* x, float* out) {
  with_layout(ggml_type,
              [&]<class Layout>(Layout) { multiply<Layout>(rows, count, per_row, x, out); });
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(Decode);
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
  HWY_DYNAMIC_DISPATCH(Multiply)
  (layout.ggml_type, reinterpret_cast<const std::uint8_t*>(rows), count, per_row, x, out);
}

}  // namespace attnscope
#endif  // HWY_ONCE
