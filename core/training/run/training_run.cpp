#include "core/training/run/training_run.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/attention/mechanism.h"
#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/model/model.h"
#include "core/text/number_text.h"
#include "core/training/attention/window_biases.h"
#include "core/training/network.h"
#include "core/training/recipe/recipe.h"
#include "core/training/refinement.h"

namespace attnscope {

namespace {

// ---- the initial values ----

/// The shape without axes of size 1: [1, 3, 1, 25] becomes [3, 25].
Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

/// The fused name, "blocks.0.attn.to_qk.weight" → "blocks.0.attn.qkv.weight". Empty for a tensor
/// that is not a part of to_qk or to_v.
std::string together(const std::string& name) {
  for (const std::string_view part : {".to_qk.", ".to_v."}) {
    const std::size_t at = name.find(part);
    if (at != std::string::npos)
      return name.substr(0, at) + ".qkv." + name.substr(at + part.size());
  }
  return {};
}

/// True if a tensor of that name belongs to any mechanism.
bool is_own(std::string_view name) {
  constexpr std::string_view kAttention = ".attn.", kHash = "fast_attention.";
  const std::size_t at = name.find(kAttention);
  if (at == std::string_view::npos) return false;
  name.remove_prefix(at + kAttention.size());
  if (name.starts_with(kHash)) name.remove_prefix(kHash.size());
  return std::ranges::any_of(mechanisms(), [&](const MechanismEntry& entry) {
    return std::ranges::any_of(entry.tensors,
                               [&](const TensorDescription& one) { return one.name == name; });
  });
}

/// A file with initial values.
class BeginningFile {
 public:
  BeginningFile(const std::filesystem::path& file, bool has_codes)
      : file_(file), checkpoint_(open_checkpoint(file)), has_codes_(has_codes) {}

  /// Checks, with the file's own description, that tensors of equal shapes have the same meaning.
  void check_model(const ModelSpec& spec) const {
    if (!checkpoint_.metadata().contains("architecture")) return;
    const ModelSpec own = read_model(checkpoint_, file_)->spec();
    for (std::int64_t i = 0; i < std::min(own.layers, spec.layers); ++i) {
      const std::int64_t heads = layer_of(spec, i).attention.heads,
                         found = layer_of(own, i).attention.heads;
      if (heads == found) continue;
      throw differs("its layers have a different number of heads", "model_heads",
                    std::to_string(heads), std::to_string(found));
    }
    if (spec.is_language_model() && own.labels != spec.labels) {
      throw differs("its vocabulary differs from the data set's", "dataset",
                    std::to_string(spec.labels.size()) + " characters",
                    std::to_string(own.labels.size()));
    }
  }

  /// Reads the file's values of `parameter`. Keeps the values if a mechanism's own tensor is
  /// missing.
  void read(const Parameter& parameter, float* to) {
    const std::string qkv = together(parameter.name);
    if (checkpoint_.find(parameter.name) == nullptr && checkpoint_.find(qkv) != nullptr) {
      return read_part(parameter, qkv, to);
    }
    const StoredTensor* const stored = checkpoint_.find(parameter.name);
    if (stored == nullptr) {
      if (parameter.own && !has_codes_) return;
      throw missing(parameter);
    }
    check_shape(*stored, parameter.shape);
    std::ranges::copy(taken(*stored), to);
  }

  /// Throws Error(usage) for a tensor that was not used and is not a mechanism's own.
  void check_rest() const {
    for (const StoredTensor& stored : checkpoint_.tensors()) {
      if (taken_.contains(stored.name) || is_own(stored.name)) continue;
      throw differs("the network has no such tensor", stored.name, "none", to_string(stored.shape));
    }
  }

 private:
  /// Reads to_qk or to_v from queries, keys and values stored under one name.
  void read_part(const Parameter& parameter, const std::string& name, float* to) {
    const StoredTensor& stored = checkpoint_.at(name);
    Shape three = parameter.shape;
    three.front() *= 3;
    check_shape(stored, three);
    const std::vector<float> numbers = taken(stored);
    const auto each = static_cast<std::size_t>(parameter.slot.size);
    const float *const queries = numbers.data(), *const keys = queries + each;
    const bool values = parameter.name.find(".to_v.") != std::string::npos;
    for (std::size_t i = 0; i < each; ++i) {
      to[i] = values ? keys[each + i] : (queries[i] + keys[i]) / 2;
    }
  }

  std::vector<float> taken(const StoredTensor& stored) {
    taken_.insert(stored.name);
    const Tensor tensor = stored.view().to_float();
    return {tensor.values().begin(), tensor.values().end()};
  }

  void check_shape(const StoredTensor& stored, const Shape& expected) const {
    if (without_ones(stored.shape) == without_ones(expected)) return;
    throw differs("the tensor has another shape than the network's", stored.name,
                  to_string(expected), to_string(stored.shape));
  }

  [[nodiscard]] Error missing(const Parameter& parameter) const {
    std::string nearest;
    for (const std::string& name : checkpoint_.nearest_names(parameter.name)) {
      nearest += (nearest.empty() ? "" : ", ") + name;
    }
    return differs("a tensor of the network is missing", parameter.name, to_string(parameter.shape),
                   nearest.empty() ? "no tensors" : nearest);
  }

  [[nodiscard]] Error differs(const char* what, const std::string& which,
                              const std::string& expected, const std::string& found) const {
    return Error(ErrorKind::usage, std::string("the network cannot begin from the file: ") + what)
        .in_file(file_)
        .about(which)
        .expected(expected)
        .found(found);
  }

  std::filesystem::path file_;
  Checkpoint checkpoint_;
  bool has_codes_;  ///< true if learned codes are required
  std::set<std::string> taken_;
};

/// The initial values of network.parameters(): random ones from the recipe's seed or, if the recipe
/// has `from`, that file's tensors, by name and shape (ignoring axes of size 1). Models may differ
/// in two ways. First, a mechanism's own tensors, such as DAFT's pe0, keep their initial values if
/// the file lacks them, and are ignored if the network has none. Second, from a file with separate
/// queries and keys, to_qk becomes the mean of the two projections and to_v that of the values
/// (EcoFormer, 5.1). Throws Error(usage) naming the file, the tensor and both shapes for any other
/// difference, for a file whose model has another number of heads or another vocabulary, and if the
/// file lacks learned codes that the recipe takes from it. Throws the errors of open_checkpoint.
std::vector<float> first_values(const Recipe& recipe, const TrainedNetwork& network) {
  std::vector<float> values = network.parameters().beginning(recipe.data().seed);
  if (recipe.from().empty()) return values;
  BeginningFile file(recipe.from(), recipe.has_learnt_codes() && recipe.code_steps().empty());
  file.check_model(network.spec());
  for (const Parameter& parameter : network.parameters().list()) {
    file.read(parameter, parameter.slot.in(values.data()));
  }
  file.check_rest();
  return values;
}

}  // namespace

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
  values_ = first_values(recipe_, *network_);
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
