// Counter-based random numbers: each is a function of a seed and of its use, so that a resumed run,
// or one with other threads, draws the same numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace attnscope {

/// SplitMix64's mixing function of 64 bits (Steele, Lea & Flood 2014), a bijection.
[[nodiscard]] constexpr std::uint64_t mixed_bits(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

/// The numbers for one purpose: `RandomNumbers(seed).of("order").of(epoch)`.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : key_(mixed_bits(seed)) {}

  [[nodiscard]] RandomNumbers of(std::uint64_t what) const {
    return RandomNumbers(key_ ^ mixed_bits(what + 1));
  }
  [[nodiscard]] RandomNumbers of(std::string_view what) const {
    std::uint64_t hash = 0xCBF29CE484222325U;  // FNV-1a
    for (const char byte : what) {
      hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
    }
    return of(hash);
  }

  /// Number `index`, with 64 uniform bits.
  [[nodiscard]] std::uint64_t bits(std::uint64_t index) const { return mixed_bits(key_ + index); }
  /// Uniform in (0, 1).
  [[nodiscard]] double uniform(std::uint64_t index) const {
    return (static_cast<double>(bits(index) >> 11U) + 0.5) * 0x1p-53;
  }
  /// Uniform among 0 … count − 1.
  [[nodiscard]] std::int64_t below(std::int64_t count, std::uint64_t index) const {
    return static_cast<std::int64_t>(uniform(index) * static_cast<double>(count));
  }
  /// Standard normal (Box & Muller 1958).
  [[nodiscard]] double normal(std::uint64_t index) const {
    const double radius = std::sqrt(-2.0 * std::log(uniform(2 * index)));
    return radius * std::cos(2.0 * std::numbers::pi * uniform(2 * index + 1));
  }

 private:
  std::uint64_t key_;
};

}  // namespace attnscope
