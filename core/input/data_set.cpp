#include "core/input/data_set.h"

#include "core/error.h"
#include "core/input/data_set_kinds.h"
#include "core/shown_text.h"

namespace attnscope {

std::shared_ptr<const DataSet> open_data_set(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {
    for (const char* const part : {"t10k", "train"}) {
      const std::filesystem::path images = idx_images_in(path, part);
      if (!images.empty()) return open_idx(images);
    }
    return open_class_folders(path);
  }
  if (is_text_table(path)) return open_text_table(path);
  if (is_idx(path)) return open_idx(path);
  try {
    return open_array_data_set(path);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_this_format) throw;
  }
  throw Error(ErrorKind::not_this_format, "is not a data set")
      .in_file(path)
      .remedy(
          "known kinds: IDX (.gz too), HDF5 or NPZ with 'images' and 'labels', a folder of IDX "
          "files or of class folders, .tsv or .csv with columns 'text' and 'label'");
}

std::string item_locator(const std::filesystem::path& path, std::int64_t index) {
  return path.string() + "#" + std::to_string(index);
}

std::string item_label(const std::filesystem::path& path, std::int64_t index) {
  return shown_text(path.filename().string()) + "[" + std::to_string(index) + "]";
}

void check_index(const std::filesystem::path& path, std::int64_t index, std::int64_t size) {
  if (index >= 0 && index < size) return;
  throw Error(ErrorKind::usage, "the data set has no such item")
      .in_file(path)
      .expected(size == 0 ? "nothing: it is empty" : "0 to " + std::to_string(size - 1))
      .found(std::to_string(index));
}

}  // namespace attnscope
