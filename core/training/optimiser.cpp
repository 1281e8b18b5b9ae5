#include "core/training/optimiser.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <tbb/parallel_for.h>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

double squares(const float* numbers, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(numbers[i]) * numbers[i];
  return sum;
}

}  // namespace

Optimiser::Optimiser(const ParameterTable& table, const OptimiserSettings& settings)
    : table_(table), settings_(settings) {
  const auto size = static_cast<std::size_t>(table.size());
  state_.first.resize(size);
  if (settings.kind == OptimiserKind::adamw) state_.second.resize(size);
}

void Optimiser::set_state(State state) {
  if (state.first.size() != state_.first.size() || state.second.size() != state_.second.size()) {
    throw Error(ErrorKind::damaged, "the optimiser's state belongs to another network or optimiser")
        .expected(std::to_string(state_.first.size()) + " values")
        .found(std::to_string(state.first.size()));
  }
  state_ = std::move(state);
}

void Optimiser::rescale(std::vector<float>& gradients) const {
  for (const Parameter& parameter : table_.list()) {
    if (!parameter.adder) continue;
    float* const numbers = parameter.slot.in(gradients.data());
    const double length = std::sqrt(squares(numbers, parameter.slot.size));
    const auto factor = static_cast<float>(std::sqrt(static_cast<double>(parameter.slot.size)) /
                                           (5 * std::max(length, 1e-12)));
    for (std::int64_t i = 0; i < parameter.slot.size; ++i) numbers[i] *= factor;
  }
}

double Optimiser::step(std::vector<float>& values, std::vector<float>& gradients, double rate) {
  if (settings_.rescales_adder) rescale(gradients);
  const double length = std::sqrt(squares(gradients.data(), table_.size()));
  const bool clips = settings_.clip > 0 && length > settings_.clip;
  const auto shorter = clips ? static_cast<float>(settings_.clip / (length + 1e-6)) : 1.0F;
  ++state_.steps;
  const auto& list = table_.list();
  tbb::parallel_for(std::size_t{0}, list.size(), [&](std::size_t i) {
    const bool adam = settings_.kind == OptimiserKind::adamw;
    const auto work = adam ? &Optimiser::step_adamw : &Optimiser::step_sgd;
    (this->*work)(list[i], values.data(), gradients.data(), shorter, rate);
  });
  return length;
}

void Optimiser::step_adamw(const Parameter& parameter, float* values, const float* gradients,
                           float shorter, double rate) {
  const auto steps = static_cast<double>(state_.steps);
  const auto beta1 = static_cast<float>(settings_.beta1),
             beta2 = static_cast<float>(settings_.beta2);
  const auto kept = static_cast<float>(parameter.decays ? 1 - rate * settings_.weight_decay : 1);
  const auto unbias = static_cast<float>(1 / std::sqrt(1 - std::pow(settings_.beta2, steps)));
  const auto size = static_cast<float>(rate / (1 - std::pow(settings_.beta1, steps)));
  const auto eps = static_cast<float>(settings_.eps);
  using Numbers = Eigen::Map<Eigen::ArrayXf>;
  const Eigen::Index count = parameter.slot.size;
  Numbers value(parameter.slot.in(values), count),
      first(parameter.slot.in(state_.first.data()), count),
      second(parameter.slot.in(state_.second.data()), count);
  const Eigen::Map<const Eigen::ArrayXf> gradient(parameter.slot.in(gradients), count);
  first = beta1 * first + (1 - beta1) * (shorter * gradient);
  second = beta2 * second + (1 - beta2) * (shorter * gradient).square();
  value = kept * value - size * first / (second.sqrt() * unbias + eps);
}

void Optimiser::step_sgd(const Parameter& parameter, float* values, const float* gradients,
                         float shorter, double rate) {
  const auto decay = static_cast<float>(parameter.decays ? settings_.weight_decay : 0);
  const Eigen::Index count = parameter.slot.size;
  Eigen::Map<Eigen::ArrayXf> value(parameter.slot.in(values), count),
      first(parameter.slot.in(state_.first.data()), count);
  const Eigen::Map<const Eigen::ArrayXf> gradient(parameter.slot.in(gradients), count);
  first = static_cast<float>(settings_.momentum) * first + shorter * gradient + decay * value;
  value -= static_cast<float>(rate) * first;
}

double rate_of_step(const RateSettings& settings, std::int64_t step) {
  if (step < settings.warm_up) {
    return settings.highest * static_cast<double>(step + 1) / static_cast<double>(settings.warm_up);
  }
  const auto left =
      static_cast<double>(std::max<std::int64_t>(settings.steps - settings.warm_up, 1));
  const double done = static_cast<double>(step - settings.warm_up) / left;
  switch (settings.schedule) {
    case RateSchedule::cosine:
      return settings.highest * 0.5 * (1 + std::cos(std::numbers::pi * done));
    case RateSchedule::linear:
      return settings.highest * (1 - done);
    case RateSchedule::constant:
      break;
  }
  return settings.highest;
}

}  // namespace attnscope
