#include "core/file/png_writer.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/error.h"
#include "core/input/image.h"

namespace attnscope {
namespace {

Image read_back(const std::string& file) {
  const auto bytes = std::as_bytes(std::span(file));
  EXPECT_TRUE(is_png(bytes));
  return decode_png(bytes);
}

/// Expects the decoded image to have the pixels that were written.
void expect_image(const Image& image, std::int64_t width, std::int64_t height,
                  const std::vector<std::uint32_t>& pixels) {
  ASSERT_EQ(image.width, width);
  ASSERT_EQ(image.height, height);
  ASSERT_EQ(image.channels, 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::uint32_t found = static_cast<std::uint32_t>(
        image.pixels[3 * i] << 16 | image.pixels[3 * i + 1] << 8 | image.pixels[3 * i + 2]);
    ASSERT_EQ(found, pixels[i]) << i;
  }
}

void expect_pixels(std::int64_t width, std::int64_t height,
                   const std::vector<std::uint32_t>& pixels) {
  expect_image(read_back(png_of(width, height, pixels)), width, height, pixels);
}

std::uint32_t number_at(const std::string& bytes, std::size_t place) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    number = number << 8U | static_cast<unsigned char>(bytes.at(place + i));
  }
  return number;
}

struct PngChunk {
  std::string type, data;
};

/// All chunks of the file. Their checksums are checked.
std::vector<PngChunk> chunks_of(const std::string& file) {
  std::vector<PngChunk> chunks;
  for (std::size_t at = 8; at < file.size();) {
    const std::uint32_t length = number_at(file, at);
    const std::string checked = file.substr(at + 4, length + 4);
    const auto crc =
        crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
    EXPECT_EQ(number_at(file, at + 8 + length), crc);
    chunks.push_back({checked.substr(0, 4), checked.substr(4)});
    at += length + 12;
  }
  return chunks;
}

std::string chunk_of(const std::string& type, const std::string& data) {
  std::string chunk;
  const auto add = [&](std::uint32_t number) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) chunk += static_cast<char>(number >> shift);
  };
  add(static_cast<std::uint32_t>(data.size()));
  const std::string checked = type + data;
  chunk += checked;
  add(static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()))));
  return chunk;
}

TEST(AnimatedPng, KeepsEveryFrameAndTheFirstIsTheStillImage) {
  constexpr std::int64_t width = 5, height = 3;
  std::vector<std::vector<std::uint32_t>> frames(3, std::vector<std::uint32_t>(width * height));
  std::uint32_t seed = 1;
  for (auto& frame : frames) {
    for (std::uint32_t& pixel : frame) pixel = (seed = seed * 1664525U + 1013904223U) >> 8U;
  }
  const std::string film = animated_png_of(width, height, frames, 350);
  expect_image(read_back(film), width, height, frames.front());
  const std::vector<PngChunk> chunks = chunks_of(film);
  ASSERT_EQ(chunks.size(), 9U);
  EXPECT_EQ(chunks[0].type, "IHDR");
  EXPECT_EQ(chunks[1].type, "acTL");
  EXPECT_EQ(number_at(chunks[1].data, 0), 3U) << "frames";
  EXPECT_EQ(number_at(chunks[1].data, 4), 0U) << "played again and again";
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const PngChunk &control = chunks[2 + 2 * i], &data = chunks[3 + 2 * i];
    EXPECT_EQ(control.type, "fcTL");
    ASSERT_EQ(control.data.size(), 26U);
    EXPECT_EQ(number_at(control.data, 0), number++);
    EXPECT_EQ(number_at(control.data, 4), static_cast<std::uint32_t>(width));
    EXPECT_EQ(number_at(control.data, 8), static_cast<std::uint32_t>(height));
    EXPECT_EQ(number_at(control.data, 20), 350U << 16U | 1000U) << "of a second";
    EXPECT_EQ(data.type, i == 0 ? "IDAT" : "fdAT");
    if (i > 0) {
      EXPECT_EQ(number_at(data.data, 0), number++);
    }
    const std::string alone = film.substr(0, 8) + chunk_of("IHDR", chunks[0].data) +
                              chunk_of("IDAT", data.data.substr(i > 0 ? 4 : 0)) +
                              chunk_of("IEND", "");
    expect_image(read_back(alone), width, height, frames[i]);
  }
  EXPECT_EQ(chunks.back().type, "IEND");
}

TEST(AnimatedPng, RefusesInvalidFrames) {
  const std::vector<std::vector<std::uint32_t>> frames{{1, 2}, {1}};
  EXPECT_THROW((void)animated_png_of(2, 1, frames, 100), Error);
  EXPECT_THROW((void)animated_png_of(2, 1, {frames.data(), 1}, 0), Error);
  EXPECT_THROW((void)animated_png_of(2, 1, {}, 100), Error);
}

TEST(PngWriter, KeepsEveryColour) {
  expect_pixels(1, 1, {0x123456});
  expect_pixels(3, 2, {0, 0xffffff, 0xff0000, 0x00ff00, 0x0000ff, 0x0000ff});
  for (const std::uint32_t count : {256U, 257U, 1000U}) {  // with and without a palette
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
