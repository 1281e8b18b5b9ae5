// The log-mel spectrum of a sound, the input of Whisper.
#pragma once

#include <cstdint>

#include "core/input/sound.h"
#include "core/tensor/tensor.h"

namespace attnscope {

constexpr std::int64_t kSoundRate = 16'000;    ///< samples per second
constexpr std::int64_t kSamplesOfFrame = 160;  ///< step between frames in samples: 10 ms

/// Log-mel spectrum [bands, frames]: powers of 25 ms Hann windows, one every 10 ms with mirrored
/// ends, in mel bands (Slaney's scale, equal areas, 0 to 8 kHz); then log10, clamped to at most 8
/// below the maximum, + 4, / 4 (openai/whisper, audio.py). `sound` is at kSoundRate and at most
/// `frames` frames long; it is padded with silence. `frames` must be at least 2.
[[nodiscard]] Tensor log_mel(const Sound& sound, std::int64_t bands, std::int64_t frames);

}  // namespace attnscope
