// Figure of ranks and rank-one residuals over depth, of the maps and of the tokens.
#include "analysis/depth/rank_over_depth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/subject_spectra.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "core/text/number_text.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

enum class DepthMeasure { effective, equivalent, stable };
constexpr EnumName<DepthMeasure> depth_measure_names[] = {{DepthMeasure::effective, "effective"},
                                                          {DepthMeasure::equivalent, "equivalent"},
                                                          {DepthMeasure::stable, "stable"}};
enum class DepthQuantity { rank, residual };
enum class Of { maps, tokens };

struct DepthSettings {
  DepthMeasure measure = DepthMeasure::effective;
  bool composite = false;
  bool heads = true;
};

double rank_in(const MapSpectrum& spectrum, DepthMeasure measure) {
  switch (measure) {
    case DepthMeasure::effective:
      return spectrum.effective_rank;
    case DepthMeasure::equivalent:
      return static_cast<double>(spectrum.equivalent_rank);
    case DepthMeasure::stable:
      return spectrum.stable_rank;
  }
  return 0;
}

using ByDepth = std::map<std::int64_t, std::vector<double>>;

/// Values of one subject, or of several inputs of one, at each depth, by panel.
struct Values {
  ByDepth maps_rank, tokens_rank, maps_residual, tokens_residual;

  [[nodiscard]] ByDepth& at(Of of, DepthQuantity quantity) {
    if (of == Of::maps) return quantity == DepthQuantity::rank ? maps_rank : maps_residual;
    return quantity == DepthQuantity::rank ? tokens_rank : tokens_residual;
  }
};

void add(Values& values, Of of, std::int64_t layer, const MapSpectrum& spectrum,
         const RankOneResidual& residual, const DepthSettings& asked) {
  if (spectrum.state != SpectrumState::ready) return;
  const double rank = rank_in(spectrum, asked.measure);
  if (std::isfinite(rank)) values.at(of, DepthQuantity::rank)[layer].push_back(rank);
  const double distance = asked.composite ? residual.composite : residual.frobenius;
  if (std::isfinite(distance)) values.at(of, DepthQuantity::residual)[layer].push_back(distance);
}

struct DepthSeries {
  std::string label, shown;  ///< label in numbers; label in the legend
  Colour colour;
  MarkerShape marker = MarkerShape::circle;
  LineStyle style = LineStyle::solid;
  std::int64_t first_layer = 0;
};

void draw_series(Figure& figure, Panel& panel, const DepthSeries& series, const ByDepth& values,
                 bool heads, const std::string& number) {
  Line means, single;
  means.keys = single.keys = {{"model", series.label}};
  for (const auto& [layer, at] : values) {
    double sum = 0;
    for (const double value : at) {
      sum += value;
      single.x.push_back(static_cast<double>(layer + series.first_layer));
      single.y.push_back(value);
    }
    means.x.push_back(static_cast<double>(layer + series.first_layer));
    means.y.push_back(sum / static_cast<double>(at.size()));
  }
  if (means.x.empty()) return;
  if (heads && single.x.size() > means.x.size()) {
    single.name = series.label + ", each head";
    single.style = LineStyle::none;
    single.marker = series.marker;
    single.colour = with_alpha(series.colour, 80);
    panel.marks.emplace_back(std::move(single));
  }
  means.label = series.shown;
  means.colour = series.colour;
  means.style = series.style;
  means.marker = series.marker;
  figure.numbers[number + "/" + series.label] = means.y;
  panel.marks.emplace_back(std::move(means));
}

std::string rank_name(const DepthSettings& asked, const RankThreshold& threshold) {
  std::string name = std::string(name_of(depth_measure_names, asked.measure)) + " rank";
  if (asked.measure == DepthMeasure::equivalent) name += " (" + to_string(threshold) + ")";
  return name;
}

Panel empty_panel(Of of, DepthQuantity quantity, std::int64_t layers, bool embedded,
                  const std::string& rank, std::int64_t column, std::int64_t first_layer) {
  Panel panel;
  panel.row = quantity == DepthQuantity::rank ? 0 : 1;
  panel.column = column;
  if (quantity == DepthQuantity::rank) panel.title = of == Of::maps ? "attention maps" : "tokens";
  const auto first = static_cast<double>(first_layer);
  panel.x.minimum = first + (of == Of::tokens && embedded ? -1.35 : -0.35);
  panel.x.maximum = first + static_cast<double>(layers) - 0.65;
  panel.x.ticks = layer_ticks(layers, first_layer);
  if (of == Of::tokens && embedded) panel.x.ticks.insert(panel.x.ticks.begin(), {first - 1, "in"});
  panel.x.key = "layer";
  panel.keys = {{"of", of == Of::maps ? "attention maps" : "tokens"}};
  if (quantity == DepthQuantity::residual) panel.x.label = of == Of::maps ? "layer" : "after layer";
  if (column == 0) panel.y.label = quantity == DepthQuantity::rank ? rank : "rank-one residual";
  panel.y.minimum = 0;
  if (quantity == DepthQuantity::residual) panel.y.maximum = 1;
  return panel;
}

Figure make_rank_over_depth(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  DepthSettings asked;
  asked.measure = read.choice("measure", depth_measure_names);
  asked.composite = read.is("residual", "composite");
  asked.heads = read.is("spread", "heads");
  const IdentityView view = read.choice("identity", identity_view_names);
  SpectrumOptions options;
  options.threshold = threshold_of(read);
  options.method = read.choice("method", spectrum_method_names);
  const std::vector<SubjectGroup> groups = subject_groups(request, averages_inputs(read));

  std::vector<Values> values(groups.size());
  std::vector<MapSpectrum> all_maps;
  std::int64_t layers = 0;
  bool embedded = false, maps = false, tokens = false;
  double done = 0;
  const auto runs = static_cast<double>(request.subjects.size());
  for (std::size_t index = 0; index < groups.size(); ++index) {
    for (const std::size_t member : groups[index].subjects) {
      const Trace& trace = *request.subjects[member].trace;
      const Progress own = progress.part(done / runs, (done + 1) / runs);
      const bool has_maps =
          std::any_of(trace.layers.begin(), trace.layers.end(), [](const LayerTrace& layer) {
            return !layer.implied_map.empty() || layer.factors.has_value();
          });
      std::vector<MapSpectrum> known;
      if (has_maps)
        known = subject_spectra(request, member, {.identity = view}, options, own.part(0, 0.8));
      const RankOverDepth depth =
          rank_over_depth(trace, view, options, own.part(0.8, 1), has_maps ? &known : nullptr);
      for (const MapDepth& map : depth.maps) {
        add(values[index], Of::maps, map.spectrum.layer, map.spectrum, map.residual, asked);
      }
      for (const TokenDepth& at : depth.tokens) {
        add(values[index], Of::tokens, at.layer, at.spectrum, at.residual, asked);
        embedded = embedded || at.layer < 0;
      }
      maps = maps || !depth.maps.empty();
      tokens = tokens || !depth.tokens.empty();
      layers = std::max(layers, std::ssize(trace.layers));
      all_maps.insert(all_maps.end(), known.begin(), known.end());
      ++done;
    }
  }

  Figure figure;
  const std::string rank = rank_name(asked, options.threshold);
  std::int64_t column = 0;
  for (const Of of : {Of::maps, Of::tokens}) {
    if (!(of == Of::maps ? maps : tokens)) continue;
    for (const DepthQuantity quantity : {DepthQuantity::rank, DepthQuantity::residual}) {
      Panel panel = empty_panel(of, quantity, layers, embedded, rank, column, request.first_layer);
      for (std::size_t index = 0; index < groups.size(); ++index) {
        const Trace& trace = *request.subjects[groups[index].subjects.front()].trace;
        const bool with = shows_identity(trace, view);
        const DepthSeries series{seen_label(groups[index].label, with),
                                 seen_label(groups[index].short_label, with),
                                 subject_colour(index),
                                 subject_marker(index),
                                 with ? LineStyle::dashed : LineStyle::solid,
                                 request.first_layer};
        const std::string number = std::string(of == Of::maps ? "maps_" : "tokens_") +
                                   (quantity == DepthQuantity::rank ? "rank" : "rank_one_residual");
        draw_series(figure, panel, series, values[index].at(of, quantity),
                    asked.heads && of == Of::maps, number);
      }
      figure.panels.push_back(std::move(panel));
    }
    ++column;
  }
  if (!figure.panels.empty()) figure.panels[1].legend = legend_of(read);
  figure.height_mm = 0.95 * request.width_mm + legend_mm(figure, request.width_mm);
  figure.caption = "Over depth: " + rank +
                   ", and the distance ‖X − 1x̄ᵀ‖ / ‖X‖ from a matrix of equal rows (" +
                   (asked.composite ? "norm √(‖·‖₁‖·‖∞)" : "Frobenius norm") + ")";
  if (maps) figure.caption += ", of the attention maps (means over heads";
  if (maps) figure.caption += asked.heads ? ", and each head)" : ")";
  if (tokens)
    figure.caption += std::string(maps ? " and" : ",") + " of the tokens after each layer";
  figure.caption += ": " + subjects_in_words(request) + ". " + methods_in_words(all_maps);
  figure.caption += made_with();
  return figure;
}

}  // namespace

FigureRecipe rank_over_depth_recipe() {
  return {
      .name = "rank-over-depth",
      .title = "Rank over depth",
      .source = "Dong et al. 2021, Fig. 2",
      .question = FigureQuestion::rank,
      .has_panel = true,
      .settings = {setting::choice("measure", names_of(depth_measure_names), "effective",
                                   "the rank shown"),
                   setting::choice("residual", {"frobenius", "composite"}, "frobenius",
                                   "the norm of the rank-one residual: Frobenius', or "
                                   "√(‖·‖₁‖·‖∞)"),
                   single_identity_setting(), threshold_setting(), share_setting(),
                   inputs_setting(),
                   setting::choice("spread", {"heads", "none"}, "heads", "a point a head, or none"),
                   spectrum_method_setting(), legend_setting()},
      .needs = {.subject = SubjectNeed::run},
      .make = make_rank_over_depth};
}

}  // namespace attnscope
