#include "core/trace/trace_arrays.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/trace/trace_file.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip_writer.h"

namespace attnscope {
namespace {

/// A .npy file of float64 with 0, 1, 2, … divided by 3.
std::string array(const std::string& shape, std::size_t count) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }";
  header.append(118 - header.size() - 1, ' ');
  header += '\n';
  std::string bytes =
      std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(i) / 3;
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

class TraceArraysTest : public testing::Test {
 protected:
  void expect_no_trace(const std::filesystem::path& file) const {
    EXPECT_FALSE(is_trace_file(file));
    expect_refusal([&] { return read_trace(file); }, ErrorKind::not_this_format, "not a trace",
                   file);
  }
  TemporaryFolder folder_;
};

TEST_F(TraceArraysTest, OneArrayIsAllLayers) {
  const auto file = folder_.write("maps.npy", array("(2, 3, 4, 5)", 120));
  EXPECT_TRUE(is_trace_file(file));
  const Trace trace = read_trace(file);
  EXPECT_EQ(trace.model_name, "maps");
  ASSERT_EQ(trace.layers.size(), 2U);
  EXPECT_EQ(trace.layers[1].implied_map.shape(), (Shape{3, 4, 5}));
  EXPECT_EQ(trace.layers[1].implied_map.values()[7], 67.0F / 3);
  ASSERT_NE(trace.layers[1].exact_map, nullptr);
  EXPECT_EQ((*trace.layers[1].exact_map)[7], 67.0 / 3);
  EXPECT_EQ(trace.keys(0), 5);
}

TEST_F(TraceArraysTest, AnArrayOfThreeAxesIsOneLayer) {
  for (const char* shape : {"(2, 4, 4)", "(1, 2, 4, 4)", "(1, 1, 2, 4, 4)"}) {
    const Trace trace = read_trace(folder_.write("one.npy", array(shape, 32)));
    ASSERT_EQ(trace.layers.size(), 1U) << shape;
    EXPECT_EQ(trace.heads(0), 2) << shape;
  }
}

TEST_F(TraceArraysTest, ArraysAreLayersInTheOrderOfTheirNumbers) {
  std::vector<ZipMember> members;
  for (const int layer : {10, 2, 1}) {
    const std::string tokens = std::to_string(layer);
    members.push_back(stored_member(
        "attn_" + tokens + ".npy",
        array("(1, 1, " + tokens + ", " + tokens + ")", static_cast<std::size_t>(layer * layer))));
  }
  const Trace trace = read_trace(folder_.write("maps.npz", zip_bytes(members)));
  ASSERT_EQ(trace.layers.size(), 3U);
  EXPECT_EQ(trace.queries(0), 1);
  EXPECT_EQ(trace.queries(1), 2);
  EXPECT_EQ(trace.queries(2), 10);
}

TEST_F(TraceArraysTest, TheNamesOfTraceFilesServeInArchivesToo) {
  const auto file = folder_.write(
      "named.npz", zip_bytes({stored_member("layer_00/implied_map.npy", array("(2, 3, 3)", 18)),
                              stored_member("layer_00/queries.npy", array("(2, 3, 4)", 24)),
                              stored_member("logits.npy", array("(7,)", 7))}));
  const Trace trace = read_trace(file);
  ASSERT_EQ(trace.layers.size(), 1U);
  EXPECT_EQ(trace.layers[0].queries.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(trace.logits.size(), 7);
}

TEST_F(TraceArraysTest, ReadsAttentionsSavedByTorch) {
  // torch.save(outputs.attentions, …) writes a tuple of [1, H, N, N]; see
  // tests/data/trace/make_arrays.py.
  const Trace trace = read_trace(test_data("trace/attentions.pt"));
  ASSERT_EQ(trace.layers.size(), 11U);
  EXPECT_EQ(trace.layers[10].implied_map.shape(), (Shape{2, 3, 3}));
  for (std::size_t layer = 0; layer < 11; ++layer) {
    EXPECT_EQ(trace.layers[layer].implied_map.values()[0], static_cast<float>(layer));
    EXPECT_EQ(trace.layers[layer].exact_map, nullptr);
  }
}

TEST_F(TraceArraysTest, DoesNotReadWeightsAsTraces) {
  expect_no_trace(folder_.write("picture.npy", array("(4, 5)", 20)));
  expect_no_trace(folder_.write("empty.npy", array("(2, 0, 3, 3)", 0)));
  expect_no_trace(test_data("checkpoint/zip.pt"));
  expect_no_trace(test_data("checkpoint/model.h5"));
  expect_no_trace(
      folder_.write("mixed.npz", zip_bytes({stored_member("a.npy", array("(2, 3, 3)", 18)),
                                            stored_member("bias.npy", array("(3,)", 3))})));
  expect_no_trace(
      folder_.write("two.npz", zip_bytes({stored_member("a.npy", array("(2, 2, 3, 3)", 36)),
                                          stored_member("b.npy", array("(2, 2, 3, 3)", 36))})));
}

TEST_F(TraceArraysTest, DoublesSurviveTheRoundTrip) {
  const Trace trace = read_trace(folder_.write("maps.npy", array("(1, 3, 4, 4)", 48)));
  write_trace(folder_ / "trace.h5", trace);
  const Trace again = read_trace(folder_ / "trace.h5");
  ASSERT_NE(again.layers[0].exact_map, nullptr);
  EXPECT_EQ(*again.layers[0].exact_map, *trace.layers[0].exact_map);
}

}  // namespace
}  // namespace attnscope
