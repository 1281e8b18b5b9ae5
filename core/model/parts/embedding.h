// Embeddings of images, texts and sounds: the computation before the first layer. Between the
// stages of a pyramid, patches may be merged instead.
#pragma once

#include <optional>
#include <vector>

#include "core/architecture/input_spec.h"
#include "core/architecture/model_spec.h"
#include "core/architecture/pyramid_grid.h"
#include "core/model/parts/convolution.h"
#include "core/model/parts/layer_norm.h"
#include "core/model/parts/linear.h"
#include "core/model/parts/position_grid.h"
#include "core/model/parts/sequence_convolution.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Convolutions over the pixels before the patch embedding: applies
/// activation(norm(convolution(…))) layer by layer.
struct Stem {
  struct Layer {
    Convolution convolution;        ///< includes a norm by running statistics, if any
    std::optional<LayerNorm> norm;  ///< norm over the channels of each cell
  };
  std::vector<Layer> layers;  ///< at least one
  Activation activation = Activation::relu;

  /// Maps [C, H, W] to [C′, H′, W′].
  [[nodiscard]] Tensor operator()(const Tensor& image) const;
};

/// Patch embedding, with prefix tokens in front and positions added.
struct PatchEmbedding {
  std::optional<Stem> stem;
  std::optional<LayerNorm> norm_before;  ///< [C·ph·pw]
  Linear patch;                          ///< (c, row, column) → D
  std::optional<LayerNorm> norm_after;
  Tensor prefix_tokens;  ///< class tokens, then registers, with positions added; may be empty
  /// [rows · columns, D] for the spec's grid; may be empty. If images keep their sizes, those of
  /// the file, which are resampled to the image's grid.
  Tensor positions;
  PositionGrid stored;  ///< the grid of `positions`

  /// Maps an image [C, H, W] to tokens [tokens, D].
  [[nodiscard]] Tensor operator()(const Tensor& image, const ModelSpec& spec) const;
};

/// Text embedding: scale · tokens[id] + positions[offset + i] + types[type], where the embedding of
/// a dropped token is 0 and the scale of the others is divided by 1 − its share of the text.
struct TextEmbedding {
  WeightMatrix tokens;  ///< [vocabulary, D], without the scale
  Tensor positions;     ///< [context + offset, D]; may be empty
  std::int64_t position_offset = 0;
  Tensor types;  ///< [types, D]; may be empty
  float scale = 1;
  std::int64_t dropped = -1;  ///< id of the dropped token; -1: none

  /// Embeds `ids` as [N, D]. Ids must be below the vocabulary size, and first + N at most
  /// `context`. `token_types` has one type per id, below the number of rows of the table; it is
  /// ignored if the model has no types. `first` is the position of the first token in its text.
  [[nodiscard]] Tensor operator()(const std::vector<std::int64_t>& ids,
                                  const std::vector<std::int64_t>& token_types,
                                  std::int64_t first = 0) const;
};

/// Sound embedding: gelu(second(gelu(first(spectrum)))) + positions. The second convolution halves
/// the number of frames (Whisper).
struct SoundEmbedding {
  SequenceConvolution first, second;
  Tensor positions;  ///< [tokens, D]

  /// Maps a spectrum [bands, 2 · tokens] to tokens [tokens, D].
  [[nodiscard]] Tensor operator()(const Tensor& spectrum) const;
};

/// Adds sines and cosines of the token position to the rows of `tokens` [N, D], in the order of
/// SinusoidOrder; `first` is the position of the first row. Does nothing for other kinds of
/// positions.
void add_sinusoids(const PositionSpec& positions, MatrixMap tokens, std::int64_t first = 0);

/// Factor of token or projected embeddings: InputSpec::scale, or √width if that is 0.
[[nodiscard]] float embedding_scale(const ModelSpec& spec);

/// One of several convolutions of a stage's embedding, followed by a ReLU (MLLA).
struct EmbeddingStep {
  std::optional<Convolution> convolution;
  std::optional<DepthwiseConvolution> depthwise;  ///< in place of `convolution`
  bool begins = false;  ///< its input is added to the output of the step that ends
  bool ends = false;    ///< and then has no ReLU
};
/// Applies `steps` to the cells [grid, C]; `grid` becomes that of the result.
[[nodiscard]] Tensor embed_in_steps(const std::vector<EmbeddingStep>& steps, Tensor cells,
                                    GridExtents& grid);

struct Embedding {
  std::optional<PatchEmbedding> patches;
  std::optional<TextEmbedding> text;
  std::optional<SoundEmbedding> sound;
  std::optional<LayerNorm> norm;     ///< norm of all tokens
  std::optional<Linear> projection;  ///< projection of given or narrower token embeddings
  /// Positions [context + offset, D] of given embeddings; for a text, added after the projection if
  /// they have its width and the token embeddings are narrower (OPT). Otherwise empty.
  Tensor late_positions;
};

/// Merges 2 × 2 neighbouring patches into one, for a coarser grid (Liu et al. 2021, section 3.1):
/// computes reduction(norm([x(0,0), x(1,0), x(0,1), x(1,1)])) for each 2 × 2 cells (row, column).
/// An odd last row or column is merged with zeros.
struct PatchMerging {
  LayerNorm norm;    ///< [4·D]
  Linear reduction;  ///< 4·D → the next stage's width

  /// Maps [grid, D] to [half the rows · half the columns, width], rounded up.
  [[nodiscard]] Tensor operator()(const Tensor& tokens, const GridExtents& grid) const;
};

}  // namespace attnscope
