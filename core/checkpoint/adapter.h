// Folders of PEFT's: an adapter of low rank (LoRA), and the model it was trained on.
#pragma once

#include <filesystem>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Whether the folder has an adapter_config.json.
[[nodiscard]] bool is_adapter_folder(const std::filesystem::path& folder);

/// The base model with the adapter laid over it: W + (lora_alpha / r) · B A, or / √r with
/// `use_rslora`, computed in float32 when such a tensor is viewed. Tensors that the adapter holds
/// whole (biases, modules_to_save) stand for the base's. `path()` is the base's file, beside which
/// its configuration and tokenizer lie; `metadata()["adapter"]` names the adapter's.
///
/// The base is what `base_model_name_or_path` says if that is a path inside or beside the adapter's
/// folder; else what has the last part of that name beside it. No other path is followed. Throws
/// Error(io) naming it if there is none, Error(unsupported) for
/// every setting that changes the computation and is not among the above (DoRA, PiSSA, …),
/// Error(damaged) for tensors that do not fit.
[[nodiscard]] Checkpoint open_adapter(const std::filesystem::path& folder);

}  // namespace attnscope
