// Inputs and images as pixmaps.
#pragma once

#include <QImage>
#include <QPixmap>
#include <QString>
#include <filesystem>

#include "core/input/input.h"

namespace attnscope {

[[nodiscard]] QImage to_qimage(const Image& image);

/// At most `side` logical pixels wide and high; small images keep crisp pixels. Null for token
/// embeddings.
[[nodiscard]] QPixmap picture_of(const Input& input, int side, double pixel_ratio);
/// Of a text file its beginning on a sheet; null if the file is no image.
[[nodiscard]] QPixmap thumbnail_of(const std::filesystem::path& file, int side, double pixel_ratio);

/// "28 × 28 pixels, grey; class 9"
[[nodiscard]] QString describe_input(const Input& input);

}  // namespace attnscope
