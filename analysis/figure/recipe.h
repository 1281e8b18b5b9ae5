// Makes figures from subjects. Each figure has a file in recipes/ and an entry in recipes.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/figure.h"
#include "analysis/figure/needs.h"
#include "analysis/spectrum/spectrum.h"
#include "core/model/subject.h"
#include "core/parameters/parameters.h"
#include "core/progress.h"

namespace attnscope {

struct FigureRequest {
  std::vector<Subject> subjects;  ///< subjects, as required by the figure
  ParameterValues settings;       ///< settings of the user; the others have their defaults
  double width_mm = 84;
  /// MODEL arguments of the subjects, if known; else made from the subjects.
  std::vector<std::string> sources;
  /// Spectra of the subjects that are known already, with default options; the figure computes
  /// those that are null or missing.
  std::vector<std::shared_ptr<const SubjectSpectra>> spectra;
  double font_size_pt = 0;  ///< size of axis labels, which scales all text; 0: the figure's default
  /// Number of the first layer in figures: 0 or 1. Settings always count from 0.
  std::int64_t first_layer = 0;
  /// Further arguments of the command line, word by word: "--model-heads", "3".
  std::vector<std::string> further_arguments;
};

/// Question that a figure answers, by which choosers list it.
enum class FigureQuestion {
  maps,
  rank,
  heads,
  scores,
  answer,
  removal,
  models,
  inputs,
  training,
  cost,
  none  ///< a page of several figures
};
inline constexpr EnumName<FigureQuestion> figure_question_names[] = {
    {FigureQuestion::maps, "How do the maps look?"},
    {FigureQuestion::rank, "What rank do they have?"},
    {FigureQuestion::heads, "What do the heads do?"},
    {FigureQuestion::scores, "Why does a query attend to a key?"},
    {FigureQuestion::answer, "What does the answer rest on?"},
    {FigureQuestion::removal, "What is lost without it?"},
    {FigureQuestion::models, "How do models differ?"},
    {FigureQuestion::inputs, "Does it hold for many inputs?"},
    {FigureQuestion::training, "How does it change in training?"},
    {FigureQuestion::cost, "What does it cost?"},
    {FigureQuestion::none, ""}};

struct FigureRecipe {
  std::string_view name;         ///< "cumulative-spectrum"
  std::string_view title;        ///< "Cumulative singular values"
  std::string_view source = {};  ///< "Adder, Fig. 2"
  FigureQuestion question = FigureQuestion::none;
  /// True if a panel of the window shows it. Others are listed in the panel of analyses.
  bool has_panel = false;
  /// Settings of the figure: `--set threshold=0.95`.
  std::vector<ParameterDescription> settings = {};
  FigureNeeds needs = {};
  /// Makes the figure. `request.settings` holds every setting of the recipe, checked: make_figure
  /// adds the defaults. Throws Error(usage) for subjects that cannot be drawn.
  Figure (*make)(const FigureRequest& request, const Progress& progress) = nullptr;
  /// Requirements of the figures that a composite figure's complete `settings` name; else null.
  FigureNeeds (*needs_as_set)(const ParameterValues& settings) = nullptr;
};

[[nodiscard]] std::span<const FigureRecipe> figure_recipes();

/// Finds a recipe by name. Throws Error(usage) listing the known figures.
[[nodiscard]] const FigureRecipe& find_figure(std::string_view name);

/// Requirements of the figure with these settings, which may be partial.
[[nodiscard]] FigureNeeds needs_of(const FigureRecipe& recipe, const ParameterValues& settings);

/// The setting with this name. Throws Error(usage) listing the figure's settings.
[[nodiscard]] const ParameterDescription& find_setting(std::string_view figure,
                                                       std::string_view name);

/// Parses settings written as `--set name=text`. Throws Error(usage) for an unknown setting,
/// listing the known ones, and for a value out of range.
[[nodiscard]] ParameterValues parse_settings(std::string_view figure,
                                             const std::map<std::string, std::string>& texts);

/// The files named by the settings.
[[nodiscard]] std::vector<std::filesystem::path> files_set(std::string_view figure,
                                                           const ParameterValues& settings);

/// Every setting of the figure: given ones, checked, and defaults. Throws like parse_settings.
[[nodiscard]] ParameterValues complete_settings(std::string_view figure,
                                                const ParameterValues& given);

/// Checks the request against the figure's needs and settings, adds the defaults, makes the figure
/// and stores the command that reproduces it. Throws Error(usage).
[[nodiscard]] Figure make_figure(std::string_view name, const FigureRequest& request,
                                 const Progress& progress = {});

}  // namespace attnscope
