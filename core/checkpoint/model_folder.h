// Model folders in the layout of the Hugging Face Hub: config.json, weights, a tokenizer.
#pragma once

#include <filesystem>

namespace attnscope {

/// The weight file of `folder`: a file with one of the libraries' default names (safetensors before
/// pickles, an index before its file), else the only file with a known extension (the first part of
/// a split model), else the weight file of the only sub-folder checkpoint-STEP. Throws
/// Error(unsupported) if there is none, or naming the candidates if there are several. Adapters are
/// handled in adapter.h.
[[nodiscard]] std::filesystem::path weight_file_in(const std::filesystem::path& folder);

/// True if `path` is a folder with a config.json, an adapter, a GGUF file or weights under a
/// default name, so that it holds a model and not images.
[[nodiscard]] bool is_model_folder(const std::filesystem::path& path);

}  // namespace attnscope
