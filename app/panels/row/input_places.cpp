#include "app/panels/row/input_places.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "app/look/theme.h"

namespace attnscope {

namespace {

constexpr double kApart = 4;      // gap between pictures, and above the words
constexpr double kScrollBar = 6;  // margin right of the words
constexpr double kBeside = 8;     // gap between pictures and words beside them
constexpr int kLargest = 15, kSmallest = 11, kSmallestAlone = 6;  // pixels of letters
constexpr double kPictureShare = 0.5;  // share of the height that pictures keep
constexpr double kWidthShare = 0.6;    // largest share of the width beside words

/// True for a mark between the tiles of a picture.
bool is_between_tiles(const TokenLayout& layout, std::int64_t token) {
  return std::ranges::any_of(layout.pictures, [token](const TokenCells& picture) {
    return token > picture.first && token < picture.end() && !picture.contains(token);
  });
}

/// The words of a text in letters of one size, in lines of one width, from (0, 0) on.
struct Lines {
  std::vector<QRectF> words;
  double line = 0;
  int count = 0;
  int size = 0;

  [[nodiscard]] double height() const { return count * line; }
};

Lines wrapped(const TokenLayout& layout, const QFont& font, int size, double room) {
  const double width = room - kScrollBar;
  QFont letters = number_font(font);
  letters.setPixelSize(size);
  const QFontMetricsF metrics(letters);
  const std::vector<std::string>& texts = layout.texts;
  Lines lines{.words = {}, .line = std::ceil(metrics.height() * 1.15), .count = 0, .size = size};
  const bool spaced = std::ranges::any_of(
      texts, [](const std::string& text) { return text.find(' ') != std::string::npos; });
  // Tokens that are whole words have no spaces of their own.
  const double gap = spaced || layout.pictures.empty() ? 0 : metrics.horizontalAdvance(' ');
  double x = 0, y = 0;
  std::size_t word = 0;  // first token of the unfinished word
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto token = static_cast<std::int64_t>(i);
    if (layout.is_of_picture(token)) {
      lines.words.emplace_back();
      word = i + 1;
      continue;
    }
    const double wide = std::min(metrics.horizontalAdvance(word_of(layout, token)), width);
    if (x > 0 && x + wide > width) {
      y += lines.line;
      x = 0;
      // A word that does not begin the line moves to the next line as a whole.
      if (word > 0 && word < i && lines.words[word].left() > 0) {
        const double left = lines.words[word].left();
        for (std::size_t k = word; k < i; ++k) {
          lines.words[k].moveTo(lines.words[k].left() - left, y);
          x = lines.words[k].right();
        }
      }
    }
    lines.words.emplace_back(x, y, wide, lines.line);
    lines.count = static_cast<int>(std::lround(y / lines.line)) + 1;
    x += wide + gap;
    const bool between = is_between_tiles(layout, token);
    if (between || texts[i].find_first_of(" \n") != std::string::npos) word = i + 1;
    if (!between && !texts[i].empty() && texts[i].back() == '\n') {
      y += lines.line;
      x = 0;
    }
  }
  return lines;
}

/// The height of pictures next to a text, which has the room `text`.
struct Division {
  double pictures = 0;
  QRectF text;
  Lines lines;

  [[nodiscard]] bool fits() const { return lines.height() <= text.height() + 1e-6; }
};

/// The widths of pictures of height 1, and the gaps between them.
struct Widths {
  double all = 0, gaps = 0;
  [[nodiscard]] double height_within(double width) const { return (width - gaps) / all; }
};

/// The words below the pictures, which are as high as the words and the width leave, and no lower
/// than their share.
Division with_words_below(const QRectF& room, const Widths& widths, const TokenLayout& layout,
                          const QFont& font) {
  const double widest = widths.height_within(room.width());
  Division division;
  for (int size = kLargest; size >= kSmallest; --size) {
    division.lines = wrapped(layout, font, size, room.width());
    const double left = room.height() - kApart - division.lines.height();
    division.pictures = std::min(widest, std::max(left, kPictureShare * room.height()));
    division.text = room.adjusted(0, division.pictures + kApart, 0, 0);
    if (division.fits()) break;
  }
  return division;
}

Division with_words_beside(const QRectF& room, const Widths& widths, const TokenLayout& layout,
                           const QFont& font) {
  Division division;
  division.pictures = std::min(room.height(), widths.height_within(kWidthShare * room.width()));
  division.text = room.adjusted(division.pictures * widths.all + widths.gaps + kBeside, 0, 0, 0);
  for (int size = kLargest; size >= kSmallest; --size) {
    division.lines = wrapped(layout, font, size, division.text.width());
    if (division.fits()) break;
  }
  return division;
}

Division words_alone(const QRectF& room, const TokenLayout& layout, const QFont& font) {
  Division division{.pictures = 0, .text = room, .lines = {}};
  for (int size = kLargest; size >= kSmallestAlone; --size) {
    division.lines = wrapped(layout, font, size, room.width());
    if (division.fits()) break;
  }
  return division;
}

/// True if the words are better beside the pictures: more of them fit, or the pictures are larger.
bool is_better_beside(const Division& beside, const Division& below) {
  if (beside.fits() != below.fits()) return beside.fits() && beside.pictures >= below.pictures;
  return beside.pictures > 1.25 * below.pictures;
}

Division divided(const QRectF& room, const Widths& widths, const TokenLayout& layout,
                 const QFont& font) {
  if (!(widths.all > 0)) return words_alone(room, layout, font);
  if (!layout.is_text()) {
    return {std::min(room.height(), widths.height_within(room.width())), {}, {}};
  }
  Division below = with_words_below(room, widths, layout, font);
  Division beside = with_words_beside(room, widths, layout, font);
  return is_better_beside(beside, below) ? beside : below;
}

}  // namespace

int InputPlaces::lines_shown() const {
  return line > 0 ? static_cast<int>(std::lround(text.height() / line)) : 0;
}

QString word_of(const TokenLayout& layout, std::int64_t token) {
  return is_between_tiles(layout, token)
             ? QStringLiteral("▫")
             : QString::fromStdString(visible_text(layout.texts[static_cast<std::size_t>(token)]));
}

InputPlaces places_of_input(const QRectF& room, const std::vector<double>& aspects,
                            const TokenLayout& layout, const QFont& font) {
  const Widths widths{
      std::accumulate(aspects.begin(), aspects.end(), 0.0),
      kApart * static_cast<double>(std::max<std::ptrdiff_t>(std::ssize(aspects) - 1, 0))};
  Division division = divided(room, widths, layout, font);
  InputPlaces places;
  double x = room.left();
  for (const double aspect : aspects) {
    places.pictures.emplace_back(x, room.top(), division.pictures * aspect, division.pictures);
    x = places.pictures.back().right() + kApart;
  }
  Lines& lines = division.lines;
  if (lines.words.empty()) return places;
  places.line = lines.line;
  places.lines = lines.count;
  places.size = lines.size;
  const int shown = std::clamp(static_cast<int>(division.text.height() / lines.line + 1e-6), 1,
                               std::max(lines.count, 1));
  places.text = {division.text.topLeft(), QSizeF(division.text.width(), shown * lines.line)};
  for (QRectF& word : lines.words) {
    if (!word.isEmpty()) word.translate(places.text.topLeft());
  }
  places.words = std::move(lines.words);
  return places;
}

}  // namespace attnscope
