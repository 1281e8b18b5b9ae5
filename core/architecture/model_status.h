// How far it is known that a loaded model is the one that its own code computes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/model_spec.h"

namespace attnscope {

/// The naming scheme of a model that no family names.
inline constexpr std::string_view kNamedModel = "transformer by its names";

enum class ModelState {
  known,         ///< the family and what is said of it leave nothing open that changes numbers
  confirmed,     ///< a reference of its own code agrees
  unconfirmed,   ///< something that changes numbers was assumed
  contradicted,  ///< a reference of its own code disagrees
};

struct ModelStatus {
  ModelState state = ModelState::known;
  std::vector<Assumption> influential = {};  ///< change numbers if they are wrong, worst first
  std::vector<Assumption> harmless = {};     ///< change little, or no number at all
  std::string reference = {};  ///< what one beside the file says, in words; empty: none compared

  /// With what a reference says: it agrees or not.
  [[nodiscard]] ModelStatus compared(std::string words, bool agrees) const;
};

/// Options that may be assumed, worst first: how far maps come out wrong where the code does
/// something else. One that is in neither list counts among the influential, behind these.
[[nodiscard]] std::span<const std::string_view> influential_options();
[[nodiscard]] std::span<const std::string_view> harmless_options();

/// Before a reference is compared. What was stated is no assumption. `architecture` is the naming
/// scheme: a family's code says the mechanism, names alone do not.
[[nodiscard]] ModelStatus model_status(const std::vector<Assumption>& assumptions,
                                       std::string_view architecture);

/// "known", "confirmed: agrees with reference.npz to 3e-06 (2 inputs)", "unconfirmed: scale,
/// qkv_rows assumed" with the five worst, "CONTRADICTED: differs from reference.npz, first in …".
[[nodiscard]] std::string in_words(const ModelStatus& status);

/// What a trace's provenance keeps: "status", and "assumed NAME" of each assumption.
void record_status(const ModelStatus& status, std::map<std::string, std::string>& provenance);
[[nodiscard]] ModelStatus recorded_status(const std::map<std::string, std::string>& provenance);

}  // namespace attnscope
