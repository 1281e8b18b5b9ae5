#include "core/model/preprocessing/picture_tiles.h"

#include <algorithm>
#include <string>

#include "core/error.h"
#include "core/model/preprocessing/image_resize.h"

namespace attnscope {

namespace {

struct Size {
  std::int64_t width = 0, height = 0;
};

/// The product rounded down, as upstream rounds lengths.
std::int64_t length_times(std::int64_t length, double ratio) {
  return static_cast<std::int64_t>(static_cast<double>(length) * ratio);
}

/// The quotient rounded down. Upstream divides, which may round otherwise than a product.
std::int64_t length_over(std::int64_t length, double ratio) {
  return static_cast<std::int64_t>(static_cast<double>(length) / ratio);
}

Size longest_edge_size(std::int64_t width, std::int64_t height, std::int64_t edge) {
  if (edge == 0) return {width, height};
  constexpr std::int64_t longest = 4096;  // upstream's limit
  edge = std::min(edge, longest);
  const double aspect = static_cast<double>(width) / static_cast<double>(height);
  const auto shorter = [](std::int64_t side) { return std::max<std::int64_t>(side + side % 2, 1); };
  if (width >= height) return {edge, shorter(length_over(edge, aspect))};
  return {shorter(length_times(edge, aspect)), edge};
}

std::int64_t tiles_along(std::int64_t pixels, std::int64_t side) {
  return (pixels + side - 1) / side;
}

TileCounts counts_of(const Size& size, const InputSpec& spec) {
  TileCounts counts{1, 1};
  const double aspect = static_cast<double>(size.width) / static_cast<double>(size.height);
  if (size.width >= size.height) {
    counts.across = tiles_along(size.width, spec.image_width);
    const std::int64_t height = length_over(counts.across * spec.image_width, aspect);
    counts.down = std::max<std::int64_t>(tiles_along(height, spec.image_height), 1);
  } else {
    counts.down = tiles_along(size.height, spec.image_height);
    const std::int64_t width = length_times(counts.down * spec.image_height, aspect);
    counts.across = std::max<std::int64_t>(tiles_along(width, spec.image_width), 1);
  }
  constexpr std::int64_t most = 256;
  if (counts.down * counts.across > most) {
    throw Error(ErrorKind::usage, "the picture has too many tiles for the model")
        .about("longest_edge")
        .expected("at most " + std::to_string(most))
        .found(std::to_string(counts.down) + " × " + std::to_string(counts.across))
        .remedy("--option tower.longest_edge=1024");
  }
  return counts.down * counts.across > 1 ? counts : TileCounts{};
}

}  // namespace

Image with_longest_edge(const Image& image, const InputSpec& spec) {
  const Size size = longest_edge_size(image.width, image.height, spec.longest_edge);
  return resize(image, size.width, size.height, spec.resize_filter);
}

TileCounts count_tiles(std::int64_t width, std::int64_t height, const InputSpec& spec) {
  if (!spec.tiles) return {};
  return counts_of(longest_edge_size(width, height, spec.longest_edge), spec);
}

PictureTiles cut_into_tiles(const Image& picture, const InputSpec& spec) {
  const TileCounts counts = count_tiles(picture.width, picture.height, spec);
  const auto [down, across] = counts;
  const std::int64_t high = spec.image_height, wide = spec.image_width;
  PictureTiles result{counts, {}, {}, {}};
  result.joined = resize(with_longest_edge(picture, spec), std::max<std::int64_t>(across, 1) * wide,
                         std::max<std::int64_t>(down, 1) * high, spec.resize_filter);
  result.whole = resize(result.joined, wide, high, spec.resize_filter);
  for (std::int64_t tile = 0; tile < down * across; ++tile) {
    result.tiles.push_back(
        crop(result.joined, tile % across * wide, tile / across * high, wide, high));
  }
  return result;
}

}  // namespace attnscope
