// The command line that makes a figure again.
#pragma once

#include <string>
#include <string_view>

#include "analysis/figure/recipe.h"

namespace attnscope {

/// "attnscope figure NAME --model A --input X --set k=v --width-mm W", without --out. What a
/// subject was made of is said by request.sources, else by its model, mechanism and input.
[[nodiscard]] std::string figure_command(std::string_view name, const FigureRequest& request);

/// What `--model` says of this subject: FILE, or FILE@MECHANISM[,PARAMETER=VALUE…] where the
/// mechanism is not the model's own. Empty for a trace whose file is not known.
[[nodiscard]] std::string subject_source(const Subject& subject);

/// One word of a POSIX shell's command line: in quotes where it must be.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace attnscope
