// What a training begins with.
#pragma once

#include <vector>

#include "core/training/network.h"
#include "core/training/recipe/recipe.h"

namespace attnscope {

/// The values of network.parameters(): random ones of the recipe's seed or, where the recipe has
/// `from`, that file's tensors, by name and shape (extents of 1 aside). The two differences that
/// models may have: what is a mechanism's own, such as DAFT's pe0, begins as usual where the file
/// lacks it and is left where the network does; and of a file with separate queries and keys,
/// to_qk becomes the mean of the two projections and to_v that of the values (EcoFormer, 5.1).
/// Throws Error(usage) naming the file, the tensor and both shapes for any other difference, for a
/// file whose model has another number of heads or another vocabulary, and for learnt codes that
/// the recipe wants of the file and that it lacks; as open_checkpoint.
[[nodiscard]] std::vector<float> first_values(const Recipe& recipe, const TrainedNetwork& network);

}  // namespace attnscope
