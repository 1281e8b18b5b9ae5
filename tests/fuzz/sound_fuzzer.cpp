#include <cstdint>
#include <cstdlib>
#include <span>

#include "core/error.h"
#include "core/input/sound.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto bytes = std::as_bytes(std::span(data, size));
    if (!attnscope::is_wav(bytes)) return 0;
    const attnscope::Sound sound = attnscope::decode_wav(bytes);
    if (sound.samples.empty() || sound.rate < 1) std::abort();
    if (attnscope::part_of_sound(sound, 0, 1).samples.size() > sound.samples.size()) std::abort();
  } catch (const attnscope::Error&) {
  }
  return 0;
}
