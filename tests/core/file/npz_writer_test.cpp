#include "core/file/npz_writer.h"

#include <fstream>
#include <gtest/gtest.h>
#include <numeric>

#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

std::string sample_arrays() {
  std::vector<float> map(6);
  std::iota(map.begin(), map.end(), 0.5F);
  const std::vector<double> list = {1.0 / 3, -2};
  const std::vector<std::uint8_t> pixels = {0, 128, 255};
  const std::vector<std::int64_t> number = {-7};
  NpzWriter file;
  file.add("panel/map", {2, 3}, std::span<const float>(map));
  file.add("list", {2}, std::span<const double>(list));
  file.add("pixels", {1, 3, 1}, std::span<const std::uint8_t>(pixels));
  file.add("number", {}, std::span<const std::int64_t>(number));
  file.add("texts", {2}, std::vector<std::string>{"τ ≥ 0.9", ""});
  return file.bytes();
}

TEST(NpzWriter, WritesArraysThatAreReadBack) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.npz", std::ios::binary) << sample_arrays();
  const Checkpoint read = open_checkpoint(folder / "a.npz");
  const Tensor map = read.at("panel/map").view().to_float();
  EXPECT_EQ(read.at("panel/map").shape, (Shape{2, 3}));
  EXPECT_EQ(std::vector<float>(map.values().begin(), map.values().end()),
            (std::vector<float>{0.5F, 1.5F, 2.5F, 3.5F, 4.5F, 5.5F}));
  EXPECT_EQ(read.at("number").view().to_int64(), (std::vector<std::int64_t>{-7}));
  EXPECT_EQ(read.at("pixels").shape, (Shape{1, 3, 1}));
}

TEST(NpzWriter, NumPyReadsIt) {
  if (std::system("/usr/bin/python3 -c 'import numpy' >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "NumPy is not installed";
  }
  const TemporaryFolder folder;
  std::ofstream(folder / "a.npz", std::ios::binary) << sample_arrays();
  std::ofstream(folder / "check.py") << R"(
import numpy as np, sys, zipfile
assert zipfile.ZipFile(sys.argv[1]).testzip() is None
f = np.load(sys.argv[1], allow_pickle=False)
assert sorted(f.files) == ['list', 'number', 'panel/map', 'pixels', 'texts'], f.files
assert f['panel/map'].dtype == np.float32 and f['panel/map'].tolist() == [[.5, 1.5, 2.5], [3.5, 4.5, 5.5]]
assert f['list'].tolist() == [1 / 3, -2]
assert f['pixels'].shape == (1, 3, 1) and f['pixels'].dtype == np.uint8
assert f['number'].item() == -7
assert f['texts'].tolist() == ['τ ≥ 0.9', '']
)";
  const std::string command =
      "/usr/bin/python3 " + (folder / "check.py").string() + " " + (folder / "a.npz").string();
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(NpzWriter, RefusesInvalidArrays) {
  const std::vector<double> list = {1, 2};
  NpzWriter file;
  file.add("a", {2}, std::span<const double>(list));
  EXPECT_THROW(file.add("a", {2}, std::span<const double>(list)), Error);
  EXPECT_THROW(file.add("b", {3}, std::span<const double>(list)), Error);
}

}  // namespace
}  // namespace attnscope
