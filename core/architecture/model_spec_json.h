// ModelSpec as JSON, and its members by name: for files, flags, dialogs and sessions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/model_spec.h"

namespace attnscope {

/// An object of all members of `spec`, keys as in model_spec.h; enumerations by name, the mechanism
/// as {"name": …, "parameters": {…}}.
[[nodiscard]] std::string to_json(const ModelSpec& spec);

/// `defaults` with the members `text` has. Throws Error(damaged) naming the key: not JSON, an
/// unknown key (listing the known), a wrong type, an unknown name (listing the known). Calls
/// `validate` only if `complete`.
[[nodiscard]] ModelSpec model_spec_from_json(std::string_view text, const ModelSpec& defaults = {},
                                             bool complete = true);

/// The members an object of JSON text states: what needs no assumption.
[[nodiscard]] std::vector<std::string> members_in_json(std::string_view text);

/// One option of a model file, as a flag or a field of a dialog shows it: a member of ModelSpec, or
/// one about the file itself (is_file_option).
struct ModelOption {
  std::string_view name;             ///< "heads"
  std::string_view explanation;      ///< one sentence
  std::vector<std::string> choices;  ///< of an enumeration or a truth value; empty if free
};

[[nodiscard]] const std::vector<ModelOption>& model_options();

/// The member `option` of `spec` as text: "3", "pre", "0.5,0.5,0.5"; nothing for an option about
/// the file. Throws Error(usage) listing the known.
[[nodiscard]] std::string option_text(const ModelSpec& spec, std::string_view option);

/// Sets it from text, as `option_text` writes it, or as JSON for lists and objects. Throws
/// Error(usage) naming the option.
void apply_override(ModelSpec& spec, std::string_view option, std::string_view text);

}  // namespace attnscope
