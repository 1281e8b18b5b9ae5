#include "core/file/mapped_file.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "tests/support/refusal.h"
#include "tests/support/sanitized.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

constexpr const char* changed = "the file changed while it was read";

class MappedFileTest : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path write_floats(const std::string& name,
                                                   std::size_t count) const {
    return folder_.write(name, std::string(count * sizeof(float), '\x40'));
  }
  static void expect_changed(const std::shared_ptr<const MappedFile>& file,
                             const std::filesystem::path& path) {
    expect_refusal(
        [&] {
          file->check_unchanged();
          return 0;
        },
        ErrorKind::io, changed, path);
  }
  TemporaryFolder folder_;
};

TEST_F(MappedFileTest, AnUntouchedFileIsUnchanged) {
  const auto path = write_floats("m.bin", 1000);
  const auto file = MappedFile::open(path);
  EXPECT_EQ(view_of(file, 0, DType::f32, {1000}).to_float().size(), 1000);
  EXPECT_NO_THROW(file->check_unchanged());
}

TEST_F(MappedFileTest, ATruncatedFileIsAnErrorOfItsTensor) {
  const auto path = write_floats("m.bin", 100'000);
  const auto file = MappedFile::open(path);
  const TensorView view = view_of(file, 0, DType::f32, {100'000});
  std::filesystem::resize_file(path, 5000);
  expect_refusal([&] { return view.to_float(); }, ErrorKind::io, changed, path);
  expect_refusal([&] { return view.count_non_finite(); }, ErrorKind::io, changed, path);
  EXPECT_EQ(file->bytes()[99'999], std::byte{0});
  expect_changed(file, path);
}

TEST_F(MappedFileTest, AFileCutToNothingIsAnErrorToo) {
  const auto path = write_floats("m.bin", 10'000);
  const auto file = MappedFile::open(path);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(std::count(file->bytes().begin(), file->bytes().end(), std::byte{0}), 40'000);
  expect_changed(file, path);
}

TEST_F(MappedFileTest, AFileWrittenToInPlaceIsAnError) {
  const auto path = write_floats("m.bin", 1000);
  const auto file = MappedFile::open(path);
  (void)folder_.write("m.bin", std::string(4000, 'x'));  // same size and same inode
  expect_refusal([&] { return view_of(file, 0, DType::f32, {1000}).to_float(); }, ErrorKind::io,
                 changed, path);
}

TEST_F(MappedFileTest, KeepsAReplacedFile) {
  const auto path = write_floats("m.bin", 1000);
  const auto file = MappedFile::open(path);
  write_file(path, "another");
  EXPECT_EQ(view_of(file, 0, DType::f32, {1000}).to_float().size(), 1000);
  std::filesystem::remove(path);
  EXPECT_NO_THROW(file->check_unchanged());
}

TEST_F(MappedFileTest, ThreadsReadingAShrinkingFileContinue) {
  constexpr std::size_t count = 1 << 20;
  const auto path = write_floats("m.bin", count);
  const auto other_path = write_floats("other.bin", 1000);
  const auto other = MappedFile::open(other_path);
  for (int round = 0; round < 5; ++round) {
    (void)write_floats("m.bin", count);
    const auto file = MappedFile::open(path);
    std::atomic<int> refused{0};
    std::vector<std::thread> readers;
    for (int reader = 0; reader < 4; ++reader) {
      readers.emplace_back([&] {
        for (int pass = 0; pass < 20; ++pass) {
          try {
            (void)view_of(file, 0, DType::f32, {count}).to_float();
          } catch (const Error&) {
            ++refused;
            return;
          }
        }
      });
    }
    std::filesystem::resize_file(path, 100);
    for (std::thread& reader : readers) reader.join();
    EXPECT_THROW(file->check_unchanged(), Error);
    EXPECT_GT(refused.load(), 0);
  }
  EXPECT_EQ(view_of(other, 0, DType::f32, {1000}).to_float().size(), 1000);
}

TEST_F(MappedFileTest, CheckpointsReportTruncation) {
  std::string header = R"({"a":{"dtype":"F32","shape":[100000],"data_offsets":[0,400000]}})";
  const std::string bytes =
      std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') + header;
  const auto path = folder_.write("last.safetensors", bytes + std::string(400'000, '\1'));
  const Checkpoint checkpoint = open_checkpoint(path);
  std::filesystem::resize_file(path, 100);
  expect_refusal([&] { return checkpoint.at("a").view().to_float(); }, ErrorKind::io, changed,
                 path);
}

/// Bytes of mapped files that are resident in this process.
std::int64_t resident_file_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kibibytes = 0;
    if (word == "RssFile:" && status >> kibibytes) return kibibytes * 1024;
  }
  return -1;
}

TEST_F(MappedFileTest, ReleasedPagesAreReadAgain) {
  constexpr std::int64_t rows = 4096, columns = 1024, bytes = rows * columns * 4;
  const auto path = write_floats("m.bin", rows * columns);
  const auto file = MappedFile::open(path);
  const TensorView view = view_of(file, 0, DType::f32, {rows, columns});
  const Tensor before = view.to_float();
  const std::int64_t resident = resident_file_bytes();
  ASSERT_GE(resident, bytes);
  TensorView half = view;
  half.shape[0] = rows / 2;
  release_pages(half);
  EXPECT_NEAR(static_cast<double>(resident - resident_file_bytes()), bytes / 2, 1 << 20);
  TensorView turned{DType::f32, {columns, rows}, {1, columns}, view.data, file};
  release_pages(turned);
  EXPECT_NEAR(static_cast<double>(resident - resident_file_bytes()), bytes, 1 << 20);
  const Tensor after = view.to_float();
  EXPECT_TRUE(std::equal(before.values().begin(), before.values().end(), after.values().begin()));
}

TEST_F(MappedFileTest, ReleasesOnlyPagesOfFiles) {
  const std::vector<float> numbers(1 << 20, 1.5F);
  release_pages(
      {DType::f32, {1 << 20}, {1}, reinterpret_cast<const std::byte*>(numbers.data()), {}});
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 1.5F), 1 << 20);
  const auto file = MappedFile::open(write_floats("m.bin", 10'000));
  std::filesystem::resize_file(folder_.path() / "m.bin", 5000);
  EXPECT_EQ(file->bytes()[39'999], std::byte{0});
  release_pages(view_of(file, 0, DType::f32, {10'000}));
  EXPECT_EQ(file->bytes()[39'999], std::byte{0});
  EXPECT_EQ(file->bytes()[100], std::byte{0x40});
  expect_changed(file, folder_.path() / "m.bin");
}

using MappedFileDeathTest = MappedFileTest;

TEST_F(MappedFileDeathTest, OtherBusErrorsStillEndTheProcess) {
  const auto path = write_floats("m.bin", 1000);
  const auto touch_elsewhere = [&] {
    const auto watched = MappedFile::open(path);
    const auto elsewhere = folder_.write("other.bin", std::string(8192, 'x'));
    const int file = ::open(elsewhere.c_str(), O_RDWR);
    const void* const at = ::mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, file, 0);
    if (::ftruncate(file, 0) != 0) return;
    (void)*static_cast<const volatile char*>(at);
  };
  if (kSanitized) {  // sanitizers catch the signal and report it
    EXPECT_DEATH(touch_elsewhere(), "BUS");
  } else {
    EXPECT_EXIT(touch_elsewhere(), testing::KilledBySignal(SIGBUS), "");
  }
}

}  // namespace
}  // namespace attnscope
