// Names, settings and needs of all figures as JSON, for other programs.
#pragma once

#include <string>

#include "analysis/figure/recipe.h"

namespace attnscope {

/// All figures: [{"name": …, "title": …, "source": …,
///   "needs": {"subjects": "maps", "least": 1, "most": null, "input": "image", "mechanism": "daft",
///             "readout": false, "setting": "dataset"},
///   "settings": [{"name": "threshold", "type": "number", "default": 0.9, "minimum": 1e-06,
///                 "maximum": 1, "unit": "%", "words": ["first"], "choices": […],
///                 "range": "in words", "explanation": …}]}]. Entries without a value are omitted.
[[nodiscard]] std::string figures_as_json();

}  // namespace attnscope
