#include "analysis/training/run_folder.h"

#include <algorithm>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "analysis/hash_codes/learned_codes.h"
#include "analysis/training/training_history.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/read_file.h"
#include "core/model/model.h"
#include "core/parameters/typed_values.h"
#include "core/progress.h"
#include "core/training/data/random_order.h"
#include "core/training/run/training_run.h"

namespace attnscope {

namespace {

/// Inputs for the codes; a different choice at every update.
std::vector<std::shared_ptr<const Input>> inputs_of(const TrainingRun& run,
                                                    const RandomNumbers& numbers) {
  const std::int64_t size = run.data().size();
  const RandomOrder order(numbers.of("order"), size);
  std::vector<std::shared_ptr<const Input>> inputs;
  for (std::int64_t i = 0; i < std::min(run.recipe().code_inputs(), size); ++i) {
    inputs.push_back(std::make_shared<const Input>(run.data().training_input(order.at(i))));
  }
  return inputs;
}

std::vector<double> means_by_layer(const MatrixD& errors) {
  const Eigen::VectorXd means = errors.rowwise().mean();
  return {means.begin(), means.end()};
}

/// Learns the codes of every head of a run with has_learned_codes() from its queries, keys and
/// softmax(q·k / √d), layer by layer (EcoFormer, Eq. 12 to 14; learn_hash_codes), on the recipe's
/// number of training images, and sets them in the run. Deterministic for a given recipe, step and
/// weights. Adds a row to the log's tables "codes/step", "codes/error_before" and "codes/error":
/// ‖HHᵀ − bY‖² / ‖bY‖² with random and learned A, per layer, mean over heads; the same twice if
/// the recipe keeps A random. Throws Error like
/// learn_hash_codes; Cancelled, with the run unchanged.
void update_codes(TrainingRun& run, const Progress& progress) {
  const std::filesystem::path nowhere = "memory";
  const auto model = read_model(checkpoint_of(run.snapshot(), nowhere, "memory"), nowhere);
  const MechanismChoice& mechanism = model->spec().mechanism;
  const ParameterValues parameters = make_mechanism(mechanism)->choice().parameters;
  const TypedValues read(parameters);
  const RandomNumbers numbers = RandomNumbers(run.recipe().data().seed)
                                    .of("codes")
                                    .of(static_cast<std::uint64_t>(run.step()));
  HashLearningOptions options;
  options.bits = read.whole("bits");
  options.supports = read.whole("supports");
  options.pairs = std::min(run.recipe().code_pairs(), model->spec().tokens() / 2);
  options.random_weights = run.recipe().has_random_codes();
  options.seed = static_cast<std::uint32_t>(numbers.bits(0));
  const LearnedCodes codes =
      learn_hash_codes(*model, mechanism, inputs_of(run, numbers), options, progress);
  for (std::size_t layer = 0; layer < codes.tensors.layers->size(); ++layer) {
    const std::string before = "blocks." + std::to_string(layer) + ".attn.fast_attention.";
    for (const auto& [name, tensor] : (*codes.tensors.layers)[layer]) {
      run.replace(before + name, tensor.values());
    }
  }
  run.log().add("codes/step", static_cast<double>(run.step()));
  run.log().add("codes/error_before", means_by_layer(codes.error_before));
  run.log().add("codes/error", means_by_layer(codes.error_after));
}

namespace fs = std::filesystem;

constexpr std::size_t kLongestRecipe = std::size_t{1} << 20;  // size in bytes

}  // namespace

std::string step_name(std::int64_t step) {
  std::string number = std::to_string(step);
  number.insert(0, number.size() < 6 ? 6 - number.size() : 0, '0');
  return "step-" + number;
}

fs::path RunFolder::model(std::int64_t step) const { return folder / (step_name(step) + ".h5"); }

std::string RunFolder::model_name(std::int64_t step) const {
  return name_of_folder(folder) + ", step " + std::to_string(step);
}

void make_new_folder(const fs::path& first_file, const std::string& what,
                     bool (*is_nothing)(const fs::path& entry)) {
  const fs::path folder = first_file.parent_path();
  const auto is_left = [&](const fs::directory_entry& entry) {
    return is_abandoned(entry.path(), first_file) || (is_nothing && is_nothing(entry.path()));
  };
  const bool can_be_taken =
      !fs::exists(folder) ||
      (fs::is_directory(folder) && std::ranges::all_of(fs::directory_iterator(folder), is_left));
  if (!can_be_taken) {
    throw Error(ErrorKind::usage, "the folder exists and is not empty")
        .in_file(folder)
        .remedy("--resume continues the " + what + " in it, or give another --out");
  }
  fs::create_directories(folder);
}

void begin_run_folder(const RunFolder& folder, const Recipe& recipe) {
  make_new_folder(folder.recipe(), "run");
  write_file(folder.recipe(), recipe.to_json());
}

bool is_run(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(RunFolder{folder}.recipe(), ignored);
}

std::vector<fs::path> run_folders_in(const fs::path& folder) {
  if (is_run(folder)) return {folder};
  std::vector<fs::path> runs;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (is_run(entry.path())) runs.push_back(entry.path());
  }
  std::ranges::sort(runs);
  return runs;
}

Recipe recipe_of(const RunFolder& folder) {
  if (!fs::exists(folder.recipe())) {
    throw Error(ErrorKind::usage, "the folder holds no run")
        .in_file(folder.folder)
        .expected("recipe.json");
  }
  return with_file(folder.recipe(),
                   [&] { return Recipe::from_json(read_file(folder.recipe(), kLongestRecipe)); });
}

FolderTraining::FolderTraining(RunFolder folder) : folder_(std::move(folder)) {
  const Recipe recipe = recipe_of(folder_);
  const fs::path state = fs::exists(folder_.state()) ? folder_.state() : fs::path();
  run_ = std::make_unique<TrainingRun>(recipe, open_training_data(recipe.data()), state);
  checkpoints_ = recipe.checkpoints();
  code_steps_ = recipe.code_steps();
}

std::vector<Input> FolderTraining::probe_inputs() const {
  std::vector<Input> inputs;
  const std::int64_t count = std::min(run_->recipe().probes(), run_->data().test_size());
  for (std::int64_t i = 0; i < count; ++i) inputs.push_back(run_->data().test_input(i));
  return inputs;
}

void FolderTraining::test(const Progress& progress) {
  const LossSum sum = run_->test(progress);
  if (sum.count == 0) return;
  const auto count = static_cast<double>(sum.count);
  run_->log().add("tests/step", static_cast<double>(run_->step()));
  run_->log().add("tests/loss", sum.loss / count);
  run_->log().add("tests/accuracy", static_cast<double>(sum.right) / count);
}

void FolderTraining::follow_probes(const Progress& progress) {
  const std::vector<Input> inputs = probe_inputs();
  if (inputs.empty()) return;
  const fs::path file = folder_.model(run_->step());
  const auto model =
      read_model(checkpoint_of(run_->snapshot(), file, folder_.model_name(run_->step())), file);
  add_probes(probe(*model, inputs, progress), run_->step(), run_->log());
}

void FolderTraining::save() const {
  run_->save_state(folder_.state());
  write_file(folder_.log(), run_->log().as_hdf5(run_->recipe().to_json()));
}

void FolderTraining::check_point(const Progress& progress) {
  run_->write_model(folder_.model(run_->step()), folder_.model_name(run_->step()));
  // A test that is cancelled leaves no trace in the log; it is repeated.
  const TrainingLog before = run_->log();
  try {
    if (!is_last("tests/step")) test(progress.silent());
    if (!is_last("probes/step")) follow_probes(progress);
  } catch (const Cancelled&) {
    run_->log() = before;
    save();
    throw;
  }
  save();
}

bool FolderTraining::is_last(const char* table) const {
  return run_->log().last(table) == static_cast<double>(run_->step());
}

bool FolderTraining::needs_probes() const {
  const bool any = run_->data().test_size() > 0 && run_->recipe().probes() > 0;
  return any && !is_last("probes/step");
}

bool FolderTraining::needs_check_point() const {
  if (!std::binary_search(checkpoints_.begin(), checkpoints_.end(), run_->step())) return false;
  const bool tested = run_->data().test_size() == 0 || is_last("tests/step");
  return !tested || needs_probes() || !fs::exists(folder_.model(run_->step()));
}

bool FolderTraining::needs_codes() const {
  return std::ranges::binary_search(code_steps_, run_->step()) && !is_last("codes/step");
}

void FolderTraining::keep(const Progress& progress) {
  if (needs_codes()) {
    const double done =
        static_cast<double>(run_->step()) / static_cast<double>(run_->recipe().steps());
    try {
      update_codes(*run_, progress.part(done, done));
    } catch (const Cancelled&) {
      save();
      throw;
    }
  }
  const auto due = [&](std::int64_t every) { return every > 0 && run_->step() % every == 0; };
  if (needs_check_point()) return check_point(progress);
  if (due(run_->recipe().probe_every()) && needs_probes()) {
    try {
      follow_probes(progress);
    } catch (const Cancelled&) {
      save();
      throw;
    }
  }
  if (due(run_->recipe().save_every())) save();
}

std::unique_ptr<TrainingRun> train(const RunFolder& folder, const Progress& progress,
                                   const StepDone& step_done) {
  FolderTraining training(folder);
  training.keep(progress);
  while (!training.run().done()) {
    if (progress.cancelled()) {
      training.save();
      throw Cancelled{};
    }
    training.run().advance();
    if (step_done) step_done(training.run());
    training.keep(progress);
  }
  training.save();
  return training.take_run();
}

}  // namespace attnscope
