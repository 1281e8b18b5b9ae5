// What a file given to the window is for.
#pragma once

#include <filesystem>

namespace attnscope {

enum class FileUse { model, input, session, training };

/// By its extension, and for JSON by its content: images, arrays, IDX files and folders are inputs;
/// a saved session is one; a folder of several checkpoints named after their steps is a training;
/// everything else may be a model or a trace.
[[nodiscard]] FileUse use_of(const std::filesystem::path& file);

/// The locator that opens `file` as an input: item 0 of a data set, else the path itself.
[[nodiscard]] std::string input_locator_of(const std::filesystem::path& file);

}  // namespace attnscope
