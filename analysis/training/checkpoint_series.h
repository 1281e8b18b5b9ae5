// Finds the models of one training in a folder, written by any framework, with their steps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace attnscope {

struct SeriesModel {
  std::int64_t step = 0;
  std::filesystem::path file;  ///< file, or folder with one, as load_model accepts it
};

/// The step in the name of a file or folder: of our runs ("step-000128.h5"), Lightning
/// ("epoch=3-step=1200.ckpt"), Hugging Face ("checkpoint-500"), Pythia ("step1000"), iterations
/// ("iter_600.pt"), and epochs if there is no other number ("epoch_12.pth", "model-epoch12"). Empty
/// if the name has no such number.
[[nodiscard]] std::optional<std::int64_t> step_in_name(std::string_view name);

/// The models in `folder`, ordered by step, without names that begin with "tmp-", under which
/// libraries write and then rename them: its own entries, else those of its subfolder
/// "checkpoints", else those of Lightning's newest "lightning_logs/version_N/checkpoints"; in the
/// hub's cache of one model ("models--EleutherAI--pythia-70m") the revisions named after steps.
/// Throws Error(usage) if there is none, or if two have the same step, naming them.
[[nodiscard]] std::vector<SeriesModel> checkpoint_series(const std::filesystem::path& folder);

/// Like checkpoint_series, but empty if there is none yet, as in the folder of a training that has
/// just begun.
[[nodiscard]] std::vector<SeriesModel> checkpoints_so_far(const std::filesystem::path& folder);

}  // namespace attnscope
