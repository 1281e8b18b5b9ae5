// Weight files: tensors by name, and the file's metadata.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/progress.h"
#include "core/tensor/tensor_view.h"

namespace attnscope {

class KeyValues;

/// One stored tensor. The shape is known from the file's header; the elements are read by `view`.
struct StoredTensor {
  std::string name;  ///< in a Checkpoint: after shown_text, without wrappers if still unique
  DType dtype = DType::f32;
  Shape shape;
  std::int64_t bytes = 0;               ///< size of the elements, or of the blocks
  std::function<TensorView()> view;     ///< maps or decompresses the elements; may throw Error
  const BlockLayout* blocks = nullptr;  ///< layout of dtype quantised, else null

  /// Name of the stored element type: "float32", "Q4_K".
  [[nodiscard]] std::string_view type_name() const;
};

/// An opened weight file of any format. Memory-mapped if the format allows it.
class Checkpoint {
 public:
  Checkpoint(std::filesystem::path path, std::string format, std::vector<StoredTensor> tensors,
             std::map<std::string, std::string> metadata);

  /// Stores the tensors of the file's other state dicts (averaged weights, for example), by name.
  /// `taken` is the name of the state dict in `tensors`.
  void hold_state_dicts(std::string taken, std::map<std::string, std::vector<StoredTensor>> others);
  /// Name of the state dict of `tensors`; empty if the file has only one.
  [[nodiscard]] const std::string& state_dict() const { return state_dict_; }
  [[nodiscard]] std::vector<std::string> other_state_dicts() const;
  /// The file with the state dict `name` as `tensors`. Throws Error(usage) listing the known names.
  [[nodiscard]] Checkpoint with_state_dict(const std::string& name) const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const std::string& format() const { return format_; }
  /// Tensors in the order of the file. Names are unique: opening a file with duplicates fails.
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const { return tensors_; }
  /// The file's metadata: safetensors `__metadata__`, HDF5 root attributes (strings unchanged,
  /// numbers printed), and the like.
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// The metadata as typed values, including lists, for formats that have them (GGUF); else null.
  [[nodiscard]] const KeyValues* key_values() const { return key_values_.get(); }
  void hold_key_values(std::shared_ptr<const KeyValues> values);
  /// Replaces elements and the factors that are stored in a tensor next to them by one quantised
  /// tensor: MXFP4 (NAME_blocks [.., G, 16] with NAME_scales [.., G], which become NAME_blocks
  /// [.., 32 G]) and F8_E4M3 (NAME with NAME_scale_inv, a factor for each 128 × 128 elements).
  /// Throws Error(damaged) for factors that do not fit.
  void join_factors();

  [[nodiscard]] const StoredTensor* find(std::string_view name) const;
  /// Like find, but throws Error(damaged) with the nearest names if the tensor is missing.
  [[nodiscard]] const StoredTensor& at(std::string_view name) const;
  /// At most `count` stored names that are most similar to `name`, best first.
  [[nodiscard]] std::vector<std::string> nearest_names(std::string_view name,
                                                       std::size_t count = 3) const;

 private:
  /// Throws Error(damaged) if two tensors have one name.
  void make_index();

  std::filesystem::path path_;
  std::string format_;
  std::vector<StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
  std::string state_dict_;
  std::map<std::string, std::vector<StoredTensor>> other_state_dicts_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::shared_ptr<const KeyValues> key_values_;
};

/// Opens a weight file of any known format, or the weight file of a folder. The content decides the
/// format, then the extension. Throws Error(not_this_format) listing the known formats, or
/// Error(damaged, unsupported, io).
[[nodiscard]] Checkpoint open_checkpoint(const std::filesystem::path& path);

/// NaN and infinite elements of one tensor.
struct TensorScan {
  TensorView::NonFinite counts;
  std::string error;  ///< reason why the elements cannot be read, else empty
};

/// One result per tensor, in order. Reads every element of the file on all cores.
[[nodiscard]] std::vector<TensorScan> scan_tensors(const Checkpoint& checkpoint);

}  // namespace attnscope
