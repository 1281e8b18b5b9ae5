#include <vector>

#include "analysis/figure/caption.h"
#include "analysis/figure/figure.h"
#include "analysis/figure/figure_command.h"
#include "analysis/figure/recipe.h"
#include "core/error.h"
#include "core/text/name_list.h"
#include "core/text/number_text.h"

namespace attnscope {

// One function per figure, defined in the file of its name in recipes/.
FigureRecipe cumulative_spectrum_recipe();
FigureRecipe attention_maps_recipe();
FigureRecipe attention_overlay_recipe();
FigureRecipe rank_by_layer_recipe();
FigureRecipe rank_over_depth_recipe();
FigureRecipe rank_against_entropy_recipe();
FigureRecipe random_networks_recipe();
FigureRecipe heads_by_layer_recipe();
FigureRecipe heads_over_depth_recipe();
FigureRecipe components_recipe();
FigureRecipe tokens_over_depth_recipe();
FigureRecipe head_similarity_recipe();
FigureRecipe patch_features_recipe();
FigureRecipe rotary_use_recipe();
FigureRecipe spatial_frequencies_recipe();
FigureRecipe group_maps_recipe();
FigureRecipe groups_over_depth_recipe();
FigureRecipe receiver_heads_recipe();
FigureRecipe token_mixing_recipe();
FigureRecipe logit_lens_recipe();
FigureRecipe logit_attribution_recipe();
FigureRecipe relevance_recipe();
FigureRecipe attention_lines_recipe();
FigureRecipe score_channels_recipe();
FigureRecipe query_key_scatter_recipe();
FigureRecipe rank_accuracy_recipe();
FigureRecipe ablation_recipe();
FigureRecipe patching_recipe();
FigureRecipe comparison_recipe();
FigureRecipe spectrum_comparison_recipe();
FigureRecipe rank_comparison_recipe();
FigureRecipe hash_codes_recipe();
FigureRecipe feature_scatter_recipe();
FigureRecipe position_bias_recipe();
FigureRecipe key_maps_recipe();
FigureRecipe token_importance_recipe();
FigureRecipe token_experts_recipe();
FigureRecipe energy_breakdown_recipe();
FigureRecipe energy_growth_recipe();
FigureRecipe energy_share_recipe();
FigureRecipe operations_table_recipe();
FigureRecipe mechanism_costs_recipe();
FigureRecipe sweep_quantities_recipe();
FigureRecipe sweep_ranks_recipe();
FigureRecipe sweep_spectrum_recipe();
FigureRecipe over_training_recipe();
FigureRecipe trained_ranks_recipe();
FigureRecipe composite_recipe();

std::span<const FigureRecipe> figure_recipes() {
  static const std::vector<FigureRecipe> list = {
      // clang-format off
      cumulative_spectrum_recipe(),
      attention_maps_recipe(),
      attention_overlay_recipe(),
      rank_by_layer_recipe(),
      rank_over_depth_recipe(),
      rank_against_entropy_recipe(),
      random_networks_recipe(),
      heads_by_layer_recipe(),
      heads_over_depth_recipe(),
      components_recipe(),
      tokens_over_depth_recipe(),
      head_similarity_recipe(),
      patch_features_recipe(),
      rotary_use_recipe(),
      spatial_frequencies_recipe(),
      group_maps_recipe(),
      groups_over_depth_recipe(),
      receiver_heads_recipe(),
      token_mixing_recipe(),
      logit_lens_recipe(),
      logit_attribution_recipe(),
      relevance_recipe(),
      attention_lines_recipe(),
      score_channels_recipe(),
      query_key_scatter_recipe(),
      rank_accuracy_recipe(),
      ablation_recipe(),
      patching_recipe(),
      comparison_recipe(),
      spectrum_comparison_recipe(),
      rank_comparison_recipe(),
      hash_codes_recipe(),
      feature_scatter_recipe(),
      position_bias_recipe(),
      key_maps_recipe(),
      token_importance_recipe(),
      token_experts_recipe(),
      energy_breakdown_recipe(),
      energy_growth_recipe(),
      energy_share_recipe(),
      operations_table_recipe(),
      mechanism_costs_recipe(),
      sweep_spectrum_recipe(),
      sweep_ranks_recipe(),
      sweep_quantities_recipe(),
      over_training_recipe(),
      trained_ranks_recipe(),
      composite_recipe(),
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

FigureNeeds needs_of(const FigureRecipe& recipe, const ParameterValues& settings) {
  if (recipe.needs_as_set == nullptr) return recipe.needs;
  return recipe.needs_as_set(complete_settings(recipe.name, settings));
}

const ParameterDescription& find_setting(std::string_view figure, std::string_view name) {
  const FigureRecipe& recipe = find_figure(figure);
  if (const auto* found = find_description(recipe.settings, name)) return *found;
  throw unknown_name("setting of " + std::string(figure), name,
                     name_list(recipe.settings, &ParameterDescription::name));
}

ParameterValues parse_settings(std::string_view figure,
                               const std::map<std::string, std::string>& texts) {
  ParameterValues settings;
  for (const auto& [name, text] : texts) {
    const ParameterDescription& description = find_setting(figure, name);
    settings[description.name] = parse_parameter(description, text);
  }
  return settings;
}

std::vector<std::filesystem::path> files_set(std::string_view figure,
                                             const ParameterValues& settings) {
  std::vector<std::filesystem::path> files;
  for (const auto& [name, value] : settings) {
    if (find_setting(figure, name).kind == ParameterKind::file)
      files.emplace_back(to_string(value));
  }
  return files;
}

ParameterValues complete_settings(std::string_view figure, const ParameterValues& given) {
  for (const auto& [name, value] : given) (void)find_setting(figure, name);
  return complete_values("figure " + std::string(figure), find_figure(figure).settings, given);
}

namespace {

void check_subject(const FigureNeeds& needs, const Subject& subject) {
  const bool ran = subject.trace != nullptr;
  if (needs.subject == SubjectNeed::maps &&
      (!ran || subject.trace->tokens() == 0 || subject.trace->heads() == 0)) {
    throw Error(ErrorKind::usage, "the attention maps were not recorded").about(subject.label);
  }
  if (needs.subject == SubjectNeed::run && (!ran || subject.trace->layers.empty())) {
    throw Error(ErrorKind::usage, "the model has not run on an input").about(subject.label);
  }
  if (needs.subject == SubjectNeed::model && subject.model == nullptr) {
    throw Error(ErrorKind::usage,
                "the figure needs the model's weights, which a trace does not hold")
        .about(subject.label)
        .remedy("give the weight file");
  }
}

/// Adds the known files of the request's subjects, without duplicates.
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

/// Throws Error(usage) unless the request has the subjects and the setting that the figure
/// requires.
void check_needs(const FigureRecipe& recipe, const FigureRequest& request) {
  const FigureNeeds needs = needs_of(recipe, request.settings);
  const std::size_t count = request.subjects.size();
  if (count < needs.least) {
    throw Error(ErrorKind::usage,
                count == 0 ? "the figure needs a model" : "the figure needs models to compare")
        .about(std::string(recipe.name))
        .expected(needs.least == 1 ? "at least one model or trace"
                                   : "at least two models or inputs")
        .found(std::to_string(count))
        .remedy(needs.least == 1 ? "give --model" : "give --model twice, or several --input");
  }
  if (needs.most > 0 && count > needs.most) {
    throw Error(ErrorKind::usage, "the figure shows one model on one input")
        .about(std::string(recipe.name))
        .expected(std::to_string(needs.most))
        .found(std::to_string(count));
  }
  for (const Subject& subject : request.subjects) check_subject(needs, subject);
  if (needs.setting.empty()) return;
  const std::string name(needs.setting);
  if (to_string(request.settings.at(name)).empty()) {
    throw Error(ErrorKind::usage, "the figure " + std::string(needs.unset))
        .about(name)
        .remedy("name it: --set " + name + "=FILE");
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
        .found(exact(request.width_mm));
  }
  if (request.font_size_pt != 0 &&
      !(request.font_size_pt >= smallest_pt && request.font_size_pt <= largest_pt)) {
    throw Error(ErrorKind::usage, "the font size is out of range")
        .expected("3 to 48 pt")
        .found(rounded_text(request.font_size_pt, 6));
  }
  if (request.first_layer != 0 && request.first_layer != 1) {
    throw Error(ErrorKind::usage, "layers are numbered from 0 or from 1")
        .about("layers-from")
        .found(std::to_string(request.first_layer));
  }
  FigureRequest complete = request;
  complete.settings = complete_settings(name, request.settings);
  check_needs(recipe, complete);
  // Recipes assume the default font size. The figure is made at a width reduced by the ratio of the
  // sizes and then enlarged, which keeps all proportions.
  const double growth = request.font_size_pt > 0 ? request.font_size_pt / Figure{}.font_size_pt : 1;
  complete.width_mm /= growth;
  complete.font_size_pt = 0;
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
  figure.caption = caption_with_status(std::move(figure.caption), request);
  figure.command = figure_command(name, request);
  add_models(request, figure.models);
  make_text_showable(figure);
  return figure;
}

}  // namespace attnscope
