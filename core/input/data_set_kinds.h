// The kinds of data sets, one file each; data_set.cpp asks them in turn.
#pragma once

#include <filesystem>
#include <memory>

#include "core/input/data_set.h"

namespace attnscope {

/// IDX (the MNIST family's format), plain or gzipped: recognised by its first four bytes, after
/// decompression.
[[nodiscard]] bool is_idx(const std::filesystem::path& file);
[[nodiscard]] std::shared_ptr<const DataSet> open_idx(const std::filesystem::path& images);

/// The images of a part ("train", "t10k") of the MNIST family in a folder, as
/// PART-images-idx3-ubyte or .gz; empty if there are none.
[[nodiscard]] std::filesystem::path idx_images_in(const std::filesystem::path& folder,
                                                  const char* part);

/// An HDF5 or NPZ file with `images` and, if it is labelled, `labels`.
[[nodiscard]] std::shared_ptr<const DataSet> open_array_data_set(const std::filesystem::path& file);

/// A folder with one folder of pictures per class, or of texts where there are no pictures; classes
/// and items in the order of their names, as torchvision's ImageFolder numbers them.
[[nodiscard]] std::shared_ptr<const DataSet> open_class_folders(
    const std::filesystem::path& folder);

/// Whether a file of that name is taken as a table of texts: .tsv or .csv.
[[nodiscard]] bool is_text_table(const std::filesystem::path& file);
/// A line of names, `text` and `label` among them, then an item each: in .tsv between tabs, in .csv
/// between commas, where fields may stand in double quotes (RFC 4180). Classes are in the order of
/// their names, of numbers in theirs. Throws Error naming the line.
[[nodiscard]] std::shared_ptr<const DataSet> open_text_table(const std::filesystem::path& file);

/// "PATH#INDEX", what opens the item again.
[[nodiscard]] std::string item_locator(const std::filesystem::path& path, std::int64_t index);
/// "NAME[INDEX]", what is shown.
[[nodiscard]] std::string item_label(const std::filesystem::path& path, std::int64_t index);
/// Throws Error(usage) unless 0 <= index < size.
void check_index(const std::filesystem::path& path, std::int64_t index, std::int64_t size);

}  // namespace attnscope
