// How families of models name their tensors: recognised by names and shapes, without being told.
// Built-in families and users' JSON descriptions (docs/architecture-descriptions.md) are the same
// thing, read by the same code.
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

/// What a tensor is for. A `module` role stands for its `.weight` and its `.bias` (none is zero).
struct TensorRole {
  /// "layer.norm1"; "layer." for those of each block, "stage." for those of each stage of a pyramid
  std::string_view name;
  bool module = false;
  std::string_view explanation;  ///< with its shape
};

[[nodiscard]] std::span<const TensorRole> tensor_roles();

/// Where a role's tensor is found: a name with {layer} for the number of the block; in a pyramid
/// with {stage}, and {block} for the number of the block in its stage. A stage's pattern without
/// {stage} is the first stage's. {head} counts from 0: one tensor a head, row after row.
struct TensorPattern {
  std::string pattern;
  std::vector<std::string> joined = {};  ///< patterns of tensors whose rows follow
  bool optional = false;
  bool transposed = false;     ///< stored as [in, out]
  bool of_all_layers = false;  ///< one tensor whose first axis counts the layers
  Shape shape = {};            ///< as TensorSource::shape
  std::vector<std::vector<std::int64_t>> axes = {};  ///< as TensorSource::axes
  std::optional<RowRange> rows = {};                 ///< as TensorSource::rows
};

/// One naming scheme with what its family usually is.
struct ArchitectureDescription {
  std::string name;                           ///< "timm ViT"
  ModelSpec spec;                             ///< what it states or assumes
  std::set<std::string, std::less<>> stated;  ///< members of `spec` that are no assumption
  std::map<std::string, std::string, std::less<>> reasons;  ///< why `spec` assumes a member
  /// Role, in the first layer → members as JSON, which `spec` assumes where that role is there.
  std::map<std::string, std::string, std::less<>> where;
  QkvRows qkv_rows = QkvRows::parts_first;
  std::int64_t first_stage = 0;  ///< the number that the first {stage} has
  /// What stands before the names of this family alone ("roberta."). Others share its names: unless
  /// a configuration says the family, one of them must be there. Empty: names tell.
  std::vector<std::string> prefixes;
  /// "layer.qkv.weight", "class_token" → the patterns to try; the first that is there is taken.
  std::map<std::string, std::vector<TensorPattern>, std::less<>> tensors;
  /// Patterns (* for any characters) of tensors without a role that no map or logit needs.
  std::vector<std::string> harmless;
  /// Tensors that mean that the file is something else → what.
  std::map<std::string, std::string, std::less<>> refused;
};

/// Reads a description. Throws Error(damaged) naming the key: not JSON, unknown keys or roles
/// (listing the known), a layer's pattern without {layer}.
[[nodiscard]] ArchitectureDescription parse_architecture_description(std::string_view json_text);

/// A weight file understood: its spec, and which tensor has which role.
struct Architecture {
  std::string name;
  ModelSpec spec;
  std::vector<Assumption> assumptions;
  QkvRows qkv_rows = QkvRows::parts_first;
  /// Grid the stored position embeddings cover, and how many prefix tokens' stand before it.
  std::int64_t position_rows = 0, position_columns = 0;
  std::int64_t position_prefix = 0;

  using Source = TensorSource;
  /// "layer.3.qkv.weight", "stage.0.patch.weight" → its tensor. Layers count through all stages.
  std::map<std::string, Source, std::less<>> sources;
  std::vector<std::string> unused;  ///< tensors without a role
};

/// One line of the list of built-in families.
struct ArchitectureFamily {
  std::string_view name;
  std::string_view description;  ///< JSON, as a user would write it
};

[[nodiscard]] std::span<const ArchitectureFamily> architecture_families();

/// Recognises the family, or follows `options.description`; overrides come last. Throws
/// Error(unsupported) naming the pattern that matched nothing of a family that was said (by the
/// configuration, a description or the file itself), else what names say, or the nearest families;
/// Error(usage) for an override that contradicts the tensors' shapes.
[[nodiscard]] Architecture recognise_architecture(const Checkpoint& checkpoint,
                                                  const ModelOptions& options = {});

}  // namespace attnscope
