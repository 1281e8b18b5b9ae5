#include "core/architecture/unknown_models/description_draft.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/architecture/architecture.h"
#include "core/architecture/family_matching/architecture_match.h"
#include "core/error.h"
#include "core/text/json.h"

namespace attnscope {

namespace {

using nlohmann::ordered_json;

bool has(const DescriptionDraft& draft, std::string_view role) {
  return draft.roles.contains(std::string(role));
}

/// Value as JSON: "4" and "true" with their own type, other words as text.
ordered_json typed(const std::string& value) {
  ordered_json parsed = ordered_json::parse(value, nullptr, false);
  return parsed.is_discarded() ? ordered_json(value) : parsed;
}

/// JSON of a pattern. Position tables may be stored with a leading axis of length 1.
ordered_json pattern_json(const std::string& role, const DraftPattern& given,
                          const Checkpoint& checkpoint) {
  ordered_json object = {{"pattern", given.pattern}};
  if (given.transposed) object["transposed"] = true;
  const StoredTensor* const tensor = checkpoint.find(given.pattern);
  const bool table = role == "positions" || role == "decoder_positions";
  if (table && tensor != nullptr && tensor->shape.size() == 3) {
    object["axes"] = ordered_json::parse("[[0, 1], 2]");
  }
  return object.size() == 1 ? ordered_json(given.pattern) : object;
}

/// Model settings that follow from the roles.
ordered_json model_of(const DescriptionDraft& draft) {
  ordered_json model = ordered_json::object();
  const bool head = has(draft, "head.weight") || has(draft, "head.0.weight");
  if (has(draft, "token_embedding.weight")) {
    model["input"]["kind"] = "tokens";
    model["readout"]["kind"] = head ? "next_token" : "none";
  } else if (has(draft, "input_projection.weight")) {
    model.update(ordered_json{
        {"patch_height", 0}, {"patch_width", 0}, {"class_tokens", 0}, {"readout", "none"}});
  } else if (!head) {
    model["readout"] = "none";
  }
  const bool assumed = draft.assumed.contains("positions");
  if (!has(draft, "positions") && !assumed) model["positions"] = "none";
  return model;
}

/// First part of a member's path, or its whole name. A user's setting replaces one that the roles
/// imply.
std::string first_part(const std::string& member) { return member.substr(0, member.find('.')); }

}  // namespace

DescriptionDraft draft_of(const Checkpoint& checkpoint,
                          const std::vector<RoleProposal>& proposals) {
  DescriptionDraft draft;
  draft.name = checkpoint.path().stem().string();
  for (const RoleProposal& proposal : proposals) {
    draft.roles[proposal.role] = {proposal.pattern, proposal.transposed};
  }
  return draft;
}

std::string to_json(const DescriptionDraft& draft, const Checkpoint& checkpoint) {
  ordered_json model = model_of(draft);
  for (const auto& [member, value] : draft.members) {
    if (value.empty()) continue;
    if (member.find('.') == std::string::npos) {
      model[member] = typed(value);
      continue;
    }
    if (model.contains(first_part(member)) && !model[first_part(member)].is_object()) {
      model.erase(first_part(member));
    }
    ordered_json* place = &model;
    for (std::size_t from = 0; from <= member.size();) {
      const std::size_t dot = std::min(member.find('.', from), member.size());
      place = &(*place)[member.substr(from, dot - from)];
      from = dot + 1;
    }
    *place = typed(value);
  }
  ordered_json tensors = ordered_json::object();
  for (const auto& [role, given] : draft.roles) {
    tensors[role] = pattern_json(role, given, checkpoint);
  }
  ordered_json description = {{"name", draft.name}, {"model", model}, {"tensors", tensors}};
  for (const auto& [member, given] : draft.assumed) {
    description["assume"][member] = typed(given.value);
    if (!given.reason.empty()) description["reasons"][member] = given.reason;
  }
  if (!draft.harmless.empty()) description["harmless"] = draft.harmless;
  return description.dump(2) + "\n";
}

DraftCheck check_draft(const DescriptionDraft& draft, const Checkpoint& checkpoint,
                       const ModelOptions& options) {
  DraftCheck check;
  try {
    const ArchitectureDescription description =
        parse_architecture_description(to_json(draft, checkpoint));
    const ArchitectureMatch match =
        match_architecture(description, checkpoint, options.state_dict());
    check.layers = match.layers;
    Architecture architecture = architecture_described(description, checkpoint, options);
    check.layers = architecture.spec.layers;
    check.spec = std::move(architecture.spec);
    check.assumptions = std::move(architecture.assumptions);
    check.unused = std::move(architecture.unused);
  } catch (const Error& error) {
    check.problem = error.message();
    if (!error.expected_text().empty()) check.problem += "; expected " + error.expected_text();
    if (!error.found_text().empty()) check.problem += "; found " + error.found_text();
    check.about = error.subject();
  }
  return check;
}

std::string in_words(const DraftCheck& check, const DescriptionDraft& draft) {
  std::string words = std::to_string(check.layers) +
                      (check.layers == 1 ? " layer understood" : " layers understood");
  constexpr std::array<std::string_view, 3> inputs = {"token_embedding.weight", "patch.weight",
                                                      "input_projection.weight"};
  const bool embeds = std::ranges::any_of(inputs, [&](auto role) { return has(draft, role); });
  if (!embeds) words += "; embedding missing: what makes tokens of the input";
  if (!has(draft, "head.weight") && !has(draft, "head.0.weight")) {
    words += "; head missing: maps, but no predictions";
  }
  if (!check.problem.empty()) {
    words += "; " + (check.about.empty() ? "" : check.about + ": ") + check.problem;
  }
  return words;
}

}  // namespace attnscope
