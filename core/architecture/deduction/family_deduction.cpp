#include "core/architecture/deduction/family_deduction.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/shown_text.h"
#include "core/text/json.h"

namespace attnscope {

FamilyDeduction::FamilyDeduction(const ArchitectureMatch& match, const Checkpoint& checkpoint)
    : checkpoint_(checkpoint), description_(*match.description), layers_(match.layers) {
  result_.name = description_.name;
  result_.qkv_rows = description_.qkv_rows;
  result_.sources = match.sources;
  spec_ = description_.spec;
  stated_ = description_.stated;
}

void FamilyDeduction::apply_overrides(const ModelOptions& options) {
  for (const auto& [option, text] : options.overrides) {
    apply_override(spec_, option, text);
    stated_.insert(option);
    overridden_.insert(option);
  }
}

void FamilyDeduction::read_own_labels() {
  const auto labels = checkpoint_.metadata().find("labels");
  if (labels == checkpoint_.metadata().end() || !spec_.labels.empty()) return;
  const auto list = parse_json_or_null(labels->second);
  if (!list.is_array()) return;
  for (const auto& label : list) {
    spec_.labels.push_back(shown_text(label.is_string() ? label.get<std::string>() : label.dump()));
  }
}

Error FamilyDeduction::contradiction(const std::string& member, const std::string& tensors,
                                     std::string expected, std::string found) const {
  const ErrorKind kind = fault_of(member);
  return Error(kind, std::string(kind == ErrorKind::usage ? "the option" : "the architecture") +
                         " contradicts the shape of " + tensors)
      .in_file(checkpoint_.path())
      .about(member)
      .expected(std::move(expected))
      .found(std::move(found));
}

ErrorKind FamilyDeduction::fault_of(const std::string& member) const {
  return overridden_.contains(member) ? ErrorKind::usage : ErrorKind::damaged;
}

void FamilyDeduction::assume(const char* member, std::string reason) {
  if (stated(member)) return;
  const auto given = description_.reasons.find(member);
  if (given != description_.reasons.end()) reason = given->second;
  result_.assumptions.push_back({member, option_text(spec_, member), std::move(reason)});
}

void FamilyDeduction::check_labels(std::int64_t classes) const {
  if (spec_.labels.empty() || std::ssize(spec_.labels) == classes) return;
  throw Error(fault_of("labels"), "there are not as many labels as classes")
      .in_file(checkpoint_.path())
      .about("labels")
      .expected(std::to_string(classes))
      .found(std::to_string(spec_.labels.size()));
}

Architecture FamilyDeduction::finish() {
  result_.spec = std::move(spec_);
  std::set<std::string_view> used;
  for (const auto& [role, source] : result_.sources) used.insert(source.tensor);
  for (const StoredTensor& tensor : checkpoint_.tensors()) {
    if (!used.contains(tensor.name)) result_.unused.push_back(tensor.name);
  }
  return std::move(result_);
}

}  // namespace attnscope
