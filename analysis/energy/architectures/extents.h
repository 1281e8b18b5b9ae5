// What the makers of named architectures share.
#pragma once

#include "analysis/energy/architecture.h"

namespace attnscope {

/// With the name, title and source of `self`.
Network named(const NamedNetwork& self);

/// Patches a side of a square image. Throws Error(usage) unless `patch` divides it.
std::int64_t sides(const NetworkExtents& extents, std::int64_t default_image, std::int64_t patch);

/// Of the image: 3 unless given.
std::int64_t channels_of(const NetworkExtents& extents);

/// Tokens of the four stages of a pyramid whose first stage has patches of 4 x 4. Throws
/// Error(usage) unless 64 divides those of the first.
std::vector<std::int64_t> pyramid_tokens(const NetworkExtents& extents);

}  // namespace attnscope
