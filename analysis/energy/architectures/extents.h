// Helpers shared by the factories of named architectures.
#pragma once

#include "analysis/energy/architecture.h"

namespace attnscope {

/// A network with the name, title and source of `self`.
Network named(const NamedNetwork& self);

/// Number of patches per side of a square image. Throws Error(usage) unless `patch` divides it.
std::int64_t sides(const NetworkExtents& extents, std::int64_t default_image, std::int64_t patch);

/// Channels of the image: 3 by default.
std::int64_t channels_of(const NetworkExtents& extents);

/// Number of tokens in the four stages of a pyramid whose first stage has patches of 4 x 4. Throws
/// Error(usage) unless 64 divides the number in the first stage.
std::vector<std::int64_t> pyramid_tokens(const NetworkExtents& extents);

}  // namespace attnscope
