// Cuts a picture into tiles, as models of a picture and a text read it (Laurençon et al. 2024,
// Idefics3; Liu et al. 2024, LLaVA-NeXT; transformers' image_processing_idefics3.py and
// image_processing_llava_next.py).
#pragma once

#include <cstdint>
#include <vector>

#include "core/architecture/input_spec.h"
#include "core/attention/token_layout.h"
#include "core/input/image.h"
#include "core/model/preprocessing/image_resize.h"

namespace attnscope {

struct TileCounts {
  std::int64_t down = 0, across = 0;  ///< 0 × 0: the picture is not cut
};

struct PictureTiles : TileCounts {
  std::vector<Image> tiles;  ///< down · across images of the model's size, row-major
  Image whole;               ///< all of the picture, in the model's size
  Image joined;              ///< the picture that the tiles, or else `whole`, cover
};

/// The image with its longer side resized to spec.longest_edge, if that is not 0; the other side is
/// rounded down, and then up to an even number.
[[nodiscard]] Image with_longest_edge(const Image& image, const InputSpec& spec);

/// Resizes the picture, which has the model's channels, first with_longest_edge and then to whole
/// tiles; its aspect ratio changes by less than a tile. A picture of one tile is not cut, and
/// without spec.tiles it is resized to the model's size.
[[nodiscard]] PictureTiles cut_into_tiles(const Image& picture, const InputSpec& spec);

/// The number of tiles that cut_into_tiles makes of a picture of `width` × `height`. Throws
/// Error(usage) for more than 256.
[[nodiscard]] TileCounts count_tiles(std::int64_t width, std::int64_t height,
                                     const InputSpec& spec);

// Tiles of one of several sizes (LLaVA-NeXT):

/// The first of `sizes`, which has at least one, in which most pixels of a picture of `width` ×
/// `height` remain, with the least border.
[[nodiscard]] ImageSize best_size(std::int64_t width, std::int64_t height,
                                  const std::vector<ImageSize>& sizes);

/// Fits the picture, which has the model's channels, into the middle of `size`, whole tiles of the
/// model's size, with a black border, and cuts it. The whole is resized without a border.
[[nodiscard]] PictureTiles fill_with_tiles(const Image& picture, const InputSpec& spec,
                                           const ImageSize& size);

/// The part of a grid of `rows` × `columns` patches that a picture of `width` × `height` covers
/// when it is fitted into the middle; what is left of a row or column belongs to it.
[[nodiscard]] CellBlock without_border(std::int64_t rows, std::int64_t columns, std::int64_t width,
                                       std::int64_t height);

}  // namespace attnscope
