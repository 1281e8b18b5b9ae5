#include "core/training/run/training_run.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text/number_text.h"
#include "core/training/attention/window_biases.h"
#include "core/training/network.h"
#include "core/training/recipe/recipe.h"
#include "core/training/refinement.h"

namespace attnscope {

TrainingRun::TrainingRun(const Recipe& recipe, std::shared_ptr<const TrainingData> data,
                         const std::filesystem::path& state)
    : recipe_(recipe), data_(std::move(data)) {
  const ModelSpec spec = data_->complete(recipe_.model(data_->kind()));
  const auto network_of = [&](const ModelSpec& one) {
    return std::make_shared<const TrainedNetwork>(one, recipe_.gradient_forms(),
                                                  recipe_.regularisation());
  };
  fine_ = network_of(spec);
  if (recipe_.coarse_steps() > 0) {
    begin_with(network_of(recipe_.coarse_model(spec)));
  } else {
    begin_with(fine_);
  }
  if (!state.empty()) {
    restore_state(state);
    return;
  }
  values_ = initial_values(recipe_, *network_);
  // Checks before the first step that the network can be refined.
  if (network_ != fine_) (void)refined_values(*network_, values_, *fine_);
}

void TrainingRun::begin_with(std::shared_ptr<const TrainedNetwork> network) {
  network_ = std::move(network);
  optimiser_ = std::make_unique<Optimiser>(network_->parameters(), recipe_.optimiser());
  pass_ = std::make_unique<BatchGradient>(*network_);
  average_ = WeightAverage(recipe_.average_decay());
}

std::shared_ptr<const TrainingSnapshot> TrainingRun::snapshot() const {
  return std::make_shared<const TrainingSnapshot>(
      TrainingSnapshot{step_, recipe_.to_json(), network_, model_values()});
}

double TrainingRun::rate_factor() const { return log_.last(kRateFactors).value_or(1.0); }

double TrainingRun::rate() const { return recipe_.rate_of_step(step_) * rate_factor(); }

void check_rate_factor(double factor) {
  constexpr double kMost = 1000;
  if (factor >= 0 && factor <= kMost) return;
  throw Error(ErrorKind::usage, "the factor of the learning rate is out of range")
      .expected("0 to 1000")
      .found(exact(factor));
}

void TrainingRun::set_rate_factor(double factor) {
  check_rate_factor(factor);
  if (factor == rate_factor()) return;
  log_.add("changes/step", static_cast<double>(step_));
  log_.add(kRateFactors, factor);
}

void TrainingRun::replace(std::string_view parameter, std::span<const float> numbers) {
  const Parameter* const found = network_->parameters().find(parameter);
  assert(found != nullptr && std::ssize(numbers) == found->slot.size);
  std::ranges::copy(numbers, found->slot.in(values_.data()));
}

void TrainingRun::advance() {
  if (network_ != fine_ && step_ == recipe_.coarse_steps()) {
    values_ = refined_values(*network_, values_, *fine_);
    begin_with(fine_);
  }
  const std::int64_t batch = recipe_.data().batch;
  const RandomNumbers numbers = RandomNumbers(recipe_.data().seed).of("regularisation"),
                      own = numbers.of("batch").of(static_cast<std::uint64_t>(step_));
  const auto make = [&](std::int64_t first, std::int64_t count) {
    Examples examples = data_->examples(network_->spec(), step_, first, count);
    for (std::int64_t i = 0; i < count; ++i) {
      examples.numbers.push_back(numbers.of(static_cast<std::uint64_t>(step_ * batch + first + i)));
    }
    examples.batch_numbers = own;
    return examples;
  };
  const LossSum sum = pass_->gradient(values_, batch, make, gradients_);
  const double rate = this->rate(), weight = recipe_.bias_entropy();
  const double entropy = weight > 0 ? add_bias_entropy(network_->parameters(), values_.data(),
                                                       weight, gradients_.data())
                                    : 0;
  const double length = optimiser_->step(values_, gradients_, rate);
  average_.add(values_);
  ++step_;
  const auto count = static_cast<double>(sum.count);
  if (!std::isfinite(sum.loss) || !std::isfinite(length)) {
    throw Error(ErrorKind::usage, "the loss or its gradient is NaN or infinite")
        .about("step " + std::to_string(step_))
        .remedy("a lower rate, a longer warm_up or a smaller clip may help");
  }
  log_.add("steps/step", static_cast<double>(step_));
  log_.add("steps/loss", sum.loss / count);
  log_.add("steps/accuracy", static_cast<double>(sum.right) / count);
  log_.add("steps/rate", rate);
  log_.add("steps/gradient_length", length);
  if (weight > 0) log_.add("steps/bias_entropy", entropy);
}

LossSum TrainingRun::test(const Progress& progress) {
  // Number of examples at once: enough work for all threads, and few enough for quick cancelling.
  constexpr std::int64_t kAtOnce = 512;
  LossSum sum;
  const std::int64_t size = data_->test_size();
  for (std::int64_t first = 0; first < size; first += kAtOnce) {
    progress.step(static_cast<double>(first) / static_cast<double>(size), "test");
    sum += pass_->loss(model_values(), std::min(kAtOnce, size - first),
                       [&](std::int64_t from, std::int64_t count) {
                         return data_->test_examples(network_->spec(), first + from, count);
                       });
  }
  return sum;
}

}  // namespace attnscope
