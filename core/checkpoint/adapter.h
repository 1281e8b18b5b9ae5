// Adapter folders of PEFT: a low-rank adapter (LoRA) and its base model.
#pragma once

#include <filesystem>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// True if the folder has an adapter_config.json.
[[nodiscard]] bool is_adapter_folder(const std::filesystem::path& folder);

/// The base model with the adapter merged in: W + (lora_alpha / r) · B A, or / √r with
/// `use_rslora`, computed in float32 when such a tensor is viewed. Whole tensors of the adapter
/// (biases, modules_to_save) replace the base's. `path()` is the base's file, next to its
/// configuration and tokenizer; `metadata()["adapter"]` names the adapter's file.
///
/// The base is the path `base_model_name_or_path` if it is inside or next to the adapter's folder,
/// else the entry next to the folder with the last component of that name. No other path is
/// followed. Throws Error(io) naming the base if it is missing, Error(unsupported) for every other
/// setting that changes the computation (DoRA, PiSSA, …), Error(damaged) for tensors that do not
/// fit.
[[nodiscard]] Checkpoint open_adapter(const std::filesystem::path& folder);

}  // namespace attnscope
