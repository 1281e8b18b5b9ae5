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

/// Whether a file that begins with these bytes is a WAV file.
[[nodiscard]] bool is_wav(std::span<const std::byte> bytes);

/// Reads a WAV file, the mean of its channels; what lies behind `longest_sound` seconds is not
/// read. Throws Error(io | damaged | unsupported) naming it.
[[nodiscard]] Sound read_sound(const std::filesystem::path& file);

/// Seconds of a sound that are read: no model hears more.
constexpr std::int64_t longest_sound = 60;

}  // namespace attnscope
