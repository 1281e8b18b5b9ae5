// A description in the making: roles given to tensors by hand, checked as loading checks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/architecture/drafting/role_proposal.h"
#include "core/architecture/model_options.h"
#include "core/architecture/model_spec.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

struct DraftPattern {
  std::string pattern;  ///< "blocks.{layer}.wq.weight"
  bool transposed = false;

  bool operator==(const DraftPattern&) const = default;
};

struct DescriptionDraft {
  std::string name;                            ///< shown as the model's architecture
  std::map<std::string, DraftPattern> roles;   ///< "layer.query.weight" → its tensor
  std::map<std::string, std::string> members;  ///< what the user says: "heads" → "4"
  std::vector<std::string> harmless;           ///< patterns of tensors that take no part

  bool operator==(const DescriptionDraft&) const = default;
};

/// What the names and shapes of a file propose.
[[nodiscard]] DescriptionDraft draft_of(const Checkpoint& checkpoint,
                                        const std::vector<RoleProposal>& proposals);

/// The description, as users write them: docs/architecture-descriptions.md. What follows from the
/// roles is in it: a model with token embeddings reads tokens, one without a head gives no logits.
[[nodiscard]] std::string to_json(const DescriptionDraft& draft, const Checkpoint& checkpoint);

struct DraftCheck {
  std::int64_t layers = 0;        ///< understood
  std::string problem;            ///< why the model cannot be loaded so; empty: it can
  std::string about;              ///< the tensor, role or member that it is about; may be empty
  std::optional<ModelSpec> spec;  ///< if it can
  std::vector<Assumption> assumptions;  ///< then
  std::vector<std::string> unused;      ///< tensors left out, then
};

/// By what opening the file with this description does before it reads the weights.
[[nodiscard]] DraftCheck check_draft(const DescriptionDraft& draft, const Checkpoint& checkpoint,
                                     const ModelOptions& options = {});

/// "12 layers understood; no head: maps, but no predictions".
[[nodiscard]] std::string in_words(const DraftCheck& check, const DescriptionDraft& draft);

}  // namespace attnscope
