#include <algorithm>
#include <array>

#include "analysis/figure/figure_command.h"
#include "analysis/figure/recipe.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

// One line a figure, defined in recipes/ in the file of its name.
extern const FigureRecipe cumulative_spectrum_recipe;
extern const FigureRecipe attention_maps_recipe;
extern const FigureRecipe attention_overlay_recipe;
extern const FigureRecipe rank_by_layer_recipe;
extern const FigureRecipe rank_over_depth_recipe;
extern const FigureRecipe comparison_recipe;
extern const FigureRecipe spectrum_comparison_recipe;
extern const FigureRecipe rank_comparison_recipe;
extern const FigureRecipe hash_codes_recipe;
extern const FigureRecipe feature_scatter_recipe;
extern const FigureRecipe position_bias_recipe;
extern const FigureRecipe key_maps_recipe;
extern const FigureRecipe token_importance_recipe;
extern const FigureRecipe energy_breakdown_recipe;
extern const FigureRecipe energy_growth_recipe;
extern const FigureRecipe energy_share_recipe;
extern const FigureRecipe operations_table_recipe;
extern const FigureRecipe mechanism_costs_recipe;
extern const FigureRecipe sweep_quantities_recipe;
extern const FigureRecipe sweep_ranks_recipe;
extern const FigureRecipe sweep_spectrum_recipe;
extern const FigureRecipe composite_recipe;

std::span<const FigureRecipe> figure_recipes() {
  static const std::array list = {
      // clang-format off
      cumulative_spectrum_recipe,
      attention_maps_recipe,
      attention_overlay_recipe,
      rank_by_layer_recipe,
      rank_over_depth_recipe,
      comparison_recipe,
      spectrum_comparison_recipe,
      rank_comparison_recipe,
      hash_codes_recipe,
      feature_scatter_recipe,
      position_bias_recipe,
      key_maps_recipe,
      token_importance_recipe,
      energy_breakdown_recipe,
      energy_growth_recipe,
      energy_share_recipe,
      operations_table_recipe,
      mechanism_costs_recipe,
      sweep_spectrum_recipe,
      sweep_ranks_recipe,
      sweep_quantities_recipe,
      composite_recipe,
      // clang-format on
  };
  return list;
}

const FigureRecipe& find_figure(std::string_view name) {
  for (const FigureRecipe& recipe : figure_recipes()) {
    if (recipe.name == name) return recipe;
  }
  throw unknown_name("figure", name, name_list(figure_recipes(), &FigureRecipe::name));
}

void check_settings(std::string_view figure, const std::map<std::string, std::string>& settings) {
  const FigureRecipe& recipe = find_figure(figure);
  for (const auto& [setting, value] : settings) {
    const bool exists = std::any_of(recipe.settings.begin(), recipe.settings.end(),
                                    [&](const FigureSetting& s) { return s.name == setting; });
    if (!exists) {
      throw unknown_name("setting of " + std::string(figure), setting,
                         name_list(recipe.settings, &FigureSetting::name));
    }
  }
}

namespace {

/// The files that the request's subjects came from, as far as they are known, each once.
void add_models(const FigureRequest& request, std::vector<std::string>& files) {
  for (std::size_t i = 0; i < request.subjects.size(); ++i) {
    const Subject& subject = request.subjects[i];
    std::string file = subject.model                ? subject.model->file().string()
                       : i < request.sources.size() ? request.sources[i]
                                                    : std::string();
    if (file.empty() || std::find(files.begin(), files.end(), file) != files.end()) continue;
    files.push_back(std::move(file));
  }
}

}  // namespace

Figure make_figure(std::string_view name, const FigureRequest& request, const Progress& progress) {
  constexpr double narrowest_mm = 20;
  constexpr double widest_mm = 1000;
  constexpr double smallest_pt = 3;
  constexpr double largest_pt = 48;
  const FigureRecipe& recipe = find_figure(name);
  if (!(request.width_mm >= narrowest_mm && request.width_mm <= widest_mm)) {
    throw Error(ErrorKind::usage, "a figure cannot be this wide")
        .expected("20 to 1000 mm")
        .found(std::to_string(request.width_mm));
  }
  if (request.font_size_pt != 0 &&
      !(request.font_size_pt >= smallest_pt && request.font_size_pt <= largest_pt)) {
    throw Error(ErrorKind::usage, "a figure cannot have type of this size")
        .expected("3 to 48 pt")
        .found(std::to_string(request.font_size_pt));
  }
  check_settings(name, request.settings);
  FigureRequest complete = request;
  // Recipes measure by their own size of type: made as much narrower as that is smaller than the
  // wanted one, everything keeps its room.
  const double growth = request.font_size_pt > 0 ? request.font_size_pt / Figure{}.font_size_pt : 1;
  complete.width_mm /= growth;
  complete.font_size_pt = 0;
  for (const FigureSetting& setting : recipe.settings) {
    complete.settings.emplace(setting.name, setting.default_value);
  }
  Figure figure = recipe.make(complete, progress);
  figure.name = recipe.name;
  if (figure.title.empty()) figure.title = recipe.title;
  figure.width_mm = request.width_mm;
  figure.height_mm *= growth;
  figure.font_size_pt *= growth;
  for (FigureArea& area : figure.areas) {
    for (double* length : {&area.x_mm, &area.y_mm, &area.width_mm, &area.height_mm}) {
      *length *= growth;
    }
  }
  figure.command = figure_command(name, request);
  add_models(request, figure.models);
  return figure;
}

}  // namespace attnscope
