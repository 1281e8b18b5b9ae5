// How figures are made from subjects. One file a figure in recipes/, one line each in recipes.cpp.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/figure.h"
#include "analysis/spectrum/spectrum.h"
#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// How a dialog asks for a setting where its explanation does not say it (setting_form.h). Of these
/// the first that is given.
struct SettingForm {
  std::string_view choices = {};    ///< "as-is|with|…"; "…" at the end: or something else
  double minimum = 0, maximum = 0;  ///< of a number; none if equal
  bool file = false;                ///< a file or folder
};

/// One thing a figure's maker may set: `--set threshold=0.95`.
struct FigureSetting {
  std::string_view name;
  std::string_view default_value;
  std::string_view explanation;  ///< with its valid range
  SettingForm form = {};         ///< how a dialog asks for it
};

struct FigureRequest {
  std::vector<Subject> subjects;                ///< each with a trace
  std::map<std::string, std::string> settings;  ///< what the user set; the rest is default
  double width_mm = 84;
  /// What MODEL says of each subject, where it is known; else made from the subject.
  std::vector<std::string> sources;
  /// What is known already of each subject's spectra, found with default options; null or left out
  /// where nothing is: then the figure computes them.
  std::vector<std::shared_ptr<const SubjectSpectra>> spectra;
  double font_size_pt = 0;  ///< of axis labels; as the figure has it if 0. The rest grows with it
  /// What the command line says besides, word by word: "--model-heads", "3".
  std::vector<std::string> further_arguments;
};

struct FigureRecipe {
  std::string_view name;    ///< "cumulative-spectrum"
  std::string_view title;   ///< "Cumulative singular values"
  std::string_view source;  ///< "Adder, Fig. 2"
  std::span<const FigureSetting> settings;
  /// `request.settings` holds every setting of the recipe: make_figure fills in the defaults.
  /// Throws Error(usage) for a setting out of range or subjects that cannot be drawn so.
  Figure (*make)(const FigureRequest& request, const Progress& progress);
  /// Shows what networks cost: its subjects need no trace, and it needs no subject.
  bool counts_only = false;
  /// Runs its subjects' models itself, over a data set: they need no trace.
  bool runs_models = false;
};

[[nodiscard]] std::span<const FigureRecipe> figure_recipes();

/// Throws Error(usage) listing the known figures.
[[nodiscard]] const FigureRecipe& find_figure(std::string_view name);

/// Throws Error(usage) listing the figure's settings if one of these is not among them.
void check_settings(std::string_view figure, const std::map<std::string, std::string>& settings);

/// Checks the request's setting names against the recipe's, fills in the defaults, makes the figure
/// and writes into it the command that makes it again. Throws Error(usage) listing the settings.
[[nodiscard]] Figure make_figure(std::string_view name, const FigureRequest& request,
                                 const Progress& progress = {});

}  // namespace attnscope
