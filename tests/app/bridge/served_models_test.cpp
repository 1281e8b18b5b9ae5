// The messages that attnscope serve answers.
#include "app/bridge/served_models.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <stdexcept>

#include "app/session/sample_data.h"
#include "core/file/mapped_file.h"
#include "core/trace/maps_of_vectors.h"
#include "core/trace/trace_file.h"
#include "core/wire/shown_trace.h"
#include "tests/app/support/session_fixture.h"
#include "tests/support/model_shapes.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;

class ServedModelsTest : public testing::Test {
 protected:
  ServedModelsTest() { write_trace(folder_ / "maps.h5", trace_); }

  ServedModels::Reply ask(json header) { return models_.handle({std::move(header), {}}); }
  json answer(json header) { return ask(std::move(header)).header; }
  std::string path(const std::string& name) { return (folder_ / name).string(); }
  std::int64_t opened() {
    return answer({{"message", "open"}, {"path", path("maps.h5")}}).at("id").get<std::int64_t>();
  }

  /// The reply after its way through a stream of bytes.
  static Frame as_received(const ServedModels::Reply& reply) {
    std::string arrays;
    for (const TraceArray& array : reply.arrays) {
      arrays.append(static_cast<const char*>(array.data),
                    static_cast<std::size_t>(byte_count(array.shape, array.dtype)));
    }
    const std::string bytes = frame_head(reply.header, arrays.size()) + arrays;
    FrameReader reader;
    for (std::size_t next = 0;;) {
      const std::span<std::byte> into = reader.wanted();
      const std::size_t count = std::min(into.size(), bytes.size() - next);
      if (count == 0) throw std::runtime_error("the frame is incomplete");
      std::memcpy(into.data(), bytes.data() + next, count);
      next += count;
      if (reader.advance(count)) return reader.take();
    }
  }

  TemporaryFolder folder_;
  Trace trace_ = sample_trace(2, 3, 3, 1);
  ServedModels models_{{folder_.path(), sample_data_folder() / "models"}};
};

TEST_F(ServedModelsTest, ListsAndOpensOnlyBelowItsFolders) {
  const json list = answer({{"message", "list"}, {"path", folder_.path().string()}});
  ASSERT_EQ(list["entries"].size(), 1U) << list;
  EXPECT_EQ(list["entries"][0]["name"], "maps.h5");
  EXPECT_EQ(list["entries"][0]["kind"], "file");
  std::filesystem::create_directory_symlink("/etc", folder_ / "link");
  for (const std::string& outside :
       {std::string("/etc"), path("../"), path("link"), path("link/passwd"), path("a/../../x"),
        std::string("maps.h5"), folder_.path().string() + "x"}) {
    EXPECT_EQ(answer({{"message", "list"}, {"path", outside}})["kind"], "usage") << outside;
    EXPECT_EQ(answer({{"message", "open"}, {"path", outside}})["kind"], "usage") << outside;
  }
  EXPECT_EQ(answer({{"message", "open"}, {"path", path("missing")}})["kind"], "io");
}

TEST_F(ServedModelsTest, SendsWholeMapsAndTilesOfThem) {
  const std::int64_t id = opened();
  const ServedModels::Reply whole = ask({{"message", "trace"}, {"id", id}});
  EXPECT_EQ(whole.header["ok"], true);
  EXPECT_EQ(whole.header["arrays"][1]["name"], "layer_00/implied_map");
  const auto tile = [&](std::int64_t top, std::int64_t rows, std::int64_t height) {
    return ask({{"message", "tile"},
                {"id", id},
                {"layer", 1},
                {"head", 2},
                {"top", top},
                {"left", 0},
                {"rows", rows},
                {"columns", 10},
                {"height", height},
                {"width", 3}});
  };
  const ServedModels::Reply part = tile(2, 8, 4);
  ASSERT_EQ(part.header["arrays"][0]["shape"], (json{4, 3})) << part.header;
  const auto* const pixels = static_cast<const float*>(part.arrays.at(0).data);
  double sum = 0;  // columns 3 to 5 of rows 4 and 5
  for (std::int64_t query = 4; query < 6; ++query) {
    for (std::int64_t key = 3; key < 6; ++key) {
      sum += static_cast<double>(trace_.layers[1].implied_map.at(2, query, key));
    }
  }
  EXPECT_NEAR(static_cast<double>(pixels[4]), sum / 6, 1e-6);
  EXPECT_EQ(tile(2, 9, 4).header["kind"], "usage") << "the map has 10 rows";
  EXPECT_EQ(tile(2, 8, 9).header["kind"], "usage") << "more pixels than rows";
  EXPECT_EQ(tile(-1, 8, 4).header["kind"], "usage");
  EXPECT_EQ(tile(2, 8, 0).header["kind"], "usage");
}

TEST_F(ServedModelsTest, SendsQueriesAndKeysInsteadOfComputedMaps) {
  LayerTrace& layer = trace_.layers[0];
  trace_.mechanism = {"softmax", {}};
  layer.queries = layer.keys = Tensor({3, 10, 2});
  for (std::int64_t head = 0; head < 3; ++head) layer.queries.slice(head)(4, 1) = 3;
  for (std::int64_t head = 0; head < 3; ++head) layer.keys.slice(head)(5, 1) = 1;
  layer.implied_map = maps_of_vectors(trace_, layer);
  write_trace(folder_ / "maps.h5", trace_);
  const ServedModels::Reply reply = ask({{"message", "trace"}, {"id", opened()}});
  for (const TraceArray& array : reply.arrays) EXPECT_NE(array.name, "layer_00/implied_map");
  const Trace shown = shown_trace(as_received(reply));
  EXPECT_TRUE(shown.layers[0].implied_map.are_computed());
  EXPECT_FALSE(shown.layers[1].implied_map.are_computed());
  EXPECT_EQ(shown.layers[0].implied_map.head(2), layer.implied_map.head(2));
  EXPECT_GT(shown.layers[0].implied_map.at(2, 4, 5), 0.2F);
}

TEST_F(ServedModelsTest, AnswersTablesAndClosesWhatItHas) {
  const std::int64_t id = opened();
  EXPECT_EQ(answer({{"message", "table"}, {"id", id}, {"table", "heads"}})["rows"].size(), 6U);
  const json spectrum =
      answer({{"message", "table"}, {"id", id}, {"table", "spectrum"}, {"threshold", 0.8}});
  EXPECT_EQ(spectrum["rows"].size(), 6U) << spectrum;
  json of_squares = {{"message", "table"}, {"id", id}, {"table", "spectrum"}, {"share", "energy"}};
  EXPECT_LT(answer(of_squares)["rows"][0]["equivalent_rank"],
            spectrum["rows"][0]["equivalent_rank"]);
  of_squares["share"] = "cubes";
  EXPECT_EQ(answer(of_squares)["kind"], "usage");
  EXPECT_EQ(answer({{"message", "table"}, {"id", id}, {"table", "x"}})["kind"], "usage");
  EXPECT_EQ(
      answer({{"message", "table"}, {"id", id}, {"table", "spectrum"}, {"threshold", 2}})["kind"],
      "usage");
  EXPECT_EQ(answer({{"message", "close"}, {"id", id}})["ok"], true);
  EXPECT_EQ(answer({{"message", "trace"}, {"id", id}})["kind"], "usage");
}

TEST_F(ServedModelsTest, OpensAModelWithTheOptionsThatItsFileLacks) {
  const std::string file = path("vit.safetensors");
  write_hashed_safetensors(file, timm_shapes({.width = 24, .channels = 1, .mlp_width = 48}));
  json message = {{"message", "open"}, {"path", file}};
  EXPECT_NE(answer(message)["remedy"].get<std::string>().find("heads"), std::string::npos)
      << answer(message);
  message["options"] = {{"heads", 3}, {"activation", "relu"}};
  const json model = answer(message);
  ASSERT_EQ(model["ok"], true) << model;
  std::filesystem::copy_file(sample_data_folder() / "inputs/08_bag.png", path("bag.png"));
  const json run = answer({{"message", "run"}, {"id", model["id"]}, {"input", path("bag.png")}});
  ASSERT_EQ(run["ok"], true) << run;
  EXPECT_EQ(run["layers"][1]["heads"], 3);
  message["options"] = {{"headz", 3}};
  EXPECT_NE(answer(message)["error"].get<std::string>().find("headz"), std::string::npos);
  message["options"] = "heads=3";
  EXPECT_EQ(answer(message)["subject"], "options");
  message["options"] = {{"heads", 3}};
  message["architecture"] = "/etc/passwd";
  EXPECT_EQ(answer(message)["subject"], "/etc/passwd");
  message["architecture"] = path("none.json");
  EXPECT_NE(answer(message)["error"].get<std::string>().find("none.json"), std::string::npos);
}

TEST_F(ServedModelsTest, RunsAnotherMechanismWithParametersAsTextsOrValues) {
  const json model =
      answer({{"message", "open"},
              {"path", (sample_data_folder() / "models/fashion-adder-identity.h5").string()}});
  std::filesystem::copy_file(sample_data_folder() / "inputs/08_bag.png", path("bag.png"));
  json message = {{"message", "run"}, {"id", model["id"]}, {"input", path("bag.png")}};
  const auto mechanism = [&] { return answer(message).value("mechanism", json("refused")); };
  const json trained = mechanism();
  message["parameters"] = {{"identity", "false"}};
  const json without = mechanism();
  EXPECT_NE(without, trained) << "parameters of the model's own mechanism";
  message["parameters"] = {{"identity", false}};
  EXPECT_EQ(mechanism(), without);
  message["mechanism"] = "adder";
  message["parameters"] = json::object();
  EXPECT_EQ(mechanism(), trained) << "its other parameters stay as trained";
  message["mechanism"] = "softmax";
  EXPECT_NE(mechanism().get<std::string>().find("softmax"), std::string::npos);
  message["parameters"] = {{"identity", "maybe"}};
  EXPECT_EQ(mechanism(), "refused");
  message["parameters"] = 1;
  EXPECT_EQ(mechanism(), "refused");
  message["parameters"] = json::object();
  message["channel"] = -1;
  EXPECT_EQ(mechanism(), "refused");
}

TEST_F(ServedModelsTest, RefusesInvalidMessages) {
  const json model =
      answer({{"message", "open"},
              {"path", (sample_data_folder() / "models/fashion-softmax.h5").string()}});
  EXPECT_EQ(model["kind"], "model") << model;
  EXPECT_EQ(answer({{"message", "hello"}, {"version", 9}})["kind"], "unsupported");
  for (const json& header : std::vector<json>{
           {{"message", "execute"}},
           json::object(),
           {{"message", 1}},
           {{"message", "trace"}},
           {{"message", "trace"}, {"id", model["id"]}},
           {{"message", "run"}, {"id", model["id"]}},
           {{"message", "run"}, {"id", model["id"]}, {"input", "/etc/passwd"}},
           {{"message", "run"}, {"id", model["id"]}, {"input", "text:a"}, {"mechanism", "x"}}}) {
    EXPECT_EQ(answer(header)["kind"], "usage") << header << answer(header);
  }
}

}  // namespace
}  // namespace attnscope
