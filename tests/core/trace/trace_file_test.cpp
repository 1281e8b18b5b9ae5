#include "core/trace/trace_file.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <numeric>
#include <sys/resource.h>

#include "core/checkpoint/hdf5/hdf5_library.h"
#include "core/checkpoint/hdf5/hdf5_writing.h"
#include "core/error.h"
#include "core/trace/maps_of_vectors.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

Tensor counted(Shape shape, float step) {
  Tensor tensor(std::move(shape));
  float value = 0;
  for (float& element : tensor.values()) element = value += step;
  return tensor;
}

Trace sample_trace() {
  Trace trace;
  trace.model_name = "fashion-adder";
  trace.mechanism = {"adder", {{"identity", true}, {"scale", 0.5}}};
  trace.identity_in_maps = true;
  trace.mechanism_trained = false;
  trace.input_label = "00_t_shirt.png";
  trace.layout = {1, 2, 2};
  trace.images = {Image{4, 2, 1, {0, 1, 2, 3, 4, 5, 6, 255}}};
  for (int layer = 0; layer < 2; ++layer) {
    LayerTrace recorded;
    recorded.implied_map = counted({3, 5, 5}, 0.01F);
    recorded.queries = counted({3, 5, 2}, 1.0F + static_cast<float>(layer));
    recorded.tokens = counted({5, 6}, -1);
    recorded.quantities["codes"] = counted({3, 5, 8}, 0.25F);
    trace.layers.push_back(std::move(recorded));
  }
  trace.features = counted({6}, 0.125F);
  trace.logits = counted({10}, 1);
  trace.labels = {"T-shirt/top", "Größe"};
  trace.provenance = {{"program", "attnscope"}, {"heads", "3"}};
  return trace;
}

class TraceFileTest : public testing::Test {
 protected:
  /// Writes a file of one data set with the HDF5 library only, like any other program would.
  template <class Element>
  void write_foreign(const char* name, hid_t type, std::vector<hsize_t> extents,
                     const std::vector<Element>& values) const {
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
    const hid_t data = H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(data);
    H5Sclose(space);
    H5Pclose(links);
    H5Fclose(file);
  }

  [[nodiscard]] std::string error_of_reading() const {
    return error_of([&] { (void)read_trace(path_); });
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "trace.h5";
};

// Maps of windowed attention are stored in blocks in the file, like in memory.
TEST_F(TraceFileTest, BlocksStayBlocks) {
  Trace written = sample_trace();
  MapBlocks blocks(3, {{4, 0}, {1, 3, 2}});
  float next = 0.5F;
  for (float& entry : blocks.entries()) entry = next++;
  written.layers[0].implied_map = ImpliedMaps(blocks);
  write_trace(path_, written);
  EXPECT_TRUE(is_trace_file(path_));
  const Trace read = read_trace(path_);
  const MapBlocks* const found = read.layers[0].implied_map.blocks();
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->partition(), blocks.partition());
  EXPECT_TRUE(std::ranges::equal(found->entries(), blocks.entries()));
  EXPECT_EQ(read.layers[1].implied_map.blocks(), nullptr);
}

TEST_F(TraceFileTest, RestoresVisibleKeysAndTheScaleOfScores) {
  Trace written = sample_trace();
  written.layers[0].seen = SeenKeys{.ranges = {{0, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 5}}};
  written.layers[0].score_scale = 0.25;
  written.layers.push_back(written.layers[1]);
  written.layers[2].seen.emplace();  // every key is seen
  write_trace(path_, written);
  const Trace read = read_trace(path_);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.layers[i].seen, written.layers[i].seen) << i;
    EXPECT_EQ(read.layers[i].score_scale, written.layers[i].score_scale) << i;
  }
  written.layers[0].seen->ranges[2].second = 6;
  write_trace(path_, written);
  EXPECT_THAT(error_of_reading(), HasSubstr("/layer_00/seen_keys"));
}

// Blocks in double are read like whole maps in double: nothing is rounded.
TEST_F(TraceFileTest, BlocksInDoubleStayExact) {
  const std::vector<std::int64_t> sizes = {2, 1}, tokens = {2, 0, 1};
  const std::vector<double> entries = {0.1, 0.9, 0.3, 0.7, 1.0};
  write_hdf5_file(path_, [&](const Hdf5Id& root) {
    const Hdf5Id group = create_group(root, "layer_00");
    write_data(group, "map_blocks", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {1, 5}, entries.data());
    write_data(group, "block_sizes", H5T_STD_I64LE, H5T_NATIVE_INT64, {2}, sizes.data());
    write_data(group, "block_tokens", H5T_STD_I64LE, H5T_NATIVE_INT64, {3}, tokens.data());
  });
  const LayerTrace layer = read_trace(path_).layers.at(0);
  ASSERT_NE(layer.exact_map, nullptr);
  EXPECT_EQ(*layer.exact_map, (std::vector<double>{0.7, 0, 0.3, 0, 1.0, 0, 0.9, 0, 0.1}));
  EXPECT_EQ(layer.implied_map.at(0, 0, 2), 0.3F);
}

TEST_F(TraceFileTest, BlocksThatDoNotFitAreDamaged) {
  const auto refused = [&](std::vector<std::int64_t> sizes, std::vector<std::int64_t> tokens,
                           std::int64_t entries) {
    write_hdf5_file(path_, [&](const Hdf5Id& root) {
      const Hdf5Id group = create_group(root, "layer_00");
      write_tensor(group, "map_blocks", Tensor({2, entries}));
      write_data(group, "block_sizes", H5T_STD_I64LE, H5T_NATIVE_INT64, {std::ssize(sizes)},
                 sizes.data());
      write_data(group, "block_tokens", H5T_STD_I64LE, H5T_NATIVE_INT64, {std::ssize(tokens)},
                 tokens.data());
    });
    return error_of_reading();
  };
  EXPECT_EQ(refused({2, 1}, {0, 2, 1}, 5), "");
  EXPECT_THAT(refused({2, 1}, {0, 2, 1}, 6), HasSubstr("/layer_00/map_blocks"));
  EXPECT_THAT(refused({2, 2}, {0, 2, 1}, 5), HasSubstr("/layer_00/block_sizes"));
  EXPECT_THAT(refused({2, -1}, {0, 2, 1}, 5), HasSubstr("/layer_00/block_sizes"));
  EXPECT_THAT(refused({2}, {0, 2, 1}, 4), HasSubstr("/layer_00/map_blocks"));
  EXPECT_THAT(refused({2, 1}, {0, 2, 2}, 5), HasSubstr("hold each token once"));
  EXPECT_THAT(refused({2, 1}, {0, 2, 9}, 5), HasSubstr("hold each token once"));
}

TEST_F(TraceFileTest, EverythingSurvivesTheRoundTrip) {
  const Trace written = sample_trace();
  write_trace(path_, written);
  EXPECT_TRUE(is_trace_file(path_));
  const Trace read = read_trace(path_);
  EXPECT_EQ(read.model_name, written.model_name);
  EXPECT_EQ(read.mechanism, written.mechanism);
  EXPECT_TRUE(read.identity_in_maps);
  EXPECT_FALSE(read.mechanism_trained);
  EXPECT_EQ(read.input_label, written.input_label);
  EXPECT_EQ(read.layout.name(4), "(1, 1)");
  EXPECT_EQ(read.labels, written.labels);
  EXPECT_EQ(read.provenance, written.provenance);
  ASSERT_EQ(read.images.size(), 1U);
  EXPECT_EQ(read.image()->pixels, written.image()->pixels);
  EXPECT_EQ(read.image()->width, 4);
  ASSERT_EQ(read.layers.size(), 2U);
  const auto same = [](const Tensor& a, const Tensor& b) {
    return a.shape() == b.shape() && std::ranges::equal(a.values(), b.values());
  };
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(same(read.layers[i].implied_map.whole(), written.layers[i].implied_map.whole()));
    EXPECT_TRUE(same(read.layers[i].queries, written.layers[i].queries));
    EXPECT_TRUE(same(read.layers[i].tokens, written.layers[i].tokens));
    EXPECT_TRUE(read.layers[i].keys.empty());
    EXPECT_TRUE(
        same(read.layers[i].quantities.at("codes"), written.layers[i].quantities.at("codes")));
  }
  EXPECT_TRUE(same(read.features, written.features));
  EXPECT_TRUE(same(read.logits, written.logits));
}

class ComputedInATrace : public TraceFileTest {
 protected:
  ComputedInATrace() {
    trace_.mechanism = {"adder", {{"identity", true}}};
    trace_.causal = true;
    LayerTrace& layer = trace_.layers.emplace_back();
    layer.queries = counted({4, 5, 2}, 0.02F);
    layer.keys = counted({2, 5, 2}, 0.03F);
    layer.seen = up_to_the_query(5);
  }

  std::string refusal() {
    LayerTrace& layer = trace_.layers[0];
    try {
      (void)maps_of_vectors(trace_, layer);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::damaged);
      return error.what();
    }
    return "";
  }

  Trace trace_;
};

TEST_F(ComputedInATrace, MapsAreStoredAsTheirQueriesAndKeys) {
  trace_.layers[0].implied_map = maps_of_vectors(trace_, trace_.layers[0]);
  LayerTrace& scaled = trace_.layers.emplace_back();
  scaled.mechanism = {"softmax", {}};
  scaled.identity = false;
  scaled.queries = counted({2, 5, 3}, 0.1F);
  scaled.keys = counted({2, 7, 3}, -0.1F);
  scaled.score_scale = 0.5;
  scaled.implied_map = maps_of_vectors(trace_, scaled);
  write_trace(path_, trace_);
  EXPECT_TRUE(is_trace_file(path_));
  const Trace read = read_trace(path_);
  ASSERT_EQ(read.layers.size(), 2U);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const ImpliedMaps &before = trace_.layers[layer].implied_map,
                      &after = read.layers[layer].implied_map;
    EXPECT_TRUE(after.are_computed());
    ASSERT_EQ(after.shape(), before.shape());
    for (std::int64_t head = 0; head < after.extent(0); ++head) {
      EXPECT_EQ(after.head(head), before.head(head));
    }
  }
  EXPECT_EQ(read.layers[0].implied_map.at(3, 1, 2), 0) << "causal";
  EXPECT_GT(read.layers[0].implied_map.at(3, 1, 1), 1) << "with the identity mapping";
  // Two queries of one key: the scale is the layer's, not 1/√3.
  const Matrix queries = scaled.queries.slice(1), keys = scaled.keys.slice(1);
  const double between = static_cast<double>(
      (queries.row(2).dot(keys.row(3)) - queries.row(2).dot(keys.row(4))) * 0.5F);
  const ImpliedMaps& map = read.layers[1].implied_map;
  EXPECT_NEAR(std::log(static_cast<double>(map.at(1, 2, 3) / map.at(1, 2, 4))), between, 1e-5);
}

TEST_F(ComputedInATrace, MapsThatDoNotFollowFromThemAreRefused) {
  EXPECT_EQ(refusal(), "");
  const Trace good = trace_;
  trace_.mechanism = {"daft-full", {}};
  EXPECT_THAT(refusal(), HasSubstr("daft-full"));
  trace_.mechanism = {"unheard-of", {}};
  EXPECT_THAT(refusal(), HasSubstr("unheard-of"));
  trace_ = good;
  trace_.layers[0].seen->ranges[3] = {1, 4};
  EXPECT_THAT(refusal(), HasSubstr("mask"));
  trace_ = good;
  trace_.layers[0].keys = counted({3, 5, 2}, 1);
  EXPECT_THAT(refusal(), HasSubstr("[4, 5, 2] and [3, 5, 2]"));
  trace_.layers[0].keys = counted({2, 5, 3}, 1);
  EXPECT_THAT(refusal(), HasSubstr("[2, 5, 3]"));
  trace_.layers[0].keys = {};
  EXPECT_THAT(refusal(), HasSubstr("queries and keys"));
  trace_ = good;
  trace_.layers[0].queries = {};
  trace_.layers[0].implied_map = maps_of_vectors(good, good.layers[0]);
  EXPECT_THROW(write_trace(path_, trace_), Error) << "nothing to compute the maps from";
}

TEST_F(TraceFileTest, ContainsNoTime) {
  write_trace(path_, sample_trace());
  const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  for (const char* object : {"layer_00", "layer_01/implied_map", "layer_00/quantities/codes"}) {
    Hdf5ObjectInfo info;
    ASSERT_GE(H5Oget_info_by_name2(file, object, &info, H5O_INFO_TIME, H5P_DEFAULT), 0) << object;
    EXPECT_EQ(info.mtime, 0) << object;
    EXPECT_EQ(info.ctime, 0) << object;
  }
  H5Fclose(file);
}

TEST_F(TraceFileTest, OpensMapsWithoutAnythingElse) {
  write_foreign<double>("/layer_00/implied_map", H5T_NATIVE_DOUBLE, {1, 2, 3, 3},
                        std::vector<double>(18, 1.0 / 3));
  const Trace trace = read_trace(path_);
  EXPECT_EQ(trace.heads(), 2);
  EXPECT_EQ(trace.tokens(), 3);
  EXPECT_FALSE(trace.layout.has_grid());
  EXPECT_FALSE(trace.identity_in_maps);
  EXPECT_FLOAT_EQ(trace.layers.at(0).implied_map.data()[17], 1.0F / 3);
  ASSERT_NE(trace.layers.at(0).exact_map, nullptr);
  EXPECT_EQ(trace.layers.at(0).exact_map->at(17), 1.0 / 3);
}

TEST_F(TraceFileTest, ReportsInvalidContents) {
  write_foreign<float>("/layer_00/implied_map", H5T_NATIVE_FLOAT, {3, 2}, std::vector<float>(6));
  EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("/layer_00/implied_map"),
                                        HasSubstr("[heads, N, M]"), HasSubstr("[3, 2]")));
  write_foreign<int>("/layer_00/implied_map", H5T_NATIVE_INT, {1, 2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(error_of_reading(), HasSubstr("floating point"));
  write_foreign<float>("/maps", H5T_NATIVE_FLOAT, {1, 2, 2}, {1, 2, 3, 4});
  EXPECT_FALSE(is_trace_file(path_));
  EXPECT_THAT(error_of_reading(), HasSubstr("/layer_00/implied_map"));
  std::ofstream(path_) << "not HDF5";
  EXPECT_FALSE(is_trace_file(path_));
  EXPECT_THAT(error_of_reading(), HasSubstr("is not an HDF5 file"));
  std::filesystem::remove(path_);
  EXPECT_THAT(error_of_reading(), HasSubstr("No such file"));
}

TEST_F(TraceFileTest, MapsOfFewerKeysThanQueriesOpen) {
  write_foreign<float>("/layer_00/implied_map", H5T_NATIVE_FLOAT, {2, 3, 2},
                       std::vector<float>(12, 0.5F));
  const Trace trace = read_trace(path_);
  EXPECT_EQ(trace.queries(0), 3);
  EXPECT_EQ(trace.keys(0), 2);
  EXPECT_FALSE(trace.uniform());
  EXPECT_EQ(trace.layers.at(0).exact_map, nullptr);
}

TEST_F(TraceFileTest, LayersThatDifferSurviveTheRoundTrip) {
  Trace trace;
  trace.mechanism = {"hash", {{"bits", std::int64_t{16}}}};
  trace.layout = {0, 4, 4};
  for (const std::int64_t side : {4, 2}) {
    LayerTrace layer;
    layer.implied_map = counted({side, side * side, 4}, 0.01F);
    layer.values = counted({side, 4, 3}, 1);
    layer.layout = {0, side, side};
    layer.key_layout = {0, 2, 2};
    trace.layers.push_back(std::move(layer));
  }
  trace.layers[1].mechanism = {"adder", {{"identity", true}}};
  trace.layers[1].identity = true;
  write_trace(path_, trace);
  const Trace read = read_trace(path_);
  EXPECT_EQ(read.queries(0), 16);
  EXPECT_EQ(read.queries(1), 4);
  EXPECT_EQ(read.heads(0), 4);
  EXPECT_EQ(read.heads(1), 2);
  EXPECT_EQ(read.layers[0].layout.rows, 4);
  EXPECT_EQ(read.layers[0].key_layout.columns, 2);
  EXPECT_EQ(read.layers[1].layout.rows, 2);
  EXPECT_FALSE(read.layers[0].mechanism);
  EXPECT_EQ(read.layers[1].mechanism, trace.layers[1].mechanism);
  EXPECT_FALSE(has_identity(read, 0));
  EXPECT_TRUE(has_identity(read, 1));

  trace.layers[1].values = counted({2, 3, 3}, 1);
  write_trace(path_, trace);
  EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("/layer_01"), HasSubstr("values")));
  trace.layers[1].values = {};
  trace.layers[1].key_layout = {0, 3, 3};
  write_trace(path_, trace);
  EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("/layer_01"), HasSubstr("grid")));
}

TEST_F(TraceFileTest, LayersOfDifferentSizesAndWrongGridsAreRefused) {
  Trace trace = sample_trace();
  trace.layers[1].implied_map = counted({3, 4, 4}, 1);
  trace.layers[1].queries = {};
  write_trace(path_, trace);
  EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("/layer_01"), HasSubstr("expected 4")));
  trace = sample_trace();
  trace.layout = {1, 3, 3};
  write_trace(path_, trace);
  EXPECT_THAT(error_of_reading(), HasSubstr("grid"));
}

TEST_F(TraceFileTest, KeepsThePictureInAText) {
  Trace trace = sample_trace();
  trace.layout = {};
  trace.layout.texts = {"a", "p", "p", "p", "p"};
  trace.layout.pictures = {{1, 2, 2}};
  write_trace(path_, trace);
  EXPECT_EQ(read_trace(path_).layout.pictures, trace.layout.pictures);
  EXPECT_EQ(query_layout(read_trace(path_), 1).name(4), "(1, 1)");
  trace.layout.pictures = {{2, 2, 2}};
  write_trace(path_, trace);
  EXPECT_THAT(error_of_reading(), HasSubstr("picture_tokens"));
}

TEST_F(TraceFileTest, KeepsThePicturesInAText) {
  Trace trace = sample_trace();
  trace.layout = {};
  trace.layout.texts = {"a", "p", "b", "p", "p"};
  trace.layout.pictures = {{1, 1, 1}, {3, 1, 2}};
  trace.images.push_back(Image{2, 1, 3, {9, 8, 7, 6, 5, 4}});
  write_trace(path_, trace);
  const Trace read = read_trace(path_);
  EXPECT_EQ(read.layout.pictures, trace.layout.pictures);
  ASSERT_EQ(read.images.size(), 2U);
  EXPECT_EQ(read.image(1)->pixels, trace.images[1].pixels);
  EXPECT_EQ(read.image(2), nullptr);
  trace.layout.pictures = {{3, 1, 2}, {1, 1, 1}};
  write_trace(path_, trace);
  EXPECT_THAT(error_of_reading(), HasSubstr("picture_tokens"));
}

TEST_F(TraceFileTest, KeepsThePictureOfTiles) {
  Trace trace = sample_trace();
  trace.layout = {};
  trace.layout.texts = {"p", "a", "p", "b", "p"};
  const TokenCells tiles{.first = 0,
                         .rows = 1,
                         .columns = 2,
                         .tiles = {0, 2},
                         .tiles_across = 2,
                         .overview = 4,
                         .overview_rows = 1,
                         .overview_columns = 1};
  trace.layout.pictures = {tiles};
  write_trace(path_, trace);
  EXPECT_EQ(read_trace(path_).layout.cells(), tiles);
  const auto refuses = [&](TokenCells wrong) {
    trace.layout.pictures = {std::move(wrong)};
    write_trace(path_, trace);
    EXPECT_THAT(error_of_reading(), HasSubstr("picture_tokens"));
  };
  TokenCells wrong = tiles;
  wrong.tiles = {0, 2, 3};
  refuses(wrong);
  wrong.tiles = {2, 0};
  refuses(wrong);
  wrong = tiles;
  wrong.overview = 1;
  refuses(wrong);
  wrong.overview = 5;
  refuses(wrong);
  // The whole before the rows (LLaVA-NeXT).
  TokenCells before = tiles;
  before.tiles = {2, 4};
  before.overview = 0;
  trace.layout.pictures = {before};
  write_trace(path_, trace);
  EXPECT_EQ(read_trace(path_).layout.cells(), before);
  before.overview_rows = 3;
  refuses(before);
}

TEST_F(TraceFileTest, ALinkThatLeadsNowhereIsRefused) {
  const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t group = H5Gcreate2(file, "layer_00", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/elsewhere", group, "implied_map", H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(group);
  H5Fclose(file);
  EXPECT_THAT(error_of_reading(), HasSubstr("target is missing"));
}

TEST_F(TraceFileTest, ADataSetFarLargerThanItsBytesIsRefused) {
  const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t group = H5Gcreate2(file, "layer_00", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t extents[] = {1, 60000, 60000}, chunk[] = {1, 1000, 1000};
  const hid_t space = H5Screate_simple(3, extents, nullptr);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, 3, chunk);
  const hid_t data = H5Dcreate2(group, "implied_map", H5T_NATIVE_FLOAT, space, H5P_DEFAULT,
                                properties, H5P_DEFAULT);
  for (const hid_t id : {data, properties, space, group, file}) H5Idec_ref(id);
  EXPECT_THAT(error_of_reading(), HasSubstr("claims far more"));
}

TEST_F(TraceFileTest, TruncatedFilesAreRefusedAndNeverCrash) {
  write_trace(path_, sample_trace());
  const auto size = std::filesystem::file_size(path_);
  for (auto kept = size - 1; kept > 8; kept = kept * 4 / 5) {
    std::filesystem::resize_file(path_, kept);
    EXPECT_THROW((void)read_trace(path_), Error) << kept;
  }
}

TEST(MapsSeen, AddsOrTakesAwayTheIdentity) {
  Trace trace = sample_trace();
  EXPECT_TRUE(shows_identity(trace, IdentityView::as_is));
  const Tensor as_is = maps_seen(trace, 1, IdentityView::as_is).whole();
  const Tensor without = maps_seen(trace, 1, IdentityView::without).whole();
  EXPECT_EQ(maps_seen(trace, 1, IdentityView::with).slice(2), as_is.slice(2));
  EXPECT_TRUE((as_is.slice(2) - without.slice(2)).isIdentity(1e-6F));
  trace.identity_in_maps = false;
  const Tensor with = maps_seen(trace, 0, IdentityView::with).whole();
  EXPECT_TRUE((with.slice(0) - trace.layers[0].implied_map.slice(0)).isIdentity(1e-6F));
  EXPECT_THROW((void)maps_seen(trace, 2, IdentityView::with), Error);
}

TEST(HasIdentity, IsFalseForMapsThatAreNotSquare) {
  Trace trace;
  trace.identity_in_maps = true;
  trace.layers.resize(2);
  trace.layers[0].implied_map = counted({1, 3, 3}, 1);
  trace.layers[1].implied_map = counted({1, 4, 3}, 1);
  EXPECT_TRUE(has_identity(trace, 0));
  EXPECT_FALSE(has_identity(trace, 0, IdentityView::without));
  EXPECT_FALSE(has_identity(trace, 1));
  EXPECT_FALSE(has_identity(trace, 1, IdentityView::with));
  EXPECT_EQ(maps_seen(trace, 1, IdentityView::with).slice(0), trace.layers[1].implied_map.slice(0));
}

TEST(TokenLayout, NamesTokens) {
  const TokenLayout distilled{2, 14, 14};
  EXPECT_EQ(distilled.name(0), "class");
  EXPECT_EQ(distilled.name(1), "distillation");
  EXPECT_EQ(distilled.name(2), "(0, 0)");
  EXPECT_EQ(distilled.name(2 + 15), "(1, 1)");
  EXPECT_EQ(TokenLayout{}.name(7), "7");
  TokenLayout registers{3, 2, 2};
  registers.registers = 2;
  EXPECT_EQ(registers.name(0), "class");
  EXPECT_EQ(registers.name(1), "register 0");
  EXPECT_EQ(registers.name(2), "register 1");
  EXPECT_EQ(registers.name(3), "(0, 0)");
  TokenLayout text;
  text.texts = {"to", "<image>", "<image>", "be"};
  text.pictures = {{1, 1, 2}};
  EXPECT_EQ(text.name(0), "to");
  EXPECT_EQ(text.name(2), "(0, 1)");
  EXPECT_EQ(text.name(3), "be");
  EXPECT_EQ(text.cells_of(4), text.cells());
  EXPECT_EQ(text.cells_of(2), TokenCells{});
  EXPECT_EQ(registers.cells_of(7), (TokenCells{3, 2, 2}));
  EXPECT_EQ(registers.cells_of(8), TokenCells{});
}

/// Writes a trace to a disk that is full after `bytes`, and ends the process.
void write_to_full_disk(const std::filesystem::path& path, rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
  Trace trace = sample_trace();
  trace.layers[0].implied_map = counted({3, 200, 200}, 0.01F);
  trace.layers[0].queries = trace.layers[0].tokens = {};
  try {
    write_trace(path, trace);
    std::exit(1);
  } catch (const Error& error) {
    std::exit(error.kind() == ErrorKind::io ? 3 : 2);  // runs the exit handlers of the libraries
  }
}

TEST(TraceFileDeathTest, AFullDiskIsAnErrorAndNothingIsLeft) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TemporaryFolder folder;
  for (const rlim_t bytes :
       {rlim_t{0}, rlim_t{100}, rlim_t{5000}, rlim_t{100'000}, rlim_t{480'000}}) {
    EXPECT_EXIT(write_to_full_disk(folder / "t.h5", bytes), testing::ExitedWithCode(3), "")
        << bytes;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << bytes;
  }
}

}  // namespace
}  // namespace attnscope
