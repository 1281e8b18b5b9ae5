// Spectra as tables for people.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>

#include "analysis/spectrum/estimated_spectrum.h"
#include "app/cli/layer_column.h"
#include "app/cli/spectrum_report.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

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
  if (!(report.analysed == Analysed{})) {
    std::printf("analysed: %s\n", in_words(report.analysed).c_str());
  }
  std::printf("%s%lld tokens, %s; equivalent rank: smallest r with f(r) >= %s\n",
              differ ? "up to " : "", static_cast<long long>(tokens),
              identity_in_words(report).c_str(), rounded_text(report.threshold).c_str());
  if (report.asked_with_identity && with_identity(report).with < with_identity(report).maps) {
    std::printf("I can be added to square maps only: the others are seen without it\n");
  }
  std::printf("\n");
}

std::optional<std::int64_t> if_above_zero(std::int64_t rank) {
  return rank > 0 ? std::optional(rank) : std::nullopt;
}

void print_baselines_row(const MapSpectrum& map, const MapBaselines& baselines) {
  const NullRanks& null = baselines.null;
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const auto block =
      baselines.block ? std::optional(baselines.block->equivalent_rank) : std::nullopt;
  std::printf(" %s %s %s %s", number_cell(null.known ? null.rank : unknown, 10, 1).c_str(),
              number_cell(rank_over_null(map, null), 8, 3).c_str(),
              number_cell(if_above_zero(null.even_rank), 9).c_str(),
              number_cell(block, 13).c_str());
}

/// A rank in its column, marked with ≈ if the spectrum is estimated.
std::string about(const MapSpectrum& map, const std::string& rank) {
  return right_cell((map.estimate ? "≈ " : "") + rank, 10);
}

void print_maps(const SpectrumReport& report) {
  const bool bounded = std::any_of(report.maps[0].begin(), report.maps[0].end(),
                                   [](const MapSpectrum& map) { return map.rank_bound > 0; });
  const bool beside = !report.baselines.empty();
  const LayerColumn layer(report.layers);
  std::printf("%s  head  equivalent  effective   stable  numerical  symmetry%s%s\n",
              layer.heading().c_str(), bounded ? "   bound of" : "",
              beside ? "    rank if   rank /   rank if   rank below" : "");
  std::printf("%s              rank       rank     rank       rank     error%s%s\n",
              layer.blank().c_str(), bounded ? "   the rank" : "",
              beside ? "   shuffled     null      even  the diagonal" : "");
  for (std::size_t index = 0; index < report.maps[0].size(); ++index) {
    const MapSpectrum& map = report.maps[0][index];
    std::printf("%s %s  ", layer(map.layer).c_str(), right_cell(head_in_words(map), 5).c_str());
    if (map.state == SpectrumState::ready) {
      std::printf("%s %s %s %s %s", about(map, std::to_string(map.equivalent_rank)).c_str(),
                  about(map, number_cell(map.effective_rank, 0, 2)).c_str(),
                  number_cell(map.stable_rank, 8, 2).c_str(),
                  number_cell(numerical_rank_of(map), 10).c_str(),
                  number_cell(map.symmetry_error, 9, 4).c_str());
      if (bounded && (map.rank_bound > 0 || beside)) {
        std::printf(" %s", number_cell(if_above_zero(map.rank_bound), 10).c_str());
      }
      if (beside) print_baselines_row(map, report.baselines[0][index]);
      if (map.estimate) {
        const RankInterval interval = rank_interval(map, map.threshold);
        std::printf(
            "  estimated: rank %lld to %lld, effective rank ± %s, sum of sigma %s ± %s, "
            "%lld values exact",
            static_cast<long long>(interval.low), static_cast<long long>(interval.high),
            rounded_text(map.estimate->effective_rank_error, 2).c_str(),
            rounded_text(map.estimate->nuclear_norm).c_str(),
            rounded_text(map.estimate->standard_error, 2).c_str(),
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
  if (beside) {
    std::printf(
        "shuffled: the entries of each row in another order (of the keys that the query sees), "
        "mean of %u;\neven: equal weights on those keys; below the diagonal: the greatest rank of "
        "15 "
        "blocks A[t:, :t]\n\n",
        kShuffles);
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

void print_layers(const SpectrumReport& report, const std::vector<MapSpectrum>& maps) {
  const LayerColumn column(report.layers);
  const bool beside = !report.baselines.empty();
  std::printf("%s  maps  mean rank  deviation  least  median  greatest  rank of mean curve%s\n",
              column.heading().c_str(), beside ? "  if shuffled  rank / null" : "");
  const auto print = [&](const std::string& name, const MeanSpectrum& mean, std::int64_t layer) {
    std::printf("%s %5lld  %s %s %s %s %s ", name.c_str(), static_cast<long long>(mean.maps),
                number_cell(mean.ranks.mean, 9, 2).c_str(),
                number_cell(mean.ranks.standard_deviation, 10, 2).c_str(),
                number_cell(mean.ranks.minimum, 6).c_str(),
                number_cell(mean.ranks.median, 7, 1).c_str(),
                number_cell(mean.ranks.maximum, 9).c_str());
    if (mean.maps == 0) {
      std::printf("%s", number_cell(std::nullopt, 18).c_str());
    } else if (mean.relative) {
      // Curves of maps of different sizes share only a relative rank.
      std::printf("%s %% of n", number_cell(100 * static_cast<double>(mean.rank_of_mean) /
                                                static_cast<double>(mean.mean_share.size()),
                                            16, 1)
                                    .c_str());
    } else {
      std::printf("%18lld", static_cast<long long>(mean.rank_of_mean));
    }
    if (beside) {
      const MeanNullRank null = mean_null_of(report, layer);
      std::printf("%s%s", number_cell(null.rank(), 13, 2).c_str(),
                  number_cell(null.ratio(), 13, 3).c_str());
    }
    if (mean.left_out > 0) {
      std::printf("  (%lld maps left out)", static_cast<long long>(mean.left_out));
    }
    std::printf("\n");
  };
  for (const std::int64_t layer : layers_of(maps)) {
    print(column(layer), mean_of_layer(maps, layer, report.threshold), layer);
  }
  print(column.cell("all"), mean_spectrum(maps, report.threshold), -1);
}

void print_proposition(const SpectrumReport& report) {
  std::int64_t maps = 0, concave = 0, closer = 0, not_lower = 0, not_square = 0, no_spectrum = 0;
  const bool any = std::ranges::any_of(report.effects, [](const auto& effects) {
    return std::ranges::any_of(
        effects, [](const IdentityEffect& effect) { return !effect.predicted.empty(); });
  });
  const LayerColumn layer(report.layers);
  std::printf("\n");
  if (report.effects.size() == 1 && any) {
    std::printf(
        "Proposition 1: H beside H + I\n"
        "%s  head  rank H  rank H+I  predicted  error of f  symmetry  closer to  rank not\n"
        "%s                                                error H   linear     lower\n",
        layer.heading().c_str(), layer.blank().c_str());
  }
  for (const auto& effects : report.effects) {
    for (const IdentityEffect& effect : effects) {
      if (effect.predicted.empty()) {
        // Maps with NaN are counted separately, whether square or not.
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
      std::printf("%s %5lld  %6lld %9lld %10lld %s %s  %-9s  %s\n",
                  layer(effect.without.layer).c_str(), static_cast<long long>(effect.without.head),
                  static_cast<long long>(effect.without.equivalent_rank),
                  static_cast<long long>(effect.with.equivalent_rank),
                  static_cast<long long>(effect.predicted_rank),
                  number_cell(effect.prediction_error, 11, 5).c_str(),
                  number_cell(effect.without.symmetry_error, 9, 4).c_str(),
                  effect.closer_to_linear ? "yes" : "no", effect.rank_not_lower ? "yes" : "no");
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
    std::printf("not square, so that there is no H + I and the proposition says nothing: %lld\n",
                static_cast<long long>(not_square));
  }
  if (no_spectrum > 0) {
    std::printf("without a spectrum, without or with I: %lld\n",
                static_cast<long long>(no_spectrum));
  }
}

}  // namespace

void print_table(const SpectrumReport& report) {
  print_heading(report);
  // With every channel there are too many maps for one row each; the layers' means summarise them.
  const bool every_channel = !report.maps.empty() && !report.maps[0].empty() &&
                             report.maps[0].front().channel != report.maps[0].back().channel;
  if (report.maps.size() == 1 && !every_channel) print_maps(report);
  print_layers(report, all_maps(report));
  if (!report.effects.empty()) print_proposition(report);
}

}  // namespace attnscope
