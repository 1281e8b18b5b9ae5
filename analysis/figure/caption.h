// The parts captions are drafted from.
#pragma once

#include <string>

#include "analysis/figure/recipe.h"

namespace attnscope {

/// "fashion-adder (identity=false) on sneaker.png", subjects joined by semicolons, with what their
/// labels do not say themselves, and an input that all share once at the end. Says so where a
/// mechanism was laid over weights trained with another.
[[nodiscard]] std::string subjects_in_words(const FigureRequest& request);

/// The caption with "vit unconfirmed: scale, qkv_rows assumed. " before its last words, for each
/// model that is so, or that its reference contradicts; as it is where none is.
[[nodiscard]] std::string caption_with_status(std::string caption, const FigureRequest& request);

/// "all layers", "layer 3", "layers 0,2-3", for a setting of indices.
[[nodiscard]] std::string chosen(const std::string& what, const std::string& indices);

/// "Made with attnscope 0.1.0."
[[nodiscard]] std::string made_with();

}  // namespace attnscope
