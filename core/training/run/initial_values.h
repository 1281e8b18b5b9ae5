// The values that a training begins with: random ones, or those of a model file.
#pragma once

#include <vector>

#include "core/training/network.h"
#include "core/training/recipe/recipe.h"

namespace attnscope {

/// The initial values of network.parameters(): random ones from the recipe's seed or, if the recipe
/// has `from`, that file's tensors, by name and shape (ignoring axes of size 1). Models may differ
/// in three ways. First, a mechanism's own tensors, such as DAFT's pe0, keep their initial values
/// if the file lacks them, and are ignored if the network has none. Second, from a file with
/// separate queries and keys, to_qk becomes the mean of the two projections and to_v that of the
/// values (EcoFormer, 5.1). Third, the parts named by the recipe's from_without keep their initial
/// values and are ignored in the file. Throws Error(usage) naming the file, the tensor and both
/// shapes for any other difference, for a file whose model has another number of heads or another
/// vocabulary, and if the file lacks learned codes that the recipe takes from it. Throws the errors
/// of open_checkpoint.
[[nodiscard]] std::vector<float> initial_values(const Recipe& recipe,
                                                const TrainedNetwork& network);

}  // namespace attnscope
