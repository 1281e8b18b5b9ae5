#include "core/training/learned_parameters/learned_parameters.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "core/training/learned_parameters/random_numbers.h"

namespace attnscope {

namespace {

constexpr double kSmallDeviation = 0.02;

/// √(6 / (inputs + outputs)) for a weight [outputs, inputs…], or [heads, outputs, inputs].
double xavier_limit(const Shape& shape) {
  if (shape.size() == 3) return xavier_limit({shape[1], shape[2]});
  const std::int64_t outputs = shape.front(), inputs = element_count(shape) / outputs;
  return std::sqrt(6.0 / static_cast<double>(inputs + outputs));
}

void begin(const Parameter& parameter, const RandomNumbers& numbers, float* values) {
  const auto fill = [&](const auto& number) {
    for (std::int64_t i = 0; i < parameter.slot.size; ++i) {
      values[i] = static_cast<float>(number(static_cast<std::uint64_t>(i)));
    }
  };
  switch (parameter.initialisation) {
    case Initialisation::zeros:
      return fill([](std::uint64_t) { return 0.0; });
    case Initialisation::ones:
      return fill([](std::uint64_t) { return 1.0; });
    case Initialisation::identity:
      return fill([&](std::uint64_t i) {
        return i % (static_cast<std::uint64_t>(parameter.shape.back()) + 1) == 0 ? 1.0 : 0.0;
      });
    case Initialisation::xavier:
      return fill([&, limit = xavier_limit(parameter.shape)](std::uint64_t i) {
        return limit * (2 * numbers.uniform(i) - 1);
      });
    case Initialisation::small_normal:
      return fill([&](std::uint64_t i) { return kSmallDeviation * numbers.normal(i); });
    case Initialisation::lambda_normal:
      return fill([&](std::uint64_t i) { return 0.1 * numbers.normal(i); });
    case Initialisation::kernel:
      return fill([&, side = static_cast<double>(parameter.shape.back())](std::uint64_t i) {
        return (2 * numbers.uniform(i) - 1) / side;
      });
    case Initialisation::standard_normal:
      return fill([&](std::uint64_t i) { return numbers.normal(i); });
  }
}

}  // namespace

ParameterSlot ParameterTable::add(std::string name, Shape shape, Initialisation initialisation,
                                  bool adder, bool own) {
  assert(find(name) == nullptr);
  const ParameterSlot slot{size_, element_count(shape)};
  const bool decays = shape.size() > 1 && name.ends_with(".weight");
  size_ += slot.size;
  list_.push_back({std::move(name), std::move(shape), initialisation, decays, adder, own, slot});
  return slot;
}

const Parameter* ParameterTable::find(std::string_view name) const {
  const auto found = std::find_if(list_.begin(), list_.end(),
                                  [&](const Parameter& one) { return one.name == name; });
  return found == list_.end() ? nullptr : &*found;
}

std::vector<float> ParameterTable::initial_values(std::uint64_t seed) const {
  std::vector<float> values(static_cast<std::size_t>(size_));
  const RandomNumbers numbers = RandomNumbers(seed).of("beginning");
  for (const Parameter& parameter : list_) {
    begin(parameter, numbers.of(parameter.name), parameter.slot.in(values.data()));
  }
  return values;
}

}  // namespace attnscope
