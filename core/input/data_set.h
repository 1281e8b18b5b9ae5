// Access to labelled data sets: IDX (also .gz), HDF5 and NPZ with `images` and `labels`, class
// folders, tables of texts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/input/input.h"

namespace attnscope {

/// Random access to labelled items. `item` may be called from several threads at once.
class DataSet {
 public:
  virtual ~DataSet() = default;
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// Throws Error(usage) unless 0 <= index < size().
  [[nodiscard]] virtual Input item(std::int64_t index) const = 0;
  /// Names of the classes; empty if the data set has none.
  [[nodiscard]] virtual const std::vector<std::string>& class_names() const = 0;
  /// The files or the folder that the data set is read from; empty for data in memory.
  [[nodiscard]] virtual std::vector<std::filesystem::path> files() const { return {}; }
};

/// Opens a data set: an IDX image file (with its label file in the same folder: `images-idx3` →
/// `labels-idx1`), an HDF5 or NPZ file with `images` [n,H,W] | [n,H,W,C] | [n,C,H,W] and `labels`
/// [n], a folder of such IDX files (t10k-…, the test set, before train-…), a folder of class
/// folders of images or texts, or a table of texts and labels (.tsv, .csv). Throws Error.
[[nodiscard]] std::shared_ptr<const DataSet> open_data_set(const std::filesystem::path& path);

}  // namespace attnscope
