// Optimisers AdamW and SGD with momentum, gradient clipping, and learning-rate schedules.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parameters/enum_names.h"
#include "core/training/learned_parameters/learned_parameters.h"

namespace attnscope {

enum class OptimiserKind {
  adamw,  ///< Loshchilov & Hutter 2019, Algorithm 2
  sgd     ///< SGD with momentum; weight decay is added to the gradient, as in PyTorch
};
inline constexpr EnumName<OptimiserKind> optimiser_kind_names[] = {{OptimiserKind::adamw, "adamw"},
                                                                   {OptimiserKind::sgd, "sgd"}};

struct OptimiserSettings {
  OptimiserKind kind = OptimiserKind::adamw;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  ///< used by AdamW
  double momentum = 0.9;                          ///< used by SGD
  double weight_decay = 0.05;                     ///< applies to matrices: Parameter::decays
  /// Maximum length of the whole gradient; longer ones are scaled down. 0 disables clipping.
  double clip = 1;
  /// True to multiply gradients of adder weights by √elements / (5 ‖g‖₂) before clipping
  /// (AdderNet's published code).
  bool rescales_adder = true;
};

/// The optimiser and its state between steps: both moments for AdamW, the first for SGD.
class Optimiser {
 public:
  Optimiser(const ParameterTable& table, const OptimiserSettings& settings);

  /// Performs one step; `gradients` may be overwritten. Returns the gradient's length before
  /// clipping. The result does not depend on the thread count.
  double step(std::vector<float>& values, std::vector<float>& gradients, double rate);

  /// The optimiser's state, stored in the file of a run's state.
  struct State {
    std::vector<float> first, second;  ///< one element per value; `second` is empty for SGD
    std::int64_t steps = 0;
  };
  [[nodiscard]] const State& state() const { return state_; }
  /// Throws Error(damaged) if the sizes do not match this network and optimiser.
  void set_state(State state);

 private:
  void rescale(std::vector<float>& gradients) const;
  void step_adamw(const Parameter& parameter, float* values, const float* gradients, float shorter,
                  double rate);
  void step_sgd(const Parameter& parameter, float* values, const float* gradients, float shorter,
                double rate);

  const ParameterTable& table_;
  OptimiserSettings settings_;
  State state_;
};

enum class RateSchedule {
  cosine,   ///< falls to 0 as half a cosine
  linear,   ///< falls to 0
  constant  ///< does not change
};
inline constexpr EnumName<RateSchedule> rate_schedule_names[] = {
    {RateSchedule::cosine, "cosine"},
    {RateSchedule::linear, "linear"},
    {RateSchedule::constant, "constant"}};

struct RateSettings {
  RateSchedule schedule = RateSchedule::cosine;
  double highest = 1e-3;
  std::int64_t warm_up = 0;  ///< number of steps in which it rises to `highest`
  std::int64_t steps = 1;    ///< number of steps of the whole run
};

/// The learning rate of step `step` (from 0): highest · (step + 1) / warm_up, then the schedule
/// over the remaining steps.
[[nodiscard]] double rate_of_step(const RateSettings& settings, std::int64_t step);

}  // namespace attnscope
