// Files of a run: models in the program's own layout, and its state.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/npz_writer.h"
#include "core/file/read_file.h"
#include "core/text/number_text.h"
#include "core/training/run/training_run.h"

namespace attnscope {

namespace {

constexpr std::string_view kLogPrefix = "log/";

/// An Error(damaged) about an array of a saved state.
Error wrong_array(const std::string& name, std::string expected, std::string found) {
  return Error(ErrorKind::damaged, "the saved state of the training is broken")
      .about(name)
      .expected(std::move(expected))
      .found(std::move(found))
      .remedy("start the run again in another folder");
}

/// Reads an array of finite numbers, each at least `least`.
std::vector<float> numbers_of(const Checkpoint& state, const std::string& name,
                              float least = std::numeric_limits<float>::lowest()) {
  const Tensor tensor = state.at(name).view().to_float();
  for (const float number : tensor.values()) {
    if (std::isfinite(number) && number >= least) continue;
    throw wrong_array(name, least == 0 ? "finite numbers from 0 on" : "finite numbers",
                      exact(number));
  }
  return {tensor.values().begin(), tensor.values().end()};
}

/// Checks a table "steps/…" of a run at `step`: one row per step, of one number.
void check_steps(const std::string& name, const LogTable& table, std::int64_t step) {
  if (table.width != 1 || table.rows() != step) {
    throw wrong_array(name, to_string(Shape{step, 1}), to_string({table.rows(), table.width}));
  }
}

/// Checks the steps of a group's rows: whole, not decreasing, at most `step`.
void check_logged_steps(const std::string& name, const LogTable& table, std::int64_t step) {
  if (table.width != 1) throw wrong_array(name, "one number a row", std::to_string(table.width));
  double last = -1;
  for (const double number : table.numbers) {
    // A step may repeat, because rates may be changed more than once at a step.
    const bool follows = number >= std::max(last, 0.0) && number <= static_cast<double>(step);
    if (!follows || number != std::floor(number)) {
      throw wrong_array(name, "steps from 0 to " + std::to_string(step) + ", in order",
                        exact(number));
    }
    last = number;
  }
}

/// Reads the log's tables, with rows and width as their shape. All tables of a group, such as
/// "steps/…", have as many rows as its steps; a group may have any tables.
std::map<std::string, LogTable> tables_of(const Checkpoint& state, std::int64_t step) {
  std::map<std::string, LogTable> tables;
  for (const StoredTensor& stored : state.tensors()) {
    if (!stored.name.starts_with(kLogPrefix)) continue;
    if (stored.shape.size() != 2 || stored.shape[1] < 1) {
      throw wrong_array(stored.name, "rows of at least one number", to_string(stored.shape));
    }
    tables[stored.name.substr(kLogPrefix.size())] = {stored.shape[1], stored.view().to_double()};
  }
  for (const auto& [name, table] : tables) {
    if (name.ends_with("/step")) check_logged_steps(std::string(kLogPrefix) + name, table, step);
  }
  for (const auto& [name, table] : tables) {
    const std::string array = std::string(kLogPrefix) + name;
    const std::string group = name.substr(0, name.find('/'));
    const auto steps = tables.find(group + "/step");
    if (steps == tables.end()) throw wrong_array(array, "a table " + group + "/step", "none");
    if (group == "steps") check_steps(array, table, step);
    if (table.rows() != steps->second.rows()) {
      throw wrong_array(array, std::to_string(steps->second.rows()) + " rows",
                        std::to_string(table.rows()));
    }
  }
  const auto need = [&](bool needed, const std::string& name) {
    if (!needed || tables.contains(name)) return;
    throw wrong_array(std::string(kLogPrefix) + name, "a table", "none");
  };
  need(step > 0, "steps/loss");
  need(tables.contains("tests/accuracy"), "tests/loss");
  return tables;
}

}  // namespace

void TrainingRun::write_model(const std::filesystem::path& file, const std::string& name) const {
  write_file(file, model_bytes(*snapshot(), name));
}

void TrainingRun::save_state(const std::filesystem::path& file) const {
  NpzWriter state;
  const Shape all{network_->parameters().size()};
  const Optimiser::State& optimiser = optimiser_->state();
  const std::int64_t steps[] = {step_, optimiser.steps};
  state.add("steps", {2}, std::span<const std::int64_t>(steps));
  state.add("values", all, std::span<const float>(values_));
  if (!average_.values().empty()) {
    state.add("average", all, std::span<const float>(average_.values()));
  }
  state.add("first", all, std::span<const float>(optimiser.first));
  if (!optimiser.second.empty()) state.add("second", all, std::span<const float>(optimiser.second));
  for (const auto& [name, table] : log_.tables()) {
    state.add(std::string(kLogPrefix) + name, {table.rows(), table.width},
              std::span<const double>(table.numbers));
  }
  write_file(file, state.bytes());
}

void TrainingRun::restore_state(const std::filesystem::path& file) {
  with_file(file, [&] { take_state(open_checkpoint(file)); });
}

void TrainingRun::take_state(const Checkpoint& state) {
  const std::vector<std::int64_t> steps = state.at("steps").view().to_int64();
  if (steps.size() != 2 || steps[0] < 0 || steps[0] > recipe_.steps()) {
    throw wrong_array("steps",
                      "two numbers, the first from 0 to " + std::to_string(recipe_.steps()),
                      steps.empty() ? "none" : std::to_string(steps[0]));
  }
  const std::int64_t coarse = recipe_.coarse_steps();
  if (steps[0] > coarse) begin_with(fine_);
  // The optimiser starts again with the fine network.
  const std::int64_t optimised = network_ == fine_ ? steps[0] - coarse : steps[0];
  if (steps[1] != optimised) {
    throw wrong_array("steps", std::to_string(optimised) + " steps of the optimiser",
                      std::to_string(steps[1]));
  }
  const auto weights_of = [&](const char* name) {
    std::vector<float> values = numbers_of(state, name);
    const std::int64_t expected = network_->parameters().size();
    if (std::ssize(values) == expected) return values;
    throw Error(ErrorKind::damaged, "the state belongs to another recipe")
        .about(name)
        .expected(std::to_string(expected) + " values")
        .found(std::to_string(values.size()));
  };
  std::vector<float> values = weights_of("values");
  if (average_.active() && optimised > 0) average_.set(weights_of("average"));
  const bool has_second = state.find("second") != nullptr;
  optimiser_->set_state({numbers_of(state, "first"),
                         has_second ? numbers_of(state, "second", 0) : std::vector<float>(),
                         steps[1]});
  std::map<std::string, LogTable> tables = tables_of(state, steps[0]);
  const auto factors = tables.find(kRateFactors);
  if (factors != tables.end()) std::ranges::for_each(factors->second.numbers, check_rate_factor);
  values_ = std::move(values);
  step_ = steps[0];
  log_.set(std::move(tables));
}

}  // namespace attnscope
