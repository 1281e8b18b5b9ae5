#include "core/checkpoint/hdf5/hdf5_writer.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <span>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

std::string written_file() {
  Hdf5Writer file;
  file.attribute("/", "title", std::string("Größe"));
  const std::vector<double> doubles = {0.1, -2.5, 1e300};
  file.data("/panel_00/x", {3}, std::span<const double>(doubles));
  const std::vector<float> floats = {1, 2, 3, 4, 5, 6};
  file.data("/panel_00/values", {2, 3}, std::span<const float>(floats));
  const std::vector<std::uint8_t> bytes = {0, 255};
  file.data("/pixels", {1, 2}, std::span<const std::uint8_t>(bytes));
  file.data("/empty", {0}, std::span<const double>());
  file.data("/words", {2}, std::vector<std::string>{"eins", "zwei"});
  file.attribute("/panel_00", "row", std::int64_t{4});
  file.attribute("/panel_00", "scale", 0.5);
  return file.bytes();
}

TEST(Hdf5Writer, ReadsBackWhatWasWritten) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "written.h5";
  write_file(path, written_file());
  const Checkpoint read = open_checkpoint(path);
  EXPECT_EQ(read.at("panel_00/values").view().to_float().shape(), (Shape{2, 3}));
  EXPECT_EQ(read.at("panel_00/values").view().to_float().values()[5], 6);
  EXPECT_FLOAT_EQ(read.at("panel_00/x").view().to_float().values()[1], -2.5F);
  EXPECT_EQ(read.at("pixels").view().to_int64(), (std::vector<std::int64_t>{0, 255}));
}

TEST(Hdf5Writer, TheSameNumbersAreTheSameBytes) { EXPECT_EQ(written_file(), written_file()); }

TEST(Hdf5Writer, RefusesInvalidShapes) {
  Hdf5Writer file;
  const std::vector<double> values = {1, 2};
  EXPECT_THROW(file.data("/a", {3}, std::span<const double>(values)), Error);
  file.data("/a", {2}, std::span<const double>(values));
  EXPECT_THROW(file.data("/a", {2}, std::span<const double>(values)), Error);
}

TEST(Hdf5Writer, SeveralAreFilledAtATime) {
  const std::vector<float> ones(3, 1), twos(3, 2);
  Hdf5Writer first, second;
  first.data("/numbers", {3}, std::span<const float>(ones));
  second.data("/numbers", {3}, std::span<const float>(twos));
  Hdf5Writer alone;
  alone.data("/numbers", {3}, std::span<const float>(ones));
  EXPECT_EQ(first.bytes(), alone.bytes()) << "and what they are called is not in them";
  EXPECT_NE(first.bytes(), second.bytes());
}

}  // namespace
}  // namespace attnscope
