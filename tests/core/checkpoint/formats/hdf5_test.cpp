// HDF5 files, written by tests/data/checkpoint/make_hdf5.py.
#include <gtest/gtest.h>
#include <span>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/hdf5/hdf5_writer.h"
#include "core/file/atomic_file.h"
#include "tests/core/checkpoint/formats/stored_values.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

TEST(Hdf5, ReadsOurOwnLayout) {
  const Checkpoint checkpoint = open_checkpoint(test_data("checkpoint/model.h5"));
  EXPECT_EQ(checkpoint.format(), "hdf5");
  ASSERT_EQ(checkpoint.tensors().size(), 2U);
  EXPECT_EQ(floats(checkpoint, "blocks.0.attn.qkv.weight"), ramp());
  EXPECT_EQ(checkpoint.at("head.bias").dtype, DType::f64);
  EXPECT_EQ(checkpoint.metadata().at("layers"), "6");
  EXPECT_EQ(checkpoint.metadata().at("eps"), "1e-06");
  EXPECT_EQ(checkpoint.metadata().at("mean"), "[0.5, 0.25]");
  EXPECT_EQ(checkpoint.metadata().at("flag"), "1");
  EXPECT_EQ(checkpoint.metadata().at("labels"), "[ape, zebra]");
  EXPECT_EQ(checkpoint.metadata().at("fixed"), "fixed text");
}

TEST(Hdf5, RefusesOwnFilesInAnotherVersionOfTheirFormat) {
  const TemporaryFolder folder;
  const auto file_of = [&](const char* format, std::int64_t version) {
    Hdf5Writer writer;
    writer.attribute("/", "format", format);
    writer.attribute("/", "format_version", version);
    writer.data("/tensors/weight", Shape{2}, std::span<const float>(ramp()).first(2));
    const std::filesystem::path file = folder / "file.h5";
    write_file(file, writer.bytes());
    return file;
  };
  for (const char* format : {"attnscope-model", "attnscope-trace", "attnscope-tensors",
                             "attnscope-training-log", "attnscope-sweep", "attnscope-study"}) {
    EXPECT_EQ(open_checkpoint(file_of(format, 1)).tensors().size(), 1U) << format;
    const std::filesystem::path newer = file_of(format, 2);
    expect_refusal([&] { return open_checkpoint(newer); }, ErrorKind::unsupported,
                   "another version of its format", newer);
  }
  EXPECT_EQ(open_checkpoint(file_of("my-own", 2)).tensors().size(), 1U);
}

TEST(Hdf5, ReadsAnyFileOfDataSets) {
  const Checkpoint checkpoint = open_checkpoint(test_data("checkpoint/any.h5"));
  for (const char* name : {"f64", "f32_big_endian", "f16", "group/deep/packed", "alias"}) {
    EXPECT_EQ(floats(checkpoint, name), ramp()) << name;
    EXPECT_EQ(checkpoint.at(name).shape, (Shape{3, 4})) << name;
  }
  EXPECT_EQ(checkpoint.at("f16").dtype, DType::f16);
  EXPECT_EQ(checkpoint.at("f32_big_endian").dtype, DType::f32);
  const std::vector<std::int64_t> counted = {-2, -1, 0, 1, 2, 3};
  EXPECT_EQ(checkpoint.at("i64").view().to_int64(), counted);
  EXPECT_EQ(checkpoint.at("i32_big_endian").view().to_int64(), counted);
  EXPECT_EQ(checkpoint.at("u16").view().to_int64(), (std::vector<std::int64_t>{0, 65535}));
  EXPECT_EQ(checkpoint.at("flags").dtype, DType::boolean);
  EXPECT_EQ(floats(checkpoint, "flags"), (std::vector<float>{1, 0, 1}));
  EXPECT_EQ(floats(checkpoint, "scalar"), std::vector<float>{2.5F});
  EXPECT_EQ(checkpoint.at("empty").shape, (Shape{0, 4}));
  EXPECT_EQ(floats(checkpoint, "group/filled"), std::vector<float>(5, 7));
  EXPECT_EQ(checkpoint.metadata().at("data sets that are not numeric"), "text");
}

TEST(Hdf5, ReadsTheNewSuperblockAfterAUserBlock) {
  const Checkpoint checkpoint = open_checkpoint(test_data("checkpoint/new_superblock.h5"));
  EXPECT_EQ(floats(checkpoint, "ramp"), ramp());
}

TEST(Hdf5, RefusesAddressesOutsideTheFile) {
  expect_refused("external_link.h5", ErrorKind::unsupported, "hidden/elsewhere");
  expect_refused("soft_link_through_external.h5", ErrorKind::unsupported, "another file");
  expect_refused("external_storage.h5", ErrorKind::unsupported, "another file");
  expect_refused("virtual.h5", ErrorKind::unsupported, "virtual");
}

TEST(Hdf5, RefusesDamagedFiles) {
  expect_refused("dangling_link.h5", ErrorKind::damaged, "target is missing");
  expect_refused("bomb.h5", ErrorKind::damaged, "far more");
  expect_refused("unknown_filter.h5", ErrorKind::unsupported, "32001");
}

TEST(Hdf5, RefusesFilesCutOffAnywhere) { expect_damaged_when_cut_off("model.h5", 8, 509); }

TEST(Hdf5, RefusesFilesOfSeveralDrivers) {
  const TemporaryFolder folder;
  std::string bytes = read_bytes(test_data("checkpoint/model.h5"));
  bytes.replace(48, 8, std::string("\x60\0\0\0\0\0\0\0", 8));  // address of the driver block
  const auto file = folder.write("driver.h5", bytes);
  expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::unsupported, "driver", file);
}

}  // namespace
}  // namespace attnscope
