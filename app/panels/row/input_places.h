// Where a view has the pictures of an input and the words of its text: the words below the
// pictures, or beside them if the pictures are larger so.
#pragma once

#include <QFont>
#include <QRectF>
#include <QString>
#include <cstdint>
#include <vector>

#include "core/attention/token_layout.h"

namespace attnscope {

struct InputPlaces {
  std::vector<QRectF> pictures;  ///< one per grid of cells, all of the same height
  /// One per token of a text, in lines from the top of `text` on, also where they go on below it;
  /// empty for tokens of pictures.
  std::vector<QRectF> words;
  QRectF text;      ///< room of the words, a whole number of lines
  double line = 0;  ///< height of a line
  int lines = 0;    ///< number of lines of the whole text
  int size = 0;     ///< pixels of the letters

  /// Number of lines in `text`.
  [[nodiscard]] int lines_shown() const;
};

/// A token as it is written; a square for a mark between the tiles of a picture.
[[nodiscard]] QString word_of(const TokenLayout& layout, std::int64_t token);

/// The places in `room` of pictures with these ratios of width to height, and of the words of
/// `layout` in the largest letters with which they fit; if they do not fit in the smallest, as many
/// lines as have room.
[[nodiscard]] InputPlaces places_of_input(const QRectF& room, const std::vector<double>& aspects,
                                          const TokenLayout& layout, const QFont& font);

}  // namespace attnscope
