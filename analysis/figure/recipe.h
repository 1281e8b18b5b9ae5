// How figures are made from subjects. One file a figure in recipes/, one line each in recipes.cpp.
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
  std::vector<Subject> subjects;  ///< as the figure needs them
  ParameterValues settings;       ///< what the user set; the rest is default
  double width_mm = 84;
  /// What MODEL says of each subject, where it is known; else made from the subject.
  std::vector<std::string> sources;
  /// What is known already of each subject's spectra, found with default options; null or left out
  /// where nothing is: then the figure computes them.
  std::vector<std::shared_ptr<const SubjectSpectra>> spectra;
  double font_size_pt = 0;  ///< of axis labels; as the figure has it if 0. The rest grows with it
  /// What figures call the first layer: 0 or 1. Settings count from 0 whatever it is.
  std::int64_t first_layer = 0;
  /// What the command line says besides, word by word: "--model-heads", "3".
  std::vector<std::string> further_arguments;
};

struct FigureRecipe {
  std::string_view name;         ///< "cumulative-spectrum"
  std::string_view title;        ///< "Cumulative singular values"
  std::string_view source = {};  ///< "Adder, Fig. 2"
  /// What its maker may set: `--set threshold=0.95`.
  std::vector<ParameterDescription> settings = {};
  FigureNeeds needs = {};
  /// `request.settings` holds every setting of the recipe, checked: make_figure fills in the
  /// defaults. Throws Error(usage) for subjects that cannot be drawn so.
  Figure (*make)(const FigureRequest& request, const Progress& progress) = nullptr;
  /// Of a figure of figures: what those need that it is set to. `settings` are complete.
  FigureNeeds (*needs_as_set)(const ParameterValues& settings) = nullptr;
};

[[nodiscard]] std::span<const FigureRecipe> figure_recipes();

/// Throws Error(usage) listing the known figures.
[[nodiscard]] const FigureRecipe& find_figure(std::string_view name);

/// What the figure needs with these settings, which may be any part of them.
[[nodiscard]] FigureNeeds needs_of(const FigureRecipe& recipe, const ParameterValues& settings);

/// The setting of this name, or of the name it had once ("data-set"). Throws Error(usage) listing
/// the figure's settings.
[[nodiscard]] const ParameterDescription& find_setting(std::string_view figure,
                                                       std::string_view name);

/// Settings as they are written, `--set name=text`, as what they are. Throws Error(usage) for an
/// unknown one, listing the known, and for a value out of range.
[[nodiscard]] ParameterValues parse_settings(std::string_view figure,
                                             const std::map<std::string, std::string>& texts);

/// The files that settings name.
[[nodiscard]] std::vector<std::filesystem::path> files_set(std::string_view figure,
                                                           const ParameterValues& settings);

/// Every setting of the figure: those given, checked, and defaults. Throws as parse_settings.
[[nodiscard]] ParameterValues complete_settings(std::string_view figure,
                                                const ParameterValues& given);

/// Checks the request against what the figure needs and may be set to, fills in the defaults, makes
/// the figure and writes into it the command that makes it again. Throws Error(usage).
[[nodiscard]] Figure make_figure(std::string_view name, const FigureRequest& request,
                                 const Progress& progress = {});

}  // namespace attnscope
