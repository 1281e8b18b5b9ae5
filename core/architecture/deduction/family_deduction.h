// What the deductions of all families do: facts of the tensors against what was stated, and
// assumptions where nothing was.
#pragma once

#include <set>
#include <string>

#include "core/architecture/description/architecture_match.h"
#include "core/architecture/model_spec_json.h"
#include "core/error.h"

namespace attnscope {

class FamilyDeduction {
 protected:
  /// Begins with what the description says.
  FamilyDeduction(const ArchitectureMatch& match, const Checkpoint& checkpoint);

  /// The user's word, which goes before every other.
  void apply_overrides(const ModelOptions& options);
  /// The labels in the file's metadata, unless it stated others.
  void read_own_labels();

  [[nodiscard]] bool has(std::string_view role) const { return result_.sources.contains(role); }
  [[nodiscard]] bool stated(std::string_view member) const { return stated_.contains(member); }

  /// `tensors` say that `member` is `value`: what was stated must not contradict them.
  template <class T>
  void fact(const char* member, T ModelSpec::*pointer, T value,
            const std::string& tensors = "the tensors") {
    if (stated(member) && spec_.*pointer != value) {
      ModelSpec shown = spec_;
      shown.*pointer = value;
      throw contradiction(member, tensors, option_text(shown, member), option_text(spec_, member));
    }
    spec_.*pointer = value;
    stated_.insert(member);
  }
  [[nodiscard]] Error contradiction(const std::string& member, const std::string& tensors,
                                    std::string expected, std::string found) const;
  /// What was wrong of `member`: the user's word, or the file.
  [[nodiscard]] ErrorKind fault_of(const std::string& member) const;
  /// Nothing if it was stated. The description's reason goes before `reason`.
  void assume(const char* member, std::string reason);
  /// Throws Error if there are labels, but not one a class.
  void check_labels(std::int64_t classes) const;

  /// With the spec, and the tensors that have no role.
  [[nodiscard]] Architecture finish();

  const Checkpoint& checkpoint_;
  const ArchitectureDescription& description_;
  std::int64_t layers_ = 0;
  Architecture result_;
  ModelSpec spec_;
  std::set<std::string, std::less<>> stated_, overridden_;
};

}  // namespace attnscope
