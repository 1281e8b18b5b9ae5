#include "analysis/sweep/sweep.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "analysis/spectrum/rank.h"
#include "analysis/spectrum/spectrum.h"
#include "analysis/sweep/statistics.h"
#include "analysis/sweep/sweep_file.h"
#include "core/error.h"
#include "core/file/atomic_file.h"

namespace attnscope {

namespace {

// Inputs between two points at which the work can be resumed. Part of no result.
constexpr std::int64_t kBlock = 16;

/// What one map of one input contributes.
struct MapRecord {
  bool ready = false;
  std::vector<double> share;        // f(r), r = 1 … n
  std::vector<std::int64_t> ranks;  // at each threshold
  double effective_rank = 0, stable_rank = 0;
};

struct LayerRecord {
  std::int64_t heads = 0, values = 0;
  std::vector<MapRecord> maps;                            // [H]
  std::map<std::string, std::vector<double>> statistics;  // [H]
};

struct SeriesRecord {
  std::string label;
  bool identity = false;
  std::optional<bool> correct;  // none without a class
  std::vector<LayerRecord> layers;
};

using InputRecord = std::vector<SeriesRecord>;

MapRecord record_of(const MapSpectrum& spectrum, const std::vector<double>& thresholds) {
  MapRecord record;
  record.ready = spectrum.state == SpectrumState::ready;
  if (!record.ready) return record;
  record.share = cumulative_share(spectrum.singular_values);
  for (const double threshold : thresholds) {
    record.ranks.push_back(rank_of_share(record.share, threshold));
  }
  record.effective_rank = spectrum.effective_rank;
  record.stable_rank = spectrum.stable_rank;
  return record;
}

std::map<std::string, std::vector<double>> statistics_of(const NamedTensors& quantities) {
  std::map<std::string, std::vector<double>> values;
  for (const SweepStatistic& statistic : sweep_statistics()) {
    const auto found = quantities.find(statistic.quantity);
    if (found == quantities.end() || found->second.empty()) continue;
    const Tensor& tensor = found->second;
    std::vector<double>& heads = values[std::string(statistic.name)];
    for (std::int64_t head = 0; head < tensor.extent(0); ++head) {
      const std::int64_t size = tensor.size() / tensor.extent(0);
      const std::int64_t columns = tensor.shape().back();
      heads.push_back(
          statistic.of(ConstMatrixMap(tensor.data() + head * size, size / columns, columns)));
    }
  }
  return values;
}

std::optional<bool> is_correct(const Trace& trace, const Input& input) {
  const auto logits = trace.logits.values();
  if (input.class_index < 0 || input.class_index >= std::ssize(logits)) return std::nullopt;
  const auto largest = std::max_element(logits.begin(), logits.end());
  return largest - logits.begin() == input.class_index;
}

void add_records(const Subject& subject, const SweepRequest& request, const Input& input,
                 InputRecord& records) {
  TraceRequest wanted;
  wanted.quantities = true;
  wanted.parameters = subject.parameters;
  const Trace trace = subject.model->run(input, subject.mechanism, wanted, {});
  SpectrumOptions options;
  options.threshold = request.thresholds.front();
  for (const IdentityView view : request.views) {
    SeriesRecord record;
    record.identity = shows_identity(trace, view);
    record.label = subject.label;
    if (view != IdentityView::as_is) record.label += record.identity ? " + I" : " without I";
    record.correct = is_correct(trace, input);
    for (const LayerTrace& layer : trace.layers) {
      const Tensor& map = layer.implied_map;
      LayerRecord extents;
      extents.heads = map.extent(0);
      extents.values = std::min(map.extent(1), map.extent(2));
      extents.maps.resize(static_cast<std::size_t>(extents.heads));
      extents.statistics = statistics_of(layer.quantities);
      record.layers.push_back(std::move(extents));
    }
    for (const MapSpectrum& spectrum : spectra_of(trace, view, options)) {
      record.layers[static_cast<std::size_t>(spectrum.layer)]
          .maps[static_cast<std::size_t>(spectrum.head)] = record_of(spectrum, request.thresholds);
    }
    records.push_back(std::move(record));
  }
}

LayerSweep empty_layer(const LayerRecord& record, std::size_t thresholds) {
  LayerSweep layer;
  layer.heads = record.heads;
  layer.values = record.values;
  const auto h = static_cast<std::size_t>(record.heads),
             n = static_cast<std::size_t>(record.values);
  layer.maps.assign(h, 0);
  layer.left_out.assign(h, 0);
  layer.share_sums.assign(h * n, 0);
  layer.share_squares.assign(h * n, 0);
  layer.ranks.assign(thresholds * h * (n + 1), 0);
  layer.effective_ranks.assign(2 * h, 0);
  layer.stable_ranks.assign(2 * h, 0);
  for (const auto& [name, values] : record.statistics) {
    StatisticSums& sums = layer.statistics[name];
    sums.counts.assign(h, 0);
    sums.sums = sums.squares = sums.least = sums.greatest = std::vector<double>(h, 0);
  }
  return layer;
}

void add_map(LayerSweep& layer, std::size_t head, const MapRecord& record) {
  if (!record.ready) {
    ++layer.left_out[head];
    return;
  }
  ++layer.maps[head];
  const auto n = static_cast<std::size_t>(layer.values);
  for (std::size_t r = 0; r < n; ++r) {
    layer.share_sums[head * n + r] += record.share[r];
    layer.share_squares[head * n + r] += record.share[r] * record.share[r];
  }
  const auto heads = static_cast<std::size_t>(layer.heads);
  for (std::size_t t = 0; t < record.ranks.size(); ++t) {
    ++layer.ranks[(t * heads + head) * (n + 1) + static_cast<std::size_t>(record.ranks[t])];
  }
  const auto add = [head](std::vector<double>& sums, double value) {
    sums[2 * head] += value;
    sums[2 * head + 1] += value * value;
  };
  add(layer.effective_ranks, record.effective_rank);
  add(layer.stable_ranks, record.stable_rank);
}

void add_statistics(LayerSweep& layer, const LayerRecord& record) {
  for (const auto& [name, values] : record.statistics) {
    StatisticSums& sums = layer.statistics.at(name);
    for (std::size_t head = 0; head < values.size(); ++head) {
      const double value = values[head];
      if (!std::isfinite(value)) continue;
      const bool is_first = sums.counts[head]++ == 0;
      sums.sums[head] += value;
      sums.squares[head] += value * value;
      sums.least[head] = is_first ? value : std::min(sums.least[head], value);
      sums.greatest[head] = is_first ? value : std::max(sums.greatest[head], value);
    }
  }
}

void add_series(SweepSeries& series, const SeriesRecord& record, const std::string& input,
                std::size_t thresholds) {
  if (series.layers.empty()) {
    series.label = record.label;
    series.identity = record.identity;
    for (const LayerRecord& layer : record.layers) {
      series.layers.push_back(empty_layer(layer, thresholds));
    }
  }
  if (record.correct) {
    ++series.labelled;
    series.correct += *record.correct;
  }
  for (std::size_t l = 0; l < series.layers.size(); ++l) {
    LayerSweep& layer = series.layers[l];
    const LayerRecord& added = record.layers[l];
    if (added.heads != layer.heads || added.values != layer.values) {
      throw Error(ErrorKind::usage,
                  "inputs that give maps of different sizes have no mean spectrum")
          .about(input)
          .expected(std::to_string(layer.values) + " singular values, as the inputs before")
          .found(std::to_string(added.values));
    }
    for (std::size_t head = 0; head < added.maps.size(); ++head) {
      add_map(layer, head, added.maps[head]);
    }
    add_statistics(layer, added);
  }
}

/// FNV-1a.
class ContentHash {
 public:
  void add(const void* bytes, std::size_t count) {
    const auto* byte = static_cast<const unsigned char*>(bytes);
    for (std::size_t i = 0; i < count; ++i) {
      hash_ ^= byte[i];
      hash_ *= 1'099'511'628'211U;
    }
  }
  [[nodiscard]] std::string text() const {
    std::array<char, 20> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash_));
    return digits.data();
  }

 private:
  std::uint64_t hash_ = 14'695'981'039'346'656'037U;
};

/// Of a file's bytes; of a folder's nothing is read.
std::string content_hash(const std::filesystem::path& path) {
  ContentHash hash;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> buffer(1U << 20U);
  while (file) {
    file.read(buffer.data(), std::ssize(buffer));
    hash.add(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  return hash.text();
}

/// Of what was learnt apart from the model.
std::string content_hash(const std::vector<NamedTensors>& layers) {
  ContentHash hash;
  for (const NamedTensors& layer : layers) {
    for (const auto& [name, tensor] : layer) {
      hash.add(name.data(), name.size());
      hash.add(tensor.data(), static_cast<std::size_t>(tensor.size()) * sizeof(float));
    }
  }
  return hash.text();
}

std::int64_t inputs_of(const SweepRequest& request) {
  return chosen_count(request.data_set->size() - request.first, request.choice);
}

void check(const SweepRequest& request) {
  const auto refuse = [](const char* what) { throw Error(ErrorKind::usage, what); };
  if (request.subjects.empty()) refuse("no model was given to sweep");
  for (const Subject& subject : request.subjects) {
    if (subject.model != nullptr) continue;
    throw Error(ErrorKind::usage, "a trace cannot be run on a data set")
        .about(subject.label)
        .remedy("give the weight file");
  }
  if (request.data_set == nullptr) refuse("no data set was given to sweep over");
  if (request.thresholds.empty() || request.views.empty()) refuse("nothing is to be computed");
  for (const double threshold : request.thresholds) {
    if (threshold > 0 && threshold <= 1) continue;
    throw Error(ErrorKind::usage, "the threshold of the equivalent rank is out of range")
        .expected("above 0, at most 1")
        .found(to_string(ParameterValue(threshold)));
  }
  if (request.first < 0 || request.first >= request.data_set->size()) {
    throw Error(ErrorKind::usage, "the data set has no such inputs")
        .in_file(request.data_set_path)
        .expected("0 to " + std::to_string(request.data_set->size() - 1))
        .found(std::to_string(request.first));
  }
}

SweepResult begin(const SweepRequest& request) {
  SweepResult result;
  result.data_set = request.data_set_path;
  result.fingerprint = sweep_fingerprint(request);
  result.first = request.first;
  result.count = inputs_of(request);
  result.items = request.data_set->size() - request.first;
  result.seed = request.choice.seed;
  result.thresholds = request.thresholds;
  const std::filesystem::path unfinished = sweep_checkpoint(request.out);
  std::error_code ignored;
  if (!request.restart && std::filesystem::exists(unfinished, ignored)) {
    SweepResult found = read_sweep(unfinished);
    if (found.fingerprint == result.fingerprint) return found;
    throw Error(ErrorKind::usage, "unfinished work of another sweep lies beside the result")
        .in_file(unfinished)
        .remedy("finish that one as it was begun, write elsewhere, or begin anew (--restart)");
  }
  for (const Subject& subject : request.subjects) {
    for (std::size_t view = 0; view < request.views.size(); ++view) {
      SweepSeries series;
      series.label = subject.label;
      series.model = subject.model->file().string();
      series.mechanism = to_string(subject.mechanism);
      result.series.push_back(std::move(series));
    }
  }
  return result;
}

void sweep_block(const SweepRequest& request, std::span<const std::int64_t> items,
                 SweepResult& result, std::int64_t begun, const Progress& progress) {
  const std::int64_t size = std::min(kBlock, result.count - result.done);
  std::vector<InputRecord> records(static_cast<std::size_t>(size));
  std::vector<std::string> labels(records.size());
  std::atomic<std::int64_t> finished{0};
  tbb::parallel_for(std::int64_t{0}, size, [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t done = result.done + finished;
    progress.step(static_cast<double>(done - begun) / static_cast<double>(result.count - begun),
                  std::to_string(done) + " of " + std::to_string(result.count) + " inputs");
    const Input input =
        request.data_set->item(request.first + items[static_cast<std::size_t>(result.done + i)]);
    labels[at] = input.label;
    // A thread that waits for maps of this input must not begin another: memory would grow.
    tbb::this_task_arena::isolate([&] {
      for (const Subject& subject : request.subjects) {
        add_records(subject, request, input, records[at]);
      }
    });
    ++finished;
  });
  // In the order of the inputs, so that sums have the same bits on any number of threads.
  for (std::size_t i = 0; i < records.size(); ++i) {
    for (std::size_t s = 0; s < result.series.size(); ++s) {
      add_series(result.series[s], records[i][s], labels[i], request.thresholds.size());
    }
  }
  result.done += size;
}

}  // namespace

std::filesystem::path sweep_checkpoint(const std::filesystem::path& out) {
  std::filesystem::path unfinished = out;
  unfinished += ".unfinished";
  return unfinished;
}

std::string sweep_fingerprint(const SweepRequest& request) {
  using nlohmann::json;
  json subjects = json::array();
  for (const Subject& subject : request.subjects) {
    subjects.push_back({subject.label, content_hash(subject.model->file()),
                        to_string(subject.mechanism),
                        subject.parameters ? content_hash(*subject.parameters) : std::string()});
  }
  json views = json::array();
  for (const IdentityView view : request.views) views.push_back(static_cast<int>(view));
  const json all = {{"version", ATTNSCOPE_VERSION},
                    {"subjects", subjects},
                    {"data_set", content_hash(request.data_set_path)},
                    {"size", request.data_set->size()},
                    {"first", request.first},
                    {"count", inputs_of(request)},
                    {"seed", request.choice.seed},
                    {"thresholds", request.thresholds},
                    {"views", views}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

SweepResult run_sweep(const SweepRequest& request, const Progress& progress,
                      const SweepAdvanced& advanced) {
  using Clock = std::chrono::steady_clock;
  check(request);
  // Hours of work are not to end at a folder that is not there.
  { const AtomicFile writable(request.out); }
  const std::filesystem::path unfinished = sweep_checkpoint(request.out);
  SweepResult result = begin(request);
  const std::vector<std::int64_t> items =
      chosen_items(request.data_set->size() - request.first, request.choice);
  const std::int64_t begun = result.done;
  std::int64_t kept = begun;
  Clock::time_point last = Clock::now();
  const auto keep = [&] {
    if (kept == result.done) return;
    write_sweep(unfinished, result);
    kept = result.done;
    last = Clock::now();
    if (advanced) advanced(result);
  };
  while (result.done < result.count) {
    try {
      sweep_block(request, items, result, begun, progress);
    } catch (const Cancelled&) {
      keep();
      throw;
    }
    const std::chrono::duration<double> since = Clock::now() - last;
    if (since.count() >= request.checkpoint_seconds && result.done < result.count) keep();
  }
  write_sweep(request.out, result);
  std::error_code ignored;
  std::filesystem::remove(unfinished, ignored);
  if (advanced) advanced(result);
  return result;
}

}  // namespace attnscope
