#include "core/architecture/spec_from_tensors/rotary_frequencies.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/architecture/family_matching/leftover_tensors.h"
#include "core/text/number_text.h"
#include "core/text/pattern.h"

namespace attnscope {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

[[noreturn]] void refuse_frequencies(const StoredTensor& tensor, std::string expected,
                                     std::string found) {
  throw Error(ErrorKind::unsupported,
              "the stored inverse frequencies of rotary positions are not those of one θ")
      .about(tensor.name)
      .expected(std::move(expected))
      .found(std::move(found))
      .remedy("--option ignore='" + std::string(frequencies_pattern(tensor.name)) +
              "' if θ and its scaling are given elsewhere: in config.json, or by --option "
              "layer.rotary.theta=… and layer.rotary.scaling=…");
}

/// Allowed deviation of a stored number from the exact one. It depends on the precision of the
/// values, since 16-bit files are often stored again as float32.
struct Rounding {
  double relative = 1e-5, absolute = 0;
};

Rounding rounding_of(const Tensor& values) {
  const auto ends_in_zeros = [&](std::uint32_t bits) {
    return std::ranges::all_of(values.values(), [&](float value) {
      return (std::bit_cast<std::uint32_t>(value) & bits) == 0;
    });
  };
  if (ends_in_zeros(0xFFFFU)) return {0x1p-8 * 1.02, 0};                // bfloat16
  if (ends_in_zeros(0x1FFFU)) return {0x1p-11 * 1.02, 0x1p-25 * 1.02};  // float16, and subnormal
  return {};
}

std::string first_of(const Tensor& values) {
  std::string text;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(values.size(), 3); ++i) {
    text += (i ? ", " : "") + exact(values.data()[i]);
  }
  return text + (values.size() > 3 ? ", …" : "");
}

}  // namespace

std::optional<double> StoredFrequencies::theta() const {
  if (greatest == kInfinity) return std::nullopt;
  const double middle = (least + greatest) / 2;
  for (int digits = 1; digits < 17; ++digits) {
    const std::optional<double> rounded = parse_number(rounded_text(middle, digits));
    if (rounded && fit(*rounded)) return rounded;
  }
  return middle;
}

StoredFrequencies rotary_frequencies(const StoredTensor& tensor) {
  constexpr std::int64_t most = 1 << 16;
  if (tensor.shape.size() != 1 || tensor.shape[0] < 1 || tensor.shape[0] > most) {
    refuse_frequencies(tensor, "[r/2], for r rotated channels of a head", to_string(tensor.shape));
  }
  const Tensor values = tensor.view().to_float();
  const Rounding rounding = rounding_of(values);
  StoredFrequencies found{tensor.name, 2 * tensor.shape[0], 1, kInfinity};
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const double value = values.data()[i];
    const double error = std::max(std::abs(value) * rounding.relative, rounding.absolute);
    bool possible = value >= 0;
    if (i == 0) {
      possible = std::abs(value - 1) <= error;
    } else if (possible) {
      // θ decreases as the frequency increases.
      const double power = -static_cast<double>(values.size()) / static_cast<double>(i);  // −r / 2i
      found.least = std::max(found.least, std::pow(value + error, power));
      if (value > error) found.greatest = std::min(found.greatest, std::pow(value - error, power));
      possible = found.least <= found.greatest && std::isfinite(found.least);
    }
    if (possible) continue;
    refuse_frequencies(tensor, "θ^(−2i/r), i = 0 … r/2 − 1: 1, then decreasing", first_of(values));
  }
  return found;
}

std::optional<StoredFrequencies> stored_frequencies(const DeductionInput& input) {
  std::vector<std::string> left_out = input.options.ignored();
  for (const std::string& pattern : input.match.description->harmless) {
    left_out.push_back(input.match.prefix + pattern);
  }
  std::optional<StoredFrequencies> found;
  for (const StoredTensor& tensor : input.checkpoint.tensors()) {
    if (!tensor.name.starts_with(input.match.prefix)) continue;
    if (frequencies_pattern(tensor.name).empty()) continue;
    const bool takes_part = std::ranges::none_of(left_out, [&](const std::string& pattern) {
      return matches_pattern(pattern, tensor.name);
    });
    if (!takes_part) continue;
    const StoredFrequencies here = rotary_frequencies(tensor);
    if (found && (here.width != found->width || here.least != found->least ||
                  here.greatest != found->greatest)) {
      throw Error(ErrorKind::unsupported, "layers store different inverse frequencies")
          .about(tensor.name)
          .expected("as in " + found->tensor)
          .remedy("describe the model (docs/architecture-descriptions.md) with \"differences\"");
    }
    if (!found) found = here;
  }
  return found;
}

}  // namespace attnscope
