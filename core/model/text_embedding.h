// What models of texts make of tokens before their first layer.
#pragma once

#include <optional>
#include <vector>

#include "core/model/parts/linear.h"
#include "core/model/weights/weight_reader.h"

namespace attnscope {

/// norm(scale · tokens[id] + positions[i]).
struct TextEmbedding {
  Tensor tokens;     ///< [vocabulary, D], without the scale
  Tensor positions;  ///< [context, D]
  float scale = 1;
  std::optional<LayerNorm> norm;

  /// Each below the vocabulary, and at most `context` of them; [N, D].
  [[nodiscard]] Tensor operator()(const std::vector<std::int64_t>& ids) const;
};

/// Throws Error(damaged) naming the tensor whose shape does not fit the spec.
[[nodiscard]] TextEmbedding read_text_embedding(const WeightReader& reader,
                                                const Architecture& architecture);

}  // namespace attnscope
