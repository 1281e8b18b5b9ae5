#include "analysis/sweep/input_block.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "analysis/baselines/null_model.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/sweep/input_record.h"
#include "core/error.h"

namespace attnscope {

namespace {

LayerSweep empty_layer(const LayerRecord& record, std::size_t thresholds, bool null_spectra) {
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
  layer.null_spectra = null_spectra;
  if (null_spectra) {
    layer.null_maps.assign(h, 0);
    layer.null_share_sums.assign(h * n, 0);
    layer.null_share_squares.assign(h * n, 0);
  }
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
  if (layer.null_spectra && record.null_share_sums.size() == n) {
    layer.null_maps[head] += kShuffles;
    for (std::size_t r = 0; r < n; ++r) {
      layer.null_share_sums[head * n + r] += record.null_share_sums[r];
      layer.null_share_squares[head * n + r] += record.null_share_squares[r];
    }
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

/// Adds the contribution of `input` to one series. The first input decides the number of layers,
/// heads and singular values, also of null models if `null_spectra`. Throws Error(usage) for maps
/// whose size differs from earlier ones.
void add_series(SweepSeries& series, const SeriesRecord& record, const std::string& input,
                std::size_t thresholds, bool null_spectra) {
  if (series.layers.empty()) {
    series.label = record.label;
    series.identity = record.identity;
    for (const LayerRecord& layer : record.layers) {
      series.layers.push_back(empty_layer(layer, thresholds, null_spectra));
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

}  // namespace

InputBlock run_inputs(const SweepRequest& request, std::span<const std::int64_t> items,
                      const std::function<void(std::int64_t done)>& begin_input) {
  InputBlock block{std::vector<std::string>(items.size()), std::vector<InputRecord>(items.size())};
  const std::size_t whole = work_until_stopped(items.size(), begin_input, [&](std::size_t i) {
    const Input input = request.data_set->item(request.first + items[i]);
    block.labels[i] = input.label;
    for (const Subject& subject : request.subjects) {
      add_records(subject, request, input, block.records[i]);
    }
  });
  block.labels.resize(whole);
  block.records.resize(whole);
  return block;
}

void add_inputs(SweepResult& result, const InputBlock& block) {
  for (std::size_t i = 0; i < block.records.size(); ++i) {
    for (std::size_t s = 0; s < result.series.size(); ++s) {
      add_series(result.series[s], block.records[i][s], block.labels[i], result.thresholds.size(),
                 result.numbers.baselines);
    }
    ++result.done;
  }
}

}  // namespace attnscope
