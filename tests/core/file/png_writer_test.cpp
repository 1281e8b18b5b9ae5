#include "core/file/png_writer.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/input/picture_codecs.h"

namespace attnscope {
namespace {

Image read_back(const std::string& file) {
  const auto bytes = std::as_bytes(std::span(file));
  EXPECT_TRUE(is_png(bytes));
  return decode_png(bytes);
}

/// The pixels that were written, as the decoder gives them.
void expect_pixels(std::int64_t width, std::int64_t height,
                   const std::vector<std::uint32_t>& pixels) {
  const Image image = read_back(png_of(width, height, pixels));
  ASSERT_EQ(image.width, width);
  ASSERT_EQ(image.height, height);
  ASSERT_EQ(image.channels, 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::uint32_t found = static_cast<std::uint32_t>(
        image.pixels[3 * i] << 16 | image.pixels[3 * i + 1] << 8 | image.pixels[3 * i + 2]);
    ASSERT_EQ(found, pixels[i]) << i;
  }
}

TEST(PngWriter, EveryColourComesBack) {
  expect_pixels(1, 1, {0x123456});
  expect_pixels(3, 2, {0, 0xffffff, 0xff0000, 0x00ff00, 0x0000ff, 0x0000ff});
  for (const std::uint32_t count : {256U, 257U, 1000U}) {  // with a palette, and without
    std::vector<std::uint32_t> pixels(count);
    for (std::uint32_t i = 0; i < count; ++i) pixels[i] = i * 2654435761U >> 8;
    expect_pixels(count, 1, pixels);
    expect_pixels(1, count, pixels);
  }
}

TEST(PngWriter, RefusesPixelsThatDoNotFillIt) {
  const std::vector<std::uint32_t> pixels(5);
  EXPECT_THROW((void)png_of(2, 3, pixels), Error);
  EXPECT_THROW((void)png_of(0, 0, {}), Error);
}

}  // namespace
}  // namespace attnscope
