#include "analysis/sweep/input_record.h"

#include <algorithm>

#include "analysis/spectrum/rank.h"
#include "analysis/spectrum/spectrum.h"
#include "analysis/sweep/statistics.h"

namespace attnscope {

namespace {

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

}  // namespace

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
    for (std::int64_t index = 0; index < std::ssize(trace.layers); ++index) {
      const LayerTrace& layer = trace.layers[static_cast<std::size_t>(index)];
      const Tensor& map = layer.implied_map;
      LayerRecord extents;
      extents.heads = map.extent(0);
      extents.values = std::min(map.extent(1), map.extent(2));
      extents.maps.resize(static_cast<std::size_t>(extents.heads));
      NamedTensors quantities = layer.quantities;
      quantities.insert_or_assign(std::string(kMapQuantity),
                                  maps_seen(trace, index, IdentityView::without));
      extents.statistics = statistics_of(quantities);
      record.layers.push_back(std::move(extents));
    }
    for (const MapSpectrum& spectrum : spectra_of(trace, view, options)) {
      record.layers[static_cast<std::size_t>(spectrum.layer)]
          .maps[static_cast<std::size_t>(spectrum.head)] = record_of(spectrum, request.thresholds);
    }
    records.push_back(std::move(record));
  }
}

}  // namespace attnscope
