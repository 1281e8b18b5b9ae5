#include "analysis/training/training_history.h"

#include <cmath>
#include <limits>
#include <utility>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/spectrum/mean_spectrum.h"
#include "analysis/spectrum/spectrum.h"
#include "analysis/training/checkpoint_series.h"
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
    const std::vector<TrainingVariant> variants = study_of(study).variants;
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

constexpr double kNotCounted = std::numeric_limits<double>::quiet_NaN();

struct LayerSpectra {
  std::vector<MapSpectrum> without, with;
  double entropy = 0, queries = 0;
  double ranks_at_entropy = 0, maps_at_entropy = 0;  ///< sum and number of known ranks
};

/// Sums the entropies −Σ p ln p of every row.
void add_entropies(const ImpliedMaps& maps, LayerSpectra& layer) {
  for (std::int64_t index = 0; index < maps.extent(0) * maps.extent(1); ++index) {
    double entropy = 0;
    for (const float weight : maps.row(index / maps.extent(1), index % maps.extent(1))) {
      if (weight > 0)
        entropy -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
    }
    layer.entropy += entropy;
    ++layer.queries;
  }
}

/// Sums the known ranks at kProbedEntropy of the layer's maps.
void add_ranks_at_entropy(const Trace& trace, std::int64_t index, LayerSpectra& layer) {
  if (!has_temperature(trace, index) ||
      std::min(trace.queries(index), trace.keys(index)) > SpectrumOptions().dense_limit) {
    return;
  }
  for (const EntropyRank& one : ranks_at_entropy(
           trace, kProbedEntropy, {.identity = IdentityView::without}, {.layers = {index}})) {
    if (std::isnan(one.rank)) continue;
    layer.ranks_at_entropy += one.rank;
    ++layer.maps_at_entropy;
  }
}

void add_trace(const Trace& trace, std::vector<LayerSpectra>& layers, const Progress& progress) {
  layers.resize(trace.layers.size());
  auto [without, with] = spectra_without_and_with_identity(trace, {}, progress.silent());
  for (MapSpectrum& one : without) {
    layers[static_cast<std::size_t>(one.layer)].without.push_back(std::move(one));
  }
  for (MapSpectrum& one : with) {
    layers[static_cast<std::size_t>(one.layer)].with.push_back(std::move(one));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    add_entropies(maps_seen(trace, index, IdentityView::without), layers[i]);
    add_ranks_at_entropy(trace, index, layers[i]);
  }
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

ProbeNumbers probe(const Model& model, std::span<const Input> inputs, const Progress& progress) {
  std::vector<LayerSpectra> layers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    progress.step(static_cast<double>(i) / static_cast<double>(inputs.size()), "probes");
    add_trace(model.run(inputs[i], model.spec().mechanism, {}, progress.silent()), layers,
              progress);
  }
  ProbeNumbers numbers;
  for (const LayerSpectra& layer : layers) {
    const RankThreshold threshold = SpectrumOptions().threshold;
    const MeanSpectrum without = mean_spectrum(layer.without, threshold);
    numbers.mean_rank.push_back(without.ranks.mean);
    numbers.rank_of_mean.push_back(without.maps > 0 ? static_cast<double>(without.rank_of_mean)
                                                    : kNotCounted);
    numbers.identity_rank.push_back(mean_spectrum(layer.with, threshold).ranks.mean);
    numbers.entropy.push_back(layer.queries > 0 ? layer.entropy / layer.queries : kNotCounted);
    numbers.rank_at_entropy.push_back(
        layer.maps_at_entropy > 0 ? layer.ranks_at_entropy / layer.maps_at_entropy : kNotCounted);
  }
  return numbers;
}

void add_probes(const ProbeNumbers& numbers, std::int64_t step, TrainingLog& log) {
  log.add("probes/step", static_cast<double>(step));
  log.add("probes/mean_rank", numbers.mean_rank);
  log.add("probes/rank_of_mean", numbers.rank_of_mean);
  log.add("probes/identity_rank", numbers.identity_rank);
  log.add("probes/entropy", numbers.entropy);
  log.add("probes/rank_at_entropy", numbers.rank_at_entropy);
}

}  // namespace attnscope
