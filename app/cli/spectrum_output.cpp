#include "app/cli/spectrum_output.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/analysed_argument.h"
#include "app/cli/status_line.h"
#include "core/text/number_text.h"
#include "core/trace/layer_name.h"

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

/// Description of the maps: "maps without I", "4 of 18 maps with I".
std::string identity_in_words(const SpectrumReport& report) {
  const auto [with, maps] = with_identity(report);
  if (with == 0) return "maps without I";
  if (with == maps) return "maps with I";
  return std::to_string(with) + " of " + std::to_string(maps) + " maps with I";
}

void print_heading(const SpectrumReport& report) {
  std::int64_t tokens = 0;
  bool differ = false;
  for (const MapSpectrum& map : report.maps.empty() ? std::vector<MapSpectrum>{} : report.maps[0]) {
    differ = differ || (tokens != 0 && map.tokens != tokens);
    tokens = std::max(tokens, map.tokens);
  }
  std::printf("%s: %s%s, %s\n", report.model.c_str(), to_string(report.mechanism).c_str(),
              training_note(report.mechanism_trained).c_str(), inputs_in_words(report).c_str());
  if (!report.chosen.empty()) std::printf("%s\n", report.chosen.c_str());
  if (!report.channels.empty()) std::printf("maps: %s\n", report.channels.c_str());
  if (!report.analysed.is_plain_map()) {
    std::printf("analysed: %s\n", in_words(report.analysed).c_str());
  }
  std::printf("%s%lld %s, %s; equivalent rank: %s\n", differ ? "up to " : "",
              static_cast<long long>(tokens),
              report.stacked ? "rows, those of all inputs" : "tokens",
              identity_in_words(report).c_str(), rank_in_words(report.threshold).c_str());
  const bool asked = report.analysed.identity == IdentityView::with;
  if (asked && with_identity(report).with < with_identity(report).maps) {
    std::printf("I can be added to square maps only: the others are seen without it\n");
  }
  std::printf("\n");
}

void print_maps(const SpectrumReport& report) {
  std::printf("%s", report_as_text(map_rows_report(report)).c_str());
  std::printf("\n");
  if (!report.baselines.empty()) {
    std::printf(
        "shuffled: the entries of each row in another order (of the keys that the query sees), "
        "mean of %u;\neven: equal weights on those keys; below the diagonal: the greatest rank of "
        "15 "
        "blocks A[t:, :t]\n\n",
        kShuffles);
  }
  if (report.at_entropy) {
    std::printf(
        "rank at %s ln n: of softmax(s / temperature), whose rows have that mean entropy; n: the "
        "keys that the query sees\n\n",
        rounded_text(*report.at_entropy).c_str());
  }
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
        "%lld of %zu maps: at most 32 leading singular values exact, the rest estimated; ranks "
        "(≈) with 95 %% intervals, effective ranks with a standard error (±). --dense-limit N "
        "computes all values up to N tokens\n\n",
        static_cast<long long>(count), report.maps[0].size());
  }
}

void print_proposition(const SpectrumReport& report) {
  std::int64_t concave = 0, closer = 0, not_lower = 0, not_square = 0, no_spectrum = 0;
  std::int64_t predicted = 0;
  std::vector<IdentityEffect> effects;
  for (const auto& of_input : report.effects) {
    effects.insert(effects.end(), of_input.begin(), of_input.end());
  }
  for (const IdentityEffect& effect : effects) {
    if (!effect.predicted.empty()) {
      ++predicted;
      concave += effect.share_is_concave ? 1 : 0;
      closer += effect.closer_to_linear ? 1 : 0;
      not_lower += effect.rank_not_lower ? 1 : 0;
      continue;
    }
    // Maps with NaN are counted separately, whether square or not.
    const bool both =
        effect.without.state == SpectrumState::ready && effect.with.state == SpectrumState::ready;
    ++(both ? not_square : no_spectrum);
  }
  std::printf("\n");
  if (report.effects.size() == 1 && predicted > 0) {
    std::printf("Proposition 1: H and H + I\n%s",
                report_as_text(proposition_report(report)).c_str());
  }
  if (predicted > 0) {
    std::printf(
        "\nof %lld maps, f is concave on %lld, f(H + I) is closer to linear on %lld, the "
        "equivalent rank of H + I is not lower on %lld\n",
        static_cast<long long>(predicted), static_cast<long long>(concave),
        static_cast<long long>(closer), static_cast<long long>(not_lower));
  }
  if (not_square > 0) {
    std::printf("not square (H + I is not defined): %lld\n", static_cast<long long>(not_square));
  }
  if (no_spectrum > 0) {
    std::printf("without a spectrum, without or with I: %lld\n",
                static_cast<long long>(no_spectrum));
  }
}

}  // namespace

std::string spectrum_as_json(const SpectrumReport& report) {
  ordered_json json = {{"model", report.model},
                       {"mechanism", to_string(report.mechanism)},
                       {"mechanism_trained", report.mechanism_trained},
                       {"identity", identity_json(report)},
                       {"channels", report.channels.empty() ? ordered_json(nullptr)
                                                            : ordered_json(report.channels)}};
  add_analysed(json, report.analysed);
  add_threshold(json, report.threshold);
  if (report.at_entropy) json["at_entropy"] = *report.at_entropy;
  json["stacked"] = report.stacked;
  json["inputs"] = report.inputs;
  json["chosen"] = report.chosen.empty() ? ordered_json(nullptr) : ordered_json(report.chosen);
  json["maps"] = report_as_json(map_rows_report(report));
  json["layers"] = report_as_json(means_report(report, SpectrumMeans::layers));
  json["mean"] = report_as_json(means_report(report, SpectrumMeans::all)).front();
  json["mean"].erase("layer");
  json["status"] = status_as_json(report.status);
  json["assumed"] = report.assumed.empty() ? ordered_json(nullptr) : ordered_json(report.assumed);
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void print_table(const SpectrumReport& report) {
  print_heading(report);
  // With every channel there are too many maps for one row each; the layers' means summarise them.
  const bool every_channel = !report.maps.empty() && !report.maps[0].empty() &&
                             report.maps[0].front().channel != report.maps[0].back().channel;
  if (report.maps.size() == 1 && !every_channel) print_maps(report);
  std::printf("%s", report_as_text(means_report(report, SpectrumMeans::both)).c_str());
  if (!report.effects.empty()) print_proposition(report);
}

}  // namespace attnscope
