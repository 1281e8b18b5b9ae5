// Readers of the kinds of data sets, one file each. data_set.cpp tries them in turn.
#pragma once

#include <filesystem>
#include <memory>

#include "core/input/data_set.h"

namespace attnscope {

/// True for IDX (the format of MNIST), plain or gzipped, judged by the first four decompressed
/// bytes.
[[nodiscard]] bool is_idx(const std::filesystem::path& file);
[[nodiscard]] std::shared_ptr<const DataSet> open_idx(const std::filesystem::path& images);

/// The image file of a part ("train", "t10k") of an MNIST-like data set in a folder,
/// PART-images-idx3-ubyte or .gz; empty if missing.
[[nodiscard]] std::filesystem::path idx_images_in(const std::filesystem::path& folder,
                                                  const char* part);

/// Opens an HDF5 or NPZ file with `images` and, if it is labelled, `labels`.
[[nodiscard]] std::shared_ptr<const DataSet> open_array_data_set(const std::filesystem::path& file);

/// Opens a folder with one folder of pictures per class, or of texts if there are no pictures.
/// Classes and items are sorted by name, as in torchvision's ImageFolder.
[[nodiscard]] std::shared_ptr<const DataSet> open_class_folders(
    const std::filesystem::path& folder);

/// True if the file name is that of a table of texts: .tsv or .csv.
[[nodiscard]] bool is_text_table(const std::filesystem::path& file);
/// Opens a table: a header line with at least `text` and `label`, then one item per line. Fields
/// are separated by tabs (.tsv) or commas (.csv, with optional double quotes, RFC 4180). Classes
/// are sorted by name, or numerically if all are integers. Throws Error naming the line.
[[nodiscard]] std::shared_ptr<const DataSet> open_text_table(const std::filesystem::path& file);

/// Locator that opens the item again: "PATH#INDEX".
[[nodiscard]] std::string item_locator(const std::filesystem::path& path, std::int64_t index);
/// Label of the item for display: "NAME[INDEX]".
[[nodiscard]] std::string item_label(const std::filesystem::path& path, std::int64_t index);
/// Throws Error(usage) unless 0 <= index < size.
void check_index(const std::filesystem::path& path, std::int64_t index, std::int64_t size);

}  // namespace attnscope
