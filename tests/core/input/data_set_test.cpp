#include "core/input/data_set.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/checkpoint/checkpoint.h"
#include "tests/support/refusal.h"
#include "tests/support/small_data_set.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

std::string idx(const std::vector<int>& extents, const std::string& elements) {
  std::string bytes("\0\0\x08", 3);
  bytes += static_cast<char>(extents.size());
  for (const int extent : extents) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(extent >> shift);
  }
  return bytes + elements;
}

std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

class Idx : public testing::Test {
 protected:
  void expect_refused(const std::string& bytes, ErrorKind kind, const std::string& part) const {
    const auto file = folder_.write("odd-ubyte", bytes);
    expect_refusal([&] { return open_data_set(file); }, kind, part, file);
  }
  const std::string images_ = idx({2, 2, 3}, "abcdefABCDEF");
  const std::string labels_ = idx({2}, "\x07\x02");
  TemporaryFolder folder_;
};

TEST_F(Idx, FindsItsLabelsPlainOrGzipped) {
  for (const bool packed : {false, true}) {
    const std::string ending = packed ? ".gz" : "";
    (void)folder_.write("t-labels-idx1-ubyte.gz", gzipped(labels_));
    const auto set = open_data_set(
        folder_.write("t-images-idx3-ubyte" + ending, packed ? gzipped(images_) : images_));
    ASSERT_EQ(set->size(), 2);
    const Input item = set->item(1);
    const Image& image = std::get<Image>(item.content);
    EXPECT_EQ(image.height, 2);
    EXPECT_EQ(image.width, 3);
    EXPECT_EQ(image.channels, 1);
    EXPECT_EQ(image.pixels, (std::vector<std::uint8_t>{'A', 'B', 'C', 'D', 'E', 'F'}));
    EXPECT_EQ(item.class_index, 2);
    EXPECT_THROW((void)set->item(2), Error);
    EXPECT_THROW((void)set->item(-1), Error);
  }
}

TEST_F(Idx, MayBeUnlabelled) {
  EXPECT_EQ(open_data_set(folder_.write("t-images", images_))->item(0).class_index, -1);
}

TEST_F(Idx, RefusesWrongSizes) {
  expect_refused(images_.substr(0, images_.size() - 1), ErrorKind::damaged, "do not fit");
  expect_refused(images_ + "x", ErrorKind::damaged, "do not fit");
  expect_refused(gzipped(images_ + "x"), ErrorKind::damaged, "do not fit");
  expect_refused(gzipped(images_.substr(0, images_.size() - 1)), ErrorKind::damaged, "do not fit");
  expect_refused(idx({-1, -1, -1}, "abc"), ErrorKind::damaged, "absurdly large");
  expect_refused(idx({2, 0, 3}, ""), ErrorKind::damaged, "impossible");
  expect_refused(images_.substr(0, 9), ErrorKind::damaged, "inside its header");
}

TEST_F(Idx, RefusesBombsAndBrokenStreams) {
  expect_refused(gzipped(idx({1 << 10, 1 << 10, 1 << 10}, "abc")), ErrorKind::damaged,
                 "compressed bytes");
  const std::string packed = gzipped(images_);
  expect_refused(packed.substr(0, packed.size() - 9), ErrorKind::damaged, "truncated");
  std::string wrong = packed;
  wrong[packed.size() - 6] ^= 1;  // in the checksum
  expect_refused(wrong, ErrorKind::damaged, "broken");
}

TEST_F(Idx, RefusesFilesWithoutImages) {
  expect_refused(labels_, ErrorKind::unsupported, "no images");
  std::string floats = images_;
  floats[2] = 0x0D;
  expect_refused(floats, ErrorKind::unsupported, "unsigned bytes");
}

TEST_F(Idx, RefusesLabelsThatDoNotFit) {
  const auto labels = folder_.write("t-labels", idx({3}, "123"));
  const auto images = folder_.write("t-images", images_);
  expect_refusal([&] { return open_data_set(images); }, ErrorKind::damaged, "do not fit", labels);
}

TEST(ArrayDataSet, OrdersAxesByThemselves) {
  const auto grey = open_data_set(test_data("input/grey_set.npz"));
  const auto colour = open_data_set(test_data("input/channels_last_set.npz"));
  const auto floats = open_data_set(test_data("input/float_set.h5"));
  const std::vector<int> labels = {3, 1, 0, 2};
  for (std::int64_t index = 0; index < 4; ++index) {
    const Image image = std::get<Image>(grey->item(index).content);
    const Image rgb = std::get<Image>(colour->item(index).content);
    const Tensor normalised = std::get<Tensor>(floats->item(index).content);
    ASSERT_EQ(image.pixels.size(), 30U);
    ASSERT_EQ(rgb.pixels.size(), 90U);
    ASSERT_EQ(normalised.shape(), (Shape{1, 5, 6}));
    for (std::size_t pixel = 0; pixel < 30; ++pixel) {
      const unsigned value = image.pixels[pixel];
      EXPECT_EQ(rgb.pixels[pixel * 3], value);
      EXPECT_EQ(rgb.pixels[pixel * 3 + 2], (value + 2) % 256);
      EXPECT_EQ(normalised.values()[pixel], static_cast<float>(value) / 255.0F);
    }
    const int label = labels[static_cast<std::size_t>(index)];
    EXPECT_EQ(grey->item(index).class_index, label);
    EXPECT_EQ(floats->item(index).class_index, label);
  }
}

TEST(ArrayDataSet, RefusesInvalidArrays) {
  const auto few = test_data("input/too_few_labels.npz");
  expect_refusal([&] { return open_data_set(few); }, ErrorKind::damaged, "number of labels", few);
  const auto other = test_data("checkpoint/stored.npz");
  expect_refusal([&] { return open_data_set(other); }, ErrorKind::not_this_format, "known kinds",
                 other);
}

TEST(IdxFolder, IsItsTestImages) {
  const TemporaryFolder folder;
  (void)write_small_data_set(folder);
  const auto set = open_data_set(folder.path());
  EXPECT_EQ(set->size(), 24);
  EXPECT_EQ(set->files().front(), folder / "t10k-images-idx3-ubyte");
  EXPECT_GE(set->item(0).class_index, 0);
  EXPECT_EQ(open_input(folder.path().string() + "#3").label, "t10k-images-idx3-ubyte[3]");
  std::filesystem::remove(folder / "t10k-images-idx3-ubyte");
  EXPECT_EQ(open_data_set(folder.path())->size(), 60);
  std::filesystem::rename(folder / "train-images-idx3-ubyte", folder / "train-images.idx3-ubyte");
  EXPECT_EQ(open_data_set(folder.path())->size(), 60);
}

TEST(ClassFolders, AreNumberedByName) {
  const TemporaryFolder folder;
  const std::string png = read_bytes(test_data("input/grey.png"));
  const std::string jpg = read_bytes(test_data("input/rgb.jpg"));
  (void)folder.write("zebra/2.png", png);
  (void)folder.write("ape/b.JPG", jpg);
  (void)folder.write("ape/a.png", png);
  (void)folder.write("ape/notes.txt", "not a picture");
  const auto set = open_data_set(folder.path());
  ASSERT_EQ(set->size(), 3);
  EXPECT_EQ(set->class_names(), (std::vector<std::string>{"ape", "zebra"}));
  EXPECT_EQ(set->item(1).label, "b.JPG");
  EXPECT_EQ(set->item(1).class_index, 0);
  EXPECT_EQ(set->item(2).class_index, 1);
  EXPECT_EQ(std::get<Image>(open_input(folder.path().string() + "#1").content).channels, 3);
}

TEST(ClassFolders, RefusesAFolderWithoutPictures) {
  const TemporaryFolder folder;
  expect_refusal([&] { return open_data_set(folder.path()); }, ErrorKind::not_this_format,
                 "FOLDER/CLASS/PICTURE", folder.path());
}

// The real data set, if Debian's package is installed.
TEST(FashionMnist, IsRead) {
  const std::filesystem::path images =
      "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz";
  if (!std::filesystem::exists(images)) GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  const auto set = open_data_set(images);
  EXPECT_EQ(set->size(), 10'000);
  EXPECT_EQ(set->item(0).class_index, 9);
  EXPECT_EQ(std::get<Image>(set->item(9'999).content).pixels.size(), 784U);
}

}  // namespace
}  // namespace attnscope
