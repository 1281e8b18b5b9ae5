#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analysis/sweep/result_file.h"
#include "analysis/sweep/sweep.h"
#include "core/file/atomic_file.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

class SweepFile : public testing::Test {
 protected:
  /// Writes a sweep of 2 of 3 inputs that has not begun, with this seed; returns its description.
  nlohmann::json written(std::uint32_t seed) const {
    SweepResult result;
    result.data_set = "images.npz";
    result.count = 2;
    result.items = 3;
    result.seed = seed;
    result.thresholds = {0.9};
    write_sweep(file_, result);
    return nlohmann::json::parse(open_checkpoint(file_).metadata().at("contents"));
  }

  void write(const nlohmann::json& description) const {
    const ResultFormat format{"attnscope-sweep", "sweep", "", ""};
    Hdf5Writer writer;
    describe_result(format, description, writer);
    write_file(file_, writer.bytes());
  }

  const TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_ / "sweep.h5";
};

TEST_F(SweepFile, KeepsTheChoiceOfInputs) {
  (void)written(4294967295);
  const SweepResult read = read_sweep(file_);
  EXPECT_EQ(read.count, 2);
  EXPECT_EQ(read.items, 3);
  EXPECT_EQ(read.seed, 4294967295);
  EXPECT_EQ(read.numbers, SweptNumbers{});
}

TEST_F(SweepFile, RefusesADescriptionThatLacksAKey) {
  const nlohmann::json whole = written(0);
  for (const char* key : {"items", "seed", "numbers", "thresholds", "series"}) {
    nlohmann::json less = whole;
    ASSERT_EQ(less.erase(key), 1U) << key;
    write(less);
    expect_refusal([&] { return read_sweep(file_); }, ErrorKind::damaged, "description is broken",
                   file_);
  }
}

TEST_F(SweepFile, RefusesAFileWithoutAVersionOfItsFormat) {
  const nlohmann::json description = written(0);
  Hdf5Writer writer;
  writer.attribute("/", "format", "attnscope-sweep");
  writer.attribute("/", "contents", description.dump());
  write_file(file_, writer.bytes());
  expect_refusal([&] { return read_sweep(file_); }, ErrorKind::unsupported,
                 "written by another version", file_);
}

TEST_F(SweepFile, RefusesMoreInputsThanExist) {
  nlohmann::json description = written(0);
  description["items"] = 1;
  write(description);
  expect_refusal([&] { return read_sweep(file_); }, ErrorKind::damaged, "out of range", file_);
}

}  // namespace
}  // namespace attnscope
