// Decoding of pictures. tests/data/input/make_inputs.py writes them and the pixels that PIL reads.
#include "core/input/image.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/checkpoint/checkpoint.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

class Picture : public testing::TestWithParam<const char*> {};

TEST_P(Picture, HasThePixelsThatPilReads) {
  const Image image = read_image(test_data(std::string("input/") + GetParam()));
  const Checkpoint expected = open_checkpoint(test_data("input/pixels.npz"));
  const StoredTensor& pixels = expected.at(GetParam());
  EXPECT_EQ(image.height, pixels.shape[0]);
  EXPECT_EQ(image.width, pixels.shape[1]);
  EXPECT_EQ(image.channels, pixels.shape.size() == 3 ? 3 : 1);
  const std::vector<std::int64_t> values = pixels.view().to_int64();
  EXPECT_EQ(std::vector<std::int64_t>(image.pixels.begin(), image.pixels.end()), values);
}

INSTANTIATE_TEST_SUITE_P(PngAndJpeg, Picture,
                         testing::Values("rgb.png", "grey.png", "palette.png", "one_bit.png",
                                         "grey16.png", "rgba.png", "rgb.jpg", "progressive.jpg",
                                         "grey.jpg"));

TEST(PictureFiles, RefusedWhenCutOff) {
  const TemporaryFolder folder;
  for (const char* name : {"rgb.png", "rgb.jpg", "progressive.jpg"}) {
    const std::string whole = read_bytes(test_data(std::string("input/") + name));
    for (const std::size_t length : {whole.size() / 4, whole.size() / 2, whole.size() * 3 / 4}) {
      const auto file = folder.write(name, whole.substr(0, length));
      expect_refusal([&] { return read_image(file); }, ErrorKind::damaged, "broken", file);
    }
  }
}

TEST(PictureFiles, RefusedWhenNoPicture) {
  const TemporaryFolder folder;
  const auto text = folder.write("a.png", "hello");
  expect_refusal([&] { return read_image(text); }, ErrorKind::not_this_format, "is not a picture",
                 text);
  const auto cmyk = test_data("input/cmyk.jpg");
  expect_refusal([&] { return read_image(cmyk); }, ErrorKind::unsupported, "4 colour", cmyk);
}

TEST(PictureFiles, RefusesPixelBombs) {
  const TemporaryFolder folder;
  std::string png = read_bytes(test_data("input/rgb.png"));
  png.replace(16, 8, std::string("\x00\x00\xFF\xFF\x00\x00\xFF\xFF", 8));  // width and height
  const auto checksum =
      static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(png.data()) + 12, 17));
  for (std::size_t place = 0; place < 4; ++place) {
    png[29 + place] = static_cast<char>(checksum >> (24 - 8 * place));
  }
  const auto png_file = folder.write("bomb.png", png);
  expect_refusal([&] { return read_image(png_file); }, ErrorKind::damaged, "65535 × 65535",
                 png_file);
  std::string jpeg = read_bytes(test_data("input/rgb.jpg"));
  const std::size_t frame = jpeg.find("\xFF\xC0");
  jpeg.replace(frame + 5, 4, "\xFF\xDC\xFF\xDC");
  const auto jpeg_file = folder.write("bomb.jpg", jpeg);
  expect_refusal([&] { return read_image(jpeg_file); }, ErrorKind::damaged, "65500 × 65500",
                 jpeg_file);
}

}  // namespace
}  // namespace attnscope
