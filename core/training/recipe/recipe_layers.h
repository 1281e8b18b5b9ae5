// Recipe keys specific to the layers of language models: their form, and a window for each.
#pragma once

#include "core/architecture/model_spec.h"
#include "core/parameters/typed_values.h"

namespace attnscope {

/// Throws Error(usage), naming key, value and range, if `layer_form` or `windows` does not fit the
/// other values, including `mechanism`.
void check_layers(const TypedValues& read, const MechanismChoice& mechanism);

/// Throws Error(usage) if a recipe for images, or for texts with classes, sets `layer_form` or
/// `windows`.
void refuse_language_layers(const TypedValues& read);

/// Sets the layers of a causal language model. Fastformer's layers come with the read-out of
/// Fastformer-LM: no norm after the last layer, and logits multiplied by 1/√width.
void set_language_layers(const TypedValues& read, ModelSpec& spec);

}  // namespace attnscope
