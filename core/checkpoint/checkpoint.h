// A weight file: names → tensors, and what the file says about itself.
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
  std::string name;  ///< in a Checkpoint as shown_text has it, without wrappers if that is unique
  DType dtype = DType::f32;
  Shape shape;
  std::int64_t bytes = 0;            ///< of the elements: count × size_of(dtype), or of the blocks
  std::function<TensorView()> view;  ///< maps or decompresses the elements; may throw Error
  const BlockLayout* blocks = nullptr;  ///< of dtype quantised: how

  /// "float32", "Q4_K": what the elements are stored as.
  [[nodiscard]] std::string_view type_name() const;
};

/// An opened weight file, whatever its format. Memory-mapped where the format allows.
class Checkpoint {
 public:
  Checkpoint(std::filesystem::path path, std::string format, std::vector<StoredTensor> tensors,
             std::map<std::string, std::string> metadata);

  /// The tensors of each of several state dicts in the file (raw and averaged ones, say), but for
  /// the one in `tensors`, which is named `taken`.
  void hold_state_dicts(std::string taken, std::map<std::string, std::vector<StoredTensor>> others);
  /// Name of the state dict whose tensors these are; empty where the file has but one.
  [[nodiscard]] const std::string& state_dict() const { return state_dict_; }
  [[nodiscard]] std::vector<std::string> other_state_dicts() const;
  /// This file with another of its state dicts. Throws Error(usage) listing the known.
  [[nodiscard]] Checkpoint with_state_dict(const std::string& name) const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const std::string& format() const { return format_; }
  /// In the order of the file. Names are unique: a duplicate is refused when the file is opened.
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const { return tensors_; }
  /// What the file says of itself: safetensors `__metadata__`, HDF5 root attributes (strings as
  /// they are, numbers printed).
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// The same as typed values, lists and all, of a format that has them (GGUF); else null.
  [[nodiscard]] const KeyValues* key_values() const { return key_values_.get(); }
  void hold_key_values(std::shared_ptr<const KeyValues> values);

  [[nodiscard]] const StoredTensor* find(std::string_view name) const;
  /// Throws Error(damaged) naming the nearest names if there is no such tensor.
  [[nodiscard]] const StoredTensor& at(std::string_view name) const;
  /// The (at most `count`) stored names most like `name`, best first.
  [[nodiscard]] std::vector<std::string> nearest_names(std::string_view name,
                                                       std::size_t count = 3) const;

 private:
  std::filesystem::path path_;
  std::string format_;
  std::vector<StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
  std::string state_dict_;
  std::map<std::string, std::vector<StoredTensor>> other_state_dicts_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::shared_ptr<const KeyValues> key_values_;
};

/// Opens a weight file of any known format, decided by its content, then by its extension; of a
/// folder, the weight file in it.
/// Throws Error(not_this_format) listing the known formats, or Error(damaged, unsupported, io).
[[nodiscard]] Checkpoint open_checkpoint(const std::filesystem::path& path);

}  // namespace attnscope
