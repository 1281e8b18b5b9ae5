// Draft of a description: roles assigned to tensors by hand or by the words in their names, written
// in the users' format and checked like a loaded description.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/architecture/model_options.h"
#include "core/architecture/model_spec.h"
#include "core/architecture/unknown_models/role_proposal.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

struct DraftPattern {
  std::string pattern;  ///< name pattern: "blocks.{layer}.wq.weight"
  bool transposed = false;

  bool operator==(const DraftPattern&) const = default;
};

struct AssumedMember {
  std::string value, reason;  ///< the reason may be empty

  bool operator==(const AssumedMember&) const = default;
};

struct DescriptionDraft {
  std::string name;                              ///< architecture name that is shown
  std::map<std::string, DraftPattern> roles;     ///< "layer.query.weight" → its tensor
  std::map<std::string, std::string> members;    ///< user's settings: "heads" → "4"
  std::map<std::string, AssumedMember> assumed;  ///< settings that others replace
  std::vector<std::string> harmless;             ///< patterns of tensors that take no part

  bool operator==(const DescriptionDraft&) const = default;
};

/// Draft proposed by the names and shapes of a file.
[[nodiscard]] DescriptionDraft draft_of(const Checkpoint& checkpoint,
                                        const std::vector<RoleProposal>& proposals);

/// Description in the users' format (docs/architecture-descriptions.md), including what follows
/// from the roles: a model with token embeddings reads tokens, one without a head gives no logits.
[[nodiscard]] std::string to_json(const DescriptionDraft& draft, const Checkpoint& checkpoint);

struct DraftCheck {
  std::int64_t layers = 0;              ///< number of layers found
  std::string problem;                  ///< reason why the model cannot be loaded; empty if it can
  std::string about;                    ///< tensor, role or member of the problem; may be empty
  std::optional<ModelSpec> spec;        ///< spec, if the model can be loaded
  std::vector<Assumption> assumptions;  ///< assumptions, if the model can be loaded
  std::vector<std::string> unused;      ///< tensors left out, if the model can be loaded
};

/// Checks a draft by the steps that opening the file with it takes before the weights are read.
[[nodiscard]] DraftCheck check_draft(const DescriptionDraft& draft, const Checkpoint& checkpoint,
                                     const ModelOptions& options = {});

/// Result in words: "12 layers understood; no head: maps, but no predictions".
[[nodiscard]] std::string in_words(const DraftCheck& check, const DescriptionDraft& draft);

}  // namespace attnscope
