// Labelled images small enough to be learnt in a test.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.h"

namespace attnscope {

/// IDX images of 6×6 pixels, of three classes that a bright row tells apart, with noise:
/// train-images-idx3-ubyte, 60 of them, and t10k-…, 24. Returns the folder.
std::filesystem::path write_small_data_set(const TemporaryFolder& folder);

/// A text of a few letters in an order that can be learnt, of 3000 characters.
std::filesystem::path write_small_text(const TemporaryFolder& folder);

/// 60 texts of up to 20 bytes in two classes that one letter tells apart, as a table: texts.tsv.
std::filesystem::path write_small_texts(const TemporaryFolder& folder);

}  // namespace attnscope
