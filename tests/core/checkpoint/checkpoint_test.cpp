#include "core/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <set>

#include "core/checkpoint/format.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

StoredTensor named(std::string name) { return {std::move(name), DType::f32, {1}, 4, nullptr}; }

TEST(Checkpoint, NamesTheNearestNames) {
  const Checkpoint checkpoint(
      "m.pt", "pytorch",
      {named("head.weight"), named("blocks.0.attn.qkv.weight"), named("blocks.0.attn.qkv.bias")},
      {});
  EXPECT_EQ(checkpoint.nearest_names("blocks.0.attn.qkv.weigth", 2),
            (std::vector<std::string>{"blocks.0.attn.qkv.weight", "blocks.0.attn.qkv.bias"}));
  EXPECT_EQ(checkpoint.nearest_names("x", 9).size(), 3U);
  expect_refusal([&]() -> const StoredTensor& { return checkpoint.at("head.wieght"); },
                 ErrorKind::damaged, "nearest names: head.weight", "m.pt");
}

TEST(Checkpoint, KeepsTheFilesOrder) {
  const Checkpoint checkpoint("m.pt", "pytorch", {named("z"), named("a")}, {});
  EXPECT_EQ(checkpoint.tensors()[0].name, "z");
  EXPECT_EQ(checkpoint.find("a"), &checkpoint.tensors()[1]);
  EXPECT_EQ(checkpoint.find("b"), nullptr);
}

TEST(Checkpoint, JoinsElementsWithTheirFactors) {
  const TemporaryFolder folder;
  const auto opened = [&](const NamedShapes& shapes) {
    write_hashed_safetensors(folder / "m.safetensors", shapes);
    return open_checkpoint(folder / "m.safetensors");
  };
  const Checkpoint checkpoint = opened({{"x_blocks", {2, 3, 4, 16}},
                                        {"x_scales", {2, 3, 4}},
                                        {"y.weight", {130, 5}},
                                        {"y.weight_scale_inv", {2, 1}}});
  ASSERT_EQ(checkpoint.tensors().size(), 2U);
  EXPECT_EQ(checkpoint.at("x_blocks").shape, (Shape{2, 3, 128}));
  EXPECT_EQ(checkpoint.at("x_blocks").type_name(), "MXFP4");
  EXPECT_EQ(checkpoint.at("x_blocks").bytes, 2 * 3 * 4 * 17);
  EXPECT_EQ(checkpoint.at("y.weight").type_name(), "F8_E4M3 in tiles");
  EXPECT_EQ(checkpoint.at("y.weight").view().to_float().shape(), (Shape{130, 5}));
  expect_refusal(
      [&] {
        return opened({{"x_blocks", {2, 4, 16}}, {"x_scales", {4, 2}}});
      },
      ErrorKind::damaged, "expected [2, 4], found [4, 2]", "m.safetensors");
  expect_refusal(
      [&] {
        return opened({{"y.weight", {130, 5}}, {"y.weight_scale_inv", {1, 1}}});
      },
      ErrorKind::damaged, "expected [2, 1], found [1, 1]", "m.safetensors");
}

TEST(Checkpoint, TakesWrappersOutOfNames) {
  const Checkpoint checkpoint(
      "m.pt", "pytorch",
      {named("module._orig_mod.blocks.0._checkpoint_wrapped_module.norm.weight"),
       named("module.blocks.1._fsdp_wrapped_module.norm.weight"), named("attention_module.weight"),
       named("module.module")},
      {});
  EXPECT_EQ(checkpoint.tensors()[0].name, "blocks.0.norm.weight");
  EXPECT_EQ(checkpoint.tensors()[1].name, "blocks.1.norm.weight");
  EXPECT_EQ(checkpoint.tensors()[2].name, "attention_module.weight");
  EXPECT_EQ(checkpoint.tensors()[3].name, "module");
  // An index or a description may still use the names with wrappers.
  EXPECT_EQ(checkpoint.find("module.blocks.1.norm.weight"), &checkpoint.tensors()[1]);
  const Checkpoint both("m.pt", "pytorch", {named("module.head"), named("head")}, {});
  EXPECT_EQ(both.tensors()[0].name, "module.head");
  EXPECT_EQ(both.find("module.head"), &both.tensors()[0]);
  EXPECT_EQ(both.find("head"), &both.tensors()[1]);
}

TEST(Checkpoint, RefusesDuplicateNames) {
  expect_refusal(
      [] {
        return Checkpoint("m.pt", "pytorch", {named("a"), named("a")}, {});
      },
      ErrorKind::damaged, "same name", "m.pt");
}

TEST(OpenCheckpoint, ReportsFilesThatAreNoCheckpoints) {
  const TemporaryFolder folder;
  const auto refused = [&](const char* name, const char* bytes, const char* part) {
    const auto file = folder.write(name, bytes);
    expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::not_this_format, part, file);
  };
  refused("model.txt", "hello", "known formats: safetensors");
  refused("model.pth", "", "empty");
  refused("model.pth", "version https://git-lfs.github.com/spec/v1\n", "git lfs pull");
  refused("model.h5", "<!DOCTYPE html>", "web page");
  refused("model.pth", "\x1f\x8b\x08", "gzip compressed");
  refused("model.pth.gz", "\x1f\x8b\x08", "decompress it");
  refused("model.h5", "hello", "is not an HDF5 file");
  refused("config.index.json", "{}", "weight_map");
}

TEST(OpenCheckpoint, ReportsUnreadableFiles) {
  const TemporaryFolder folder;
  const auto missing = folder.path() / "missing.pt";
  expect_refusal([&] { return open_checkpoint(missing); }, ErrorKind::io, "No such file", missing);
  expect_refusal([&] { return open_checkpoint(folder.path()); }, ErrorKind::unsupported,
                 "the folder holds no weight file", folder.path());
}

TEST(CheckpointFormats, HaveNamesAndExtensionsOfTheirOwn) {
  std::set<std::string_view> names;
  for (const CheckpointFormat& format : checkpoint_formats()) {
    EXPECT_TRUE(names.insert(format.name).second);
    EXPECT_TRUE(format.extensions.starts_with("."));
  }
}

}  // namespace
}  // namespace attnscope
