// Sounds as files hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace attnscope {

/// One channel.
struct Sound {
  std::int64_t rate = 0;       ///< samples a second
  std::vector<float> samples;  ///< −1 to 1
};

/// Seconds of the longest sound that is read at once.
constexpr std::int64_t longest_sound = 600;

/// Whether a file that begins with these bytes is a WAV file (RIFF; WAVE 64 and AIFF are not).
[[nodiscard]] bool is_wav(std::span<const std::byte> bytes);

/// A WAV file's bytes by libsndfile, the mean of its channels. Throws Error(damaged), and
/// Error(unsupported) for more than longest_sound seconds.
[[nodiscard]] Sound decode_wav(std::span<const std::byte> bytes);

/// The seconds [first, last), counted from 0: "x.wav#30-60". Throws Error(usage) for a part that is
/// empty or begins after the end; one that ends after it ends there.
[[nodiscard]] Sound part_of_sound(const Sound& sound, std::int64_t first, std::int64_t last);

}  // namespace attnscope
