// What the deductions of all families do: facts of the tensors against what was stated, and
// assumptions where nothing was.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "core/architecture/configuration/neighbour_config.h"
#include "core/architecture/description/architecture_match.h"
#include "core/architecture/model_spec_json.h"
#include "core/error.h"

namespace attnscope {

/// What a deduction is made from; all of it must outlive the deduction.
struct DeductionInput {
  const ArchitectureMatch& match;
  const Checkpoint& checkpoint;
  const ModelOptions& options;
  const NeighbourConfig& config;  ///< empty where it is not of this file
};

class FamilyDeduction {
 protected:
  /// Begins with what the description says.
  explicit FamilyDeduction(const DeductionInput& input);

  /// What the configuration beside the file says, where nothing else was stated; `with_labels`:
  /// its labels are of what this family foretells.
  void take_config(bool with_labels);
  /// The user's word, which goes before every other; but how many heads a file or its configuration
  /// says is not open to it. Throws Error(usage).
  void apply_overrides(const ModelOptions& options);
  /// The labels in the file's metadata, unless it stated others.
  void read_own_labels();

  [[nodiscard]] bool has(std::string_view role) const { return result_.sources.contains(role); }
  [[nodiscard]] bool stated(std::string_view member) const { return stated_.contains(member); }

  /// `tensors` say that `member`, which is at `place` in `spec_`, is `value`: what was stated must
  /// not contradict them.
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
  /// What was wrong of `member`: the user's word, or the file.
  [[nodiscard]] ErrorKind fault_of(const std::string& member) const;
  /// Whether tokens go through the norm of `role` after the last layer: it may be said that one in
  /// the file takes no part.
  void deduce_final_norm(std::string_view role);
  /// Nothing if it was stated. The description's reason goes before `reason`.
  void assume(const char* member, std::string reason);
  /// Throws Error(unsupported): the file does not say how many heads share the `inner` rows of the
  /// queries, and the family's usual width of a head does not divide them.
  [[noreturn]] void ask_for_heads(std::int64_t inner) const;
  /// Whether the MLPs are gated. Where their first weight holds the gate too, its role says so
  /// from here on.
  [[nodiscard]] bool deduce_gates();
  /// Norms without biases, stored masks, the scale of the scores: what may be something else.
  void check_parts();
  /// Throws Error if there are labels, or classes in the configuration, but not one a class.
  void check_labels(std::int64_t classes) const;

  /// With the spec, and the tensors that have no role.
  [[nodiscard]] Architecture finish();

  const Checkpoint& checkpoint_;
  const ModelOptions& options_;
  const NeighbourConfig& config_;
  const ArchitectureDescription& description_;
  std::int64_t layers_ = 0;  ///< with those of the tail
  std::int64_t tail_blocks_ = 0;
  Architecture result_;
  ModelSpec spec_;
  std::set<std::string, std::less<>> stated_, overridden_;

 private:
  /// Why `option` has the configuration's value; whether that is a guess by the family.
  [[nodiscard]] std::string reason_of(const std::string& option) const;
  [[nodiscard]] bool is_usual(const std::string& option) const;
  void check_asked_heads(const std::string& asked) const;
  void check_obeyed() const;
  void check_mlps() const;
  void take_qkv_rows(const std::string& text);
  void check_head_split() const;
  void check_differences(const std::string& option) const;
  void check_norms();
  [[nodiscard]] bool differs_in(const std::string& member, std::string_view role) const;
  void check_biases() const;
  void check_masks() const;
  void check_mechanism(const MechanismChoice& choice) const;
};

}  // namespace attnscope
