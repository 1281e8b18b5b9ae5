// From gradients to new values: AdamW and SGD with momentum, clipping, schedules.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parameters/enum_names.h"
#include "core/training/parameters/parameters.h"

namespace attnscope {

enum class OptimiserKind {
  adamw,  ///< Loshchilov & Hutter 2019, Algorithm 2
  sgd     ///< with momentum; weight decay is part of the gradient (as PyTorch's)
};
inline constexpr EnumName<OptimiserKind> optimiser_kind_names[] = {{OptimiserKind::adamw, "adamw"},
                                                                   {OptimiserKind::sgd, "sgd"}};

struct OptimiserSettings {
  OptimiserKind kind = OptimiserKind::adamw;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  ///< of AdamW
  double momentum = 0.9;                          ///< of SGD
  double weight_decay = 0.05;                     ///< of matrices: Parameter::decays
  /// Gradients together longer than this are shortened to it; 0: never.
  double clip = 1;
  /// Gradients of adder weights become √elements / (5 ‖g‖₂) times as long, before they are clipped
  /// (AdderNet's published code).
  bool rescales_adder = true;
};

/// What it keeps from step to step: of AdamW both moments, of SGD the first.
class Optimiser {
 public:
  Optimiser(const ParameterTable& table, const OptimiserSettings& settings);

  /// One step; `gradients` may be written to. Returns their length before clipping. The result does
  /// not depend on the thread count.
  double step(std::vector<float>& values, std::vector<float>& gradients, double rate);

  /// For a file of a run's state.
  struct State {
    std::vector<float> first, second;  ///< of every value; second is empty for SGD
    std::int64_t steps = 0;
  };
  [[nodiscard]] const State& state() const { return state_; }
  /// Throws Error(damaged) if it is of another network or optimiser.
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
  cosine,   ///< down to 0 by half a cosine
  linear,   ///< down to 0
  constant  ///< as it is
};
inline constexpr EnumName<RateSchedule> rate_schedule_names[] = {
    {RateSchedule::cosine, "cosine"},
    {RateSchedule::linear, "linear"},
    {RateSchedule::constant, "constant"}};

struct RateSettings {
  RateSchedule schedule = RateSchedule::cosine;
  double highest = 1e-3;
  std::int64_t warm_up = 0;  ///< steps in which it rises to `highest`
  std::int64_t steps = 1;    ///< of the whole run
};

/// The learning rate of step `step` (from 0): highest · (step + 1) / warm_up, then the schedule
/// over the steps that are left.
[[nodiscard]] double rate_of_step(const RateSettings& settings, std::int64_t step);

}  // namespace attnscope
