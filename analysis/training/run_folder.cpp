#include "analysis/training/run_folder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/training/probes.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/read_file.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestRecipe = std::size_t{1} << 20;  // bytes

std::vector<Input> probe_inputs(const TrainingRun& run) {
  std::vector<Input> inputs;
  const std::int64_t count = std::min(run.recipe().probes(), run.data().test_size());
  for (std::int64_t i = 0; i < count; ++i) inputs.push_back(run.data().test_input(i));
  return inputs;
}

void test(TrainingRun& run, const Progress& progress) {
  const LossSum sum = run.test(progress);
  if (sum.count == 0) return;
  const auto count = static_cast<double>(sum.count);
  run.log().add("tests/step", static_cast<double>(run.step()));
  run.log().add("tests/loss", sum.loss / count);
  run.log().add("tests/accuracy", static_cast<double>(sum.right) / count);
}

void follow_probes(const fs::path& file, TrainingRun& run, const Progress& progress) {
  const std::vector<Input> inputs = probe_inputs(run);
  if (inputs.empty()) return;
  const ProbeNumbers numbers = probe(*load_model(file), inputs, progress);
  TrainingLog& log = run.log();
  log.add("probes/step", static_cast<double>(run.step()));
  log.add("probes/mean_rank", numbers.mean_rank);
  log.add("probes/rank_of_mean", numbers.rank_of_mean);
  log.add("probes/identity_rank", numbers.identity_rank);
  log.add("probes/entropy", numbers.entropy);
}

void save(const RunFolder& folder, const TrainingRun& run) {
  run.save_state(folder.state());
  write_file(folder.log(), run.log().as_hdf5(run.recipe().to_json()));
}

/// Model, test and probes. Nothing is logged of one that is cancelled halfway: it is done again.
void check_point(const RunFolder& folder, TrainingRun& run, const Progress& progress) {
  const fs::path file = folder.model(run.step());
  const std::string name = fs::absolute(folder.folder).lexically_normal().filename().string();
  run.write_model(file, name + ", step " + std::to_string(run.step()));
  const TrainingLog before = run.log();
  try {
    test(run, progress.silent());
    follow_probes(file, run, progress);
  } catch (const Cancelled&) {
    run.log() = before;
    save(folder, run);
    throw;
  }
  save(folder, run);
}

/// Whether the model of this step is written, tested and logged.
bool is_logged(const TrainingRun& run) {
  for (const char* const name : {"probes/step", "tests/step"}) {
    const auto table = run.log().tables().find(name);
    if (table == run.log().tables().end() || table->second.numbers.empty()) continue;
    return table->second.numbers.back() == static_cast<double>(run.step());
  }
  return false;
}

}  // namespace

fs::path RunFolder::model(std::int64_t step) const {
  std::string number = std::to_string(step);
  number.insert(0, number.size() < 6 ? 6 - number.size() : 0, '0');
  return folder / ("step-" + number + ".h5");
}

void begin_run_folder(const RunFolder& folder, const Recipe& recipe) {
  if (fs::exists(folder.folder) && !fs::is_empty(folder.folder)) {
    throw Error(ErrorKind::usage, "the folder is there and is not empty")
        .in_file(folder.folder)
        .remedy("--resume goes on with the run in it, or give another --out");
  }
  fs::create_directories(folder.folder);
  write_file(folder.recipe(), recipe.to_json());
}

Recipe recipe_of(const RunFolder& folder) {
  if (!fs::exists(folder.recipe())) {
    throw Error(ErrorKind::usage, "there is no run in the folder")
        .in_file(folder.folder)
        .expected("recipe.json");
  }
  return with_file(folder.recipe(),
                   [&] { return Recipe::from_json(read_file(folder.recipe(), kLongestRecipe)); });
}

std::unique_ptr<TrainingRun> train(const RunFolder& folder, const Progress& progress,
                                   const StepDone& step_done) {
  const Recipe recipe = recipe_of(folder);
  auto owned = std::make_unique<TrainingRun>(recipe, open_training_data(recipe.data()));
  TrainingRun& run = *owned;
  if (fs::exists(folder.state())) run.restore_state(folder.state());
  const std::vector<std::int64_t> checkpoints = recipe.checkpoints();
  const auto is_checkpoint = [&] {
    return std::binary_search(checkpoints.begin(), checkpoints.end(), run.step());
  };
  if (is_checkpoint() && !is_logged(run)) check_point(folder, run, progress);
  while (!run.done()) {
    if (progress.cancelled()) {
      save(folder, run);
      throw Cancelled{};
    }
    run.advance();
    if (step_done) step_done(run);
    if (is_checkpoint()) {
      check_point(folder, run, progress);
    } else if (run.step() % recipe.save_every() == 0) {
      save(folder, run);
    }
  }
  save(folder, run);
  return owned;
}

}  // namespace attnscope
