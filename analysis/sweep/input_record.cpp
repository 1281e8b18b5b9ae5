#include "analysis/sweep/input_record.h"

#include <algorithm>
#include <utility>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/baselines/null_model.h"
#include "analysis/heads/head_table.h"
#include "analysis/matrix/analysed_matrix.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/rank.h"
#include "analysis/spectrum/spectrum.h"
#include "analysis/sweep/statistics.h"

namespace attnscope {

namespace {

MapRecord record_of(const MapSpectrum& spectrum, const SweepRequest& request) {
  MapRecord record;
  record.ready = spectrum.state == SpectrumState::ready;
  if (!record.ready) return record;
  record.share = cumulative_share(spectrum, request.share);
  for (const double threshold : request.thresholds) {
    record.ranks.push_back(rank_of_share(record.share, threshold));
  }
  record.effective_rank = spectrum.effective_rank;
  record.stable_rank = spectrum.stable_rank;
  return record;
}

/// Statistics by name, one value per head: of the mechanism's quantities and of maps without I.
std::map<std::string, std::vector<double>> statistics_of(const Trace& trace, std::int64_t layer) {
  const LayerTrace& own = trace.layers[static_cast<std::size_t>(layer)];
  const NamedTensors& quantities = own.quantities;
  std::map<std::string, std::vector<double>> values;
  std::vector<std::map<std::string_view, double>> of_maps;
  for (std::int64_t head = 0; head < own.implied_map.extent(0); ++head) {
    MatrixD map = map_seen(trace, {layer, head}, IdentityView::without);
    const SeenKeys seen = seen_keys(own, map);
    of_maps.push_back(map_statistics(std::move(map), seen));
  }
  for (const SweepStatistic& statistic : sweep_statistics()) {
    if (statistic.quantity == kMapQuantity) {
      std::vector<double>& heads = values[std::string(statistic.name)];
      for (const auto& head : of_maps) heads.push_back(head.at(statistic.name));
      continue;
    }
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

/// The record of one layer, with its spectra still unset.
LayerRecord layer_record(const Trace& trace, std::int64_t index, const SweptNumbers& numbers) {
  const LayerTrace& layer = trace.layers[static_cast<std::size_t>(index)];
  LayerRecord record;
  record.heads = is_of_layer(numbers.analysed.of) ? 1 : layer.implied_map.extent(0);
  record.values = singular_values_of(trace, index, numbers.analysed);
  record.maps.resize(static_cast<std::size_t>(record.heads));
  // Statistics are per head and do not apply to one matrix per layer.
  if (!is_of_layer(numbers.analysed.of)) {
    record.statistics = statistics_of(trace, index);
  }
  return record;
}

/// Stores a number of one head at its layer and head.
void set_statistic(SeriesRecord& series, std::string_view name, std::int64_t layer,
                   std::int64_t head, double value) {
  LayerRecord& record = series.layers[static_cast<std::size_t>(layer)];
  std::vector<double>& heads = record.statistics[std::string(name)];
  heads.resize(static_cast<std::size_t>(record.heads), HeadRow::kUnknown);
  heads[static_cast<std::size_t>(head)] = value;
}

void add_numbers_of_heads(const HeadTable& table, SeriesRecord& series) {
  for (const HeadRow& row : table.rows) {
    for (const HeadMeasure& measure : head_measures()) {
      const bool of_null =
          measure.value == &HeadRow::null_rank || measure.value == &HeadRow::rank_over_null;
      if (!of_null) set_statistic(series, measure.name, row.layer, row.head, row.*measure.value);
    }
  }
}

void add_null_spectra(const NullRanks& null, MapRecord& record) {
  for (const MapSpectrum& shuffled : null.shuffled) {
    const std::vector<double> share = cumulative_share(shuffled, shuffled.threshold.of);
    record.null_share_sums.resize(share.size());
    record.null_share_squares.resize(share.size());
    for (std::size_t r = 0; r < share.size(); ++r) {
      record.null_share_sums[r] += share[r];
      record.null_share_squares[r] += share[r] * share[r];
    }
  }
}

void add_null_models(const std::vector<MapSpectrum>& spectra, const std::vector<NullRanks>& null,
                     SeriesRecord& series) {
  for (std::size_t i = 0; i < spectra.size(); ++i) {
    LayerRecord& layer = series.layers[static_cast<std::size_t>(null[i].layer)];
    if (null[i].known) {
      add_null_spectra(null[i], layer.maps[static_cast<std::size_t>(null[i].head)]);
    }
    set_statistic(series, "null_rank", null[i].layer, null[i].head,
                  null[i].known ? null[i].rank : HeadRow::kUnknown);
    set_statistic(series, "rank_over_null", null[i].layer, null[i].head,
                  rank_over_null(spectra[i], null[i]));
  }
}

std::string series_label(const Subject& subject, const MatrixChoice& analysed, bool identity) {
  std::string label = subject.label;
  if (analysed.identity != IdentityView::as_is) label += identity ? " + I" : " without I";
  if (analysed.of != MatrixKind::map) {
    label += ", " + std::string(name_of(matrix_kind_names, analysed.of));
  }
  if (analysed.added != Added::none) {
    label += ", " + std::string(name_of(added_names, analysed.added));
  }
  return label + (analysed.centred ? ", centred" : "");
}

/// Spectra for each of the request's views.
std::vector<std::vector<MapSpectrum>> spectra_of_views(const Subject& ran,
                                                       const SweepRequest& request,
                                                       const SpectrumOptions& options) {
  std::vector<std::vector<MapSpectrum>> spectra;
  const MatrixChoice& analysed = request.numbers.analysed;
  const std::vector both = {IdentityView::without, IdentityView::with};
  if (request.views == both) {
    for (auto& view : spectra_without_and_with_identity(ran, analysed, options)) {
      spectra.push_back(std::move(view));
    }
    return spectra;
  }
  for (const IdentityView view : request.views) {
    spectra.push_back(spectra_of(ran, analysed.seen(view), options));
  }
  return spectra;
}

}  // namespace

void add_records(const Subject& subject, const SweepRequest& request, const Input& input,
                 InputRecord& records) {
  const SweptNumbers& numbers = request.numbers;
  TraceRequest wanted;
  wanted.quantities = true;
  wanted.parameters = subject.parameters;
  request_for(numbers, wanted);
  const Trace trace = subject.model->run(input, subject.mechanism, wanted, {});
  Subject ran = without_model(trace);
  ran.model = subject.model;
  SpectrumOptions options;
  options.threshold = {request.thresholds.front(), request.share};
  std::vector<LayerRecord> layers;  // shared by all views
  for (std::int64_t index = 0; index < std::ssize(trace.layers); ++index) {
    layers.push_back(layer_record(trace, index, numbers));
  }
  const std::vector<std::vector<MapSpectrum>> all = spectra_of_views(ran, request, options);
  for (std::size_t index = 0; index < request.views.size(); ++index) {
    const MatrixChoice analysed = numbers.analysed.seen(request.views[index]);
    const std::vector<MapSpectrum>& spectra = all[index];
    SeriesRecord record;
    record.identity = shows_identity(trace, analysed);
    record.label = series_label(subject, analysed, record.identity);
    record.correct = is_correct(trace, input);
    record.layers = layers;
    for (const MapSpectrum& spectrum : spectra) {
      const auto head = static_cast<std::size_t>(std::max<std::int64_t>(spectrum.head, 0));
      record.layers[static_cast<std::size_t>(spectrum.layer)].maps[head] =
          record_of(spectrum, request);
    }
    if (numbers.heads) {
      add_numbers_of_heads(head_table(trace, {.threshold = options.threshold}), record);
    }
    if (numbers.baselines) {
      add_null_models(spectra, null_ranks(trace, analysed, options), record);
    }
    if (numbers.at_entropy) {
      for (const EntropyRank& one :
           ranks_at_entropy(trace, *numbers.at_entropy, analysed, options)) {
        set_statistic(record, kRankAtEntropy, one.layer, one.head, one.rank);
      }
    }
    records.push_back(std::move(record));
  }
}

}  // namespace attnscope
