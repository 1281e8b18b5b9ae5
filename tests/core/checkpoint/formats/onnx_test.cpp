// ONNX files, written by tests/data/checkpoint/make_onnx.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "tests/core/checkpoint/formats/stored_values.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::ElementsAre;

TEST(Onnx, ReadsInitialisersWhereverTheirElementsStand) {
  const Checkpoint file = open_checkpoint(test_data("checkpoint/model.onnx"));
  EXPECT_EQ(file.format(), "onnx");
  for (const char* name : {"raw/float64", "raw/float32", "raw/float16", "raw/bfloat16",
                           "typed/float", "typed/double", "typed/float16", "typed/bfloat16"}) {
    EXPECT_EQ(file.at(name).shape, (Shape{3, 4}));
    EXPECT_THAT(file.at(name).view().to_float().values(), testing::ElementsAreArray(ramp()))
        << name;
  }
  for (const char* name : {"raw/int64", "raw/int32", "raw/int16", "raw/uint64", "raw/uint32",
                           "raw/uint16", "raw/uint8"}) {
    EXPECT_THAT(file.at(name).view().to_int64(), ElementsAre(250, 251, 252)) << name;
  }
  for (const char* name : {"typed/int64", "typed/int32", "typed/int16", "typed/int8"}) {
    EXPECT_THAT(file.at(name).view().to_int64(), ElementsAre(-2, 0, 100)) << name;
  }
  for (const char* name : {"typed/uint64", "typed/uint32", "typed/uint16", "typed/uint8"}) {
    EXPECT_THAT(file.at(name).view().to_int64(), ElementsAre(1, 2, 200)) << name;
  }
  EXPECT_THAT(file.at("raw/bool").view().to_int64(), ElementsAre(1, 0));
  EXPECT_THAT(file.at("typed/bool").view().to_int64(), ElementsAre(1, 0));
  EXPECT_EQ(file.at("scalar").shape, Shape{});
  EXPECT_EQ(file.at("empty").shape, (Shape{0, 4}));
  EXPECT_EQ(file.at("empty").view().to_float().size(), 0);
  EXPECT_EQ(file.find("text"), nullptr);
  EXPECT_EQ(file.metadata().at("initialisers that are not read"), "text (string)");
  EXPECT_EQ(file.metadata().at("producer"), "attnscope tests");
  EXPECT_EQ(file.metadata().at("graph"), "small");
  EXPECT_EQ(file.metadata().at("author"), "nobody");
}

TEST(Onnx, ReadsExternalDataNextToTheModelOnly) {
  const Checkpoint file = open_checkpoint(test_data("checkpoint/external.onnx"));
  EXPECT_THAT(file.at("w").view().to_float().values(), testing::ElementsAreArray(ramp()));
  const auto elsewhere = test_data("checkpoint/external_elsewhere.onnx");
  expect_refusal([&] { return open_checkpoint(elsewhere); }, ErrorKind::unsupported,
                 "in the folder of the model", elsewhere);
  const Checkpoint beyond = open_checkpoint(test_data("checkpoint/external_beyond.onnx"));
  expect_refusal([&] { return beyond.at("w").view(); }, ErrorKind::damaged, "outside the file",
                 "external.onnx_data");
  const TemporaryFolder folder;
  const auto alone = folder.write("a.onnx", read_bytes(test_data("checkpoint/external.onnx")));
  expect_refusal([&] { return open_checkpoint(alone).at("w").view(); }, ErrorKind::io, "",
                 "external.onnx_data");
}

TEST(Onnx, CallsNumberedWeightsByTheNodesThatUseThem) {
  const Checkpoint file = open_checkpoint(test_data("checkpoint/nodes.onnx"));
  std::vector<std::string> names;
  for (const StoredTensor& tensor : file.tensors()) names.push_back(tensor.name);
  // A weight keeps its own name if its node has no name or another weight already has that name.
  EXPECT_THAT(names, ElementsAre("blocks.0/attn/qkv/MatMul", "blocks.0.attn.qkv.bias",
                                 "head/Gemm.1", "head/Gemm.2", "MatMul_46", "node_MatMul_9", "58",
                                 "blocks.0/Add", "mlp/MatMul", "onnx::MatMul_41"));
  EXPECT_EQ(file.at("head/Gemm.2").view().to_float().data()[0], 2.0F);
  EXPECT_EQ(file.at("onnx::MatMul_41").view().to_float().data()[0], 8.0F);
}

TEST(Onnx, RefusesBrokenFiles) {
  const TemporaryFolder folder;
  const auto file_of = [&](const std::string& tensor) {
    const auto field = [](int number, const std::string& content) {
      return static_cast<char>(number << 3 | 2) +
             std::string(1, static_cast<char>(content.size())) + content;
    };
    return folder.write("a.onnx", "\x08\x07" + field(7, field(5, tensor)));
  };
  const auto refused = [&](const std::string& tensor, const std::string& part,
                           ErrorKind kind = ErrorKind::damaged) {
    const auto file = file_of(tensor);
    expect_refusal([&] { return open_checkpoint(file); }, kind, part, file);
  };
  const std::string float4 = "\x08\x01\x10\x01";  // dims [1], data_type float
  EXPECT_EQ(open_checkpoint(file_of(float4 + "\x4A\x04"
                                             "1234"))
                .tensors()
                .size(),
            1U);
  refused(float4 +
              "\x4A\x03"
              "123",
          "does not fit");
  refused(float4, "does not fit");
  refused(float4 +
              "\x22\x08"
              "12345678",
          "does not fit");
  refused("\x08\x02\x10\x06\x28\x01", "does not fit");  // int32 [2] with only one number
  refused("\x08\x01\x10\x63", "type is unknown", ErrorKind::unsupported);
  refused(float4 + std::string("\x1A\0", 2), "segments", ErrorKind::unsupported);
  refused("\x08" + std::string(9, '\xFF') + "\x01\x10\x01", "shape is impossible");
  refused("\x08" + std::string(10, '\xFF') + "\x01", "longer than 64 bits");
  refused(float4 + "\x4A\x7F", "ends inside");
  refused(float4 + "\x4B", "unknown wire type");
  const auto none = folder.write("a.onnx", "\x08\x07");
  expect_refusal([&] { return open_checkpoint(none); }, ErrorKind::damaged, "no graph", none);
  // A number of variable length has at least one byte, but three bytes may be a single number.
  const Checkpoint few = open_checkpoint(file_of("\x08\x03\x10\x06\x2A\x03\xFF\xFF\x01"));
  EXPECT_THROW((void)few.tensors()[0].view(), Error);
}

TEST(Onnx, RefusesFilesCutOffAnywhere) {
  // The data after the graph may be missing.
  const std::size_t graph = read_bytes(test_data("checkpoint/model.onnx")).find("small");
  expect_damaged_when_cut_off("model.onnx", 3, 5, graph);
}

}  // namespace
}  // namespace attnscope
