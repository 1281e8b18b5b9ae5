// What becomes of an image or a text before the first layer.
#pragma once

#include <cstdint>
#include <vector>

#include "core/architecture/spec/stem_spec.h"

namespace attnscope {

enum class InputKind {
  patches,     ///< of an image, each embedded by itself
  tokens,      ///< of a text, looked up in a table
  embeddings,  ///< given as they are: [N, D]
  stages,      ///< a pyramid: every stage embeds the grid before it anew
  audio        ///< a sound's spectrum of `channels` bands, embedded by two convolutions (Whisper)
};
enum class PatchOrder {
  channels_first,  ///< a flattened patch is (c, row, column), as a convolution's kernel
  channels_last    ///< (row, column, c), as vit-pytorch's rearrange
};
enum class ResizeFilter { bilinear, bicubic };
enum class ResizeMode {
  shorter_side,  ///< keep the proportions, then centre crop
  exact          ///< to the wanted width and height, whatever becomes of the proportions
};
/// How a text becomes numbers.
enum class Tokenizer {
  characters,  ///< one token a Unicode character; the vocabulary is `labels`
  bytes,       ///< one token a byte, numbered by its value
  byte_pairs,  ///< GPT-2's byte-level BPE, from vocab.json and merges.txt beside the weights
  ids,         ///< not known: only token ids can be given
  file         ///< what lies beside the weights, or in them: tokenizer.json, vocab.txt, GGUF's keys
};

struct InputSpec {
  InputKind kind = InputKind::patches;
  /// Channels of given embeddings, or of token embeddings, that are then projected to the model's
  /// width; 0: they have it.
  std::int64_t width = 0;
  // Images:
  std::int64_t channels = 3, image_height = 224, image_width = 224;  ///< pixels
  StemSpec stem;  ///< convolutions before the patches, whose pixels are then the last one's cells
  std::int64_t patch_height = 16, patch_width = 16;  ///< pixels; 0: no patches
  std::int64_t patch_stride = 0;   ///< pixels from patch to patch; 0: they tile the image
  std::int64_t patch_padding = 0;  ///< zeros around the image, in pixels
  PatchOrder patch_order = PatchOrder::channels_first;
  std::int64_t class_tokens = 1;     ///< the first: 0, 1, or 2 (distilled)
  std::int64_t register_tokens = 0;  ///< between class tokens and patches
  std::vector<double> mean = {0.5, 0.5, 0.5}, std = {0.5, 0.5, 0.5};  ///< per channel
  ResizeMode resize_mode = ResizeMode::shorter_side;
  ResizeFilter resize_filter = ResizeFilter::bicubic;  ///< antialiased
  double crop_fraction = 1.0;  ///< resize to image/crop_fraction, then centre crop
  double norm_eps = 1e-5;      ///< of a pyramid's embeddings and reductions
  // Texts:
  std::int64_t vocabulary = 0;   ///< number of tokens
  std::int64_t context = 0;      ///< the most tokens of one text, 0: any number; all of a sound
  std::int64_t token_types = 0;  ///< of a first and a second text (BERT); 0: none
  double scale = 1;              ///< of token or projected embeddings; 0: √width (labml, Gemma)
  std::int64_t padding = -1;     ///< the token that fills up texts, which no layer sees; -1: none
  bool pads_to_context = false;  ///< texts are filled up to the context, and all layers see it
  Tokenizer tokenizer = Tokenizer::ids;

  [[nodiscard]] std::int64_t grid_rows() const { return cells(image_height, patch_height); }
  [[nodiscard]] std::int64_t grid_columns() const { return cells(image_width, patch_width); }
  /// Patches along an axis of `pixels`.
  [[nodiscard]] std::int64_t cells(std::int64_t pixels, std::int64_t patch) const {
    if (patch == 0) return 0;
    const std::int64_t stride = patch_stride ? patch_stride : patch;
    const std::int64_t room = stem.extent(pixels) + 2 * patch_padding - patch;
    return room < 0 ? 0 : room / stride + 1;
  }
  /// Channels of a patch.
  [[nodiscard]] std::int64_t patch_channels() const {
    return stem.widths.empty() ? channels : stem.widths.back();
  }
  /// Tokens before the patches.
  [[nodiscard]] std::int64_t prefix_tokens() const { return class_tokens + register_tokens; }
};

/// What is added to the tokens to say where they are.
enum class Positions {
  none,
  learned,    ///< a table in the file
  sinusoidal  ///< sines and cosines of the place (Vaswani et al. 2017, 3.5)
};
/// Which channel has which sine or cosine, of D channels and place p.
enum class SinusoidOrder {
  alternating,   ///< 2i: sin(p · 10000^(−2i/D)), 2i + 1: its cosine
  halves,        ///< the same numbers, all sines before all cosines (Marian)
  halves_to_end  ///< likewise of p · 10000^(−i/(D/2 − 1)), i < D/2 (tensor2tensor, fairseq)
};
/// How learned positions are brought to another grid of patches, always bicubically.
enum class PositionResize {
  bicubic,              ///< to the exact extents, as Hugging Face
  bicubic_antialiased,  ///< the same with a wider kernel where the grid shrinks, as timm
  bicubic_offset        ///< by the factor (side + 0.1) / stored side, as DINOv2
};
/// How tables of relative positions are brought to another grid of patches, or to other windows.
enum class TableResize {
  geometric,  ///< linearly between places whose distances grow geometrically (BEiT, timm)
  bilinear    ///< to the exact extents, as Hugging Face
};

struct PositionSpec {
  Positions kind = Positions::learned;
  SinusoidOrder sinusoid_order = SinusoidOrder::alternating;  ///< of Positions::sinusoidal
  std::int64_t offset = 0;  ///< the row or place p of the first token (RoBERTa, OPT: 2)
  PositionResize resize = PositionResize::bicubic;
  TableResize table_resize = TableResize::geometric;
};

}  // namespace attnscope
