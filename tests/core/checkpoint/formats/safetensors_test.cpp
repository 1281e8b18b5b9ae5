#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checkpoint/checkpoint.h"
#include "core/file/mapped_file.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

std::string with_length(const std::string& header) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header;
}

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

class Safetensors : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& header, const std::string& data) const {
    return folder_.write("m.safetensors", with_length(header) + data);
  }
  void expect_damaged(const std::string& header, const std::string& data,
                      const std::string& part) const {
    const auto file = write(header, data);
    expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::damaged, part, file);
  }
  TemporaryFolder folder_;
};

TEST_F(Safetensors, ReadsTensorsInFileOrder) {
  const auto file = write(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[12,20]},)"
      R"("z":{"dtype":"F32","shape":[1,3],"data_offsets":[0,12]},)"
      R"("none":{"dtype":"I64","shape":[0,5],"data_offsets":[20,20]},)"
      R"("scalar":{"dtype":"BF16","shape":[],"data_offsets":[20,22]}})"
      "   ",
      bytes_of({1, 2, 3, 4, 5}) + std::string("\xC0\x3F", 2));
  const Checkpoint checkpoint = open_checkpoint(file);
  EXPECT_EQ(checkpoint.format(), "safetensors");
  EXPECT_EQ(checkpoint.metadata().at("format"), "pt");
  ASSERT_EQ(checkpoint.tensors().size(), 4U);
  EXPECT_EQ(checkpoint.tensors()[0].name, "z");
  EXPECT_EQ(checkpoint.at("a").shape, Shape{2});
  EXPECT_EQ(checkpoint.at("a").bytes, 8);
  EXPECT_EQ(checkpoint.at("a").view().to_float().values()[1], 5);
  EXPECT_EQ(checkpoint.at("z").view().to_float().values()[0], 1);
  EXPECT_EQ(checkpoint.at("scalar").view().to_float().values()[0], 1.5F);
  EXPECT_EQ(checkpoint.at("none").view().to_float().size(), 0);
}

TEST_F(Safetensors, ViewsOutliveTheCheckpoint) {
  const auto file =
      write(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", bytes_of({1, 2}));
  const TensorView view = open_checkpoint(file).at("a").view();
  EXPECT_EQ(view.to_float().values()[1], 2);
}

TEST_F(Safetensors, RefusesCutOffFiles) {
  const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::string whole = with_length(header) + bytes_of({1, 2});
  for (std::size_t length = 1; length < whole.size(); ++length) {
    const auto file = folder_.write("cut.safetensors", whole.substr(0, length));
    expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::damaged, "", file);
  }
}

TEST_F(Safetensors, RefusesAbsurdHeaderLengths) {
  const auto absurd = folder_.write("m.safetensors", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F{}");
  expect_refusal([&] { return open_checkpoint(absurd); }, ErrorKind::damaged, "absurd", absurd);
}

TEST_F(Safetensors, RefusesOffsetsOutsideTheFile) {
  expect_damaged(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", bytes_of({1, 2}),
                 "outside");
  expect_damaged(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", bytes_of({1, 2}),
                 "outside");
  expect_damaged(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}})", bytes_of({1, 2}),
                 "impossible");
  expect_damaged(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615]}})",
                 bytes_of({1, 2}), "impossible");
}

TEST_F(Safetensors, RefusesOverlapsAndHoles) {
  expect_damaged(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                 R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                 bytes_of({1, 2, 3}), "overlap");
  expect_damaged(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                 R"("b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
                 bytes_of({1, 2, 3}), "belong to none");
  expect_damaged(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", bytes_of({1, 2}),
                 "belong to no tensor");
}

TEST_F(Safetensors, RefusesShapesThatDoNotFit) {
  expect_damaged(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", bytes_of({1, 2}),
                 "do not fit");
  expect_damaged(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})",
                 bytes_of({1, 2}), "too large");
  expect_damaged(R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", bytes_of({1, 2}),
                 "impossible");
}

TEST_F(Safetensors, RefusesDuplicateNames) {
  expect_damaged(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                 R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                 bytes_of({1, 2}), "twice");
}

TEST_F(Safetensors, RefusesMalformedHeaders) {
  expect_damaged("{", "", "JSON");
  expect_damaged(R"({"a":7})", "", "not an object");
  expect_damaged(R"({"a":{}})", "", "dtype");
  expect_damaged(R"({"a":{"dtype":"F32","shape":7,"data_offsets":[0,4]}})", "1234", "shape");
  expect_damaged(R"({"__metadata__":{"a":7}})", "", "not a string");
  std::string deep = R"({"a":)";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  expect_damaged(deep, "", "nested");
}

TEST_F(Safetensors, SaysWhichElementTypeIsUnsupported) {
  const auto file = write(R"({"a":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[0,1]}})", "1");
  expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::unsupported, "F8_E5M2", file);
}

TEST_F(Safetensors, ListsNumbersOf8BitsButReadsThemOnlyWithTheirFactors) {
  const auto file = write(R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", "1");
  const Checkpoint checkpoint = open_checkpoint(file);
  EXPECT_EQ(checkpoint.at("a").type_name(), "F8_E4M3");
  EXPECT_THROW((void)checkpoint.at("a").view().to_float(), Error);
}

// The page cache shows which data were read: almost none of a sparse file with 350 MB of data.
TEST_F(Safetensors, OpeningReadsTheHeaderOnly) {
  constexpr std::int64_t elements = 87'500'000;
  const auto file =
      write(R"({"a":{"dtype":"F32","shape":[87500000],"data_offsets":[0,350000000]}})", "");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) + elements * 4);
  const Checkpoint checkpoint = open_checkpoint(file);
  const TensorView view = checkpoint.at("a").view();
  EXPECT_EQ(view.shape, Shape{elements});

  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<std::uintptr_t>(view.data) / page * page;
  std::vector<unsigned char> resident(elements * 4 / page);
  ASSERT_EQ(mincore(reinterpret_cast<void*>(start), resident.size() * page, resident.data()), 0);
  std::size_t read = 0;
  for (const unsigned char in_memory : resident) read += (in_memory & 1U) * page;
  EXPECT_LT(read, 4U << 20);
}

class Sharded : public Safetensors {
 protected:
  void SetUp() override {
    shard("one.safetensors", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", {1});
    shard("two.safetensors", R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", {2});
  }
  void shard(const std::string& name, const std::string& header,
             const std::vector<float>& values) const {
    (void)folder_.write(name, with_length(header) + bytes_of(values));
  }
  std::filesystem::path index(const std::string& weight_map) const {
    return folder_.write("model.safetensors.index.json",
                         R"({"metadata":{"total_size":8},"weight_map":)" + weight_map + "}");
  }
};

TEST_F(Sharded, OpensAllShards) {
  const Checkpoint checkpoint =
      open_checkpoint(index(R"({"a":"one.safetensors","b":"two.safetensors"})"));
  EXPECT_EQ(checkpoint.format(), "sharded");
  EXPECT_EQ(checkpoint.at("a").view().to_float().values()[0], 1);
  EXPECT_EQ(checkpoint.at("b").view().to_float().values()[0], 2);
}

TEST_F(Sharded, RefusesPathsOutOfTheFolder) {
  for (const char* name : {"/etc/passwd", "../one.safetensors", "", "..", "x/one.safetensors"}) {
    const auto file = index(std::string(R"({"a":")") + name + R"("})");
    expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::damaged, "folder", file);
  }
  const auto itself = index(R"({"a":"model.safetensors.index.json"})");
  expect_refusal([&] { return open_checkpoint(itself); }, ErrorKind::damaged, "index", itself);
}

TEST_F(Sharded, OpensTogetherByNameWithoutAnIndex) {
  const std::string a = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  shard("m-00002-of-00003.safetensors", R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
        {2});
  const std::filesystem::path second = folder_ / "m-00002-of-00003.safetensors";
  expect_refusal([&] { return open_checkpoint(second); }, ErrorKind::io,
                 "next to it m-00001-of-00003.safetensors, m-00003-of-00003.safetensors", second);
  // With an index, single shards can be opened.
  EXPECT_EQ(open_checkpoint(index(R"({"b":"m-00002-of-00003.safetensors"})")).tensors().size(), 1U);
  std::filesystem::remove(folder_ / "model.safetensors.index.json");
  shard("m-00001-of-00003.safetensors", a, {1});
  shard("m-00003-of-00003.safetensors", R"({"c":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
        {3});
  std::filesystem::remove(folder_ / "one.safetensors");
  std::filesystem::remove(folder_ / "two.safetensors");
  for (const std::filesystem::path& path : {second, folder_.path()}) {
    const Checkpoint all = open_checkpoint(path);
    EXPECT_EQ(all.at("a").view().to_float().values()[0], 1);
    EXPECT_EQ(all.at("b").view().to_float().values()[0], 2);
    EXPECT_EQ(all.at("c").view().to_float().values()[0], 3);
    EXPECT_EQ(all.metadata().at("shards"), "3, opened together by their names");
  }
  shard("m-00003-of-00003.safetensors", a, {3});
  expect_refusal([&] { return open_checkpoint(second); }, ErrorKind::damaged, "same name", second);
}

TEST_F(Sharded, RefusesMissingTensorsAndShards) {
  const auto missing = index(R"({"c":"one.safetensors"})");
  expect_refusal([&] { return open_checkpoint(missing); }, ErrorKind::damaged, "no such tensor",
                 missing);
  const auto gone = index(R"({"a":"three.safetensors"})");
  expect_refusal([&] { return open_checkpoint(gone); }, ErrorKind::io, "No such file",
                 "three.safetensors");
  const auto twice = index(R"({"a":"one.safetensors","a":"two.safetensors"})");
  expect_refusal([&] { return open_checkpoint(twice); }, ErrorKind::damaged, "twice", twice);
}

}  // namespace
}  // namespace attnscope
