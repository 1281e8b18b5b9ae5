// In what a model differs from those that have gradients.
#pragma once

#include <string>

#include "core/architecture/model_spec.h"

namespace attnscope {

/// The path of the first member in which the two differ, such as "layer.rotary.form"; empty where
/// they are the same.
[[nodiscard]] std::string first_difference(const ModelSpec& wanted, const ModelSpec& found);

}  // namespace attnscope
