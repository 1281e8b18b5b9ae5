#include "app/panels/row/input_places.h"

#include <QFont>
#include <gtest/gtest.h>

namespace attnscope {
namespace {

/// Pictures of one token each, and a text of `words` words.
TokenLayout pictures_and_words(std::int64_t pictures, std::int64_t words) {
  TokenLayout layout;
  for (std::int64_t i = 0; i < pictures; ++i) {
    layout.texts.emplace_back("<image>");
    layout.pictures.push_back({.first = i, .rows = 1, .columns = 1});
  }
  for (std::int64_t i = 0; i < words; ++i) layout.texts.emplace_back(" word");
  return layout;
}

InputPlaces places(QSizeF room, std::int64_t pictures, std::int64_t words) {
  return places_of_input(QRectF(QPointF(0, 24), room),
                         std::vector<double>(static_cast<std::size_t>(pictures), 1.0),
                         pictures_and_words(pictures, words), QFont());
}

TEST(InputPlaces, NoLineIsCutAndPicturesKeepAPart) {
  for (const QSizeF room :
       {QSizeF(266, 84), QSizeF(350, 145), QSizeF(120, 300), QSizeF(600, 500)}) {
    for (const std::int64_t pictures : {1, 2, 3}) {
      for (const std::int64_t words : {3, 30, 300}) {
        const InputPlaces found = places(room, pictures, words);
        const std::string which = std::to_string(room.width()) + " × " +
                                  std::to_string(room.height()) + ", " + std::to_string(pictures) +
                                  " pictures, " + std::to_string(words) + " words";
        ASSERT_EQ(std::ssize(found.pictures), pictures) << which;
        const QRectF all(QPointF(0, 24), room);
        for (const QRectF& picture : found.pictures) {
          EXPECT_NEAR(picture.width(), picture.height(), 1e-9) << which;
          EXPECT_TRUE(all.adjusted(-1e-6, -1e-6, 1e-6, 1e-6).contains(picture)) << which;
          EXPECT_FALSE(picture.intersects(found.text)) << which;
        }
        // They have their share of the height, or of the width.
        const double row = found.pictures.back().right();
        EXPECT_TRUE(found.pictures[0].height() >= 0.5 * room.height() - 1e-6 ||
                    row >= 0.59 * room.width())
            << which;
        EXPECT_GE(found.size, 11) << which;
        EXPECT_LE(found.text.bottom(), all.bottom() + 1e-6) << which;
        EXPECT_NEAR(found.text.height(), found.lines_shown() * found.line, 1e-6) << which;
        EXPECT_LE(found.lines_shown(), found.lines) << which;
        ASSERT_EQ(std::ssize(found.words), pictures + words) << which;
        EXPECT_NEAR(found.words.back().bottom(), found.text.top() + found.lines * found.line, 1e-6)
            << which;
        for (const QRectF& word : found.words) {
          EXPECT_TRUE(word.isEmpty() || word.right() <= found.text.right()) << which;
        }
      }
    }
  }
}

TEST(InputPlaces, ShortTextsStandBelowAndInLowRoomsBesideThePictures) {
  const InputPlaces high = places({300, 400}, 1, 5);
  EXPECT_GE(high.text.top(), high.pictures[0].bottom());
  EXPECT_EQ(high.lines, high.lines_shown());
  const InputPlaces low = places({300, 90}, 1, 12);
  EXPECT_GE(low.text.left(), low.pictures[0].right());
  EXPECT_NEAR(low.pictures[0].height(), 90, 1e-9);
  EXPECT_EQ(low.lines, low.lines_shown());
}

TEST(InputPlaces, AWordWiderThanTheLineIsNarrowed) {
  TokenLayout layout = pictures_and_words(0, 2);
  layout.texts[1] = std::string(200, 'w');
  const InputPlaces found = places_of_input(QRectF(0, 0, 100, 200), {}, layout, QFont());
  EXPECT_LE(found.words[1].right(), 100);
  EXPECT_EQ(found.lines, 2);
}

}  // namespace
}  // namespace attnscope
