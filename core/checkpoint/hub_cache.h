// Models by their names on the Hugging Face Hub, org/name or org/name@REVISION, found in the local
// cache that `hf download` and the libraries of Hugging Face fill. Nothing is downloaded.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace attnscope {

/// The folder of the cache: $HF_HUB_CACHE, $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub or
/// ~/.cache/huggingface/hub, the first that is set. A leading ~ is the home folder.
[[nodiscard]] std::filesystem::path hub_cache();

/// True if `text` is org/name, with or without @REVISION, and means a model of the hub: it is no
/// path that exists, and its model is in the cache, or the folder `org` does not exist and the name
/// has no extension of a weight file or trace.
[[nodiscard]] bool is_hub_name(const std::string& text);

/// The model's folder in the cache, models--org--name/snapshots/COMMIT, or `text` itself if it is
/// not a name of the hub. The revision is a branch or tag of refs/, or the beginning of a commit;
/// main if it is not given, or the only commit in the cache. Throws Error(io) if the model or the
/// revision is not in the cache, naming the folder and the command that downloads it.
[[nodiscard]] std::filesystem::path model_path(const std::string& text);

/// "deit-tiny-patch16-224" for a folder of the cache's form; nullopt for other paths.
[[nodiscard]] std::optional<std::string> hub_model_name(const std::filesystem::path& path);

}  // namespace attnscope
