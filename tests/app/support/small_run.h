// A training on disk that is small enough for a test, with checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>

#include "analysis/training/run_folder.h"
#include "app/session/sample_data.h"

namespace attnscope {

/// Trains a network of two layers on twelve images. `folder` must be missing or empty. It then
/// holds the models of step 0, of two steps between and of the last step: 0, 2, 4 and 8 of 8 steps.
/// `more` are additional settings of the recipe.
inline void train_small_run(const std::filesystem::path& folder, std::int64_t steps = 8,
                            ParameterValues more = {}) {
  const RunFolder run{folder};
  more.merge(ParameterValues{{"dataset", (sample_data_folder() / "inputs/twelve.npz").string()},
                             {"steps", steps},
                             {"depth", std::int64_t{2}},
                             {"width", std::int64_t{12}},
                             {"batch", std::int64_t{2}},
                             {"warm_up", std::int64_t{1}},
                             {"probes", std::int64_t{0}},
                             {"checkpoints", std::int64_t{3}}});
  begin_run_folder(run, Recipe(more));
  train(run, {});
}

}  // namespace attnscope
