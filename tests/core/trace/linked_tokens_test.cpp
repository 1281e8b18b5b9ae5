// The token of another layout at the same position, as linked cursors show it for other models.
#include "core/trace/linked_tokens.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

using Token = std::optional<std::int64_t>;

const TokenLayout kClassAnd8x8{1, 8, 8, {}}, k8x8{0, 8, 8, {}}, k14x14{0, 14, 14, {}};

TEST(LinkedToken, LinksAClassTokenToAClassTokenOnly) {
  EXPECT_EQ(linked_token(kClassAnd8x8, 0, 65, kClassAnd8x8, 65), Token(0));
  EXPECT_EQ(linked_token(kClassAnd8x8, 0, 65, k8x8, 64), std::nullopt);
  const TokenLayout distilled{2, 8, 8, {}};
  TokenLayout registers{5, 8, 8, {}};
  registers.registers = 4;
  EXPECT_EQ(linked_token(distilled, 0, 66, registers, 69), 0);
  EXPECT_EQ(linked_token(distilled, 1, 66, registers, 69), std::nullopt);
  EXPECT_EQ(linked_token(registers, 2, 69, distilled, 66), std::nullopt);
  EXPECT_EQ(linked_token(registers, 2, 69, registers, 69), 2);
  EXPECT_EQ(linked_token(distilled, 0, 66, kClassAnd8x8, 65), Token(0));
  EXPECT_EQ(linked_token(distilled, 1, 66, kClassAnd8x8, 65), std::nullopt);
}

TEST(LinkedToken, APatchKeepsItsPlaceWhetherOrNotAClassTokenComesBefore) {
  for (std::int64_t cell = 0; cell < 64; ++cell) {
    EXPECT_EQ(linked_token(kClassAnd8x8, 1 + cell, 65, k8x8, 64), Token(cell));
    EXPECT_EQ(linked_token(k8x8, cell, 64, kClassAnd8x8, 65), Token(1 + cell));
    EXPECT_EQ(kClassAnd8x8.name(1 + cell), k8x8.name(cell));
  }
}

TEST(LinkedToken, IsThePatchWithTheSameMiddleOnADifferentGrid) {
  for (std::int64_t row = 0; row < 8; ++row) {
    for (std::int64_t column = 0; column < 8; ++column) {
      const Token token = linked_token(k8x8, row * 8 + column, 64, k14x14, 196);
      ASSERT_TRUE(token);
      // The centre of the patch, as a fraction of the picture, lies within the other patch.
      const double x = (static_cast<double>(column) + 0.5) / 8;
      const double y = (static_cast<double>(row) + 0.5) / 8;
      EXPECT_GE(x * 14, static_cast<double>(*token % 14));
      EXPECT_LE(x * 14, static_cast<double>(*token % 14 + 1));
      EXPECT_GE(y * 14, static_cast<double>(*token / 14));
      EXPECT_LE(y * 14, static_cast<double>(*token / 14 + 1));
    }
  }
}

TEST(LinkedToken, LinksThePictureInATextToPatches) {
  TokenLayout asked{0, 0, 0, {"What", "p", "p", "p", "p", " is"}};
  asked.pictures = {{1, 2, 2}};
  const TokenLayout tower{1, 2, 2, {}}, words{0, 0, 0, {"What", " is"}};
  EXPECT_EQ(linked_token(asked, 3, 6, tower, 5), Token(3));
  EXPECT_EQ(linked_token(tower, 4, 5, asked, 6), Token(4));
  EXPECT_EQ(linked_token(asked, 5, 6, words, 2), Token(1));
  EXPECT_EQ(linked_token(words, 1, 2, asked, 6), Token(5));
  EXPECT_EQ(linked_token(asked, 2, 6, words, 2), std::nullopt);
  EXPECT_EQ(linked_token(asked, 0, 6, tower, 5), std::nullopt);
  EXPECT_EQ(same_place(tower, 2, asked, 6), 2);
}

TEST(LinkedToken, IsTheTokenAtTheSameCharacterOfAText) {
  const TokenLayout letters{0, 0, 0, {"T", "o", " ", "b", "e", "!"}};
  const TokenLayout words{0, 0, 0, {"To", " be", "!"}};
  const TokenLayout lower{0, 0, 0, {"to", "be", "!"}};  // has no spaces and no upper case
  EXPECT_EQ(linked_token(words, 1, 3, letters, 6), Token(3)) << "b begins \" be\"";
  EXPECT_EQ(linked_token(letters, 1, 6, words, 3), Token(0));
  EXPECT_EQ(linked_token(letters, 4, 6, words, 3), Token(1));
  EXPECT_EQ(linked_token(letters, 5, 6, lower, 3), Token(2));
  EXPECT_EQ(linked_token(lower, 1, 3, words, 3), Token(1));
  EXPECT_EQ(linked_token(letters, 2, 6, lower, 3), std::nullopt) << "a space is in no token";
  EXPECT_EQ(linked_token(letters, 2, 6, letters, 6), Token(2)) << "in the same tokens it is";
}

TEST(LinkedToken, HasNoCounterpartAfterTheFirstDifferenceOfTexts) {
  const TokenLayout one{0, 0, 0, {"To", " be", " or", " not"}};
  const TokenLayout other{0, 0, 0, {"To", " be", " is", " to", " do"}};
  EXPECT_EQ(linked_token(one, 1, 4, other, 5), Token(1));
  EXPECT_EQ(linked_token(one, 2, 4, other, 5), std::nullopt);
  EXPECT_EQ(linked_token(other, 4, 5, one, 4), std::nullopt);
}

TEST(LinkedToken, FollowsTheIndexOnlyWhenTokenCountsAgree) {
  const TokenLayout unknown;
  EXPECT_EQ(linked_token(k8x8, 7, 64, unknown, 64), Token(7));
  EXPECT_EQ(linked_token(k8x8, 7, 64, unknown, 65), std::nullopt);
  EXPECT_EQ(linked_token(unknown, 7, 16, unknown, 16), Token(7));
  EXPECT_EQ(linked_token(unknown, 16, 16, unknown, 16), std::nullopt);
  const TokenLayout text{0, 0, 0, {"a", "b"}};
  EXPECT_EQ(linked_token(text, 1, 2, k8x8, 64), std::nullopt);
}

}  // namespace
}  // namespace attnscope
