// Animations: several pictures in one file.
#pragma once

#include <QImage>
#include <span>
#include <string>

namespace attnscope {

/// The bytes of an animated PNG (core/file/png_writer.h) of opaque pictures of equal size. Throws
/// Error(usage) if their sizes differ.
[[nodiscard]] std::string film_of(std::span<const QImage> frames, std::int64_t milliseconds);

}  // namespace attnscope
