// Figure of cumulative normalised singular values, like Adder, Fig. 2.
#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/baselines/null_model.h"
#include "analysis/figure/caption.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/subject_spectra.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "analysis/spectrum/estimated_spectrum.h"
#include "analysis/spectrum/mean_spectrum.h"
#include "analysis/spectrum/rank.h"
#include "analysis/spectrum/spectrum.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

enum class Channels { shown, all };
constexpr EnumName<Channels> channels_names[] = {{Channels::shown, "shown"},
                                                 {Channels::all, "all"}};

/// The axis of ranks: 1 to `count`, or in percent if maps of different sizes are compared.
std::vector<double> ranks_up_to(std::size_t count, bool relative) {
  std::vector<double> list(count);
  const double unit = relative ? 100.0 / static_cast<double>(count) : 1;
  for (std::size_t index = 0; index < count; ++index) {
    list[index] = static_cast<double>(index + 1) * unit;
  }
  return list;
}

Line curve(const std::string& label, const std::vector<double>& share, Colour colour,
           LineStyle style, bool relative) {
  Line line;
  line.label = label;
  // Curves start at (0, 0): f(0) is an empty sum.
  line.x = ranks_up_to(share.size(), relative);
  line.x.insert(line.x.begin(), 0);
  line.y = share;
  line.y.insert(line.y.begin(), 0);
  line.colour = colour;
  line.style = style;
  return line;
}

struct Spectra {
  MeanSpectrum mean, null;  ///< means of the maps and of the null models, if requested
  std::vector<MapSpectrum> maps;
  std::string label, shown;  ///< label in numbers; label in the legend
  bool with_identity = false;
  std::size_t group = 0;
};

/// Spectra of the selected maps of all subjects in the group.
Spectra spectra_seen(const FigureRequest& request, const SubjectGroup& group,
                     const MatrixChoice& analysed, const Settings& read,
                     const RankThreshold& threshold, const Progress& progress) {
  std::vector<MapSpectrum> spectra, shuffled;
  const bool with_null = read.is("null", "shuffled");
  const auto count = static_cast<double>(group.subjects.size());
  double done = 0;
  for (const std::size_t index : group.subjects) {
    const Trace& trace = *request.subjects[index].trace;
    SpectrumOptions options;
    options.threshold = threshold;
    options.method = read.choice("method", spectrum_method_names);
    options.layers = read.indices("layer", static_cast<std::int64_t>(trace.layers.size()));
    const std::vector<std::int64_t> heads = read.indices("head", trace.heads());
    const Progress whole = progress.part(done / count, (done + 1) / count);
    const Progress part = with_null ? whole.part(0, 0.15) : whole;
    const bool all_channels = read.choice("channels", channels_names) == Channels::all;
    for (MapSpectrum& map :
         all_channels
             ? spectra_of_channels(request.subjects[index], analysed.identity, options, part)
             : subject_spectra(request, index, analysed, options, part)) {
      if (map.head == kAllHeads || std::find(heads.begin(), heads.end(), map.head) != heads.end()) {
        spectra.push_back(std::move(map));
      }
    }
    if (with_null) {
      for (NullRanks& null : null_ranks(trace, analysed, options, whole.part(0.15, 1))) {
        if (std::find(heads.begin(), heads.end(), null.head) == heads.end()) continue;
        std::ranges::move(null.shuffled, std::back_inserter(shuffled));
      }
    }
    ++done;
  }
  const Trace& first = *request.subjects[group.subjects.front()].trace;
  MeanSpectrum mean = mean_spectrum(spectra, threshold);
  const bool with = shows_identity(first, analysed);
  return {std::move(mean),
          mean_spectrum(shuffled, threshold),
          std::move(spectra),
          seen_label(group.label, with),
          seen_label(group.short_label, with),
          with};
}

/// Adds the range of the null models, maps without structure, as a grey band behind the curves.
void add_shuffled_rows(Figure& figure, Panel& panel, const Spectra& spectra, bool first,
                       bool relative) {
  const MeanSpectrum& null = spectra.null;
  if (null.maps == 0) return;
  Band band;
  band.label = first ? "rows shuffled" : "";
  band.x = ranks_up_to(null.low_share.size(), relative);
  band.low = null.low_share;
  band.high = null.high_share;
  band.colour = with_alpha(neutral_colour, 70);
  band.name = spectra.label + ", rows shuffled, least and greatest";
  band.keys = {{"model", spectra.label}};
  panel.marks.insert(panel.marks.begin(), std::move(band));
  figure.numbers["null_rank_mean_of_maps/" + spectra.label] = {null.ranks.mean};
  figure.numbers["rank_over_null/" + spectra.label] = {spectra.mean.ranks.mean / null.ranks.mean};
}

/// The maps whose singular values were estimated.
std::vector<const MapSpectrum*> estimated_maps(const Spectra& spectra) {
  std::vector<const MapSpectrum*> estimated;
  for (const MapSpectrum& map : spectra.maps) {
    if (map.state == SpectrumState::ready && map.estimate) estimated.push_back(&map);
  }
  return estimated;
}

/// Text of the rank: "r = 65"; "r ≈ 120 (115–126)" if singular values were estimated, with an
/// interval for a single map.
std::string rank_text(const Spectra& spectra) {
  const std::string rank = std::to_string(spectra.mean.rank_of_mean);
  const std::vector<const MapSpectrum*> estimated = estimated_maps(spectra);
  if (estimated.empty()) return "r = " + rank;
  if (spectra.mean.maps > 1) return "r ≈ " + rank;
  const RankInterval interval = rank_interval(*estimated.front(), spectra.mean.threshold);
  return "r ≈ " + rank + " (" + std::to_string(interval.low) + "–" + std::to_string(interval.high) +
         ")";
}

void add_spectrum(Figure& figure, Panel& panel, const Spectra& spectra, bool spread, bool bound,
                  bool relative) {
  const MeanSpectrum& mean = spectra.mean;
  const Colour colour = subject_colour(spectra.group);
  if (mean.maps == 0) {
    Line none;  // legend entry with the reason for the missing curve
    none.label = spectra.shown + " (no spectrum: NaN, Inf, all zero or not converged)";
    none.colour = colour;
    panel.marks.emplace_back(std::move(none));
    return;
  }
  const LineStyle style = spectra.with_identity ? LineStyle::dashed : LineStyle::solid;
  if (spread && mean.maps > 1) {
    panel.marks.emplace_back(Band{"",
                                  ranks_up_to(mean.low_share.size(), relative),
                                  mean.low_share,
                                  mean.high_share,
                                  with_alpha(colour, 40),
                                  spectra.label + ", least and greatest",
                                  {{"model", spectra.label}}});
  }
  Line line = curve(spectra.shown, mean.mean_share, colour, style, relative);
  line.keys = {{"model", spectra.label}};
  panel.marks.emplace_back(std::move(line));
  const double count = static_cast<double>(mean.mean_share.size());
  const double rank = static_cast<double>(mean.rank_of_mean) * (relative ? 100 / count : 1);
  panel.marks.emplace_back(PointMark{
      rank,
      mean.mean_share.at(static_cast<std::size_t>(mean.rank_of_mean - 1)),
      relative ? "r = " + rounded_text(std::round(rank * 10) / 10) + " %" : rank_text(spectra),
      colour,
      true,
      {{"model", spectra.label}}});
  if (const std::int64_t most = shared_rank_bound(spectra.maps); bound && most > 0 && !relative) {
    panel.marks.emplace_back(Rule{static_cast<double>(most), true, "rank ≤ " + std::to_string(most),
                                  colour, LineStyle::dash_dotted});
    figure.numbers["rank_bound/" + spectra.label] = {static_cast<double>(most)};
    std::int64_t greatest = 0;
    for (const MapSpectrum& map : spectra.maps) greatest = std::max(greatest, map.numerical_rank);
    if (greatest > 0) {
      figure.numbers["greatest_numerical_rank/" + spectra.label] = {static_cast<double>(greatest)};
    }
  }
  figure.numbers[(relative ? "relative_equivalent_rank_percent/" : "equivalent_rank/") +
                 spectra.label] = {rank};
  figure.numbers["equivalent_rank_mean_of_maps/" + spectra.label] = {mean.ranks.mean};
  figure.numbers["equivalent_rank_median_of_maps/" + spectra.label] = {mean.ranks.median};
  figure.numbers["maps/" + spectra.label] = {static_cast<double>(mean.maps)};
  if (const std::size_t estimated = estimated_maps(spectra).size(); estimated > 0) {
    figure.numbers["estimated_maps/" + spectra.label] = {static_cast<double>(estimated)};
  }
}

void check_settings(const Settings& read, const MatrixChoice& analysed) {
  const auto refuse = [&](const char* setting, const char* why) {
    throw Error(ErrorKind::usage, why).about(setting).found(in_words(analysed));
  };
  if (read.is("null", "shuffled")) {
    if (!analysed.is_map()) {
      refuse("null", "null models are only defined for attention maps");
    }
    if (read.is("channels", "all")) refuse("null", "null models need one map per head");
  }
  if (read.is("channels", "all") && !analysed.is_plain_map()) {
    refuse("channels", "all channels can only be analysed for unchanged maps");
  }
}

Figure make_cumulative_spectrum(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const RankThreshold threshold = threshold_of(read);
  const bool spread = read.is("spread", "range");
  const std::vector<MatrixChoice> views = analysed_views(read);
  const MatrixChoice& analysed = views.front();
  check_settings(read, analysed);
  const std::vector<SubjectGroup> groups = subject_groups(request, averages_inputs(read));

  Figure figure;
  Panel panel = cumulative_share_panel(read, threshold.of);

  std::vector<Spectra> all;
  std::int64_t longest = 0, left_out = 0;
  const auto parts = static_cast<double>(groups.size() * views.size());
  for (std::size_t index = 0; index < groups.size(); ++index) {
    for (const MatrixChoice& view : views) {
      const auto done = static_cast<double>(all.size());
      all.push_back(spectra_seen(request, groups[index], view, read, threshold,
                                 progress.part(done / parts, (done + 1) / parts)));
      all.back().group = index;
      longest = std::max(longest, static_cast<std::int64_t>(all.back().mean.mean_share.size()));
      left_out += all.back().mean.left_out;
    }
  }
  if (longest == 0) longest = shared_extents(request).tokens;
  const bool relative = std::any_of(all.begin(), all.end(),
                                    [](const Spectra& spectra) { return spectra.mean.relative; });
  if (relative) panel.x.label = "relative rank r / n (%)";
  const double last = relative ? 100 : static_cast<double>(longest);
  panel.x.minimum = 0;
  panel.x.maximum = last;
  panel.x.ticks = ticks_up_to(last);
  panel.marks.emplace_back(Rule{threshold.level, false, "τ = " + rounded_text(threshold.level),
                                neutral_colour, LineStyle::dotted});
  Line even = curve(relative ? "g(r) = r / n" : "g(r) = r / N", linear_share(longest),
                    neutral_colour, LineStyle::dotted, relative);
  even.width_pt = 0.8;
  const bool bound = read.is("bound", "show");
  for (const Spectra& spectra : all) add_spectrum(figure, panel, spectra, spread, bound, relative);
  panel.marks.emplace_back(std::move(even));
  for (const Spectra& spectra : all) {
    add_shuffled_rows(figure, panel, spectra, &spectra == &all.back(), relative);
  }
  figure.panels.push_back(std::move(panel));

  figure.height_mm = 0.62 * request.width_mm + legend_mm(figure, request.width_mm);
  figure.caption =
      "Cumulative normalised singular values f(r) of the " + in_words(analysed) + ", mean over " +
      chosen("layer", layers_written(request, "layer")) +
      (is_of_layer(analysed.of) ? "" : " and " + chosen("head", read.written("head"))) +
      (read.is("channels", "all") ? ", each channel by itself: " : ": ") +
      subjects_in_words(request) + ". Marked: the equivalent rank, the smallest r with f(r) ≥ " +
      rounded_text(threshold.level) + " (f: share of " + symbol_of(threshold.of) +
      "). Dotted: g(r) = r/N, a map of equal singular values. ";
  if (relative) {
    figure.caption +=
        "The maps differ in size: ranks are relative to each map's number of singular values n. ";
  }
  if (std::any_of(figure.numbers.begin(), figure.numbers.end(),
                  [](const auto& number) { return number.first.starts_with("rank_bound/"); })) {
    figure.caption += analysed.of == MatrixKind::map
                          ? "Dash-dotted: the bound of the rank that the mechanism sets. "
                          : "Dash-dotted: the bound of the rank that the shape sets. ";
  }
  if (read.is("null", "shuffled")) {
    figure.caption +=
        "Grey: from least to greatest f(r) of the same maps with the entries of each row in "
        "another "
        "order (of the keys that the query sees), " +
        std::to_string(kShuffles) + " times each. ";
  }
  std::vector<MapSpectrum> maps;
  for (const Spectra& spectra : all) {
    maps.insert(maps.end(), spectra.maps.begin(), spectra.maps.end());
  }
  figure.caption += methods_in_words(maps);
  if (left_out > 0) {
    figure.caption += std::to_string(left_out) + " maps without a spectrum were left out. ";
  }
  figure.caption += made_with();
  return figure;
}

}  // namespace

FigureRecipe cumulative_spectrum_recipe() {
  return {.name = "cumulative-spectrum",
          .title = "Cumulative singular values of attention maps",
          .source = "Adder, Fig. 2",
          .question = FigureQuestion::rank,
          .has_panel = true,
          .settings = {indices_setting("layer", "layers averaged"),
                       indices_setting("head", "heads averaged"), identity_setting("both"),
                       threshold_setting(), share_setting(),
                       setting::choice("channels", names_of(channels_names), "shown",
                                       "where each channel has its map (DAFT): the one the model "
                                       "shows, or all, averaged"),
                       inputs_setting(),
                       setting::choice("spread", {"none", "range"}, "none",
                                       "range: the band between the lowest and highest map"),
                       spectrum_method_setting(), of_setting(), centred_setting(), added_setting(),
                       setting::choice("null", {"none", "shuffled"}, "none",
                                       "shuffled: a grey band of what the maps would have with "
                                       "their rows shuffled (eight times as long)"),
                       setting::choice("bound", {"show", "hide"}, "show",
                                       "a rule where the mechanism bounds the rank"),
                       legend_setting(true)},
          .needs = {.vectors = true},
          .make = make_cumulative_spectrum};
}

}  // namespace attnscope
