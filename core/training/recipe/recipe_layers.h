// What a recipe says of a language model's layers that is of no other model: their form, and a
// window for each.
#pragma once

#include "core/architecture/model_spec.h"
#include "core/parameters/typed_values.h"

namespace attnscope {

/// Throws Error(usage), naming key, value and range, for `layer_form` or `windows` that do not go
/// with the other values, of which `mechanism` is one.
void check_layers(const TypedValues& read, const MechanismChoice& mechanism);

/// Throws Error(usage) for a recipe of images or of texts with classes that says one of both.
void refuse_language_layers(const TypedValues& read);

/// Makes the layers of a causal language model what the recipe says. Fastformer's come with the
/// read-out of Fastformer-LM: no norm after the last layer, and logits times 1/√width.
void set_language_layers(const TypedValues& read, ModelSpec& spec);

}  // namespace attnscope
