#include "core/model/parts/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/error.h"
#include "core/model/parts/blocks_of_work.h"

namespace attnscope {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;

/// Divides low frequencies by the factor, keeps high ones, and interpolates between (Llama 3.1).
double llama3_angle(const RotarySpec& rotary, double angle) {
  const double wavelengths = static_cast<double>(rotary.trained_context) * angle / kTurn;
  if (wavelengths < rotary.low_frequency) return angle / rotary.factor;
  if (wavelengths > rotary.high_frequency) return angle;
  const double kept =
      (wavelengths - rotary.low_frequency) / (rotary.high_frequency - rotary.low_frequency);
  return (1 - kept) * angle / rotary.factor + kept * angle;
}

/// The index of the pair with `beta` turns within the trained context (Peng et al. 2023, Eq. 17).
double yarn_pair(const RotarySpec& rotary, double channels, double beta) {
  const auto context = static_cast<double>(rotary.trained_context);
  return channels * std::log(context / (beta * kTurn)) / (2 * std::log(rotary.theta));
}

void scale_by_yarn(const RotarySpec& rotary, std::int64_t channels, RotaryFrequencies& result) {
  const auto width = static_cast<double>(channels);
  double low = yarn_pair(rotary, width, rotary.beta_fast);
  double high = yarn_pair(rotary, width, rotary.beta_slow);
  if (rotary.whole_pairs) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, width - 1);
  const double span = high == low ? 0.001 : high - low;
  for (std::size_t i = 0; i < result.angles.size(); ++i) {
    const double divided = std::clamp((static_cast<double>(i) - low) / span, 0.0, 1.0);
    result.angles[i] *= (1 - divided) + divided / rotary.factor;
  }
  result.amplitude = rotary.attention_factor != 0 ? rotary.attention_factor
                     : rotary.factor <= 1         ? 1
                                                  : 0.1 * std::log(rotary.factor) + 1;
}

void scale_by_longrope(const RotarySpec& rotary, std::int64_t tokens, RotaryFrequencies& result) {
  const bool beyond = tokens > rotary.trained_context;
  const std::vector<double>& factors = beyond ? rotary.long_factors : rotary.short_factors;
  if (factors.size() != result.angles.size()) {
    throw Error(ErrorKind::damaged,
                "the number of rotary factors differs from the number of channel pairs")
        .about(beyond ? "layer.rotary.long_factors" : "layer.rotary.short_factors")
        .expected(std::to_string(result.angles.size()))
        .found(std::to_string(factors.size()));
  }
  for (std::size_t i = 0; i < factors.size(); ++i) result.angles[i] /= factors[i];
  const double usual =
      rotary.factor <= 1 ? 1
                         : std::sqrt(1 + std::log(rotary.factor) /
                                             std::log(static_cast<double>(rotary.trained_context)));
  result.amplitude = rotary.attention_factor != 0 ? rotary.attention_factor : usual;
}

/// Fills the angles of patches, by row and then by column: position / period, or 2π · position /
/// period with positions from −1 to 1 for RotaryGrid::patches.
void fill_patch_angles(const RotarySpec& rotary, const TokenLayout& layout,
                       std::span<const double> periods, Matrix& angles) {
  const auto half = static_cast<std::int64_t>(periods.size());
  const auto place = [&](std::int64_t cell, std::int64_t cells) {
    const auto at = static_cast<double>(cell), all = static_cast<double>(cells);
    if (rotary.grid == RotaryGrid::patches) return kTurn * (2 * (at + 0.5) / all - 1);
    return rotary.trained_side ? at / all * static_cast<double>(rotary.trained_side) : at;
  };
  for (std::int64_t row = 0; row < layout.rows; ++row) {
    for (std::int64_t column = 0; column < layout.columns; ++column) {
      const std::int64_t token = layout.prefix + row * layout.columns + column;
      for (std::int64_t i = 0; i < half; ++i) {
        const double period = periods[static_cast<std::size_t>(i)];
        angles(token, i) = static_cast<float>(place(row, layout.rows) / period);
        angles(token, half + i) = static_cast<float>(place(column, layout.columns) / period);
      }
    }
  }
}

std::vector<double> patch_periods(const RotarySpec& rotary, std::int64_t channels,
                                  std::span<const float> stored) {
  if (!stored.empty()) return {stored.begin(), stored.end()};
  std::vector<double> periods;
  for (std::int64_t i = 0; i < channels / 4; ++i) {
    periods.push_back(
        std::pow(rotary.theta, 4.0 * static_cast<double>(i) / static_cast<double>(channels)));
  }
  return periods;
}

/// The part of a token's place that each pair turns by.
std::vector<std::int64_t PlaceInText::*> parts_of_place(const RotarySpec& rotary,
                                                        std::int64_t pairs) {
  std::vector<std::int64_t PlaceInText::*> parts(static_cast<std::size_t>(pairs),
                                                 &PlaceInText::time);
  if (rotary.sections.size() != 3) return parts;
  const std::int64_t times = rotary.sections[0], rows = rotary.sections[1],
                     columns = rotary.sections[2];
  for (std::int64_t i = 0; i < pairs; ++i) {
    const bool of_row =
        rotary.sections_in_turns ? i % 3 == 1 && i < 3 * rows : i >= times && i < times + rows;
    const bool of_column =
        rotary.sections_in_turns ? i % 3 == 2 && i < 3 * columns : i >= times + rows;
    auto& part = parts[static_cast<std::size_t>(i)];
    if (of_row) part = &PlaceInText::row;
    if (of_column) part = &PlaceInText::column;
  }
  return parts;
}

/// Patches in which a pair of this period turns once, among `cells` rows or columns; the inverse of
/// fill_patch_angles.
double patch_wavelength(const RotarySpec& rotary, double period, std::int64_t cells) {
  const auto all = static_cast<double>(cells);
  if (rotary.grid == RotaryGrid::patches) return period * all / 2;
  const double stretched = rotary.trained_side ? all / static_cast<double>(rotary.trained_side) : 1;
  return kTurn * period * stretched;
}

}  // namespace

RotaryFrequencies rotary_frequencies(const RotarySpec& rotary, std::int64_t channels,
                                     std::int64_t tokens) {
  const auto width = static_cast<double>(channels);
  double theta = rotary.theta;
  if (rotary.scaling == RotaryScaling::dynamic && tokens > rotary.trained_context) {
    const double longer = static_cast<double>(tokens) / static_cast<double>(rotary.trained_context);
    theta *= std::pow(rotary.factor * longer - (rotary.factor - 1), width / (width - 2));
  }
  RotaryFrequencies result;
  for (std::int64_t i = 0; i < channels / 2; ++i) {
    double angle = std::pow(theta, -2.0 * static_cast<double>(i) / width);
    if (rotary.scaling == RotaryScaling::linear) angle /= rotary.factor;
    if (rotary.scaling == RotaryScaling::llama3) angle = llama3_angle(rotary, angle);
    result.angles.push_back(angle);
  }
  if (rotary.scaling == RotaryScaling::yarn) scale_by_yarn(rotary, channels, result);
  if (rotary.scaling == RotaryScaling::longrope) scale_by_longrope(rotary, tokens, result);
  return result;
}

std::vector<RotaryPair> rotary_pairs(const RotarySpec& rotary, std::int64_t head_width,
                                     std::int64_t tokens, const TokenLayout& layout,
                                     std::span<const float> periods) {
  const std::int64_t count = (rotary.width ? rotary.width : head_width) / 2;
  const bool neighbours = rotary.form == Rotary::pair;
  std::vector<RotaryPair> pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    pairs.push_back({neighbours ? 2 * i : i, neighbours ? 2 * i + 1 : i + count});
  }
  if (rotary.grid == RotaryGrid::sequence) {
    const RotaryFrequencies found = rotary_frequencies(rotary, 2 * count, tokens);
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].wavelength = kTurn / found.angles[i];
    return pairs;
  }
  const std::vector<double> each = patch_periods(rotary, 2 * count, periods);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const bool by_row = i < each.size();
    pairs[i].along = by_row ? RotaryPair::Along::rows : RotaryPair::Along::columns;
    pairs[i].wavelength = patch_wavelength(rotary, each[by_row ? i : i - each.size()],
                                           by_row ? layout.rows : layout.columns);
  }
  return pairs;
}

PlaceInText rotary_place(std::int64_t token, const std::vector<TokenCells>& pictures) {
  std::int64_t ahead = 0;  // the place of the next token outside pictures, less its index
  for (const TokenCells& picture : pictures) {
    if (token < picture.first) break;
    if (const auto cell = picture.block_of(token)) {
      const std::int64_t begin = picture.first + ahead;
      return {begin, begin + cell->row, begin + cell->column};
    }
    ahead += std::max(picture.rows, picture.columns) - picture.count();
  }
  return {token + ahead, token + ahead, token + ahead};
}

RotaryTurns::RotaryTurns(const RotarySpec& rotary, std::int64_t head_width, std::int64_t to,
                         const TokenLayout& layout, std::span<const float> periods,
                         std::int64_t from)
    : neighbours_(rotary.form == Rotary::pair),
      pairs_((rotary.width ? rotary.width : head_width) / 2),
      first_(rotary.grid == RotaryGrid::sequence ? 0 : layout.prefix) {
  if (rotary.grid != RotaryGrid::sequence) {
    Matrix angles = Matrix::Zero(to, pairs_);
    fill_patch_angles(rotary, layout, patch_periods(rotary, 2 * pairs_, periods), angles);
    cosines_ = angles.array().cos();
    sines_ = angles.array().sin();
    return;
  }
  const RotaryFrequencies found = rotary_frequencies(rotary, 2 * pairs_, to);
  const std::int64_t tokens = to - from;
  const auto parts = parts_of_place(rotary, pairs_);
  const auto pictures = rotary.sections.empty() ? std::vector<TokenCells>{} : layout.pictures;
  cosines_.resize(tokens, pairs_);
  sines_.resize(tokens, pairs_);
  for_blocks(tokens, 64, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t token = first; token < first + count; ++token) {
      const PlaceInText place = rotary_place(from + token, pictures);
      for (std::int64_t i = 0; i < pairs_; ++i) {
        const auto pair = static_cast<std::size_t>(i);
        // Angles are float32, as in other libraries, because rounding is visible in long texts.
        const float angle =
            static_cast<float>(place.*parts[pair]) * static_cast<float>(found.angles[pair]);
        cosines_(token, i) =
            static_cast<float>(std::cos(static_cast<double>(angle)) * found.amplitude);
        sines_(token, i) =
            static_cast<float>(std::sin(static_cast<double>(angle)) * found.amplitude);
      }
    }
  });
}

template <class Turn>
void RotaryTurns::for_pairs(Tensor& rows, std::int64_t heads, const Turn& turn) const {
  const std::int64_t width = rows.extent(1), each = width / heads;
  const std::int64_t step = neighbours_ ? 2 : 1, apart = neighbours_ ? 1 : pairs_;
  for_blocks(rows.extent(0) - first_, 16, [&](std::int64_t begin, std::int64_t count) {
    for (std::int64_t token = first_ + begin; token < first_ + begin + count; ++token) {
      for (std::int64_t head = 0; head < heads; ++head) {
        float* const x = rows.data() + token * width + head * each;
        for (std::int64_t i = 0; i < pairs_; ++i) {
          turn(x[i * step], x[i * step + apart], cosines_(token, i), sines_(token, i));
        }
      }
    }
  });
}

void RotaryTurns::apply(Tensor& rows, std::int64_t heads) const {
  for_pairs(rows, heads, [](float& first, float& second, float c, float s) {
    const float before = first;
    first = before * c - second * s;
    second = second * c + before * s;
  });
}

void RotaryTurns::undo(Tensor& rows, std::int64_t heads) const {
  for_pairs(rows, heads, [](float& first, float& second, float c, float s) {
    const float before = first, squares = c * c + s * s;  // the amplitude squared
    first = (before * c + second * s) / squares;
    second = (second * c - before * s) / squares;
  });
}

}  // namespace attnscope
