#include "core/model/preprocessing/log_mel.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace attnscope {

namespace {

constexpr std::int64_t kWindow = 400, kBins = kWindow / 2 + 1;

/// The samples, padded with silence, and half a window at each end mirrored at the first and last
/// sample.
std::vector<double> with_mirrored_ends(const Sound& sound, std::int64_t count) {
  constexpr std::int64_t margin = kWindow / 2;
  std::vector<double> samples(static_cast<std::size_t>(count + 2 * margin));
  const auto begin = samples.begin() + margin;
  const std::int64_t given = std::min<std::int64_t>(std::ssize(sound.samples), count);
  std::copy_n(sound.samples.begin(), given, begin);
  for (std::int64_t i = 1; i <= margin; ++i) {
    begin[-i] = begin[i];
    begin[count - 1 + i] = begin[count - 1 - i];
  }
  return samples;
}

/// Power spectrum [frames, bins]: |Σ window(t) · sample(t) · e^(−2πi·t·bin / 400)|².
Eigen::MatrixXd powers_of(const Sound& sound, std::int64_t frames) {
  const std::vector<double> samples = with_mirrored_ends(sound, frames * kSamplesOfFrame);
  Eigen::MatrixXd cosines(kWindow, kBins), sines(kWindow, kBins);
  constexpr double turn = 2 * std::numbers::pi / kWindow;
  for (std::int64_t t = 0; t < kWindow; ++t) {
    const double hann = 0.5 - 0.5 * std::cos(turn * static_cast<double>(t));
    for (std::int64_t bin = 0; bin < kBins; ++bin) {
      const double angle = turn * static_cast<double>(t * bin % kWindow);
      cosines(t, bin) = hann * std::cos(angle);
      sines(t, bin) = hann * std::sin(angle);
    }
  }
  Eigen::MatrixXd windows(frames, kWindow);
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    windows.row(frame) =
        Eigen::Map<const Eigen::RowVectorXd>(samples.data() + frame * kSamplesOfFrame, kWindow);
  }
  return (windows * cosines).cwiseAbs2() + (windows * sines).cwiseAbs2();
}

/// Linear up to 1 kHz, logarithmic above (Slaney's Auditory Toolbox).
double hertz_of_mel(double mel) {
  constexpr double linear = 200.0 / 3, border = 1000.0 / linear;
  if (mel < border) return linear * mel;
  return 1000 * std::exp(std::log(6.4) / 27 * (mel - border));
}

/// Weights [bins, bands]: triangles from the centre of the previous band to that of the next, all
/// of the same area.
Eigen::MatrixXd mel_bands(std::int64_t bands) {
  const double greatest = 1000.0 * 3 / 200 + std::log(8.0) / (std::log(6.4) / 27);  // 8 kHz
  const auto middle = [&](std::int64_t band) {
    return hertz_of_mel(greatest * static_cast<double>(band) / static_cast<double>(bands + 1));
  };
  Eigen::MatrixXd weights(kBins, bands);
  for (std::int64_t band = 0; band < bands; ++band) {
    const double low = middle(band), centre = middle(band + 1), high = middle(band + 2);
    for (std::int64_t bin = 0; bin < kBins; ++bin) {
      const double hertz = static_cast<double>(bin * kSoundRate) / kWindow;
      const double rising = (hertz - low) / (centre - low);
      const double falling = (high - hertz) / (high - centre);
      weights(bin, band) = std::max(0.0, std::min(rising, falling)) * 2 / (high - low);
    }
  }
  return weights;
}

}  // namespace

Tensor log_mel(const Sound& sound, std::int64_t bands, std::int64_t frames) {
  const Eigen::MatrixXd powers = powers_of(sound, frames) * mel_bands(bands);
  const Eigen::MatrixXd logarithms = powers.cwiseMax(1e-10).array().log10();
  const double least = logarithms.maxCoeff() - 8;
  Tensor spectrum({bands, frames});
  spectrum.matrix() =
      ((logarithms.cwiseMax(least).array() + 4) / 4).matrix().transpose().cast<float>();
  return spectrum;
}

}  // namespace attnscope
