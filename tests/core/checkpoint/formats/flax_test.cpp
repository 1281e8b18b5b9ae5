// Flax files, written by tests/data/checkpoint/make_flax.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "tests/core/checkpoint/formats/stored_values.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::ElementsAre;

TEST(Flax, JoinsTheNamesOfNestedMaps) {
  const Checkpoint file = open_checkpoint(test_data("checkpoint/flax.msgpack"));
  EXPECT_EQ(file.format(), "flax");
  for (const char* name : {"kernel", "dense_float64", "dense_float32", "dense_float16", "scale"}) {
    const StoredTensor& tensor = file.at(std::string("params/encoder/layer/0/") + name);
    EXPECT_EQ(tensor.shape, (Shape{3, 4}));
    EXPECT_THAT(tensor.view().to_float().values(), testing::ElementsAreArray(ramp())) << name;
  }
  EXPECT_EQ(file.at("params/encoder/layer/0/scale").dtype, DType::bf16);
  for (const char* type :
       {"int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"}) {
    const StoredTensor& tensor = file.at(std::string("params/n_") + type);
    EXPECT_EQ(tensor.type_name(), type);
    EXPECT_THAT(tensor.view().to_int64(), ElementsAre(0, 1, 2));
  }
  EXPECT_THAT(file.at("params/flags").view().to_int64(), ElementsAre(1, 0));
  EXPECT_EQ(file.at("count").shape, Shape{});
  EXPECT_THAT(file.at("count").view().to_int64(), ElementsAre(7));
}

TEST(Flax, JoinsChunks) {
  const Checkpoint file = open_checkpoint(test_data("checkpoint/flax.msgpack"));
  const StoredTensor& tensor = file.at("params/embedding");
  EXPECT_EQ(tensor.shape, (Shape{3, 4}));
  EXPECT_EQ(tensor.bytes, 48);
  EXPECT_THAT(tensor.view().to_float().values(), testing::ElementsAreArray(ramp()));
}

TEST(Flax, ShowsEntriesThatAreNotArrays) {
  const auto metadata = open_checkpoint(test_data("checkpoint/flax.msgpack")).metadata();
  EXPECT_EQ(metadata.at("step"), "300");
  EXPECT_EQ(metadata.at("rate"), "0.001");
  EXPECT_EQ(metadata.at("root"), "a complex number");
  EXPECT_EQ(metadata.at("note").size(), 40U);
  EXPECT_EQ(metadata.at("negative/2"), "-1000");
  EXPECT_EQ(metadata.at("negative/4"), "1099511627776");
  EXPECT_EQ(metadata.at("negative/5"), "true");
}

TEST(Flax, RefusesUnknownTypes) {
  for (const auto& [name, part] : {std::pair("complex", "complex64"), {"other", "type 9"}}) {
    const auto file = test_data(std::string("checkpoint/") + name + ".msgpack");
    expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::unsupported, part, file);
    expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::unsupported, "params/a", file);
  }
}

TEST(Flax, RefusesBrokenFiles) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& bytes, const std::string& part) {
    const auto file = folder.write("a.msgpack", bytes);
    expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::damaged, part, file);
  };
  const std::string map = "\x81\xA1";  // one member whose name has one letter
  const auto array = [](const std::string& payload) {
    return std::string("\xC7") + static_cast<char>(payload.size()) + "\x01" + payload;
  };
  const std::string type =
      "\xA7"
      "float32";
  EXPECT_EQ(open_checkpoint(folder.write("a.msgpack", map + "a" +
                                                          array("\x93\x91\x01" + type +
                                                                "\xC4\x04"
                                                                "1234")))
                .tensors()
                .size(),
            1U);
  refused(map + "a" +
              array("\x93\x91\x02" + type +
                    "\xC4\x04"
                    "1234"),
          "does not fit");
  refused(map + "a" +
              array("\x93\x91\xFF" + type +
                    "\xC4\x04"
                    "1234"),
          "list of dimensions");
  refused(map + "a" + array("\x93\x92\xCF\x40" + std::string(7, '\0') + "\x04" + type + "\xC4\x00"),
          "ends inside");
  refused(map + "a" +
              array(std::string("\x93\x92\xCF\x40") + std::string(7, '\0') + "\x04" + type +
                    std::string("\xC4\0", 2)),
          "too large");
  refused(map + "a" + array("\x92\x91\x01" + type), "(shape, type, bytes)");
  refused(std::string("\x82\xA1") + "a\x01\xA1" + "a\x02", "twice");
  refused(map + "a\xC1", "unknown type byte");
  refused(map + "a\x01\x01", "follow");
  refused("\x81\xC0\x01", "neither a string nor an integer");
  refused(map + "a" + std::string(40, '\x91') + "\x01", "nested too deeply");
  refused(std::string("\xDF\xFF\xFF\xFF\xFF", 5), "ends inside");
  refused(map + "a\x82\xB9__msgpack_chunked_array__\xC3\xA6" + "chunks\x80", "incomplete");
}

TEST(Flax, RefusesFilesCutOffAnywhere) { expect_damaged_when_cut_off("flax.msgpack", 1, 11); }

}  // namespace
}  // namespace attnscope
