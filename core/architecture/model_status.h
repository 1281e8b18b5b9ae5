// Confidence that a loaded model computes the same as its original code.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/model_spec.h"

namespace attnscope {

/// Architecture name of models that match no family and are read by their tensors' names.
inline constexpr std::string_view kNamedModel = "transformer by its names";

enum class ModelState {
  known,         ///< no assumption changes numbers
  confirmed,     ///< a reference of the model's own code agrees
  unconfirmed,   ///< an assumption changes numbers
  contradicted,  ///< a reference of the model's own code disagrees
};

struct ModelStatus {
  ModelState state = ModelState::known;
  /// Assumptions that change numbers if they are wrong, worst first.
  std::vector<Assumption> influential = {};
  /// Assumptions that change little, or no number at all.
  std::vector<Assumption> harmless = {};
  /// Result of the comparison with a reference next to the file, in words; empty if not compared.
  std::string reference = {};

  /// True if figures must state it: unconfirmed or contradicted.
  [[nodiscard]] bool is_doubtful() const {
    return state == ModelState::unconfirmed || state == ModelState::contradicted;
  }
  /// Status after a comparison with a reference: confirmed or contradicted.
  [[nodiscard]] ModelStatus compared(std::string words, bool agrees) const;
};

/// Options that may be assumed, ordered by how much a wrong value changes the maps, largest first.
/// An option in neither list counts as influential and is ranked last.
[[nodiscard]] std::span<const std::string_view> influential_options();
[[nodiscard]] std::span<const std::string_view> harmless_options();

/// Status before a comparison with a reference. Stated values do not count as assumptions. An
/// assumed mechanism is influential only if `architecture` is kNamedModel: otherwise the family
/// determines it.
[[nodiscard]] ModelStatus model_status(const std::vector<Assumption>& assumptions,
                                       std::string_view architecture);

/// Status in words: "known", "confirmed: agrees with reference.npz to 3e-06 (2 inputs)",
/// "unconfirmed: scale, qkv_rows assumed" with the five worst, "CONTRADICTED: differs from
/// reference.npz, first in …".
[[nodiscard]] std::string in_words(const ModelStatus& status);

/// Writes a status other than known to a trace's provenance as "status", and each assumption as
/// "assumed NAME".
void record_status(const ModelStatus& status, std::map<std::string, std::string>& provenance);
[[nodiscard]] ModelStatus recorded_status(const std::map<std::string, std::string>& provenance);

}  // namespace attnscope
