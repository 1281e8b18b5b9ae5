#include "analysis/training/training_history.h"

#include <utility>

#include "analysis/training/checkpoint_series.h"
#include "analysis/training/probes.h"
#include "analysis/training/run_folder.h"
#include "analysis/training/training_study.h"
#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/file/read_file.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;

TrainingHistory history_of_run(const fs::path& folder, const std::string& label) {
  return {label, folder, read_training_log(RunFolder{folder}.log())};
}

/// The name without its seed: "adder-seed2" → "adder".
std::string without_seed(const std::string& name) {
  const std::size_t at = name.rfind("-seed");
  const bool has = at != std::string::npos && at > 0 && at + 5 < name.size() &&
                   name.find_first_not_of("0123456789", at + 5) == std::string::npos;
  return has ? name.substr(0, at) : name;
}

/// Runs in the folder that have logs, with labels of the study in it, else from their names.
std::vector<TrainingHistory> histories_in(const fs::path& folder) {
  std::vector<std::pair<fs::path, std::string>> runs;  // pairs of folder and label
  const StudyFolder study{folder};
  if (fs::exists(study.description())) {
    const std::vector<TrainingVariant>& variants = study_of(study).variants;
    for (const StudyRun& one : runs_of(study)) {
      runs.emplace_back(one.folder.folder, variants.at(one.variant).label);
    }
  } else {
    for (const fs::path& run : run_folders_in(folder)) {
      runs.emplace_back(run, without_seed(run.filename().string()));
    }
  }
  std::vector<TrainingHistory> found;
  for (const auto& [run, label] : runs) {
    if (fs::exists(RunFolder{run}.log())) found.push_back(history_of_run(run, label));
  }
  return found;
}

TrainingHistory history_of_series(const fs::path& folder, const std::vector<Input>& inputs,
                                  const Progress& progress) {
  const std::vector<SeriesModel> series = checkpoint_series(folder);
  if (inputs.empty()) {
    throw Error(ErrorKind::usage, "checkpoints without a log need inputs to run on")
        .in_file(folder)
        .expected("inputs that the models take");
  }
  TrainingHistory history{name_of_folder(folder), folder, {}};
  for (std::size_t i = 0; i < series.size(); ++i) {
    const auto share = [&](std::size_t done) {
      return static_cast<double>(done) / static_cast<double>(series.size());
    };
    const Progress part = progress.part(share(i), share(i + 1));
    const auto model = load_model(series[i].file, {}, part.silent());
    add_probes(probe(*model, inputs, part), series[i].step, history.log);
  }
  return history;
}

}  // namespace

TrainingLog read_training_log(const fs::path& file) {
  const Checkpoint stored = open_checkpoint(file);
  const auto format = stored.metadata().find("format");
  if (format == stored.metadata().end() || format->second != "attnscope-training-log") {
    throw Error(ErrorKind::damaged, "the file is not the log of a training").in_file(file);
  }
  std::map<std::string, LogTable> tables;
  for (const StoredTensor& one : stored.tensors()) {
    const bool has_rows = one.shape.size() == 1 || (one.shape.size() == 2 && one.shape[1] > 0);
    if (!has_rows) {
      throw Error(ErrorKind::damaged,
                  "a table of the log must have one or two dimensions and no empty rows")
          .in_file(file)
          .about(one.name)
          .found(to_string(one.shape));
    }
    tables[one.name] = {one.shape.size() == 2 ? one.shape[1] : 1, one.view().to_double()};
  }
  TrainingLog log;
  log.set(std::move(tables));
  return log;
}

std::vector<TrainingHistory> read_histories(const fs::path& folder,
                                            const std::vector<Input>& inputs,
                                            const Progress& progress) {
  if (!fs::is_directory(folder)) {
    throw Error(ErrorKind::usage, "the folder does not exist").in_file(folder);
  }
  if (is_run(folder)) return {history_of_run(folder, name_of_folder(folder))};
  std::vector<TrainingHistory> runs = histories_in(folder);
  if (!runs.empty()) return runs;
  return {history_of_series(folder, inputs, progress)};
}

}  // namespace attnscope
