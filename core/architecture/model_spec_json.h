// ModelSpec as JSON, and its members by name: for files, flags, dialogs and sessions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/model_spec.h"

namespace attnscope {

/// JSON object with all members of `spec`: keys as in model_spec.h, enumerators by name, the
/// mechanism as {"name": …, "parameters": {…}}.
[[nodiscard]] std::string to_json(const ModelSpec& spec);

/// `defaults` with the members given in `text`. Throws Error(damaged) naming the key for invalid
/// JSON, an unknown key or name (listing the known ones) or a wrong type. Calls `validate` only if
/// `complete`.
[[nodiscard]] ModelSpec model_spec_from_json(std::string_view text, const ModelSpec& defaults = {},
                                             bool complete = true);

/// Members that an object of JSON text gives, which therefore need no assumption.
[[nodiscard]] std::vector<std::string> members_in_json(std::string_view text);

/// Option of a model file as a flag or a dialog field shows it: a member of ModelSpec, or an option
/// of the file itself (is_file_option).
struct ModelOption {
  std::string_view name;             ///< option name: "heads"
  std::string_view explanation;      ///< explanation in one sentence
  std::vector<std::string> choices;  ///< names of an enumeration or of a boolean; empty if free
};

[[nodiscard]] const std::vector<ModelOption>& model_options();

/// Member `option` of `spec` as text: "3", "pre", "0.5,0.5,0.5"; empty for an option of the file.
/// Throws Error(usage) listing the known options.
[[nodiscard]] std::string option_text(const ModelSpec& spec, std::string_view option);

/// Sets `option` from text in the form of `option_text`, or from JSON for lists and objects. Throws
/// Error(usage) naming the option.
void apply_override(ModelSpec& spec, std::string_view option, std::string_view text);

}  // namespace attnscope
