// Architecture descriptions, which recognise a model family by tensor names and shapes. Built-in
// families and users' JSON descriptions (docs/architecture-descriptions.md) are read by the same
// code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/architecture/model_options.h"
#include "core/architecture/model_spec.h"
#include "core/architecture/tensor_source.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Shape of a tensor by the names of its axes: "D", "C·ph·pw"; that of a module is its weight's.
struct RoleShape {
  std::string_view axes[4] = {};  ///< empty after the last axis
  [[nodiscard]] std::vector<std::string_view> names() const;
};

/// Role of a tensor. A `module` role stands for its `.weight` and `.bias`; a missing bias is zero.
struct TensorRole {
  /// Name such as "layer.norm1"; "layer." marks roles of each block, "stage." roles of each pyramid
  /// stage.
  std::string_view name;
  bool module = false;
  std::string_view explanation;
  RoleShape shapes[2] = {};  ///< one or the other; none: any shape
};

[[nodiscard]] std::span<const TensorRole> tensor_roles();
/// Null for a role that is in no list, such as "layer.mechanism.w".
[[nodiscard]] const TensorRole* find_tensor_role(std::string_view module);
/// Explanation and shapes of "layer.query.weight" or "layer.query"; empty for an unknown role.
[[nodiscard]] std::string explanation_of(std::string_view role);

/// Role of a module's tensor: "layer.query.weight" → "layer.query", ".weight".
struct RoleParts {
  std::string module;
  std::string part;  ///< .weight, .bias, .running_mean or .running_var; empty for a single tensor
};
[[nodiscard]] RoleParts parts_of_role(std::string_view role);

/// Name pattern of a role's tensor. {layer} stands for the block number. In a pyramid, {stage}
/// stands for the stage and {block} for the block number within the stage; a stage's pattern
/// without {stage} is the first stage's. {head} and {expert} count from 0: one tensor per head or
/// expert, concatenated along the rows.
struct TensorPattern {
  std::string pattern;
  std::vector<std::string> joined = {};  ///< patterns of tensors that are appended along the rows
  bool optional = false;
  bool transposed = false;                           ///< stored as [in, out]
  bool of_all_layers = false;                        ///< one tensor, whose first axis is the layer
  Shape shape = {};                                  ///< see TensorSource::shape
  std::vector<std::vector<std::int64_t>> axes = {};  ///< see TensorSource::axes
  std::optional<RowRange> rows = {};                 ///< see TensorSource::rows
};

/// Naming scheme of a family, with its default settings.
struct ArchitectureDescription {
  std::string family;                         ///< id of a built-in family; empty: a user's
  std::string name;                           ///< name of the family, such as "timm ViT"
  ModelSpec spec;                             ///< stated and assumed members
  std::set<std::string, std::less<>> stated;  ///< members of `spec` that are stated, not assumed
  bool gives_heads = false;                   ///< true if `heads` are stated or assumed
  std::map<std::string, std::string, std::less<>> reasons;  ///< reason of an assumed member
  /// Role in the first layer → members as JSON that `spec` assumes if the role is present.
  std::map<std::string, std::string, std::less<>> where;
  QkvRows qkv_rows = QkvRows::parts_first;
  std::int64_t first_stage = 0;  ///< number of the first {stage}
  /// A vision model whose file has neither position embeddings nor position biases is refused: its
  /// positions may be rotary, which no tensor shows.
  bool needs_positions = false;
  /// Prefixes that only this family uses ("roberta."), for names that other families share. Unless
  /// a configuration names the family, one of them must be present. Empty: the names are
  /// sufficient.
  std::vector<std::string> prefixes;
  /// Role ("layer.qkv.weight", "class_token") → patterns in order; the first one that matches is
  /// used.
  std::map<std::string, std::vector<TensorPattern>, std::less<>> tensors;
  /// Patterns (* for any characters) of tensors that have no role and do not change maps or logits.
  std::vector<std::string> harmless;
  /// Names of tensors that rule the family out → description of the tensor.
  std::map<std::string, std::string, std::less<>> refused;
  std::string configuration;  ///< kinds of its configuration as JSON (config_kind.h); empty: none
};

/// Parses a description. Throws Error(damaged) naming the key for invalid JSON, unknown keys or
/// roles (listing the known ones), and a layer pattern without {layer}.
[[nodiscard]] ArchitectureDescription parse_architecture_description(std::string_view json_text);

/// Recognised weight file: its spec and the tensor of each role.
struct Architecture {
  std::string name;
  ModelSpec spec;
  std::vector<Assumption> assumptions;
  QkvRows qkv_rows = QkvRows::parts_first;
  /// Grid of the stored position embeddings, and the number of prefix tokens before it.
  std::int64_t position_rows = 0, position_columns = 0;
  std::int64_t position_prefix = 0;

  using Source = TensorSource;
  /// "layer.3.qkv.weight", "stage.0.patch.weight" → tensor. Layers are numbered across all stages.
  std::map<std::string, Source, std::less<>> sources;
  std::vector<std::string> unused;  ///< tensors without a role
};

/// Descriptions in a JSON text: its own, then one for each of its "revisions", in whole. Throws
/// like parse_architecture_description.
[[nodiscard]] std::vector<std::string> revisions_in(std::string_view json_text);

/// File of assets/architectures.
struct FamilyFile {
  std::string_view id;  ///< its name without number: "timm-vit"
  std::string_view text;
};
[[nodiscard]] std::span<const FamilyFile> family_files();
/// Text of assets/configuration.json.
[[nodiscard]] std::string_view shared_configuration_text();

/// Entry of the list of built-in families.
struct ArchitectureFamily {
  std::string id;           ///< id of its file, which all revisions of a family share
  std::string name;         ///< name that is shown, which may change: "timm ViT"
  std::string description;  ///< JSON in the format of users' descriptions
};

[[nodiscard]] std::span<const ArchitectureFamily> architecture_families();
/// Newest revision of the family that the program or a configuration names. Throws
/// Error(unsupported) if no file has this id, which is a mistake in the program.
[[nodiscard]] const ArchitectureFamily& built_in_family(std::string_view id);

/// Opens a weight file, or the weight file in a folder, with the state dict that `options` names if
/// the file holds several. Throws like open_checkpoint.
[[nodiscard]] Checkpoint open_model_file(const std::filesystem::path& path,
                                         const ModelOptions& options);

/// Recognises the family, or follows `options.description`; overrides are applied last. Throws
/// Error(unsupported) if nothing matches, naming the missing pattern of a family that the
/// configuration, a description or the file specifies, otherwise the nearest families or the tensor
/// that the names do not explain; Error(usage) for an override that contradicts the tensors'
/// shapes.
[[nodiscard]] Architecture recognise_architecture(const Checkpoint& checkpoint,
                                                  const ModelOptions& options = {});

/// Like recognise_architecture, but takes the parsed description and ignores `options.description`.
[[nodiscard]] Architecture architecture_described(const ArchitectureDescription& description,
                                                  const Checkpoint& checkpoint,
                                                  const ModelOptions& options = {});

}  // namespace attnscope
