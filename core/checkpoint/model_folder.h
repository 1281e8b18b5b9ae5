// A folder as Hugging Face's hub has them: config.json, weights, a tokenizer.
#pragma once

#include <filesystem>

namespace attnscope {

/// The weight file of `folder`: by the names that libraries save under (safetensors before
/// pickles, an index before the file of that name), else the only one of a known extension, of a
/// split model its first part; else that of its only sub-folder checkpoint-STEP. Throws
/// Error(unsupported) if there is none, or several: naming them. Adapters: adapter.h.
[[nodiscard]] std::filesystem::path weight_file_in(const std::filesystem::path& folder);

/// Whether `path` is a folder with a config.json, an adapter, a GGUF file or weights under one of
/// those names: a model's, not one of images.
[[nodiscard]] bool is_model_folder(const std::filesystem::path& path);

}  // namespace attnscope
