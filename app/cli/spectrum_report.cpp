#include "app/cli/spectrum_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/spectrum/estimated_spectrum.h"
#include "analysis/spectrum/mean_spectrum.h"
#include "app/cli/number_cell.h"
#include "core/text/csv_field.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using nlohmann::ordered_json;

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

struct WithIdentity {
  std::int64_t with = 0, maps = 0;
};

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

/// "maps without I", "4 of 18 maps with I".
std::string identity_in_words(const SpectrumReport& report) {
  const auto [with, maps] = with_identity(report);
  if (with == 0) return "maps without I";
  if (with == maps) return "maps with I";
  return std::to_string(with) + " of " + std::to_string(maps) + " maps with I";
}

/// null where some maps contain I and others do not: each says so itself.
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

/// 0 says that it is not known.
std::optional<std::int64_t> numerical_rank_of(const MapSpectrum& map) {
  return map.numerical_rank > 0 ? std::optional(map.numerical_rank) : std::nullopt;
}

ordered_json known(const std::optional<std::int64_t>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

/// Where the equivalent rank lies with 95 % confidence: twice itself, unless it was estimated.
std::array<std::int64_t, 2> interval_of(const MapSpectrum& map) {
  const RankInterval interval = rank_interval(map, map.threshold);
  return {interval.low, interval.high};
}

ordered_json json_of(const MapSpectrum& map, std::size_t input, const SpectrumReport& report) {
  return {{"input", report.inputs[input]},
          {"layer", map.layer},
          {"head", map.head},
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
          {"stable_rank", if_ready(map, map.stable_rank)},
          {"numerical_rank", known(numerical_rank_of(map))},
          {"rank_one_distance", if_ready(map, map.rank_one_distance)},
          {"symmetry_error", if_ready(map, map.symmetry_error)},
          {"zero_rows", map.zero_rows},
          {"not_finite_entries", map.not_finite_entries},
          {"singular_values", map.singular_values}};
}

ordered_json json_of(const MeanSpectrum& mean) {
  return {{"maps", mean.maps},
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
}

void print_heading(const SpectrumReport& report) {
  std::int64_t tokens = 0;
  bool differ = false;
  for (const MapSpectrum& map : report.maps.empty() ? std::vector<MapSpectrum>{} : report.maps[0]) {
    differ = differ || (tokens != 0 && map.tokens != tokens);
    tokens = std::max(tokens, map.tokens);
  }
  std::printf(
      "%s: %s%s, %s\n", report.model.c_str(), to_string(report.mechanism).c_str(),
      report.mechanism_trained ? ""
                               : " (not trained: laid over weights trained with another mechanism)",
      report.inputs.size() == 1 ? report.inputs[0].c_str()
                                : (std::to_string(report.inputs.size()) + " inputs").c_str());
  if (!report.chosen.empty()) std::printf("%s\n", report.chosen.c_str());
  if (!report.channels.empty()) std::printf("maps: %s\n", report.channels.c_str());
  std::printf("%s%lld tokens, %s; equivalent rank: smallest r with f(r) >= %g\n",
              differ ? "up to " : "", static_cast<long long>(tokens),
              identity_in_words(report).c_str(), report.threshold);
  if (report.asked_with_identity && with_identity(report).with < with_identity(report).maps) {
    std::printf("I can be added to square maps only: the others are seen without it\n");
  }
  std::printf("\n");
}

void print_maps(const SpectrumReport& report) {
  const bool bounded = std::any_of(report.maps[0].begin(), report.maps[0].end(),
                                   [](const MapSpectrum& map) { return map.rank_bound > 0; });
  std::printf("layer  head  equivalent  effective   stable  numerical  symmetry%s\n",
              bounded ? "   bound of" : "");
  std::printf("                   rank       rank     rank       rank     error%s\n",
              bounded ? "   the rank" : "");
  for (const MapSpectrum& map : report.maps[0]) {
    std::printf("%5lld %5lld  ", static_cast<long long>(map.layer),
                static_cast<long long>(map.head));
    if (map.state == SpectrumState::ready) {
      std::printf("%10lld %s %s %s %s", static_cast<long long>(map.equivalent_rank),
                  number_cell(map.effective_rank, 10, 2).c_str(),
                  number_cell(map.stable_rank, 8, 2).c_str(),
                  number_cell(numerical_rank_of(map), 10).c_str(),
                  number_cell(map.symmetry_error, 9, 4).c_str());
      if (bounded && map.rank_bound > 0) {
        std::printf(" %10lld", static_cast<long long>(map.rank_bound));
      }
      if (map.estimate) {
        const RankInterval interval = rank_interval(map, map.threshold);
        std::printf("  estimated: rank %lld to %lld, sum of sigma %.4g ± %.2g, %lld values exact",
                    static_cast<long long>(interval.low), static_cast<long long>(interval.high),
                    map.estimate->nuclear_norm, map.estimate->standard_error,
                    static_cast<long long>(map.estimate->known));
      }
      if (map.zero_rows > 0) {
        std::printf("  %lld zero rows", static_cast<long long>(map.zero_rows));
      }
    } else {
      const std::string_view state = describe(map.state);
      std::printf("%.*s", static_cast<int>(state.size()), state.data());
    }
    std::printf("\n");
  }
  std::printf("\n");
  const auto how_many = [&](SpectrumMethod method) {
    return std::count_if(report.maps[0].begin(), report.maps[0].end(),
                         [method](const MapSpectrum& map) { return map.method == method; });
  };
  if (const auto count = how_many(SpectrumMethod::factored); count > 0) {
    std::printf("%lld of %zu maps: singular values from the factors, %lld columns at most\n\n",
                static_cast<long long>(count), report.maps[0].size(),
                static_cast<long long>(report.maps[0].front().rank_bound));
  }
  if (const auto count = how_many(SpectrumMethod::estimated); count > 0) {
    std::printf(
        "%lld of %zu maps: leading singular values exact, the rest estimated; ranks with "
        "95 %% intervals. --dense-limit N computes all values up to N tokens\n\n",
        static_cast<long long>(count), report.maps[0].size());
  }
}

void print_layers(const SpectrumReport& report, const std::vector<MapSpectrum>& maps) {
  std::printf("layer  maps  mean rank  deviation  least  median  greatest  rank of mean curve\n");
  const auto print = [](const char* name, const MeanSpectrum& mean) {
    std::printf("%5s %5lld  %s %s %s %s %s ", name, static_cast<long long>(mean.maps),
                number_cell(mean.ranks.mean, 9, 2).c_str(),
                number_cell(mean.ranks.standard_deviation, 10, 2).c_str(),
                number_cell(mean.ranks.minimum, 6).c_str(),
                number_cell(mean.ranks.median, 7, 1).c_str(),
                number_cell(mean.ranks.maximum, 9).c_str());
    if (mean.maps == 0) {
      std::printf("%s", number_cell(std::nullopt, 18).c_str());
    } else if (mean.relative) {
      // Maps of different sizes: their curves have only a relative rank in common.
      std::printf("%16.1f %% of n", 100 * static_cast<double>(mean.rank_of_mean) /
                                        static_cast<double>(mean.mean_share.size()));
    } else {
      std::printf("%18lld", static_cast<long long>(mean.rank_of_mean));
    }
    if (mean.left_out > 0) {
      std::printf("  (%lld maps left out)", static_cast<long long>(mean.left_out));
    }
    std::printf("\n");
  };
  for (const std::int64_t layer : layers_of(maps)) {
    print(std::to_string(layer).c_str(), mean_of_layer(maps, layer, report.threshold));
  }
  print("all", mean_spectrum(maps, report.threshold));
}

void print_proposition(const SpectrumReport& report) {
  std::int64_t maps = 0, concave = 0, closer = 0, not_lower = 0, not_square = 0, no_spectrum = 0;
  const bool any = std::ranges::any_of(report.effects, [](const auto& effects) {
    return std::ranges::any_of(
        effects, [](const IdentityEffect& effect) { return !effect.predicted.empty(); });
  });
  std::printf("\n");
  if (report.effects.size() == 1 && any) {
    std::printf(
        "Proposition 1: H beside H + I\n"
        "layer  head  rank H  rank H+I  predicted  error of f  symmetry  closer to  rank not\n"
        "                                                     error H   linear     lower\n");
  }
  for (const auto& effects : report.effects) {
    for (const IdentityEffect& effect : effects) {
      if (effect.predicted.empty()) {
        // A map of NaN is no map to speak of, square or not.
        const bool both = effect.without.state == SpectrumState::ready &&
                          effect.with.state == SpectrumState::ready;
        ++(both ? not_square : no_spectrum);
        continue;
      }
      ++maps;
      concave += effect.share_is_concave ? 1 : 0;
      closer += effect.closer_to_linear ? 1 : 0;
      not_lower += effect.rank_not_lower ? 1 : 0;
      if (report.effects.size() > 1) continue;
      std::printf("%5lld %5lld  %6lld %9lld %10lld %11.5f %9.4f  %-9s  %s\n",
                  static_cast<long long>(effect.without.layer),
                  static_cast<long long>(effect.without.head),
                  static_cast<long long>(effect.without.equivalent_rank),
                  static_cast<long long>(effect.with.equivalent_rank),
                  static_cast<long long>(effect.predicted_rank), effect.prediction_error,
                  effect.without.symmetry_error, effect.closer_to_linear ? "yes" : "no",
                  effect.rank_not_lower ? "yes" : "no");
    }
  }
  if (maps > 0) {
    std::printf(
        "\nof %lld maps, f is concave on %lld, f(H + I) is closer to linear on %lld, the "
        "equivalent rank of H + I is not lower on %lld\n",
        static_cast<long long>(maps), static_cast<long long>(concave),
        static_cast<long long>(closer), static_cast<long long>(not_lower));
  }
  if (not_square > 0) {
    std::printf(
        "the proposition says nothing of %lld maps that are not square: there is no H + I\n",
        static_cast<long long>(not_square));
  }
  if (no_spectrum > 0) {
    std::printf("%lld maps have no spectrum, without or with I\n",
                static_cast<long long>(no_spectrum));
  }
}

}  // namespace

void print_json(const SpectrumReport& report) {
  const std::vector<MapSpectrum> all = all_maps(report);
  ordered_json json = {
      {"model", report.model},
      {"mechanism", to_string(report.mechanism)},
      {"mechanism_trained", report.mechanism_trained},
      {"identity", identity_json(report)},
      {"channels", report.channels.empty() ? ordered_json(nullptr) : ordered_json(report.channels)},
      {"threshold", report.threshold},
      {"inputs", report.inputs},
      {"chosen", report.chosen.empty() ? ordered_json(nullptr) : ordered_json(report.chosen)}};
  json["maps"] = ordered_json::array();
  for (std::size_t input = 0; input < report.maps.size(); ++input) {
    for (std::size_t i = 0; i < report.maps[input].size(); ++i) {
      ordered_json map = json_of(report.maps[input][i], input, report);
      if (!report.effects.empty()) map["proposition_1"] = json_of(report.effects[input][i]);
      json["maps"].push_back(std::move(map));
    }
  }
  json["layers"] = ordered_json::array();
  for (const std::int64_t layer : layers_of(all)) {
    ordered_json mean = json_of(mean_of_layer(all, layer, report.threshold));
    mean["layer"] = layer;
    json["layers"].push_back(std::move(mean));
  }
  json["mean"] = json_of(mean_spectrum(all, report.threshold));
  std::printf("%s\n", json.dump().c_str());
}

namespace {

/// A comma and the number; nothing behind it where it is not known.
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
  const std::array<std::int64_t, 2> interval = interval_of(map);
  std::printf(",%lld,%lld,%.9g,%.3g", static_cast<long long>(interval[0]),
              static_cast<long long>(interval[1]), nuclear_norm(map),
              map.estimate ? map.estimate->standard_error : 0.0);
}

}  // namespace

void print_csv(const SpectrumReport& report) {
  std::size_t columns = 0;
  for (const MapSpectrum& map : all_maps(report)) {
    columns = std::max(columns, map.singular_values.size());
  }
  std::printf(
      "input,layer,head,%sidentity,state,equivalent_rank,effective_rank,stable_rank,numerical_rank,"
      "rank_one_distance,symmetry_error,zero_rows,not_finite_entries,method,rank_bound,"
      "equivalent_rank_low,equivalent_rank_high,nuclear_norm,nuclear_norm_standard_error",
      report.channels.empty() ? "" : "channel,");
  for (std::size_t t = 1; t <= columns; ++t) std::printf(",sigma_%zu", t);
  std::printf("\n");
  for (std::size_t input = 0; input < report.maps.size(); ++input) {
    for (const MapSpectrum& map : report.maps[input]) {
      const std::string channel = report.channels.empty()
                                      ? ""
                                      : (map.channel ? std::to_string(*map.channel) : "mean") + ",";
      std::printf("%s,%lld,%lld,%s%s,%s", csv_field(report.inputs[input]).c_str(),
                  static_cast<long long>(map.layer), static_cast<long long>(map.head),
                  channel.c_str(), map.identity ? "true" : "false",
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
      for (std::size_t t = 0; t < columns; ++t) {
        if (t < map.singular_values.size()) {
          std::printf(",%.17g", map.singular_values[t]);
        } else {
          std::printf(",");
        }
      }
      std::printf("\n");
    }
  }
}

void print_table(const SpectrumReport& report) {
  print_heading(report);
  // Of every channel there are too many maps for a row each; the layers' means say what they are.
  const bool every_channel = !report.maps.empty() && !report.maps[0].empty() &&
                             report.maps[0].front().channel != report.maps[0].back().channel;
  if (report.maps.size() == 1 && !every_channel) print_maps(report);
  print_layers(report, all_maps(report));
  if (!report.effects.empty()) print_proposition(report);
}

}  // namespace attnscope
