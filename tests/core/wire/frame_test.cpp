// Frames of messages: what is read, and every refusal.
#include "core/wire/frame.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/wire/shown_trace.h"

namespace attnscope {
namespace {

using nlohmann::json;

/// Reads the first frame of `bytes` in pieces of `piece` bytes.
Frame read_frame(std::string_view bytes, std::size_t piece = 7, const FrameLimits& limits = {}) {
  FrameReader reader(limits);
  while (!bytes.empty()) {
    const std::span<std::byte> into = reader.wanted();
    const std::size_t count = std::min({piece, into.size(), bytes.size()});
    std::memcpy(into.data(), bytes.data(), count);
    bytes.remove_prefix(count);
    if (reader.advance(count)) return reader.take();
  }
  throw Error(ErrorKind::io, "the bytes end inside the frame");
}

/// Expects an error whose line contains `words`.
void expect_refused(std::string_view bytes, const std::string& words,
                    const FrameLimits& limits = {}) {
  try {
    (void)read_frame(bytes, 7, limits);
    ADD_FAILURE() << "it was read; expected: " << words;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

json described(const char* name, const char* dtype, json shape) {
  return {{"name", name}, {"dtype", dtype}, {"shape", std::move(shape)}};
}

std::string frame_with(const std::vector<json>& arrays, std::size_t bytes = 0) {
  return frame_bytes({{"message", "show"}, {"arrays", arrays}}, std::string(bytes, '\0'));
}

std::string bytes_of_floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

TEST(Frame, ReadsArraysInPiecesOfAnyLength) {
  const json header = {
      {"message", "show"},
      {"arrays",
       {described("a", "float32", {1, 2}), described("none", "float64", {0, 5}),
        described("scalar", "uint8", json::array()), described("b", "int64", {1})}}};
  const std::int64_t number = -3;
  std::string data = bytes_of_floats({0.5F, -2}) + "x";
  data.append(reinterpret_cast<const char*>(&number), sizeof number);
  const std::string bytes = frame_bytes(header, data) + frame_bytes({{"message", "hello"}});
  for (const std::size_t piece : {1U, 3U, 16U, 4096U}) {
    const Frame frame = read_frame(bytes, piece);
    ASSERT_EQ(frame.arrays.size(), 4U);
    EXPECT_EQ(frame.header["message"], "show");
    EXPECT_EQ(frame.arrays[0].view().to_double(), (std::vector<double>{0.5, -2}));
    EXPECT_TRUE(frame.arrays[1].view().to_double().empty());
    EXPECT_EQ(frame.arrays[2].view().to_int64(), (std::vector<std::int64_t>{'x'}));
    EXPECT_EQ(frame.arrays[3].view().to_int64(), (std::vector<std::int64_t>{-3}));
  }
}

TEST(Frame, RefusesWhatIsNoFrame) {
  expect_refused("GET / HTTP/1.1\r\nHost: localhost\r\n", "not a frame");
  expect_refused(frame_bytes({{"message", "hello"}}).substr(0, 30), "end inside the frame");
  expect_refused(frame_bytes(json::array({1})), "not a JSON object");
  std::string broken = frame_bytes({{"message", "hello"}});
  broken.back() = '!';
  expect_refused(broken, "JSON");
  std::string empty = frame_bytes({});
  std::memset(empty.data() + 4, 0, 4);
  expect_refused(empty, "invalid length");
  std::string deep = "{\"a\":" + std::string(20, '[') + std::string(20, ']') + "}";
  std::string nested = frame_bytes(json::object());
  nested.resize(16);
  nested[4] = static_cast<char>(deep.size());
  expect_refused(nested + deep, "nested");
}

TEST(Frame, RefusesMoreThanTheLimitsBeforeItTakesMemory) {
  expect_refused(frame_bytes({{"message", std::string((1 << 20) + 1, 'a')}}), "invalid length");
  std::string huge = frame_bytes({{"message", "show"}});
  std::memset(huge.data() + 8, 0xff, 8);
  expect_refused(huge, "limit of memory");
  const std::string bytes = frame_with({described("a", "uint8", {100})}, 100);
  EXPECT_EQ(read_frame(bytes, 7, {.arrays = 100}).arrays.size(), 1U);
  expect_refused(bytes, "limit of memory", {.arrays = 99});
}

TEST(Frame, RefusesArraysThatDoNotFitTheirBytes) {
  expect_refused(frame_with({described("a", "float32", {3})}, 8), "more bytes than the prefix");
  expect_refused(frame_with({described("a", "float32", {1})}, 8), "fewer bytes than the prefix");
  expect_refused(frame_with({}, 1), "fewer bytes");
  // Products that do not fit into 64 bits, and sums that would come back to the stated length.
  const std::int64_t most = 0x7fffffff;
  expect_refused(frame_with({described("a", "float64", {most, most, most})}), "too large to exist");
  expect_refused(frame_with({described("a", "float64", {most, most, 4})}), "too large to exist");
  expect_refused(frame_with({described("a", "uint8", {most, most})}, 8), "more bytes");
  EXPECT_EQ(
      read_frame(frame_with({described("a", "float64", {most, most, most, 0})})).arrays.size(), 1U);
}

TEST(Frame, RefusesInvalidDescriptionsOfArrays) {
  expect_refused(frame_bytes({{"arrays", 3}}), "not a list");
  expect_refused(frame_with({3}), "has no name");
  expect_refused(frame_with({json::object({{"name", "a"}})}), "element type");
  expect_refused(frame_with({described("a", "object", {1})}, 8), "element type");
  expect_refused(frame_with({described("a", "float32", 4)}, 4), "shape");
  expect_refused(frame_with({described("a", "float32", {-1})}, 4), "shape");
  expect_refused(frame_with({described("a", "float32", {1.0})}, 4), "shape");
  expect_refused(frame_with({described("a", "uint8", {0x80000000U, 0})}), "shape");
  expect_refused(frame_with({described("a", "uint8", {1, 1, 1, 1, 1, 1, 1, 1, 1})}, 1), "shape");
  expect_refused(frame_with({described("a", "uint8", {1}), described("a", "uint8", {1})}, 2),
                 "same name");
}

TEST(ShownTrace, HasTheArraysAndAttributes) {
  const json header = {
      {"message", "show"},
      {"attributes", {{"model_name", "mine"}, {"token_texts", {"To", " be"}}, {"causal", true}}},
      {"arrays", {described("layer_00/implied_map", "float32", {1, 2, 2})}}};
  const Trace trace =
      shown_trace(read_frame(frame_bytes(header, bytes_of_floats({1, 0, 0.5, 0.5}))));
  ASSERT_EQ(trace.layers.size(), 1U);
  EXPECT_EQ(trace.layers[0].implied_map.at(0, 1, 0), 0.5F);
  EXPECT_EQ(trace.model_name, "mine");
  EXPECT_TRUE(trace.causal);
  EXPECT_EQ(trace.layout.texts, (std::vector<std::string>{"To", " be"}));
}

TEST(ShownTrace, TakesPlainArraysAsLayersAndRefusesOthers) {
  const std::string map = bytes_of_floats({1, 0, 0.5, 0.5});
  const auto shown = [](const std::vector<json>& arrays, const std::string& bytes,
                        const json& attributes = nullptr) {
    return shown_trace(
        read_frame(frame_bytes({{"arrays", arrays}, {"attributes", attributes}}, bytes)));
  };
  EXPECT_EQ(
      shown({described("b", "float32", {1, 2, 2}), described("a", "float32", {1, 2, 2})}, map + map)
          .layers.size(),
      2U);
  EXPECT_THROW(shown({described("a", "float32", {0, 5})}, ""), Error);
  EXPECT_THROW(shown({}, ""), Error);
  const std::vector<json> one = {described("layer_00/implied_map", "float32", {1, 2, 2})};
  EXPECT_THROW(shown(one, map, {{"token_texts", {"only one"}}}), Error);
  EXPECT_THROW(shown(one, map, {{"rank_bounds", {{"a", 1}}}}), Error);
  EXPECT_THROW(shown(one, map, {{"grid_rows", "many"}}), Error);
  EXPECT_THROW(shown(one, map, 3), Error);
}

}  // namespace
}  // namespace attnscope
