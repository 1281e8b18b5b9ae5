#include "analysis/tables/spectrum_report.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "analysis/spectrum/estimated_spectrum.h"
#include "analysis/tables/shared_columns.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

/// One map of a report; `effect`, `baselines` and `at_entropy` are null if they were not requested.
struct MapRow {
  const SpectrumReport* report = nullptr;
  std::size_t input = 0;
  const MapSpectrum* map = nullptr;
  const IdentityEffect* effect = nullptr;
  const MapBaselines* baselines = nullptr;
  const EntropyRank* at_entropy = nullptr;
};
using MapColumns = std::vector<ColumnOf<MapRow>>;

std::vector<MapRow> map_rows(const SpectrumReport& report) {
  std::vector<MapRow> rows;
  for (std::size_t input = 0; input < report.maps.size(); ++input) {
    for (std::size_t i = 0; i < report.maps[input].size(); ++i) {
      rows.push_back({&report, input, &report.maps[input][i],
                      report.effects.empty() ? nullptr : &report.effects[input][i],
                      report.baselines.empty() ? nullptr : &report.baselines[input][i],
                      report.at_entropy ? &report.entropy_ranks[input][i] : nullptr});
    }
  }
  return rows;
}

ReportValue if_above_zero(std::int64_t rank) { return known_if(rank > 0, rank); }

/// `value`, a member or a function of the spectrum, if the spectrum is known.
auto if_ready(auto value) {
  return [value](const MapRow& row) {
    return row.map->state == SpectrumState::ready ? ReportValue(std::invoke(value, *row.map))
                                                  : ReportValue();
  };
}

/// Like if_ready, with ≈ before an estimate in the text.
ColumnOf<MapRow> estimated(ReportColumn column, auto value, auto words) {
  return {std::move(column), if_ready(value), [words](const MapRow& row) -> std::string {
            if (row.map->state != SpectrumState::ready) return "–";
            return (row.map->estimate ? "≈ " : "") + words(*row.map);
          }};
}

/// `of_estimate`, a function of the estimate, and `otherwise` for a spectrum that is computed.
auto if_estimated(auto of_estimate, auto otherwise) {
  return if_ready([=](const MapSpectrum& map) {
    return map.estimate ? std::invoke(of_estimate, *map.estimate) : otherwise(map);
  });
}

/// Proposition 1 for one map, unknown where it does not apply.
MapColumns effect_columns() {
  const auto if_predicted = [](auto value) {
    return [value](const MapRow& row) {
      return row.effect->predicted.empty() ? ReportValue()
                                           : ReportValue(std::invoke(value, *row.effect));
    };
  };
  const auto without = [](const IdentityEffect& effect) { return effect.without.equivalent_rank; };
  const auto with = [](const IdentityEffect& effect) { return effect.with.equivalent_rank; };
  using Effect = IdentityEffect;
  const auto ready = [](const MapSpectrum& map, auto value) {
    return known_if(map.state == SpectrumState::ready, value);
  };
  return {{{.name = "rank_without_identity", .title = "rank H", .width = 8, .json = false},
           if_predicted(without)},
          {{.name = "rank_with_identity", .title = "rank H+I", .width = 10, .json = false},
           if_predicted(with)},
          {json_only("equivalent_rank_without_identity"),
           [=](const auto& row) {
             return ready(row.effect->without, row.effect->without.equivalent_rank);
           }},
          {json_only("equivalent_rank_with_identity"),
           [=](const auto& row) {
             const MapSpectrum& map = row.effect->with;
             return map.identity ? ready(map, map.equivalent_rank) : ReportValue();
           }},
          {{.name = "predicted_rank_with_identity", .title = "predicted", .width = 11},
           if_predicted(&Effect::predicted_rank)},
          {{.name = "prediction_error", .title = "error of f", .width = 12, .decimals = 5},
           if_predicted(&Effect::prediction_error)},
          {{.name = "symmetry_error_without_identity",
            .title = "symmetry\nerror H",
            .width = 10,
            .decimals = 4,
            .csv = false},
           [=](const auto& row) {
             return ready(row.effect->without, row.effect->without.symmetry_error);
           }},
          {{.name = "share_is_concave"}, if_predicted(&Effect::share_is_concave)},
          {{.name = "closer_to_linear", .title = "closer to\nlinear", .left = true},
           if_predicted(&Effect::closer_to_linear)},
          {{.name = "rank_not_lower", .title = "rank not\nlower", .left = true},
           if_predicted(&Effect::rank_not_lower)},
          {{.name = "largest_excess"}, if_predicted(&Effect::largest_excess)},
          {json_only("singular_values_without_identity"),
           [](const auto& row) { return json_cell(row.effect->without.singular_values); }},
          {json_only("singular_values_with_identity"),
           [](const auto& row) {
             const MapSpectrum& map = row.effect->with;
             return json_cell(map.identity ? map.singular_values : std::vector<double>{});
           }},
          {json_only("predicted_singular_values"),
           [](const auto& row) { return json_cell(row.effect->predicted); }}};
}

MapColumns baseline_columns() {
  const auto of_null = [](auto value) {
    return [value](const MapRow& row) {
      const NullRanks& null = row.baselines->null;
      return null.known ? ReportValue(std::invoke(value, null)) : ReportValue();
    };
  };
  const auto of_block = [](std::int64_t BlockRank::*value) {
    return [value](const MapRow& row) {
      const std::optional<BlockRank>& block = row.baselines->block;
      return block ? ReportValue((*block).*value) : ReportValue();
    };
  };
  return {{{.name = "null_rank", .title = "rank if\nshuffled", .width = 11, .decimals = 1},
           of_null(&NullRanks::rank)},
          {{.name = "null_rank_standard_deviation"}, of_null(&NullRanks::deviation)},
          {{.name = "rank_over_null", .title = "rank /\nnull", .width = 9, .decimals = 3},
           [](const auto& row) { return rank_over_null(*row.map, row.baselines->null); }},
          {{.name = "even_rank", .title = "rank if\neven", .width = 10},
           [](const auto& row) { return if_above_zero(row.baselines->null.even_rank); }},
          {json_only("causal"), of_null(&NullRanks::causal)},
          {{.name = "block_rank", .title = "rank below\nthe diagonal", .width = 14},
           of_block(&BlockRank::equivalent_rank)},
          {{.name = "block_numerical_rank"}, of_block(&BlockRank::numerical_rank)},
          {{.name = "block_cut"}, of_block(&BlockRank::cut)},
          {json_only("block_extent"), of_block(&BlockRank::largest)}};
}

/// The head's index, "3"; "all" for a matrix of a whole layer.
std::string head_in_words(const MapSpectrum& map) {
  return map.head == kAllHeads ? "all" : std::to_string(map.head);
}

/// The rank at the target entropy, and the temperature that leads there.
MapColumns entropy_columns(const SpectrumReport& report) {
  return {{{.name = "rank_at_entropy",
            .title = "rank at\n" + rounded_text(*report.at_entropy) + " ln n",
            .width = 12,
            .decimals = 0},
           [](const auto& row) { return row.at_entropy->rank; }},
          {{.name = "entropy_temperature", .title = "temper-\nature", .width = 9, .decimals = 3},
           [](const auto& row) { return row.at_entropy->tempered.temperature; }}};
}

/// The map's layer and head, as every table names them.
MapColumns place_columns(const SpectrumReport& report) {
  return {layer_column<MapRow>(report.layers, [](const MapRow& row) { return row.map->layer; }),
          {{.name = "head", .title = "head", .width = 6, .words_in_csv = true},
           [](const auto& row) { return known_if(row.map->head != kAllHeads, row.map->head); },
           [](const auto& row) { return head_in_words(*row.map); }}};
}

/// The end of a row in text: its state, the errors of an estimate, rows of zeros.
std::string notes_of(const MapRow& row) {
  const MapSpectrum& map = *row.map;
  if (map.state != SpectrumState::ready) return std::string(describe(map.state));
  std::string text;
  if (map.estimate) {
    const RankInterval interval = rank_interval(map, map.threshold);
    text = "estimated: rank " + std::to_string(interval.low) + " to " +
           std::to_string(interval.high) + ", effective rank ± " +
           rounded_text(map.estimate->effective_rank_error, 2) + ", sum of sigma " +
           rounded_text(map.estimate->nuclear_norm) + " ± " +
           rounded_text(map.estimate->standard_error, 2) + ", " +
           std::to_string(map.estimate->known) + " values exact";
  }
  if (map.zero_rows == 0) return text;
  return text + (text.empty() ? "" : "  ") + std::to_string(map.zero_rows) + " zero rows";
}

/// The numerical rank; nullopt if it is unknown.
std::optional<std::int64_t> numerical_rank_of(const MapSpectrum& map) {
  return map.numerical_rank > 0 ? std::optional(map.numerical_rank) : std::nullopt;
}

/// Every number of a map. `report` is one of those whose maps are shown.
MapColumns map_columns(const SpectrumReport& report) {
  using Map = MapSpectrum;
  const auto zero = [](const Map&) { return 0.0; };
  const auto low = [](const Map& map) { return rank_interval(map, map.threshold).low; };
  const auto high = [](const Map& map) { return rank_interval(map, map.threshold).high; };
  const bool bounded =
      std::ranges::any_of(report.maps[0], [](const Map& map) { return map.rank_bound > 0; });
  MapColumns columns = {{{.name = "input"}, [](const MapRow& row) {
                           return row.report->stacked ? inputs_in_words(*row.report)
                                                      : row.report->inputs[row.input];
                         }}};
  append(columns, place_columns(report));
  append(
      columns,
      {{{.name = "channel", .csv = !report.channels.empty()},
        [](const auto& row) {
          if (row.report->channels.empty()) return ReportValue();
          return row.map->channel ? ReportValue(*row.map->channel) : ReportValue("mean");
        }},
       {{.name = "identity"}, [](const auto& row) { return row.map->identity; }},
       {{.name = "state"}, [](const auto& row) { return std::string(describe(row.map->state)); }},
       {json_only("tokens"), [](const auto& row) { return row.map->tokens; }},
       estimated({.name = "equivalent_rank", .title = "equivalent\nrank", .width = 12},
                 &Map::equivalent_rank,
                 [](const Map& map) { return std::to_string(map.equivalent_rank); }),
       estimated({.name = "effective_rank", .title = "effective\nrank", .width = 11},
                 &Map::effective_rank,
                 [](const Map& map) { return number_cell(map.effective_rank, 0, 2); }),
       {{.name = "stable_rank", .title = "stable\nrank", .width = 9}, if_ready(&Map::stable_rank)},
       {{.name = "numerical_rank", .title = "numerical\nrank", .width = 11},
        [](const auto& row) { return if_any(numerical_rank_of(*row.map)); }},
       {{.name = "rank_one_distance"}, if_ready(&Map::rank_one_distance)},
       {{.name = "symmetry_error", .title = "symmetry\nerror", .width = 10, .decimals = 4},
        if_ready(&Map::symmetry_error)},
       {{.name = "zero_rows"}, [](const auto& row) { return row.map->zero_rows; }},
       {{.name = "not_finite_entries"},
        [](const auto& row) { return row.map->not_finite_entries; }},
       {{.name = "method"}, [](const auto& row) { return std::string(name_of(row.map->method)); }},
       {{.name = "rank_bound", .title = bounded ? "bound of\nthe rank" : "", .width = 11},
        [](const auto& row) { return if_above_zero(row.map->rank_bound); }},
       {csv_only("equivalent_rank_low"), if_ready(low)},
       {csv_only("equivalent_rank_high"), if_ready(high)},
       {json_only("equivalent_rank_interval"), if_ready([=](const Map& map) {
          return json_cell({low(map), high(map)});
        })},
       {{.name = "nuclear_norm"}, if_ready(nuclear_norm)},
       {{.name = "nuclear_norm_standard_error", .digits = 3},
        if_estimated(&SpectrumEstimate::standard_error, zero)},
       {json_only("exact_singular_values"),
        if_estimated(&SpectrumEstimate::known,
                     [](const Map& map) { return std::int64_t{std::ssize(map.singular_values)}; })},
       {json_only("effective_rank_standard_error"),
        if_estimated(&SpectrumEstimate::effective_rank_error, zero)},
       {json_only("singular_values"),
        [](const auto& row) { return json_cell(row.map->singular_values); }}});
  // Proposition 1 has a table of its own in the text, and both are objects in JSON.
  const auto append_object = [&columns](const char* name, bool in_text, auto members) {
    for (ColumnOf<MapRow>& column : members()) {
      if (!in_text) column.column.title.clear();
      column.column.json = false;
      columns.push_back(std::move(column));
    }
    columns.push_back({json_only(name), [members](const MapRow& row) {
                         return json_cell(
                             report_as_json(report_of<MapRow>({row}, members())).front());
                       }});
  };
  if (!report.effects.empty()) append_object("proposition_1", false, effect_columns);
  if (!report.baselines.empty()) append_object("baselines", true, baseline_columns);
  if (report.at_entropy) append(columns, entropy_columns(report));
  columns.push_back({{.left = true}, nullptr, notes_of});
  return columns;
}

/// The maps of all inputs in one list.
std::vector<MapSpectrum> all_maps(const SpectrumReport& report) {
  std::vector<MapSpectrum> all;
  for (const auto& maps : report.maps) all.insert(all.end(), maps.begin(), maps.end());
  return all;
}

std::set<std::int64_t> layers_of(const std::vector<MapSpectrum>& maps) {
  std::set<std::int64_t> layers;
  for (const MapSpectrum& map : maps) layers.insert(map.layer);
  return layers;
}

/// Means over the null models of all inputs' maps, for one layer or, if `layer` is negative, for
/// all layers.
MeanNullRank mean_null_rank_of(const SpectrumReport& report, std::int64_t layer) {
  MeanNullRank mean;
  for (std::size_t input = 0; input < report.baselines.size(); ++input) {
    for (std::size_t i = 0; i < report.baselines[input].size(); ++i) {
      const MapSpectrum& map = report.maps[input][i];
      if (layer < 0 || map.layer == layer) mean.add(map, report.baselines[input][i].null);
    }
  }
  return mean;
}

/// Means over the maps of one layer, or of all if `layer` is negative.
struct LayerMean {
  std::int64_t layer = -1;
  MeanSpectrum mean;
  MeanNullRank null;
};

MeanSpectrum mean_of_layer(const std::vector<MapSpectrum>& maps, std::int64_t layer,
                           const RankThreshold& threshold) {
  std::vector<MapSpectrum> of_layer;
  std::copy_if(maps.begin(), maps.end(), std::back_inserter(of_layer),
               [layer](const MapSpectrum& map) { return map.layer == layer; });
  return mean_spectrum(of_layer, threshold);
}

std::vector<LayerMean> means_of_layers(const SpectrumReport& report,
                                       const std::vector<MapSpectrum>& maps) {
  std::vector<LayerMean> means;
  for (const std::int64_t layer : layers_of(maps)) {
    means.push_back(
        {layer, mean_of_layer(maps, layer, report.threshold), mean_null_rank_of(report, layer)});
  }
  return means;
}

LayerMean mean_of_all(const SpectrumReport& report, const std::vector<MapSpectrum>& maps) {
  return {-1, mean_spectrum(maps, report.threshold), mean_null_rank_of(report, -1)};
}

std::string rank_of_mean_in_words(const LayerMean& layer) {
  const MeanSpectrum& mean = layer.mean;
  if (mean.maps == 0) return "–";
  if (!mean.relative) return std::to_string(mean.rank_of_mean);
  // Curves of maps of different sizes share only a relative rank.
  return number_cell(100 * static_cast<double>(mean.rank_of_mean) /
                         static_cast<double>(mean.mean_share.size()),
                     0, 1) +
         " % of n";
}

std::vector<ColumnOf<LayerMean>> mean_columns(const SpectrumReport& report) {
  const auto of_ranks = [](auto member) {
    return [member](const LayerMean& layer) { return layer.mean.ranks.*member; };
  };
  const auto if_rank = [](auto member) {
    return [member](const LayerMean& layer) { return if_any(layer.mean.ranks.*member); };
  };
  using Ranks = RankDistribution;
  std::vector<ColumnOf<LayerMean>> columns = {
      layer_column<LayerMean>(report.layers, &LayerMean::layer),
      {{.name = "maps", .title = "maps", .width = 6},
       [](const auto& layer) { return layer.mean.maps; }},
      {{.name = "left_out"}, [](const auto& layer) { return layer.mean.left_out; }},
      {{.name = "curve_is_relative"}, [](const auto& layer) { return layer.mean.relative; }},
      {{.name = "mean_rank", .title = "mean rank", .width = 11}, of_ranks(&Ranks::mean)},
      {{.name = "rank_standard_deviation", .title = "deviation", .width = 11},
       of_ranks(&Ranks::standard_deviation)},
      {{.name = "rank_minimum", .title = "least", .width = 7}, if_rank(&Ranks::minimum)},
      {{.name = "rank_lower_quartile"}, of_ranks(&Ranks::lower_quartile)},
      {{.name = "rank_median", .title = "median", .width = 8, .decimals = 1},
       of_ranks(&Ranks::median)},
      {{.name = "rank_upper_quartile"}, of_ranks(&Ranks::upper_quartile)},
      {{.name = "rank_maximum", .title = "greatest", .width = 10}, if_rank(&Ranks::maximum)},
      {{.name = "rank_of_mean_curve", .title = "rank of mean curve", .width = 20},
       [](const auto& layer) { return known_if(layer.mean.maps > 0, layer.mean.rank_of_mean); },
       rank_of_mean_in_words},
      {{.name = "mean_share"}, [](const auto& layer) { return json_cell(layer.mean.mean_share); }}};
  if (!report.baselines.empty()) {
    append(columns,
           {{{.name = "mean_null_rank", .title = "if shuffled", .width = 13},
             [](const auto& layer) { return layer.null.rank(); }},
            {{.name = "mean_rank_over_null", .title = "rank / null", .width = 13, .decimals = 3},
             [](const auto& layer) { return layer.null.ratio(); }}});
  }
  columns.push_back({{.left = true}, nullptr, [](const LayerMean& layer) {
                       const std::int64_t left_out = layer.mean.left_out;
                       return left_out > 0 ? "(" + std::to_string(left_out) + " maps left out)"
                                           : std::string();
                     }});
  return columns;
}

}  // namespace

std::string inputs_in_words(const SpectrumReport& report) {
  const std::size_t count = report.inputs.size();
  return count == 1 ? report.inputs.front() : std::to_string(count) + " inputs";
}

void add_run(SpectrumReport& report, const Trace& trace) {
  report.mechanism = trace.mechanism;
  report.mechanism_trained = trace.mechanism_trained;
  report.channels = channel_in_words(trace);
  report.layers = layers_in_words(trace);
  report.inputs.push_back(trace.input_label);
}

WithIdentity with_identity(const SpectrumReport& report) {
  WithIdentity found;
  for (const auto& maps : report.maps) {
    for (const MapSpectrum& map : maps) {
      found.with += map.identity;
      ++found.maps;
    }
  }
  return found;
}

Report map_rows_report(const SpectrumReport& report) {
  return report_of(map_rows(report), map_columns(report));
}

Report maps_report(const std::vector<SpectrumReport>& reports) {
  std::vector<MapRow> rows;
  std::size_t values = 0;
  for (const SpectrumReport& report : reports) {
    std::ranges::move(map_rows(report), std::back_inserter(rows));
  }
  for (const MapRow& row : rows) values = std::max(values, row.map->singular_values.size());
  MapColumns columns = map_columns(reports.front());
  add_analysed(columns, reports.front().analysed);
  for (std::size_t t = 0; t < values; ++t) {
    ReportColumn column = csv_only("sigma_" + std::to_string(t + 1));
    column.digits = 0;
    columns.push_back({std::move(column), [t](const MapRow& row) {
                         const std::vector<double>& sigma = row.map->singular_values;
                         return t < sigma.size() ? ReportValue(sigma[t]) : ReportValue();
                       }});
  }
  return report_of(std::move(rows), std::move(columns));
}

Report means_report(const SpectrumReport& report, SpectrumMeans which) {
  const std::vector<MapSpectrum> maps = all_maps(report);
  std::vector<LayerMean> means;
  if (which != SpectrumMeans::all) means = means_of_layers(report, maps);
  if (which != SpectrumMeans::layers) means.push_back(mean_of_all(report, maps));
  return report_of(std::move(means), mean_columns(report));
}

Report proposition_report(const SpectrumReport& report) {
  std::vector<MapRow> predicted = map_rows(report);
  std::erase_if(predicted, [](const MapRow& row) { return row.effect->predicted.empty(); });
  MapColumns columns = place_columns(report);
  append(columns, effect_columns());
  return report_of(std::move(predicted), std::move(columns));
}

}  // namespace attnscope
