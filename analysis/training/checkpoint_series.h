// A folder of models of one training, whoever trained it: which of them is of which step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace attnscope {

struct SeriesModel {
  std::int64_t step = 0;
  std::filesystem::path file;  ///< as load_model takes it: a file, or a folder with one
};

/// The step that a file or folder is named after: of our runs ("step-000128.h5"), Lightning
/// ("epoch=3-step=1200.ckpt"), Hugging Face ("checkpoint-500"), Pythia ("step1000"), iterations
/// ("iter_600.pt"), and, where nothing else is said, epochs ("epoch_12.pth", "model-epoch12").
/// None if the name has no such number.
[[nodiscard]] std::optional<std::int64_t> step_in_name(std::string_view name);

/// The models in `folder`, in the order of their steps: of its own entries, else of those of
/// "checkpoints" in it, else of Lightning's newest "lightning_logs/version_N/checkpoints"; and of
/// the hub's cache of one model ("models--EleutherAI--pythia-70m") the revisions that are named
/// after steps. Throws Error(usage) if there is none, or if two are of one step, naming them.
[[nodiscard]] std::vector<SeriesModel> checkpoint_series(const std::filesystem::path& folder);

}  // namespace attnscope
