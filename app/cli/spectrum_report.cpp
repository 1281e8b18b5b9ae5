#include "app/cli/spectrum_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>

#include "analysis/spectrum/estimated_spectrum.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/status_line.h"
#include "core/text/csv_field.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using nlohmann::ordered_json;

/// null if only some maps contain I; each map then has its own value.
ordered_json identity_json(const SpectrumReport& report) {
  const auto [with, maps] = with_identity(report);
  return with == 0      ? ordered_json(false)
         : with == maps ? ordered_json(true)
                        : ordered_json(nullptr);
}

template <class Value>
ordered_json if_ready(const MapSpectrum& map, const Value& value) {
  return map.state == SpectrumState::ready ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json json_of(const IdentityEffect& effect) {
  const bool known = !effect.predicted.empty();
  const auto if_known = [known](auto value) {
    return known ? ordered_json(value) : ordered_json(nullptr);
  };
  return {
      {"equivalent_rank_without_identity",
       if_ready(effect.without, effect.without.equivalent_rank)},
      {"equivalent_rank_with_identity", effect.with.identity
                                            ? if_ready(effect.with, effect.with.equivalent_rank)
                                            : ordered_json(nullptr)},
      {"predicted_rank_with_identity", if_known(effect.predicted_rank)},
      {"prediction_error", if_known(effect.prediction_error)},
      {"share_is_concave", if_known(effect.share_is_concave)},
      {"closer_to_linear", if_known(effect.closer_to_linear)},
      {"rank_not_lower", if_known(effect.rank_not_lower)},
      {"largest_excess", if_known(effect.largest_excess)},
      {"symmetry_error_without_identity", if_ready(effect.without, effect.without.symmetry_error)},
      {"singular_values_without_identity", effect.without.singular_values},
      {"singular_values_with_identity",
       effect.with.identity ? effect.with.singular_values : std::vector<double>{}},
      {"predicted_singular_values", effect.predicted}};
}

ordered_json channel_of(const MapSpectrum& map) {
  return map.channel ? ordered_json(*map.channel) : ordered_json("mean");
}

ordered_json known(const std::optional<std::int64_t>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

/// 95 % confidence interval of the equivalent rank; low equals high unless the rank is estimated.
std::array<std::int64_t, 2> interval_of(const MapSpectrum& map) {
  const RankInterval interval = rank_interval(map, map.threshold);
  return {interval.low, interval.high};
}

ordered_json json_of(const MapSpectrum& map, const MapBaselines& baselines) {
  const NullRanks& null = baselines.null;
  const auto if_known = [&](auto value) {
    return null.known ? ordered_json(value) : ordered_json(nullptr);
  };
  const auto of_block = [&](auto member) {
    return baselines.block ? ordered_json((*baselines.block).*member) : ordered_json(nullptr);
  };
  const double over = rank_over_null(map, null);
  return {{"null_rank", if_known(null.rank)},
          {"null_rank_standard_deviation", if_known(null.deviation)},
          {"rank_over_null", std::isnan(over) ? ordered_json(nullptr) : ordered_json(over)},
          {"even_rank", null.even_rank > 0 ? ordered_json(null.even_rank) : ordered_json(nullptr)},
          {"causal", if_known(null.causal)},
          {"block_rank", of_block(&BlockRank::equivalent_rank)},
          {"block_numerical_rank", of_block(&BlockRank::numerical_rank)},
          {"block_cut", of_block(&BlockRank::cut)},
          {"block_extent", of_block(&BlockRank::largest)}};
}

ordered_json json_of(const MapSpectrum& map, std::size_t input, const SpectrumReport& report) {
  return {{"input", report.inputs[input]},
          {"layer", map.layer},
          {"head", map.head == kAllHeads ? ordered_json(nullptr) : ordered_json(map.head)},
          {"channel", report.channels.empty() ? ordered_json(nullptr) : channel_of(map)},
          {"identity", map.identity},
          {"state", describe(map.state)},
          {"tokens", map.tokens},
          {"method", name_of(map.method)},
          {"rank_bound", map.rank_bound > 0 ? ordered_json(map.rank_bound) : ordered_json(nullptr)},
          {"equivalent_rank", if_ready(map, map.equivalent_rank)},
          {"equivalent_rank_interval", if_ready(map, interval_of(map))},
          {"nuclear_norm", if_ready(map, nuclear_norm(map))},
          {"nuclear_norm_standard_error",
           if_ready(map, map.estimate ? map.estimate->standard_error : 0.0)},
          {"exact_singular_values",
           if_ready(map, map.estimate ? map.estimate->known : std::ssize(map.singular_values))},
          {"effective_rank", if_ready(map, map.effective_rank)},
          {"effective_rank_standard_error",
           if_ready(map, map.estimate ? map.estimate->effective_rank_error : 0.0)},
          {"stable_rank", if_ready(map, map.stable_rank)},
          {"numerical_rank", known(numerical_rank_of(map))},
          {"rank_one_distance", if_ready(map, map.rank_one_distance)},
          {"symmetry_error", if_ready(map, map.symmetry_error)},
          {"zero_rows", map.zero_rows},
          {"not_finite_entries", map.not_finite_entries},
          {"singular_values", map.singular_values}};
}

ordered_json json_of(const MeanSpectrum& mean, const SpectrumReport& report, std::int64_t layer) {
  ordered_json object = {{"maps", mean.maps},
                         {"left_out", mean.left_out},
                         {"curve_is_relative", mean.relative},
                         {"rank_of_mean_curve",
                          mean.maps > 0 ? ordered_json(mean.rank_of_mean) : ordered_json(nullptr)},
                         {"mean_rank", mean.ranks.mean},
                         {"rank_standard_deviation", mean.ranks.standard_deviation},
                         {"rank_minimum", known(mean.ranks.minimum)},
                         {"rank_lower_quartile", mean.ranks.lower_quartile},
                         {"rank_median", mean.ranks.median},
                         {"rank_upper_quartile", mean.ranks.upper_quartile},
                         {"rank_maximum", known(mean.ranks.maximum)},
                         {"mean_share", mean.mean_share}};
  if (report.baselines.empty()) return object;
  const MeanNullRank null = mean_null_of(report, layer);
  const auto known = [&](double value) {
    return null.maps > 0 ? ordered_json(value) : ordered_json(nullptr);
  };
  object["mean_null_rank"] = known(null.rank());
  object["mean_rank_over_null"] = known(null.ratio());
  return object;
}

/// A comma and the number; only the comma if the number is unknown.
std::string csv_number(double value) {
  return std::isnan(value) ? "," : "," + rounded_text(value, 9);
}

void print_method(const MapSpectrum& map) {
  const std::string_view method = name_of(map.method);
  std::printf("%.*s,", static_cast<int>(method.size()), method.data());
  if (map.rank_bound > 0) std::printf("%lld", static_cast<long long>(map.rank_bound));
  if (map.state != SpectrumState::ready) {
    std::printf(",,,,");
    return;
  }
  const RankInterval interval = rank_interval(map, map.threshold);
  std::printf(",%lld,%lld,%s,%s", static_cast<long long>(interval.low),
              static_cast<long long>(interval.high), rounded_text(nuclear_norm(map), 9).c_str(),
              rounded_text(map.estimate ? map.estimate->standard_error : 0.0, 3).c_str());
}

/// Prints Proposition 1 for one map; empty fields if it does not apply.
void print_effect(const IdentityEffect& effect) {
  if (effect.predicted.empty()) {
    std::printf(",,,,,,,,");
    return;
  }
  const auto word = [](bool value) { return value ? "true" : "false"; };
  std::printf(",%lld,%lld,%lld,%s,%s,%s,%s,%s",
              static_cast<long long>(effect.without.equivalent_rank),
              static_cast<long long>(effect.with.equivalent_rank),
              static_cast<long long>(effect.predicted_rank),
              rounded_text(effect.prediction_error, 9).c_str(), word(effect.share_is_concave),
              word(effect.closer_to_linear), word(effect.rank_not_lower),
              rounded_text(effect.largest_excess, 9).c_str());
}

void print_baselines_csv(const MapSpectrum& map, const MapBaselines& baselines) {
  const NullRanks& null = baselines.null;
  if (null.known) {
    std::printf("%s%s%s,%s", csv_number(null.rank).c_str(), csv_number(null.deviation).c_str(),
                csv_number(rank_over_null(map, null)).c_str(),
                null.even_rank > 0 ? std::to_string(null.even_rank).c_str() : "");
  } else {
    std::printf(",,,,");
  }
  if (baselines.block) {
    std::printf(",%lld,%lld,%lld", static_cast<long long>(baselines.block->equivalent_rank),
                static_cast<long long>(baselines.block->numerical_rank),
                static_cast<long long>(baselines.block->cut));
  } else {
    std::printf(",,,");
  }
}

}  // namespace

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

MeanSpectrum mean_of_layer(const std::vector<MapSpectrum>& maps, std::int64_t layer,
                           double threshold) {
  std::vector<MapSpectrum> of_layer;
  std::copy_if(maps.begin(), maps.end(), std::back_inserter(of_layer),
               [layer](const MapSpectrum& map) { return map.layer == layer; });
  return mean_spectrum(of_layer, threshold);
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

std::string identity_in_words(const SpectrumReport& report) {
  const auto [with, maps] = with_identity(report);
  if (with == 0) return "maps without I";
  if (with == maps) return "maps with I";
  return std::to_string(with) + " of " + std::to_string(maps) + " maps with I";
}

MeanNullRank mean_null_of(const SpectrumReport& report, std::int64_t layer) {
  MeanNullRank mean;
  for (std::size_t input = 0; input < report.baselines.size(); ++input) {
    for (std::size_t i = 0; i < report.baselines[input].size(); ++i) {
      const MapSpectrum& map = report.maps[input][i];
      if (layer < 0 || map.layer == layer) mean.add(map, report.baselines[input][i].null);
    }
  }
  return mean;
}

std::string head_in_words(const MapSpectrum& map) {
  return map.head == kAllHeads ? "all" : std::to_string(map.head);
}

std::optional<std::int64_t> numerical_rank_of(const MapSpectrum& map) {
  return map.numerical_rank > 0 ? std::optional(map.numerical_rank) : std::nullopt;
}

// Spectra as CSV, one row per map.

void print_csv(const SpectrumReport& report, bool with_header) {
  std::size_t columns = 0;
  for (const MapSpectrum& map : all_maps(report)) {
    columns = std::max(columns, map.singular_values.size());
  }
  if (with_header) {
    std::printf(
        "input,layer,head,%sidentity,state,equivalent_rank,effective_rank,stable_rank,"
        "numerical_rank,rank_one_distance,symmetry_error,zero_rows,not_finite_entries,method,"
        "rank_bound,equivalent_rank_low,equivalent_rank_high,nuclear_norm,"
        "nuclear_norm_standard_error",
        report.channels.empty() ? "" : "channel,");
    if (!report.effects.empty()) {
      std::printf(
          ",rank_without_identity,rank_with_identity,predicted_rank_with_identity,prediction_error,"
          "share_is_concave,closer_to_linear,rank_not_lower,largest_excess");
    }
    if (!report.baselines.empty()) {
      std::printf(
          ",null_rank,null_rank_standard_deviation,rank_over_null,even_rank,block_rank,"
          "block_numerical_rank,block_cut");
    }
    if (!(report.analysed == Analysed{})) std::printf(",of,centred,added");
    for (std::size_t t = 1; t <= columns; ++t) std::printf(",sigma_%zu", t);
    std::printf("\n");
  }
  for (std::size_t input = 0; input < report.maps.size(); ++input) {
    for (std::size_t i = 0; i < report.maps[input].size(); ++i) {
      const MapSpectrum& map = report.maps[input][i];
      const std::string channel = report.channels.empty()
                                      ? ""
                                      : (map.channel ? std::to_string(*map.channel) : "mean") + ",";
      std::printf("%s,%lld,%s,%s%s,%s", csv_field(report.inputs[input]).c_str(),
                  static_cast<long long>(map.layer), head_in_words(map).c_str(), channel.c_str(),
                  map.identity ? "true" : "false",
                  csv_field(std::string(describe(map.state))).c_str());
      if (map.state == SpectrumState::ready) {
        std::printf(",%lld%s%s,%s%s%s", static_cast<long long>(map.equivalent_rank),
                    csv_number(map.effective_rank).c_str(), csv_number(map.stable_rank).c_str(),
                    map.numerical_rank > 0 ? std::to_string(map.numerical_rank).c_str() : "",
                    csv_number(map.rank_one_distance).c_str(),
                    csv_number(map.symmetry_error).c_str());
      } else {
        std::printf(",,,,,,");
      }
      std::printf(",%lld,%lld,", static_cast<long long>(map.zero_rows),
                  static_cast<long long>(map.not_finite_entries));
      print_method(map);
      if (!report.effects.empty()) print_effect(report.effects[input][i]);
      if (!report.baselines.empty()) print_baselines_csv(map, report.baselines[input][i]);
      std::printf("%s", analysed_csv(report.analysed).c_str());
      for (std::size_t t = 0; t < columns; ++t) {
        if (t < map.singular_values.size()) {
          std::printf(",%s", exact(map.singular_values[t]).c_str());
        } else {
          std::printf(",");
        }
      }
      std::printf("\n");
    }
  }
}

// Spectra as JSON (docs/json-output.md).

std::string spectrum_as_json(const SpectrumReport& report) {
  const std::vector<MapSpectrum> all = all_maps(report);
  ordered_json json = {{"model", report.model},
                       {"mechanism", to_string(report.mechanism)},
                       {"mechanism_trained", report.mechanism_trained},
                       {"identity", identity_json(report)},
                       {"channels", report.channels.empty() ? ordered_json(nullptr)
                                                            : ordered_json(report.channels)}};
  add_analysed(json, report.analysed);
  json["threshold"] = report.threshold;
  json["inputs"] = report.inputs;
  json["chosen"] = report.chosen.empty() ? ordered_json(nullptr) : ordered_json(report.chosen);
  json["maps"] = ordered_json::array();
  for (std::size_t input = 0; input < report.maps.size(); ++input) {
    for (std::size_t i = 0; i < report.maps[input].size(); ++i) {
      ordered_json map = json_of(report.maps[input][i], input, report);
      if (!report.effects.empty()) map["proposition_1"] = json_of(report.effects[input][i]);
      if (!report.baselines.empty()) {
        map["baselines"] = json_of(report.maps[input][i], report.baselines[input][i]);
      }
      json["maps"].push_back(std::move(map));
    }
  }
  json["layers"] = ordered_json::array();
  for (const std::int64_t layer : layers_of(all)) {
    ordered_json mean = json_of(mean_of_layer(all, layer, report.threshold), report, layer);
    mean["layer"] = layer;
    json["layers"].push_back(std::move(mean));
  }
  json["mean"] = json_of(mean_spectrum(all, report.threshold), report, -1);
  json["status"] = status_as_json(report.status);
  json["assumed"] = report.assumed.empty() ? ordered_json(nullptr) : ordered_json(report.assumed);
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace attnscope
