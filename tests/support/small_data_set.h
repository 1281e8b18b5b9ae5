// Labelled images and texts that a test can learn.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.h"

namespace attnscope {

/// Writes noisy IDX images of 6×6 pixels in three classes, which bright rows tell apart: 60 in
/// train-images-idx3-ubyte and 24 in t10k-…. Returns the folder.
std::filesystem::path write_small_data_set(const TemporaryFolder& folder);

/// Writes a text of about 3000 bytes with a few letters in an order that can be learned.
std::filesystem::path write_small_text(const TemporaryFolder& folder);

/// Writes the table texts.tsv of 60 texts of up to 20 bytes in two classes, which one letter tells
/// apart.
std::filesystem::path write_small_texts(const TemporaryFolder& folder);

}  // namespace attnscope
