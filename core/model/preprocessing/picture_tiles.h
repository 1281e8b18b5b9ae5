// Cuts a picture into tiles, as models of a picture and a text read it (Laurençon et al. 2024,
// Idefics3; transformers' image_processing_idefics3.py).
#pragma once

#include <cstdint>
#include <vector>

#include "core/architecture/input_spec.h"
#include "core/input/image.h"

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

}  // namespace attnscope
