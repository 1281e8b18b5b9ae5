// Building blocks of captions.
#pragma once

#include <string>

#include "analysis/figure/recipe.h"

namespace attnscope {

/// The subjects for a caption, "fashion-adder (identity=false) on sneaker.png", separated by
/// semicolons, with properties that their labels do not name. An input shared by all is named once
/// at the end. Names a mechanism that overlays weights trained with another one.
[[nodiscard]] std::string subjects_in_words(const FigureRequest& request);

/// The caption with a sentence such as "vit unconfirmed: scale, qkv_rows assumed. " inserted before
/// its ending for each model that is unconfirmed or contradicted by its reference; unchanged if
/// there is none.
[[nodiscard]] std::string caption_with_status(std::string caption, const FigureRequest& request);

/// The words for a setting of indices: "all layers", "layer 3", "layers 0,2-3".
[[nodiscard]] std::string chosen(const std::string& what, const std::string& indices);

/// The ending of captions: "Made with attnscope 0.1.0."
[[nodiscard]] std::string made_with();

}  // namespace attnscope
