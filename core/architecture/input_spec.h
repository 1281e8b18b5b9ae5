// Input of a model before its first layer: convolutions, patches, tokens, preprocessing, positions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/architecture/layer_spec.h"

namespace attnscope {

/// Stack of convolutions, each followed by an optional norm and an activation (Xiao et al. 2021;
/// Graham et al. 2021, LeViT). Patches are cut from the last output. All lists have the same
/// length.
struct StemSpec {
  std::vector<std::int64_t> widths;    ///< output channels of each convolution; empty: no stem
  std::vector<std::int64_t> kernels;   ///< kernel side of each convolution
  std::vector<std::int64_t> strides;   ///< strides in pixels, or cells of the previous convolution
  std::vector<std::int64_t> paddings;  ///< zero padding of each input
  Activation activation = Activation::relu;
  double norm_eps = 1e-5;

  /// True if the lists have the same length and all strides are above 0.
  [[nodiscard]] bool fits() const {
    const std::size_t count = widths.size();
    return kernels.size() == count && strides.size() == count && paddings.size() == count &&
           std::ranges::all_of(strides, [](std::int64_t stride) { return stride > 0; });
  }
  /// Number of cells along an axis of `pixels`; 0 if there are too few pixels or the lists do not
  /// fit.
  [[nodiscard]] std::int64_t extent(std::int64_t pixels) const {
    if (!fits()) return 0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const std::int64_t room = pixels + 2 * paddings[i] - kernels[i];
      if (pixels == 0 || room < 0) return 0;
      pixels = room / strides[i] + 1;
    }
    return pixels;
  }
};

enum class InputKind {
  patches,     ///< patches of an image, each embedded on its own
  tokens,      ///< tokens of a text, looked up in an embedding table
  embeddings,  ///< token vectors given by the user: [N, D]
  stages,      ///< a pyramid: each stage embeds the grid of the stage before
  audio        ///< audio spectrum with `channels` bands, embedded by two convolutions (Whisper)
};
enum class PatchOrder {
  channels_first,  ///< a flattened patch is (channel, row, column), like a convolution kernel
  channels_last    ///< a flattened patch is (row, column, channel), like vit-pytorch's rearrange
};
enum class ResizeFilter { bilinear, bicubic, lanczos };
enum class ResizeMode {
  shorter_side,  ///< keeps the aspect ratio, then crops the centre
  exact,         ///< exact width and height; the aspect ratio may change
  padded  ///< first a square: the shorter side is filled up on both sides with the mean colour
};
/// Conversion of a text into token ids.
enum class Tokenizer {
  characters,  ///< one token per Unicode character; the vocabulary is `labels`
  bytes,       ///< one token per byte; the id is the byte's value
  byte_pairs,  ///< GPT-2's byte-level BPE, from vocab.json and merges.txt next to the weights
  ids,         ///< unknown: only token ids can be given
  file         ///< tokenizer next to or inside the weights: tokenizer.json, vocab.txt, GGUF keys
};

struct InputSpec {
  InputKind kind = InputKind::patches;
  /// Width of given embeddings or token embeddings that are projected to the model's width; 0: no
  /// projection.
  std::int64_t width = 0;
  // Members for images:
  std::int64_t channels = 3, image_height = 224, image_width = 224;  ///< image size in pixels
  StemSpec stem;  ///< convolutions before the patches; patch sizes then count cells of the last
  std::int64_t patch_height = 16, patch_width = 16;  ///< patch size in pixels; 0: no patches
  std::int64_t patch_stride = 0;   ///< pixels between patch origins; 0: patches tile the image
  std::int64_t patch_padding = 0;  ///< zero padding around the image, in pixels
  PatchOrder patch_order = PatchOrder::channels_first;
  std::int64_t class_tokens = 1;     ///< class tokens at the start: 0, 1, or 2 (distilled)
  std::int64_t register_tokens = 0;  ///< register tokens between class tokens and patches
  std::vector<double> mean = {0.5, 0.5, 0.5}, std = {0.5, 0.5, 0.5};  ///< one value per channel
  ResizeMode resize_mode = ResizeMode::shorter_side;
  ResizeFilter resize_filter = ResizeFilter::bicubic;  ///< filter, always antialiased
  double crop_fraction = 1.0;  ///< resize to image/crop_fraction, then centre crop
  /// Side in pixels to which the longer side of an image is resized before all else; 0: not.
  std::int64_t longest_edge = 0;
  /// A model of a picture and a text reads the picture, resized to whole tiles of the image size,
  /// tile by tile, and then whole (Idefics 3).
  bool tiles = false;
  /// Most pixels of an image that keeps its aspect ratio nearly and is resized to whole multiples
  /// of size_step along both sides (Qwen2-VL); 0: all images have the size above.
  std::int64_t most_pixels = 0;
  std::int64_t least_pixels = 0;  ///< fewest pixels of such an image
  std::int64_t size_step = 1;     ///< pixels
  /// Number of equal frames that an image is given as: the time axis of the kernels of patches in a
  /// model that also reads films.
  std::int64_t frames = 1;
  double norm_eps = 1e-5;  ///< ε of the norms in a pyramid's embeddings and reductions
  // Members for text and audio:
  std::int64_t vocabulary = 0;   ///< number of tokens
  std::int64_t context = 0;      ///< maximum tokens of a text, 0: no limit; exact number for audio
  std::int64_t token_types = 0;  ///< number of token types (BERT: first and second text); 0: none
  double scale = 1;  ///< factor of token or projected embeddings; 0: √width (labml, Gemma)
  std::int64_t padding = -1;  ///< id of the padding token, which no layer sees; -1: none
  /// Id of the mask token, if its embedding is 0 and the others are scaled by 0.88 / (1 − its share
  /// of the text), as in training with a share of 0.12 (ESM); -1: none.
  std::int64_t dropped_token = -1;
  bool pads_to_context = false;  ///< texts are padded to the context; all layers see the padding
  Tokenizer tokenizer = Tokenizer::ids;

  [[nodiscard]] std::int64_t grid_rows() const { return cells(image_height, patch_height); }
  [[nodiscard]] std::int64_t grid_columns() const { return cells(image_width, patch_width); }
  /// Number of patches along an axis of `pixels`.
  [[nodiscard]] std::int64_t cells(std::int64_t pixels, std::int64_t patch) const {
    if (patch == 0) return 0;
    const std::int64_t stride = patch_stride ? patch_stride : patch;
    const std::int64_t room = stem.extent(pixels) + 2 * patch_padding - patch;
    return room < 0 ? 0 : room / stride + 1;
  }
  /// Number of channels of a patch.
  [[nodiscard]] std::int64_t patch_channels() const {
    return stem.widths.empty() ? channels : stem.widths.back();
  }
  /// True if images keep their sizes, up to most_pixels.
  [[nodiscard]] bool keeps_sizes() const { return most_pixels > 0; }
  /// Number of tokens before the patches.
  [[nodiscard]] std::int64_t prefix_tokens() const { return class_tokens + register_tokens; }
};

/// Position embeddings that are added to the tokens.
enum class Positions {
  none,
  learned,    ///< a table in the file
  sinusoidal  ///< sines and cosines of the position (Vaswani et al. 2017, 3.5)
};
/// Order of the sines and cosines in D channels, for position p.
enum class SinusoidOrder {
  alternating,   ///< channel 2i: sin(p · 10000^(−2i/D)), channel 2i + 1: its cosine
  halves,        ///< the same values, all sines before all cosines (Marian)
  halves_to_end  ///< sines first, of p · 10000^(−i/(D/2 − 1)), i < D/2 (tensor2tensor, fairseq)
};
/// Interpolation of learned positions to a different grid of patches.
enum class PositionResize {
  bicubic,              ///< to the exact shape, like Hugging Face
  bicubic_antialiased,  ///< to the exact shape, with a wider kernel if the grid shrinks, like timm
  bicubic_offset,       ///< by the factor (side + 0.1) / stored side, like DINOv2
  bilinear_corners      ///< bilinear, corners on corners, like Qwen3-VL
};
/// Interpolation of relative position tables to a different grid of patches or window.
enum class TableResize {
  geometric,  ///< linear between offsets that grow geometrically (BEiT, timm)
  bilinear    ///< to the exact shape, like Hugging Face
};

struct PositionSpec {
  Positions kind = Positions::learned;
  SinusoidOrder sinusoid_order = SinusoidOrder::alternating;  ///< only for Positions::sinusoidal
  std::int64_t offset = 0;  ///< table row or position p of the first token (RoBERTa, OPT: 2)
  PositionResize resize = PositionResize::bicubic;
  TableResize table_resize = TableResize::geometric;
};

}  // namespace attnscope
