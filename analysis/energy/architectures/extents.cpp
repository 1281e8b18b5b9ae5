#include "analysis/energy/architectures/extents.h"

#include "core/error.h"

namespace attnscope {

Network named(const NamedNetwork& self) {
  Network architecture;
  architecture.name = self.name;
  architecture.title = self.title;
  architecture.source = self.source;
  return architecture;
}

std::int64_t sides(const NetworkExtents& extents, std::int64_t default_image, std::int64_t patch) {
  const std::int64_t image = extents.image > 0 ? extents.image : default_image;
  if (image % patch != 0) {
    throw Error(ErrorKind::usage, "patches do not cover the image")
        .about("image")
        .expected("a multiple of " + std::to_string(patch) + " pixels")
        .found(std::to_string(image));
  }
  return image / patch;
}

std::int64_t channels_of(const NetworkExtents& extents) {
  return extents.channels > 0 ? extents.channels : 3;
}

std::vector<std::int64_t> pyramid_tokens(const NetworkExtents& extents) {
  constexpr std::int64_t kDefaultImage = 224, kCoarsest = 32, kShrink = 64;
  std::int64_t tokens = extents.tokens;
  if (tokens <= 0) {
    const std::int64_t side = sides(extents, kDefaultImage, kCoarsest) * (kCoarsest / 4);
    tokens = side * side;
  }
  if (tokens % kShrink != 0) {
    throw Error(ErrorKind::usage,
                "the number of tokens is not divisible by the strides of the later stages")
        .about("tokens")
        .expected("a multiple of 64")
        .found(std::to_string(tokens));
  }
  return {tokens, tokens / 4, tokens / 16, tokens / 64};
}

}  // namespace attnscope
