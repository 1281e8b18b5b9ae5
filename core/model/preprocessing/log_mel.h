// The spectrum of a sound as Whisper hears it.
#pragma once

#include <cstdint>

#include "core/input/sound.h"
#include "core/tensor/tensor.h"

namespace attnscope {

constexpr std::int64_t kSoundRate = 16'000;    ///< samples a second
constexpr std::int64_t kSamplesOfFrame = 160;  ///< from frame to frame: 10 ms

/// [bands, frames]: powers of windows of 25 ms (Hann, one every 10 ms, the ends mirrored) in bands
/// of the mel scale (Slaney's, each of the same area, 0 to 8 kHz), their logarithm (base 10) at
/// most 8 below the greatest, + 4, / 4 (openai/whisper, audio.py). `sound`: at kSoundRate, at most
/// `frames` frames long; silence follows it. frames >= 2.
[[nodiscard]] Tensor log_mel(const Sound& sound, std::int64_t bands, std::int64_t frames);

}  // namespace attnscope
