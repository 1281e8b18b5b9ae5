// The command line that makes a figure again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/figure/style.h"

namespace attnscope {

/// What `attnscope figure` is told.
struct FigureCommand {
  std::string figure;
  std::vector<std::string> models, labels, inputs;
  std::vector<std::string> further;   ///< word by word: "--model-heads", "3"
  std::vector<std::string> settings;  ///< "key=value"
  double width_mm = 84;
  double font_size_pt = 0;       ///< not said if 0
  std::int64_t first_layer = 0;  ///< said if 1
  FigureStyle style;
  double dpi = 300;
  std::string heat_maps = "auto", csv_provenance = "file";
  bool transparent = false;
  std::string formats;  ///< "pdf,csv"; by the extension of `out` if empty
  std::string out;      ///< not said if empty
};

/// In one order, quoted for a shell.
[[nodiscard]] std::string to_string(const FigureCommand& command);

/// "attnscope compose PAGE.json …", with what the command says of look and files.
[[nodiscard]] std::string compose_command(const std::string& page, const FigureCommand& look);

/// What a request says: its subjects' sources, labels where they are not what the command would
/// call them, inputs, settings, width.
[[nodiscard]] FigureCommand command_of(std::string_view figure, const FigureRequest& request);

/// "attnscope figure NAME A --input X --set k=v --width W", without --out. What a
/// subject was made of is said by request.sources, else by its model, mechanism and input.
[[nodiscard]] std::string figure_command(std::string_view name, const FigureRequest& request);

/// What MODEL says of this subject: FILE, or FILE@MECHANISM[,PARAMETER=VALUE…] where the
/// mechanism is not the model's own. Empty for a trace whose file is not known.
[[nodiscard]] std::string subject_source(const Subject& subject);

/// Whether the model was trained with `mechanism`, parameters left out being their defaults.
[[nodiscard]] bool trained_with(const Model& model, const MechanismChoice& mechanism);

/// What the command line calls a model under a mechanism: "fashion-softmax as adder", the model's
/// name alone where nothing is laid over it.
[[nodiscard]] std::string subject_name(const Model& model, const MechanismChoice& mechanism,
                                       bool codes_laid_over = false);

/// One word of a POSIX shell's command line: in quotes where it must be.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace attnscope
