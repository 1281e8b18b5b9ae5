// Use of a file given to the window.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attnscope {

enum class FileUse { model, input, session, training };

/// The use by extension, and for JSON by content. Images, texts, sounds, arrays, IDX files and
/// folders are inputs; a saved session is a session; a folder of several checkpoints named after
/// their steps is a training. Folders of a model and all other files are treated as a model or
/// trace.
[[nodiscard]] FileUse use_of(const std::filesystem::path& file);

/// The locator that opens `file` as an input: item 0 of a data set, otherwise the path itself.
[[nodiscard]] std::string input_locator_of(const std::filesystem::path& file);

/// True for at least two files, all of them PNG or JPEG pictures by extension.
[[nodiscard]] bool are_pictures(const std::vector<std::filesystem::path>& files);

}  // namespace attnscope
