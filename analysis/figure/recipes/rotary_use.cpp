// Figure of the use of rotary frequencies: ‖q_c‖ · ‖k_c‖ of each pair of channels over its
// wavelength, as in Barbero et al. 2025, Fig. 3.
#include "analysis/frequencies/rotary_use.h"

#include <algorithm>
#include <map>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"

namespace attnscope {

namespace {

using Along = RotaryPair::Along;

/// The uses of one layer's heads along one axis.
struct UseCurves {
  std::vector<double> wavelengths, mean, least, greatest;  ///< by pair
  std::vector<std::vector<double>> heads;                  ///< [head][pair]
};

UseCurves use_curves(const std::vector<RotaryUse>& uses, std::int64_t layer, Along along) {
  UseCurves curves;
  for (const RotaryUse& use : uses) {
    if (use.layer != layer) continue;
    std::vector<double>& head = curves.heads.emplace_back();
    curves.wavelengths.clear();
    for (std::size_t c = 0; c < use.pairs.size(); ++c) {
      if (use.pairs[c].along != along) continue;
      curves.wavelengths.push_back(use.pairs[c].wavelength);
      head.push_back(use.use[c]);
    }
  }
  for (std::size_t c = 0; c < curves.wavelengths.size(); ++c) {
    double sum = 0, least = curves.heads.front()[c], greatest = least;
    for (const std::vector<double>& head : curves.heads) {
      sum += head[c];
      least = std::min(least, head[c]);
      greatest = std::max(greatest, head[c]);
    }
    curves.mean.push_back(sum / static_cast<double>(curves.heads.size()));
    curves.least.push_back(least);
    curves.greatest.push_back(greatest);
  }
  return curves;
}

/// Draws the heads of a layer along one axis: their mean, and their band or a thin line for each.
void add_curves(const UseCurves& curves, const std::string& label, std::size_t index, Along along,
                bool single_heads, Panel& panel) {
  const Colour colour = subject_colour(index);
  const bool by_column = along == Along::columns;
  const std::string axis = along == Along::tokens ? "" : by_column ? ", columns" : ", rows";
  if (!single_heads && curves.heads.size() > 1) {
    Band band;
    band.name = label + axis + ", least and greatest head";
    band.x = curves.wavelengths;
    band.low = curves.least;
    band.high = curves.greatest;
    band.colour = with_alpha(colour, 50);
    panel.marks.emplace_back(std::move(band));
  }
  for (std::size_t head = 0; single_heads && head < curves.heads.size(); ++head) {
    Line line;
    line.name = label + axis + ", head " + std::to_string(head);
    line.keys = {{"head", std::to_string(head)}};
    line.x = curves.wavelengths;
    line.y = curves.heads[head];
    line.colour = with_alpha(colour, 110);
    line.width_pt = 0.5;
    panel.marks.emplace_back(std::move(line));
  }
  Line mean;
  mean.label = label + axis;
  mean.x = curves.wavelengths;
  mean.y = curves.mean;
  mean.colour = colour;
  mean.style = by_column ? LineStyle::dashed : LineStyle::solid;
  mean.marker = subject_marker(index);
  panel.marks.emplace_back(std::move(mean));
}

Figure make_rotary_use(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  std::vector<std::vector<RotaryUse>> uses;
  for (const Subject& subject : request.subjects)
    uses.push_back(rotary_uses(subject, {}, progress));
  std::vector<std::int64_t> known;  // layers with rotary positions in every model
  for (const RotaryUse& use : uses.front()) {
    const bool shared = std::ranges::all_of(uses, [&](const std::vector<RotaryUse>& others) {
      return std::ranges::find(others, use.layer, &RotaryUse::layer) != others.end();
    });
    if (shared && (known.empty() || known.back() != use.layer)) known.push_back(use.layer);
  }
  std::vector<std::int64_t> layers;
  if (read.is("layers", "auto")) {
    for (const std::int64_t at : first_middle_last(std::ssize(known))) {
      layers.push_back(known[static_cast<std::size_t>(at)]);
    }
  } else {
    layers = read.indices("layers", shared_extents(request).layers);
    for (const Subject& subject : request.subjects) (void)rotary_uses(subject, layers, {});
  }
  Figure figure;
  const std::vector<std::string> labels = short_labels(request);
  const bool on_grid = uses.front().front().pairs.front().along != Along::tokens;
  const std::int64_t across = std::min<std::int64_t>(std::ssize(layers), 3);
  for (std::size_t at = 0; at < layers.size(); ++at) {
    Panel panel;
    panel.row = static_cast<std::int64_t>(at) / across;
    panel.column = static_cast<std::int64_t>(at) % across;
    panel.title = layer_name(request, layers[at]);
    panel.keys = {{"layer", std::to_string(layers[at] + request.first_layer)}};
    panel.x.logarithmic = true;
    panel.x.key = "wavelength";
    panel.y.minimum = 0;
    if (panel.column == 0) panel.y.label = "‖q‖ · ‖k‖ of a pair";
    if (static_cast<std::int64_t>(at) + across >= std::ssize(layers)) {
      panel.x.label =
          fitted(on_grid ? "wavelength (patches)" : "wavelength (tokens)",
                 0.75 * request.width_mm / static_cast<double>(across), figure.font_size_pt);
    }
    for (std::size_t index = 0; index < uses.size(); ++index) {
      for (const Along along : {Along::tokens, Along::rows, Along::columns}) {
        const UseCurves curves = use_curves(uses[index], layers[at], along);
        if (curves.wavelengths.empty()) continue;
        add_curves(curves, labels[index], index, along, read.is("spread", "heads"), panel);
      }
    }
    if (!on_grid) {
      const auto tokens = static_cast<double>(request.subjects.front().trace->queries(layers[at]));
      panel.marks.emplace_back(Rule{.at = tokens, .text = "N", .colour = neutral_colour});
    }
    figure.panels.push_back(std::move(panel));
  }
  const bool legend = !read.is("legend", "none") && (uses.size() > 1 || on_grid);
  figure.shared_legend = legend;
  for (Panel& panel : figure.panels) {
    panel.legend = legend ? LegendPosition::below : LegendPosition::none;
  }
  const auto rows = static_cast<double>((std::ssize(layers) + across - 1) / across);
  const auto label_lines = static_cast<double>(lines_of(figure.panels.back().x.label));
  figure.height_mm = rows *
                         (across > 2   ? 0.36
                          : across > 1 ? 0.45
                                       : 0.6) *
                         request.width_mm +
                     3 * label_lines + legend_mm(figure, request.width_mm);
  figure.caption =
      "Use of rotary frequencies: mean norm of the queries times that of the keys in each pair of "
      "channels, over the distance at which the pair turns once. Lines are means over heads; " +
      std::string(read.is("spread", "heads") ? "thin lines are the heads"
                                             : "bands reach from the least to the greatest head") +
      (on_grid ? ". " : "; N: length of the input. ") + subjects_in_words(request) + ". " +
      made_with();
  return figure;
}

}  // namespace

FigureRecipe rotary_use_recipe() {
  return {.name = "rotary-use",
          .title = "Use of rotary frequencies",
          .source = "Barbero et al. 2025",
          .question = FigureQuestion::scores,
          .settings = {indices_setting("layers",
                                       "layers; auto: the first, middle and last that "
                                       "have rotary positions")
                           .or_word({"auto"})
                           .by_default("auto"),
                       setting::choice("spread", {"band", "heads"}, "band",
                                       "a band from the least to the greatest head, or a line for "
                                       "each"),
                       legend_setting()},
          .needs = {.vectors = true,
                    .shows = [](const Subject& subject) { return has_rotary_positions(subject); },
                    .missing = "needs a model with rotary positions and its weights"},
          .make = make_rotary_use};
}

}  // namespace attnscope
