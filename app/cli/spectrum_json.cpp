// Spectra as JSON (docs/json-output.md).
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/spectrum/estimated_spectrum.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/spectrum_report.h"
#include "app/cli/status_line.h"

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

}  // namespace

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
