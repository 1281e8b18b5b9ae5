#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>

#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/trace/trace_file.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

/// Texts of variable length, written by libhdf5 in the old and the new form of the file.
class Hdf5AttributesTest : public testing::TestWithParam<bool> {
 protected:
  void write(
      const std::vector<std::pair<std::string, std::vector<const char*>>>& attributes) const {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (GetParam()) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(creation, 512);
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation, access);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    for (const auto& [name, texts] : attributes) {
      const hsize_t count = texts.size();
      const hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr);
      const hid_t attribute = H5Acreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
      H5Awrite(attribute, type, texts.data());
      H5Aclose(attribute);
      H5Sclose(space);
    }
    H5Tclose(type);
    H5Pclose(creation);
    H5Pclose(access);
    H5Fclose(file);
  }
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "texts.h5";
};

TEST_P(Hdf5AttributesTest, TextsOfAnyLengthAreRead) {
  const std::string longest(70'000, 'x');
  std::vector<std::pair<std::string, std::vector<const char*>>> attributes = {
      {"name", {"Größe"}},
      {"empty", {""}},
      {"long", {longest.c_str()}},
      {"list", {"one", "", "three"}}};
  // The new form of the file stores more than eight attributes in a heap of their own.
  for (int i = 0; i < 20; ++i) attributes.push_back({"more" + std::to_string(i), {"again"}});
  write(attributes);
  const auto metadata = open_checkpoint(path_).metadata();
  EXPECT_EQ(metadata.at("name"), "Größe");
  EXPECT_EQ(metadata.at("empty"), "");
  EXPECT_EQ(metadata.at("long"), longest);
  EXPECT_EQ(metadata.at("list"), "[one, , three]");
  EXPECT_EQ(metadata.at("more19"), "again");
  EXPECT_EQ(metadata.size(), attributes.size());
}

INSTANTIATE_TEST_SUITE_P(Forms, Hdf5AttributesTest, testing::Bool());

/// Files that made libhdf5 crash, hang or allocate gigabytes.
class HostileHdf5 : public testing::TestWithParam<const char*> {};

TEST_P(HostileHdf5, IsRefusedOrReadWithoutHarm) {
  const auto file = test_data(std::string("checkpoint/hostile/") + GetParam());
  rusage before{}, after{}, children{};
  getrusage(RUSAGE_SELF, &before);
  getrusage(RUSAGE_CHILDREN, &children);
  const auto most_before = std::max(before.ru_maxrss, children.ru_maxrss);
  const auto start = std::chrono::steady_clock::now();
  try {
    const Checkpoint checkpoint = open_checkpoint(file);
    for (const StoredTensor& tensor : checkpoint.tensors()) {
      (void)tensor.view().to_float();
    }
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::usage) << error.what();
  }
  try {
    if (is_trace_file(file)) (void)read_trace(file);
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::usage) << error.what();
  }
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 200'000) << "kilobytes";
  getrusage(RUSAGE_CHILDREN, &children);
  EXPECT_LT(children.ru_maxrss - most_before, 200'000) << "kilobytes";
  EXPECT_LT(after.ru_utime.tv_sec - before.ru_utime.tv_sec, 5);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));  // with the child
}

INSTANTIATE_TEST_SUITE_P(Samples, HostileHdf5,
                         testing::Values("vlen-4.6GB.h5", "vlen-hang.h5", "vlen-hang2.h5",
                                         "vlen-segv.h5", "vlen-segv2.h5", "control-name.h5",
                                         "links-of-zeros.h5"),
                         [](const auto& sample) {
                           std::string name = sample.param;
                           std::erase_if(name, [](char c) { return !std::isalnum(c); });
                           return name;
                         });

}  // namespace
}  // namespace attnscope
