// Figure of token mixing, the contribution of each token to each other one: attention weights,
// norms, mixing, ALTI and value zeroing.
#include <algorithm>
#include <cmath>

#include "analysis/figure/caption.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/recipes/map_grid.h"
#include "analysis/figure/settings.h"
#include "analysis/mixing/mixing.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::string_view kWeights = "weights", kZeroing = "value-zeroing";

/// One layer's matrix [N, N] of the method `name`.
MatrixD mixing_named(const Subject& subject, std::int64_t layer, const std::string& name,
                     const Progress& progress) {
  if (name == kZeroing) return value_zeroing(subject, layer, true, progress);
  if (name != kWeights) {
    return mixing_of(subject, layer, value_of(mixing_names, name, "mixing"));
  }
  const ImpliedMaps maps = maps_seen(*subject.trace, layer, IdentityView::without);
  MatrixD mean = MatrixD::Zero(maps.extent(1), maps.extent(2));
  for (std::int64_t head = 0; head < maps.extent(0); ++head) mean += maps.head(head).cast<double>();
  return mean / static_cast<double>(maps.extent(0));
}

std::string formula_named(const std::string& name) {
  if (name == kZeroing) return "1 − cos of the layer's tokens with and without v_j";
  if (name == kWeights) return "a_ij, mean over heads";
  return std::string(formula_of(value_of(mixing_names, name, "mixing")));
}

Figure make_token_mixing(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const Subject& subject = request.subjects.front();
  const std::vector<std::string> kinds = read.names("show");
  const std::int64_t count = std::ssize(subject.trace->layers);
  const std::vector<std::int64_t> layers =
      read.is("layers", "auto") ? first_middle_last(count) : read.indices("layers", count);
  Figure figure;
  std::vector<float> values;
  std::string formulas;
  const double steps = static_cast<double>(kinds.size() * layers.size());
  double done = 0;
  for (std::size_t row = 0; row < layers.size(); ++row) {
    for (std::size_t column = 0; column < kinds.size(); ++column, ++done) {
      MatrixD mix = mixing_named(subject, layers[row], kinds[column],
                                 progress.part(done / steps, (done + 1) / steps));
      if (read.flag("rows-to-one")) {
        for (Eigen::Index i = 0; i < mix.rows(); ++i) {
          const double sum = mix.row(i).sum();
          if (sum > 0) mix.row(i) /= sum;
        }
      }
      Panel panel = map_panel(static_cast<std::int64_t>(row), static_cast<std::int64_t>(column));
      if (row == 0) panel.title = kinds[column];
      if (column == 0) panel.y.label = layer_name(request, layers[row]);
      panel.keys = {{"model", subject.label},
                    {"layer", std::to_string(layers[row])},
                    {"mixing", kinds[column]}};
      HeatMap heat;
      heat.rows = mix.rows();
      heat.columns = mix.cols();
      heat.values.reserve(static_cast<std::size_t>(mix.size()));
      for (Eigen::Index i = 0; i < mix.size(); ++i) {
        heat.values.push_back(static_cast<float>(mix.data()[i]));
      }
      values.insert(values.end(), heat.values.begin(), heat.values.end());
      panel.marks.emplace_back(std::move(heat));
      figure.panels.push_back(std::move(panel));
    }
  }
  for (const std::string& kind : kinds) {
    formulas += (formulas.empty() ? "" : "; ") + kind + ": " + formula_named(kind);
  }
  const bool to_one = read.flag("rows-to-one");
  const HeatScale scale = heat_scale(read, std::move(values), to_one ? "share of the row" : "norm");
  figure.colour_scales.push_back(scale.scale);
  finish_map_grid(figure, {.rows = std::ssize(layers), .columns = std::ssize(kinds), .aspect = 1},
                  request.width_mm);
  figure.caption = "How much of each token (columns) goes into each other one (rows). " + formulas +
                   ". " + (to_one ? "Rows divided by their sums. " : "") +
                   clipping_in_words(scale) + subjects_in_words(request) + ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe token_mixing_recipe() {
  std::vector<std::string> kinds = {std::string(kWeights)};
  for (const auto& entry : mixing_names) {
    if (entry.value != Mixing::head_norms) kinds.emplace_back(entry.name);
  }
  kinds.emplace_back(kZeroing);
  return {.name = "token-mixing",
          .title = "What a layer mixes",
          .source =
              "Kobayashi et al. 2020, 2021; Modarressi et al. 2022; Ferrando et al. 2022; "
              "Mohebbi et al. 2023",
          .question = FigureQuestion::heads,
          .settings = {setting::names("show", kinds, {"weights", "norms", "alti"}, "a column each"),
                       indices_setting("layers", "a row each; auto: the first, middle and last")
                           .or_word({"auto"})
                           .by_default("auto"),
                       setting::flag("rows-to-one", true,
                                     "rows divided by their sums, so that they can be compared"),
                       colour_map_setting(), norm_setting(), range_setting()},
          .needs = {.most = 1,
                    .vectors = true,
                    .shows = has_weights,
                    .missing = "needs a model with its weights, run on an input"},
          .make = make_token_mixing};
}

}  // namespace attnscope
