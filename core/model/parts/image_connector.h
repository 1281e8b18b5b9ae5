// Connectors, which bring the patches of an image tower to the width of a text's tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/architecture/vision_language/vision_language_file.h"
#include "core/model/parts/layer_norm.h"
#include "core/model/parts/linear.h"

namespace attnscope {

/// Brings a tower's patches to the width of a text's tokens: first(x), or second(act(first(x))), of
/// squares of patches, or of their means.
struct ImageConnector {
  ConnectorSpec spec;
  std::optional<LayerNorm> norm = {};
  Linear first;
  std::optional<Linear> second = {};

  /// Maps [rows · columns, width of the tower] to [rows / merge · columns / merge, width of the
  /// language model]. `merge` must divide rows and columns.
  [[nodiscard]] Tensor operator()(ConstMatrixMap patches, std::int64_t rows,
                                  std::int64_t columns) const;
};

/// The connector of the patches that stand in the text, and those of VisionLanguageFile::deeper.
struct ImageConnectors {
  ImageConnector main;
  std::vector<std::pair<std::int64_t, ImageConnector>> deeper = {};
  std::vector<float> row_end = {};  ///< VisionLanguageFile::row_end, [D]
};

/// The connectors' tensors. Throws Error(damaged) naming a tensor that is missing, superfluous, or
/// does not fit widths of the tower and the language model, and Error(unsupported) for patches that
/// do not form whole squares.
[[nodiscard]] ImageConnectors read_image_connectors(const VisionLanguageFile& file,
                                                    const ModelSpec& tower,
                                                    std::int64_t language_width);

}  // namespace attnscope
