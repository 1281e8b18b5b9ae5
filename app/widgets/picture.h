// Conversions of inputs and images to pixmaps.
#pragma once

#include <QImage>
#include <QPixmap>
#include <QRectF>
#include <QString>
#include <cstdint>
#include <filesystem>

#include "core/attention/token_layout.h"
#include "core/input/input.h"

namespace attnscope {

[[nodiscard]] QImage to_qimage(const Image& image);

/// A picture at most `side` logical pixels wide and high; small images keep crisp pixels. Null for
/// token embeddings.
[[nodiscard]] QPixmap picture_of(const Input& input, int side, double pixel_ratio);
/// A picture of an image file, or a text file's beginning on a sheet; null for other files.
[[nodiscard]] QPixmap thumbnail_of(const std::filesystem::path& file, int side, double pixel_ratio);

/// The part of `room`, from its upper left corner, that has the picture's aspect ratio; without a
/// picture that of `cells`.
[[nodiscard]] QRectF place_of_picture(const QRectF& room, const QImage& picture,
                                      const TokenCells& cells);
/// The part of that place that a token stands for; empty for a token that is not on the grid.
[[nodiscard]] QRectF place_of_cells(const QRectF& picture, const TokenCells& cells,
                                    std::int64_t token);

/// Description such as "28 × 28 pixels, grey; class 9".
[[nodiscard]] QString describe_input(const Input& input);

}  // namespace attnscope
