// What becomes of an input before the first layer.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/model/parts/linear.h"
#include "core/model/parts/sequence_convolution.h"
#include "core/model/parts/stem.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Patches, prefix tokens before them, positions.
struct PatchEmbedding {
  std::optional<Stem> stem;
  std::optional<LayerNorm> norm_before;  ///< [C·ph·pw]
  Linear patch;                          ///< (c, row, column) → D
  std::optional<LayerNorm> norm_after;
  Tensor prefix_tokens;  ///< class tokens, then registers, positions added; empty for none
  Tensor positions;      ///< [rows · columns, D], of the spec's grid; empty for none

  /// [C, H, W] → [tokens, D].
  [[nodiscard]] Tensor operator()(const Tensor& image, const ModelSpec& spec) const;
};

/// scale · tokens[id] + positions[offset + i] + types[type].
struct TextEmbedding {
  WeightMatrix tokens;  ///< [vocabulary, D], without the scale
  Tensor positions;     ///< [context + offset, D]; empty for none
  std::int64_t position_offset = 0;
  Tensor types;  ///< [types, D]; empty for none
  float scale = 1;

  /// Ids below the vocabulary, and at most `context` of them; `token_types`: as many, below the
  /// table's rows, which a model without types does not ask for; [N, D].
  [[nodiscard]] Tensor operator()(const std::vector<std::int64_t>& ids,
                                  const std::vector<std::int64_t>& token_types) const;
};

/// gelu(second(gelu(first(spectrum)))) + positions; the second halves the frames (Whisper).
struct SoundEmbedding {
  SequenceConvolution first, second;
  Tensor positions;  ///< [tokens, D]

  /// [bands, 2 · tokens] → [tokens, D].
  [[nodiscard]] Tensor operator()(const Tensor& spectrum) const;
};

/// Adds sines and cosines of the place, as SinusoidOrder says, to the rows of `tokens` [N, D];
/// nothing for positions of another kind.
void add_sinusoids(const PositionSpec& positions, MatrixMap tokens);

/// What token embeddings, or projected ones, are multiplied with: InputSpec::scale, √width for 0.
[[nodiscard]] float embedding_scale(const ModelSpec& spec);

struct Embedding {
  std::optional<PatchEmbedding> patches;
  std::optional<TextEmbedding> text;
  std::optional<SoundEmbedding> sound;
  std::optional<LayerNorm> norm;     ///< of all tokens
  std::optional<Linear> projection;  ///< of given embeddings, or of narrower token embeddings
  /// [context + offset, D]: of given embeddings; of a text added after the projection where they
  /// have its width and the token embeddings have not (OPT); else empty.
  Tensor late_positions;
};

}  // namespace attnscope
