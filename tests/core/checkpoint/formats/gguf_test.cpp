// GGUF files, written by tests/data/checkpoint/make_gguf.py.
#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/key_values.h"
#include "tests/core/checkpoint/formats/stored_values.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::ElementsAre;

const char* const kGgufFile = "checkpoint/quantised.gguf";

template <class Number>
std::string little(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string text(const std::string& text) { return little<std::uint64_t>(text.size()) + text; }

struct Record {
  std::string name = "a";
  std::vector<std::uint64_t> extents = {4};
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
};

/// A file of version 3 with these keys (as bytes) and tensors, and `data` bytes after the padding.
std::string gguf(const std::vector<std::string>& keys, const std::vector<Record>& tensors,
                 std::size_t data, std::uint32_t version = 3) {
  std::string bytes = "GGUF" + little(version) + little<std::uint64_t>(tensors.size()) +
                      little<std::uint64_t>(keys.size());
  for (const std::string& key : keys) bytes += key;
  for (const Record& tensor : tensors) {
    bytes += text(tensor.name) + little(static_cast<std::uint32_t>(tensor.extents.size()));
    for (const std::uint64_t extent : tensor.extents) bytes += little(extent);
    bytes += little(tensor.type) + little(tensor.offset);
  }
  bytes.resize((bytes.size() + 31) / 32 * 32 + data);
  return bytes;
}

std::string key_u32(const std::string& name, std::uint32_t value) {
  return text(name) + little<std::uint32_t>(4) + little(value);
}

TEST(Gguf, HasShapesSlowestAxisFirst) {
  const Checkpoint file = open_checkpoint(test_data(kGgufFile));
  EXPECT_EQ(file.format(), "gguf");
  EXPECT_EQ(file.at("q4_k.weight").shape, (Shape{2, 256}));
  EXPECT_EQ(file.at("q4_k.weight").type_name(), "Q4_K");
  EXPECT_EQ(file.at("q4_k.weight").bytes, 2 * 144);
  EXPECT_EQ(file.at("cube").shape, (Shape{2, 3, 4}));
  EXPECT_EQ(file.at("cube").type_name(), "float32");
  const Tensor cube = file.at("cube").view().to_float();
  for (std::int64_t i = 0; i < cube.size(); ++i) {
    EXPECT_EQ(cube.data()[i], static_cast<float>(i));
  }
}

TEST(Gguf, ReadsPlainElements) {
  const Checkpoint file = open_checkpoint(test_data(kGgufFile));
  for (const char* name : {"f32", "f16", "bf16", "f64"}) {
    const Tensor tensor = file.at(name).view().to_float();
    EXPECT_THAT(tensor.values(), ElementsAre(-1, -.75, -.5, -.25, 0, .25)) << name;
  }
  for (const char* name : {"i8", "i16", "i32", "i64"}) {
    EXPECT_THAT(file.at(name).view().to_int64(), ElementsAre(-1, 0, 0, 0, 0, 0)) << name;
  }
}

TEST(Gguf, RefusesUnknownQuantisationOnlyWhenRead) {
  const auto path = test_data(kGgufFile);
  const Checkpoint file = open_checkpoint(path);
  const StoredTensor& tensor = file.at("iq1_s.weight");
  EXPECT_EQ(tensor.type_name(), "IQ1_S");
  EXPECT_EQ(tensor.bytes, 50);
  const Error error = refusal_of([&] { (void)tensor.view(); });
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_THAT(error.what(), testing::HasSubstr("IQ1_S"));
  EXPECT_THAT(error.what(), testing::HasSubstr("iq1_s.weight"));
  EXPECT_THAT(error.what(), testing::HasSubstr("quantised.gguf"));
}

TEST(GgufKeys, AreTyped) {
  const Checkpoint file = open_checkpoint(test_data(kGgufFile));
  ASSERT_NE(file.key_values(), nullptr);
  const KeyValues& keys = *file.key_values();
  EXPECT_EQ(keys.text("general.architecture"), "llama");
  EXPECT_EQ(keys.whole("u8"), 200);
  EXPECT_EQ(keys.whole("i8"), -2);
  EXPECT_EQ(keys.whole("u16"), 60000);
  EXPECT_EQ(keys.whole("i16"), -300);
  EXPECT_EQ(keys.whole("i32"), -7);
  EXPECT_EQ(keys.whole("u64"), std::int64_t{1} << 40);
  EXPECT_EQ(keys.whole("i64"), -(std::int64_t{1} << 40));
  EXPECT_EQ(keys.number("f32"), .5);
  EXPECT_EQ(keys.number("f64"), 1e-5);
  EXPECT_EQ(keys.number("i8"), -2);
  EXPECT_EQ(keys.truth("yes"), true);
  EXPECT_THAT(*keys.texts("tokenizer.ggml.tokens"), ElementsAre("<s>", "a", "bé", ""));
  EXPECT_THAT(*keys.texts("none"), ElementsAre());
  EXPECT_THAT(*keys.numbers("numbers"), ElementsAre(1, 2.5));
  EXPECT_EQ(keys.wholes("wholes")->size(), 20U);
  EXPECT_EQ(keys.wholes("wholes")->back(), 19);
  EXPECT_EQ(keys.whole("absent"), std::nullopt);
  EXPECT_EQ(keys.texts("absent"), std::nullopt);
}

TEST(GgufKeys, RefuseOtherTypes) {
  const Checkpoint file = open_checkpoint(test_data(kGgufFile));
  const KeyValues& keys = *file.key_values();
  EXPECT_THROW((void)keys.text("u8"), Error);
  EXPECT_THROW((void)keys.whole("f32"), Error);
  EXPECT_THROW((void)keys.whole("huge"), Error);
  EXPECT_THROW((void)keys.truth("u8"), Error);
  EXPECT_THROW((void)keys.texts("general.architecture"), Error);
  EXPECT_THROW((void)keys.text("tokenizer.ggml.tokens"), Error);
  EXPECT_THROW((void)keys.wholes("numbers"), Error);
  EXPECT_THROW((void)keys.numbers("nested"), Error);
}

TEST(GgufKeys, AreShownShort) {
  const std::map<std::string, std::string> shown = open_checkpoint(test_data(kGgufFile)).metadata();
  EXPECT_EQ(shown.at("general.architecture"), "llama");
  EXPECT_EQ(shown.at("i64"), "-1099511627776");
  EXPECT_EQ(shown.at("huge"), "9223372036854775808");
  EXPECT_EQ(shown.at("yes"), "true");
  EXPECT_EQ(shown.at("f64"), "1e-05");
  EXPECT_EQ(shown.at("long"), "[text of 300 bytes]");
  EXPECT_EQ(shown.at("numbers"), "[1, 2.5]");
  EXPECT_EQ(shown.at("wholes"), "[20 × int32]");
  EXPECT_EQ(shown.at("tokenizer.ggml.tokens"), "[4 × text]");
  EXPECT_EQ(shown.at("nested"), "[2 × list]");
}

TEST(GgufParts, AreOneModel) {
  for (const char* part : {"split-00001-of-00003.gguf", "split-00003-of-00003.gguf"}) {
    const Checkpoint file = open_checkpoint(test_data(std::string("checkpoint/") + part));
    ASSERT_EQ(file.tensors().size(), 2U);
    EXPECT_EQ(file.at("a").view().to_float().data()[1], 2);
    EXPECT_EQ(file.at("b").view().to_float().data()[0], 3);
    EXPECT_EQ(file.key_values()->text("general.name"), "in three");
  }
}

TEST(GgufParts, AreAllNeeded) {
  const TemporaryFolder folder;
  const std::string first = read_bytes(test_data("checkpoint/split-00001-of-00003.gguf"));
  const std::string second = read_bytes(test_data("checkpoint/split-00002-of-00003.gguf"));
  const auto file = folder.write("m-00001-of-00003.gguf", first);
  (void)folder.write("m-00003-of-00003.gguf", second);
  expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::io, "m-00002-of-00003.gguf",
                 file);
  const auto third = folder.write("m-00002-of-00003.gguf", second);
  expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::damaged, "split.no 2 of 3",
                 folder / "m-00003-of-00003.gguf");
  const auto renamed = folder.write("other.gguf", first);
  expect_refusal([&] { return open_checkpoint(renamed); }, ErrorKind::unsupported,
                 "-00001-of-00003.gguf", renamed);
}

TEST(Gguf, RefusesBrokenHeaders) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& bytes, const std::string& part,
                           ErrorKind kind = ErrorKind::damaged) {
    const auto file = folder.write("a.gguf", bytes);
    expect_refusal([&] { return open_checkpoint(file); }, kind, part, file);
  };
  const std::string fine = gguf({}, {Record{}}, 16);
  EXPECT_EQ(open_checkpoint(folder.write("a.gguf", fine)).tensors().size(), 1U);

  refused(gguf({}, {}, 0, 1), "version is unknown", ErrorKind::unsupported);
  refused(gguf({}, {}, 0, 0x03000000), "big-endian", ErrorKind::unsupported);
  refused("FUGG" + fine.substr(4), "big-endian", ErrorKind::unsupported);
  refused("tjgg" + fine.substr(4), "predecessors", ErrorKind::unsupported);
  refused(gguf({}, {{"a", {4}, 4, 0}}, 16), "ggml type 4", ErrorKind::unsupported);
  refused(gguf({}, {Record{}}, 15), "outside the file");
  refused(gguf({}, {{"a", {4}, 0, 32}}, 16), "outside the file");
  refused(gguf({}, {{"a", {4}, 0, ~std::uint64_t{31}}}, 16), "outside the file");
  refused(gguf({}, {{"a", {4}, 0, 8}}, 64), "not aligned");
  refused(gguf({}, {Record{}, Record{}}, 64), "same name");
  refused(gguf({}, {{"a", {16}, 0, 0}, {"b", {4}, 0, 32}}, 64), "overlap");
  refused(gguf({}, {{"a", {100}, 12, 0}}, 400), "whole blocks");
  refused(gguf({}, {{"a", {std::uint64_t{1} << 40, std::uint64_t{1} << 40}, 0, 0}}, 16),
          "too large");
  refused(gguf({}, {{"a", {~std::uint64_t{0}}, 0, 0}}, 16), "too large");
  refused(gguf({}, {{"a", std::vector<std::uint64_t>(9, 1), 0, 0}}, 16), "too many axes");
  refused(gguf({key_u32("k", 1), key_u32("k", 2)}, {}, 0), "twice");
  refused(gguf({key_u32("general.alignment", 24)}, {}, 0), "power of two");
  refused(gguf({key_u32("general.alignment", 0)}, {}, 0), "power of two");
  refused(gguf({text("k") + little<std::uint32_t>(13)}, {}, 0), "type is unknown");
  refused(gguf({text("k") + little<std::uint32_t>(9) + little<std::uint32_t>(4) +
                little(std::uint64_t{1} << 60)},
               {}, 0),
          "longer than the file");
  refused("GGUF" + little<std::uint32_t>(3) + little(~std::uint64_t{0}) + little<std::uint64_t>(0),
          "more tensors");
  refused("GGUF" + little<std::uint32_t>(3) + little<std::uint64_t>(0) + little(~std::uint64_t{0}),
          "more keys");
  std::string nested = text("k") + little<std::uint32_t>(9);
  for (int depth = 0; depth < 100; ++depth) {
    nested += little<std::uint32_t>(9) + little<std::uint64_t>(1);
  }
  refused(gguf({nested}, {}, 0), "nested too deeply");
}

TEST(Gguf, RefusesFilesCutOffAnywhere) {
  const std::size_t size = read_bytes(test_data(kGgufFile)).size();
  expect_damaged_when_cut_off("quantised.gguf", 9, 37, size - 32);
}

}  // namespace
}  // namespace attnscope
