// NumPy files, written by tests/data/checkpoint/make_numpy.py.
#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "tests/core/checkpoint/formats/stored_values.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip_writer.h"

namespace attnscope {
namespace {

std::string npy(const std::string& dictionary, const std::string& data) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(dictionary.size() & 0xFF);
  bytes += static_cast<char>(dictionary.size() >> 8);
  return bytes + dictionary + data;
}

class Npz : public testing::TestWithParam<const char*> {};

TEST_P(Npz, ReadsWhatNumpyWrites) {
  const Checkpoint checkpoint = open_checkpoint(test_data(std::string("checkpoint/") + GetParam()));
  EXPECT_EQ(checkpoint.format(), "npz");
  for (const char* name :
       {"f64", "f32", "f16", "big_endian", "fortran", "a_rather_long_name/with.dots.and/slashes"}) {
    EXPECT_EQ(floats(checkpoint, name), ramp()) << name;
    EXPECT_EQ(checkpoint.at(name).shape, (Shape{3, 4})) << name;
  }
  EXPECT_EQ(floats(checkpoint, "scalar"), std::vector<float>{2.5F});
  EXPECT_EQ(checkpoint.at("scalar").shape, Shape{});
  EXPECT_EQ(checkpoint.at("empty").shape, (Shape{0, 4}));
  EXPECT_EQ(floats(checkpoint, "flags"), (std::vector<float>{1, 0, 1}));
  EXPECT_EQ(checkpoint.at("i64").view().to_int64(),
            (std::vector<std::int64_t>{-2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(checkpoint.at("u16_big_endian").view().to_int64(),
            (std::vector<std::int64_t>{0, 65535}));
  EXPECT_EQ(checkpoint.find("names"), nullptr);
  EXPECT_EQ(checkpoint.metadata().at("members that are not numeric arrays"), "names.npy");
}

INSTANTIATE_TEST_SUITE_P(StoredAndDeflated, Npz, testing::Values("stored.npz", "deflated.npz"));

TEST(NpzChecksum, AFlippedBitIsRefused) {
  const TemporaryFolder folder;
  std::string bytes = read_bytes(test_data("checkpoint/stored.npz"));
  const double last = ramp().back();
  const std::size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&last), sizeof last));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 5] ^= 1;
  const Checkpoint checkpoint = open_checkpoint(folder.write("flipped.npz", bytes));
  std::size_t refused = 0;
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    const std::string line = error_of([&] { return tensor.view(); });
    refused += line.find(".npy: the zip entry's checksum does not fit") != line.npos ? 1 : 0;
    EXPECT_TRUE(line.empty() || line.find("checksum") != line.npos) << line;
  }
  EXPECT_EQ(refused, 1U);
}

TEST(NpzOf64Bits, HasItsSizesInTheExtraFields) {
  const auto file = test_data("checkpoint/zip64.npz");
  ASSERT_NE(read_bytes(file).find("PK\x06\x06"), std::string::npos);
  const Checkpoint checkpoint = open_checkpoint(file);
  EXPECT_EQ(floats(checkpoint, "a"), ramp());
  EXPECT_EQ(floats(checkpoint, "b"), ramp());
}

TEST(NpzOfJax, HasSlashesAndBfloat16) {
  const Checkpoint checkpoint = open_checkpoint(test_data("checkpoint/jax.npz"));
  const std::string name = "Transformer/encoderblock_0/MlpBlock_3/Dense_0/kernel";
  EXPECT_EQ(checkpoint.at(name).dtype, DType::bf16);
  EXPECT_EQ(floats(checkpoint, name), ramp());
  EXPECT_EQ(checkpoint.at("cls").shape, (Shape{1, 4}));
}

TEST(Npy, IsNamedAsItsFile) {
  const Checkpoint checkpoint = open_checkpoint(test_data("checkpoint/ramp.npy"));
  EXPECT_EQ(floats(checkpoint, "ramp"), ramp());
  const Tensor fortran =
      open_checkpoint(test_data("checkpoint/fortran3.npy")).tensors()[0].view().to_float();
  EXPECT_EQ(fortran.shape(), (Shape{2, 3, 4}));
  for (std::int64_t i = 0; i < fortran.size(); ++i) {
    EXPECT_EQ(fortran.data()[i], static_cast<float>(i));
  }
}

TEST(Npy, RefusesPickledObjectsAndOtherTypes) {
  expect_refused("objects.npy", ErrorKind::unsupported, "Python objects");
  expect_refused("objects.npz", ErrorKind::unsupported, "Python objects");
  expect_refused("complex.npy", ErrorKind::unsupported, "<c8");
  expect_refused("records.npy", ErrorKind::unsupported, "records");
}

TEST(Npy, RefusesBrokenHeaders) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& dictionary, const std::string& data,
                           const std::string& part) {
    const auto file = folder.write("a.npy", npy(dictionary, data));
    expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::damaged, part, file);
    const auto zipped =
        folder.write("a.npz", zip_bytes({stored_member("a.npy", npy(dictionary, data))}));
    expect_refusal([&] { return open_checkpoint(zipped); }, ErrorKind::damaged, part, zipped);
  };
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "12345678", "does not fit");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }", "", "dimension");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "",
          "dimension");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "",
          "too large");
  refused("{'descr': '<f4', 'fortran_order': False}", "", "missing");
  refused("{'descr': '<f4', 'descr': '<f4'}", "", "twice");
  refused("{'descr': '<f4', 'fortran_order': 1, 'shape': ()}", "1234", "neither");
  refused("{'other': '<f4'}", "", "unknown key");
  refused("{'descr", "", "quote");
  refused("  ", "", "'{'");
}

TEST(Npy, RefusesFilesCutOffAnywhere) {
  for (const char* name : {"ramp.npy", "deflated.npz"}) expect_damaged_when_cut_off(name, 9, 7);
}

}  // namespace
}  // namespace attnscope
