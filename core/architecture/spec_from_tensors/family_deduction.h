// Base of the deductions of all families: compares the tensors with what was stated, and assumes
// what was not.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "core/architecture/configuration/neighbour_config.h"
#include "core/architecture/family_matching/architecture_match.h"
#include "core/architecture/model_spec_json.h"
#include "core/error.h"

namespace attnscope {

/// Families of our own models and pyramids, which their files name.
inline constexpr std::string_view kOwnModel = "attnscope-model", kOwnPyramid = "attnscope-pyramid";

/// Input of a deduction. All of it must outlive the deduction.
struct DeductionInput {
  const ArchitectureMatch& match;
  const Checkpoint& checkpoint;
  const ModelOptions& options;
  const NeighbourConfig& config;  ///< empty if none belongs to the file
};

class FamilyDeduction {
 protected:
  /// Starts with the description's settings.
  explicit FamilyDeduction(const DeductionInput& input);

  /// Takes the configuration's settings unless something else was stated; `with_labels`: also its
  /// labels.
  void take_config(bool with_labels);
  /// Applies the user's overrides, which take precedence. A number of heads that the file or its
  /// configuration gives cannot be overridden. Throws Error(usage).
  void apply_overrides(const ModelOptions& options);
  /// Reads the labels in the file's metadata, unless it gives others.
  void read_own_labels();

  [[nodiscard]] bool has(std::string_view role) const { return result_.sources.contains(role); }
  [[nodiscard]] bool stated(std::string_view member) const { return stated_.contains(member); }

  /// Sets `member`, stored in `place`, to the `value` that `tensors` show. Throws if something else
  /// was stated.
  template <class T>
  void fact(const char* member, T& place, T value, const std::string& tensors = "the tensors") {
    const T before = std::exchange(place, value);
    if (stated(member) && before != value) {
      std::string expected = option_text(spec_, member);
      place = before;
      throw contradiction(member, tensors, std::move(expected), option_text(spec_, member));
    }
    stated_.insert(member);
  }
  [[nodiscard]] Error contradiction(const std::string& member, const std::string& tensors,
                                    std::string expected, std::string found) const;
  /// Kind of an error about `member`: usage if the user gave it, otherwise damaged.
  [[nodiscard]] ErrorKind fault_of(const std::string& member) const;
  /// Sets whether tokens pass through the norm of `role` after the last layer. A norm in the file
  /// can be stated to be unused.
  void deduce_final_norm(std::string_view role);
  /// Adds an assumption unless `member` was stated. The description's reason takes precedence over
  /// `reason`.
  void assume(const char* member, std::string reason);
  /// Number of heads that share the `inner` rows of the queries, for a file that gives neither it
  /// nor the width of a head: the description's if it divides them; without one, 1 for DAFT, whose
  /// maps belong to channels, which is then no assumption. Throws like ask_for_heads.
  [[nodiscard]] std::int64_t usual_number_of_heads(std::int64_t inner);
  /// Throws Error(unsupported): the file does not give the number of heads that share the `inner`
  /// rows of the queries, and the description gives no head width or number of heads that divides
  /// them.
  [[noreturn]] void ask_for_heads(std::int64_t inner) const;
  /// True if the MLPs are gated. If their first weight also holds the gate, its role becomes
  /// mlp_gate_and_mlp1.
  [[nodiscard]] bool deduce_gates();
  /// True if the description has roles of experts.
  [[nodiscard]] bool may_have_experts() const {
    return description_.tensors.contains("layer.router.weight");
  }
  /// The first layer with a router; −1 if there is none.
  [[nodiscard]] std::int64_t first_with_experts() const;
  /// Beginning of the roles of the experts in the first layer that has them, or of the first
  /// layer's MLP: "layer.3.experts_", "layer.0.".
  [[nodiscard]] std::string mlp_roles() const;
  /// Sets the number of experts, and the layers that have one MLP instead. Throws
  /// Error(unsupported) if the file does not say how many of them a token passes through.
  void deduce_experts();
  /// Checks tensors that may have another meaning: norms without biases, stored masks, the score
  /// scale.
  void check_parts();
  /// Throws Error if the number of labels, or of classes in the configuration, is not `classes`.
  void check_labels(std::int64_t classes) const;

  /// Result with the spec and the tensors without a role.
  [[nodiscard]] Architecture finish();

  const Checkpoint& checkpoint_;
  const ModelOptions& options_;
  const NeighbourConfig& config_;
  const ArchitectureDescription& description_;
  std::int64_t layers_ = 0;  ///< number of layers, including the tail
  std::int64_t tail_blocks_ = 0;
  Architecture result_;
  ModelSpec spec_;
  std::set<std::string, std::less<>> stated_, overridden_;

 private:
  /// Reason for the configuration's value of `option`; is_usual is true if the family guesses the
  /// value.
  [[nodiscard]] std::string reason_of(const std::string& option) const;
  [[nodiscard]] bool is_usual(const std::string& option) const;
  /// Leaves out layers behind the model's last that predict further tokens.
  void leave_out_further_layers();
  void check_asked_heads(const std::string& asked) const;
  void check_obeyed() const;
  void check_mlps() const;
  void check_stored_experts() const;
  void check_experts() const;
  void check_layer_of_experts(std::int64_t layer) const;
  void take_qkv_rows(const std::string& text);
  void check_head_split() const;
  void check_differences(const std::string& option) const;
  void check_norms();
  [[nodiscard]] bool differs_in(const std::string& member, std::string_view role) const;
  void check_biases() const;
  void check_masks() const;
  void check_mechanism(const MechanismChoice& choice) const;
};

// One function per kind of model, and ViTDeduction for images.

/// Fills spec, assumptions and position grid of a text model from a complete match. Throws Error if
/// a stated or overridden value contradicts the tensors' shapes.
[[nodiscard]] Architecture deduce_text_model(const DeductionInput& input);

/// Like deduce_text_model, for an encoder with two convolutions before its layers (Whisper).
[[nodiscard]] Architecture deduce_sound_model(const DeductionInput& input);

/// Like deduce_text_model, for pyramids. Widths, depths, kernels, reductions and MLPs follow from
/// the shapes; heads from hash buffers or relative position tables, otherwise from `head_width` or
/// an assumption; strides and windows are assumed (`stages` sets them all).
[[nodiscard]] Architecture deduce_pyramid(const DeductionInput& input);

// ---- position biases of DAFT, one value per pair of tokens, which give the number of tokens ----

/// Role of the position biases of the first layer (DAFT, Eq. 5: w).
inline constexpr const char* kPositionBiases = "layer.0.mechanism.w";

/// Throws Error(damaged) naming the tensor unless w of each of `layers` layers and its mask, if
/// present, are [tokens, tokens]. `remedy` is the error's remedy.
void check_position_biases(const Architecture& architecture, const Checkpoint& checkpoint,
                           std::int64_t layers, std::int64_t tokens, const std::string& remedy);

}  // namespace attnscope
