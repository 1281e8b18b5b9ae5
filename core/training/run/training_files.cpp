// What a run writes to disk: models in the program's own layout, and its state.
#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/npz_writer.h"
#include "core/training/run/training_run.h"

namespace attnscope {

namespace {

constexpr std::string_view kLogPrefix = "log/";

std::vector<float> numbers_of(const Checkpoint& state, const std::string& name) {
  const Tensor tensor = state.at(name).view().to_float();
  return {tensor.values().begin(), tensor.values().end()};
}

/// Rows and width of each table stand in the extents.
std::map<std::string, LogTable> tables_of(const Checkpoint& state) {
  std::map<std::string, LogTable> tables;
  for (const StoredTensor& stored : state.tensors()) {
    if (!stored.name.starts_with(kLogPrefix) || stored.shape.size() != 2) continue;
    tables[stored.name.substr(kLogPrefix.size())] = {stored.shape[1], stored.view().to_double()};
  }
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
  state.add("first", all, std::span<const float>(optimiser.first));
  if (!optimiser.second.empty()) state.add("second", all, std::span<const float>(optimiser.second));
  for (const auto& [name, table] : log_.tables()) {
    state.add(std::string(kLogPrefix) + name, {table.rows(), table.width},
              std::span<const double>(table.numbers));
  }
  write_file(file, state.bytes());
}

void TrainingRun::restore_state(const std::filesystem::path& file) {
  const Checkpoint state = open_checkpoint(file);
  const std::vector<std::int64_t> steps = state.at("steps").view().to_int64();
  std::vector<float> values = numbers_of(state, "values");
  if (steps.size() == 2 && steps[0] > recipe_.coarse_steps()) begin_with(fine_);
  const std::int64_t expected = network_->parameters().size();
  if (steps.size() != 2 || std::ssize(values) != expected || steps[0] > recipe_.steps()) {
    throw Error(ErrorKind::damaged, "the state is that of another recipe")
        .in_file(file)
        .expected(std::to_string(expected) + " values")
        .found(std::to_string(values.size()));
  }
  const bool has_second = state.find("second") != nullptr;
  optimiser_->set_state({numbers_of(state, "first"),
                         has_second ? numbers_of(state, "second") : std::vector<float>(),
                         steps[1]});
  values_ = std::move(values);
  step_ = steps[0];
  log_.set(tables_of(state));
}

}  // namespace attnscope
