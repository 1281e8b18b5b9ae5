// Decoded sounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace attnscope {

/// A sound with one channel.
struct Sound {
  std::int64_t rate = 0;       ///< samples per second
  std::vector<float> samples;  ///< −1 to 1
};

/// Length limit of a sound in seconds.
constexpr std::int64_t longest_sound = 600;

/// True if a file that begins with these bytes is a RIFF WAV file. False for Wave64 and AIFF.
[[nodiscard]] bool is_wav(std::span<const std::byte> bytes);

/// Decodes a WAV file by libsndfile and averages its channels. Throws Error(damaged), and
/// Error(unsupported) for more than longest_sound seconds.
[[nodiscard]] Sound decode_wav(std::span<const std::byte> bytes);

/// The part [first, last) in seconds from 0, for "x.wav#30-60". `last` is limited to the end of the
/// sound. Throws Error(usage) for a part that is empty or begins after the end.
[[nodiscard]] Sound part_of_sound(const Sound& sound, std::int64_t first, std::int64_t last);

}  // namespace attnscope
