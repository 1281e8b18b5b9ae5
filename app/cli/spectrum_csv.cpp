// Spectra as CSV, one row per map.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/spectrum/estimated_spectrum.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/spectrum_report.h"
#include "core/text/csv_field.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

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

}  // namespace attnscope
