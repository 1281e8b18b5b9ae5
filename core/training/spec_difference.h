// Finds the difference between a model and the models that have gradients.
#pragma once

#include <string>

#include "core/architecture/model_spec.h"

namespace attnscope {

/// The path of the first member in which the two differ, such as "layer.rotary.form"; empty if they
/// are equal.
[[nodiscard]] std::string first_difference(const ModelSpec& wanted, const ModelSpec& found);

}  // namespace attnscope
