#include "core/model/preprocessing/picture_tiles.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"

namespace attnscope {

namespace {

/// The product rounded down, as upstream rounds lengths.
std::int64_t length_times(std::int64_t length, double ratio) {
  return static_cast<std::int64_t>(static_cast<double>(length) * ratio);
}

/// The quotient rounded down. Upstream divides, which may round otherwise than a product.
std::int64_t length_over(std::int64_t length, double ratio) {
  return static_cast<std::int64_t>(static_cast<double>(length) / ratio);
}

ImageSize longest_edge_size(std::int64_t width, std::int64_t height, std::int64_t edge) {
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

TileCounts counts_of(const ImageSize& size, const InputSpec& spec) {
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

/// Cuts `joined` into tiles of the model's size.
void cut(PictureTiles& picture, const InputSpec& spec) {
  const std::int64_t high = spec.image_height, wide = spec.image_width;
  for (std::int64_t tile = 0; tile < picture.down * picture.across; ++tile) {
    picture.tiles.push_back(crop(picture.joined, tile % picture.across * wide,
                                 tile / picture.across * high, wide, high));
  }
}

}  // namespace

Image with_longest_edge(const Image& image, const InputSpec& spec) {
  const ImageSize size = longest_edge_size(image.width, image.height, spec.longest_edge);
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
  cut(result, spec);
  return result;
}

ImageSize best_size(std::int64_t width, std::int64_t height, const std::vector<ImageSize>& sizes) {
  ImageSize best = sizes.front();
  std::int64_t most = 0, least_border = 0;
  for (const ImageSize& size : sizes) {
    const double scale = std::min(static_cast<double>(size.width) / static_cast<double>(width),
                                  static_cast<double>(size.height) / static_cast<double>(height));
    const std::int64_t kept =
        std::min(length_times(width, scale) * length_times(height, scale), width * height);
    const std::int64_t border = size.width * size.height - kept;
    if (kept < most || (kept == most && most > 0 && border >= least_border)) continue;
    best = size;
    most = kept;
    least_border = border;
  }
  return best;
}

PictureTiles fill_with_tiles(const Image& picture, const InputSpec& spec, const ImageSize& size) {
  const double by_width = static_cast<double>(size.width) / static_cast<double>(picture.width);
  const double by_height = static_cast<double>(size.height) / static_cast<double>(picture.height);
  const auto fitted = [](std::int64_t length, double scale, std::int64_t most) {
    const auto whole = static_cast<std::int64_t>(std::ceil(static_cast<double>(length) * scale));
    return std::clamp<std::int64_t>(whole, 1, most);
  };
  const bool wide = by_width < by_height;
  const ImageSize inner{wide ? size.width : fitted(picture.width, by_height, size.width),
                        wide ? fitted(picture.height, by_width, size.height) : size.height};
  const Image resized = resize(picture, inner.width, inner.height, spec.resize_filter);
  PictureTiles result;
  Image& filled = result.joined;
  filled = {size.width, size.height, picture.channels, {}};
  filled.pixels.resize(static_cast<std::size_t>(size.width * size.height * picture.channels));
  const std::int64_t left = (size.width - inner.width) / 2, top = (size.height - inner.height) / 2;
  for (std::int64_t row = 0; row < inner.height; ++row) {
    const std::int64_t count = inner.width * picture.channels;
    const std::int64_t to = ((top + row) * size.width + left) * picture.channels;
    std::copy_n(resized.pixels.begin() + row * count, count, filled.pixels.begin() + to);
  }
  result.down = size.height / spec.image_height;
  result.across = size.width / spec.image_width;
  cut(result, spec);
  result.whole = resize(picture, spec.image_width, spec.image_height, spec.resize_filter);
  return result;
}

CellBlock without_border(std::int64_t rows, std::int64_t columns, std::int64_t width,
                         std::int64_t height) {
  const auto real = [](std::int64_t length) { return static_cast<double>(length); };
  // Rounded to 7 decimals and then down, as upstream.
  const auto kept = [&](std::int64_t length, double scale) {
    return static_cast<std::int64_t>(std::nearbyint(real(length) * scale * 1e7) / 1e7);
  };
  if (real(width) / real(height) > real(columns) / real(rows)) {
    const std::int64_t border = (rows - kept(height, real(columns) / real(width))) / 2;
    return {border, 0, rows - 2 * border, columns};
  }
  const std::int64_t border = (columns - kept(width, real(rows) / real(height))) / 2;
  return {0, border, rows, columns - 2 * border};
}

}  // namespace attnscope
