// The command line that reproduces a figure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/figure/style.h"

namespace attnscope {

/// Arguments of `attnscope figure`.
struct FigureCommand {
  std::string figure;  ///< name of a figure, or the file of a page
  std::vector<std::string> models, labels, inputs;
  std::vector<std::string> further;   ///< further arguments, word by word: "--model-heads", "3"
  std::vector<std::string> settings;  ///< "key=value"
  double width_mm = 84;
  double font_size_pt = 0;       ///< omitted if 0
  std::int64_t first_layer = 0;  ///< omitted if 0
  FigureStyle style;
  double dpi = 300;
  std::string heat_maps = "auto", csv_provenance = "file";
  bool transparent = false;
  std::string formats;  ///< "pdf,csv"; taken from the extension of `out` if empty
  std::string out;      ///< omitted if empty
};

/// The command line in a fixed order of arguments, quoted for a shell.
[[nodiscard]] std::string to_string(const FigureCommand& command);

/// `text` in single quotes, in which a quote becomes `inner`.
[[nodiscard]] std::string in_single_quotes(std::string_view text, std::string_view inner = "'\\''");

/// `text` as a word of a POSIX shell's command line, quoted if necessary; control characters are
/// written as $'\x1B'.
[[nodiscard]] std::string shell_word(const std::string& text);

/// Arguments for a request: the sources of its subjects, labels if they differ from the default
/// ones, inputs, settings, width.
[[nodiscard]] FigureCommand command_of(std::string_view figure, const FigureRequest& request);

/// The command line "attnscope figure NAME A --input X --set k=v --width W", without --out. The
/// source of a subject is taken from request.sources, else made from its model, mechanism and
/// input.
[[nodiscard]] std::string figure_command(std::string_view name, const FigureRequest& request);

/// MODEL argument of a subject: FILE, or FILE@MECHANISM[,PARAMETER=VALUE…] if the mechanism is not
/// the model's own. Empty for a subject without a model.
[[nodiscard]] std::string subject_source(const Subject& subject);

/// Default label of a model with a mechanism: "fashion-softmax as adder", or the model's name if
/// the mechanism is its own.
[[nodiscard]] std::string subject_name(const Model& model, const MechanismChoice& mechanism,
                                       bool codes_laid_over = false);

}  // namespace attnscope
