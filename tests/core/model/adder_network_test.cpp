// The four rows of the Adder paper's Table 4, compared with PyTorch in double precision on the same
// weights: tests/data/models/make_adder_network.py.
#include <gtest/gtest.h>

#include "core/model/transformer/transformer.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/near.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

constexpr std::int64_t kWidth = 24, kHidden = 40, kImage = 12, kPatch = 4;

NamedShapes shapes() {
  NamedShapes list = {{"cls_token", {1, 1, kWidth}},
                      {"pos_embed", {1, 10, kWidth}},
                      {"patch_embed.proj.weight", {kWidth, 3, kPatch, kPatch}},
                      {"patch_embed.proj.bias", {kWidth}}};
  const auto add = [&](const std::string& name, const Shape& weight) {
    list.push_back({name + ".weight", weight});
    list.push_back({name + ".bias", {weight[0]}});
  };
  for (const char* block : {"blocks.0.", "blocks.1."}) {
    const std::string attention = std::string(block) + "attn.", mlp = std::string(block) + "mlp.";
    add(block + std::string("norm1"), {kWidth});
    add(attention + "qkv", {3 * kWidth, kWidth});
    add(attention + "qkv_norm", {3 * kWidth});
    add(attention + "norm", {kWidth});
    add(attention + "proj", {kWidth, kWidth});
    add(attention + "proj_norm", {kWidth});
    add(block + std::string("norm2"), {kWidth});
    add(mlp + "fc1", {kHidden, kWidth});
    add(mlp + "fc1_norm", {kHidden});
    add(mlp + "fc2", {kWidth, kHidden});
    add(mlp + "fc2_norm", {kWidth});
  }
  add("norm", {kWidth});
  add("head", {10, kWidth});
  return list;
}

/// The options of a row of the table, for the file itself or as overrides of a file without them.
std::map<std::string, std::string> row_of_table(std::string_view row) {
  return {{"arithmetic", row[0] == 'A' ? "adder" : "multiplicative"},
          {"mechanism", row[1] == 'A' ? "adder" : "softmax"}};
}

Checkpoint file_saying(const std::map<std::string, std::string>& members) {
  std::string architecture =
      R"({"image_height": 12, "image_width": 12, "patch_height": 4, "patch_width": 4, "width": 24,)"
      R"( "layers": 2, "heads": 2, "mlp_width": 40)";
  for (const auto& [name, value] : members) {
    const bool json = value.starts_with('[');
    architecture += ", \"" + name + "\": " + (json ? value : '"' + value + '"');
  }
  return hashed_checkpoint(shapes(),
                           {{"format", "attnscope-model"}, {"architecture", architecture + "}"}});
}

Trace run_silent(const Checkpoint& checkpoint, const ModelOptions& options = {}) {
  Architecture architecture = recognise_architecture(checkpoint, options);
  TransformerWeights weights = read_transformer_weights(checkpoint, architecture);
  const Transformer model("file", "model", std::move(architecture), std::move(weights));
  Input input;
  input.content = hashed_input("input", {3, kImage, kImage});
  return model.run(input, model.spec().mechanism, {}, {});
}

/// Sums of |x − W| multiply the rounding of x by about √inputs in each adder layer, before its
/// LayerNorm. The agreement is therefore less exact with adder linear layers.
float tolerance_of(std::string_view row) { return row[0] == 'A' ? 1e-4F : 1e-5F; }

Checkpoint reference() {
  return open_checkpoint(std::filesystem::path(source_folder()) /
                         "tests/data/models/adder_network.npz");
}

class AdderTable4 : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] Tensor expected(const std::string& name) const {
    return reference_.at(name).view().to_float();
  }

  Checkpoint reference_ = reference();
};

TEST_P(AdderTable4, OpensFromItsFileAndAgreesWithPyTorch) {
  const Trace trace = run_silent(file_saying(row_of_table(GetParam())));
  expect_near(trace.logits, expected(GetParam()), tolerance_of(GetParam()));
  const Tensor maps = expected(GetParam() + "_maps");
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    const Tensor& map = trace.layers[static_cast<std::size_t>(layer)].implied_map.whole();
    const auto each = static_cast<std::size_t>(map.size());
    const auto part = maps.values().subspan(static_cast<std::size_t>(layer) * each, each);
    expect_near(map, Tensor(map.shape(), {part.begin(), part.end()}), tolerance_of(GetParam()));
  }
}

TEST_P(AdderTable4, CanBeOverlaidOnOtherWeights) {
  // Our own family finds the LayerNorms of adder layers whatever the file says about the
  // arithmetic.
  const Checkpoint silent = file_saying({});
  expect_near(run_silent(silent, {row_of_table(GetParam()), {}}).logits, expected(GetParam()),
              tolerance_of(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Rows, AdderTable4, testing::Values("MM", "MA", "AM", "AA"),
                         [](const auto& row) { return row.param; });

TEST(AdderNetwork, SingleLayersMayStayMultiplicative) {
  auto members = row_of_table("AA");
  members["multiplicative_layers"] = "[0]";
  const Trace trace = run_silent(file_saying(members));
  expect_near(trace.logits, reference().at("AA_first").view().to_float(), tolerance_of("AA"));
  // The layer is multiplicative as a whole, including its attention.
  ASSERT_TRUE(trace.layers[0].mechanism.has_value());
  EXPECT_EQ(trace.layers[0].mechanism->name, "softmax");
  EXPECT_FALSE(trace.layers[1].mechanism.has_value());
  EXPECT_EQ(trace.mechanism.name, "adder");
}

}  // namespace
}  // namespace attnscope
