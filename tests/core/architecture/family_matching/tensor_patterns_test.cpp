// Stored tensors in descriptions: joined, split and reshaped, and stems, whose strides no tensor
// shows. families_test checks their numbers in the cases described_….
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/architecture/architecture.h"
#include "core/error.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class DescribedTensors : public testing::Test {
 protected:
  explicit DescribedTensors(std::string name = "described_levit_stem")
      : shapes_(family_shapes(name)),
        description_(read_test_data("models/families/" + name + ".json")["description"]) {}

  [[nodiscard]] std::string refusal(const json& changes = json::object(),
                                    std::map<std::string, std::string> overrides = {}) const {
    json changed = description_;
    changed.merge_patch(changes);
    return refusal_of(changed, std::move(overrides));
  }

  [[nodiscard]] std::string refused_pattern(const json& pattern,
                                            const std::string& role = "layer.out") const {
    json changed = description_;
    changed["tensors"][role] = pattern;
    return refusal_of(changed, {});
  }

  [[nodiscard]] std::string refusal_of(const json& description,
                                       std::map<std::string, std::string> overrides) const {
    const auto path = folder_.write("description.json", description.dump());
    try {
      (void)recognise_architecture(hashed_checkpoint(shapes_), {std::move(overrides), path});
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  NamedShapes shapes_;
  json description_;
  const TemporaryFolder folder_;
};

TEST_F(DescribedTensors, RowsWithoutARoleAreAnError) {
  EXPECT_EQ(refusal(), "no error");
  const json fewer = {{"pattern", "trunk.{layer}.inner"}, {"rows", {24, 38}}};
  EXPECT_THAT(refused_pattern(fewer, "layer.mlp1"),
              AllOf(HasSubstr("trunk.0.inner"), HasSubstr("64 rows"), HasSubstr("row 62")));
  const json later = {{"pattern", "trunk.{layer}.inner"}, {"rows", {25, 39}}};
  EXPECT_THAT(refused_pattern(later, "layer.mlp1"), HasSubstr("row 24"));
  const json beyond = {{"pattern", "trunk.{layer}.inner"}, {"rows", {24, 41}}};
  EXPECT_THAT(refused_pattern(beyond, "layer.mlp1"),
              AllOf(HasSubstr("at least 65 rows"), HasSubstr("[64")));
  const json third = {{"pattern", "trunk.{layer}.inner"}, {"part", {0, 3}}};
  EXPECT_THAT(refused_pattern(third), HasSubstr("a multiple of 3 rows"));
}

TEST_F(DescribedTensors, ShapesMustHoldTheNumbersThereAre) {
  const json shape = {{"pattern", "trunk.{layer}.packed.weight"},
                      {"shape", {3, 7, 3, -1}},
                      {"axes", json::parse("[[2, 0, 1], 3]")}};
  EXPECT_THAT(refused_pattern(shape, "layer.qkv.weight"),
              AllOf(HasSubstr("trunk.0.packed.weight"), HasSubstr("[3, 7, 3, -1]")));
}

TEST_F(DescribedTensors, PatternsOfAnotherFormAreRefused) {
  const std::string name = "trunk.{layer}.inner";
  EXPECT_THAT(refused_pattern({{"join", {name}}}), HasSubstr("at least two"));
  EXPECT_THAT(refused_pattern({{"join", {name, name}}, {"pattern", name}}), HasSubstr("pattern"));
  EXPECT_THAT(refused_pattern({{"join", {name, "trunk.inner"}}}), HasSubstr("{layer}"));
  EXPECT_THAT(refused_pattern({{"join", {name, "trunk.{layer}.{head}"}}}), HasSubstr("{head}"));
  EXPECT_THAT(refused_pattern({{"pattern", name}, {"part", {2, 2}}}), HasSubstr("[k, n]"));
  EXPECT_THAT(refused_pattern({{"pattern", name}, {"part", {0, 0}}}), HasSubstr("[k, n]"));
  EXPECT_THAT(refused_pattern({{"pattern", name}, {"rows", {-1, 2}}}), HasSubstr("[first, count]"));
  EXPECT_THAT(refused_pattern({{"pattern", name}, {"shape", {-1, -1}}}), HasSubstr("-1"));
  EXPECT_THAT(refused_pattern({{"pattern", name}, {"shape", {0, 2}}}), HasSubstr("shape"));
  EXPECT_THAT(refused_pattern("trunk.{layer}.mean", "layer.norm1.running_mean"),
              HasSubstr("no running statistics"));
}

TEST_F(DescribedTensors, NamesTheMissingPartOfAJoin) {
  const json joined = {{"join", {"trunk.{layer}.wq", "trunk.{layer}.wk", "trunk.{layer}.wv"}}};
  EXPECT_THAT(refused_pattern(joined, "layer.qkv.weight"),
              AllOf(HasSubstr("trunk.0.wq"), HasSubstr("matched nothing")));
}

TEST_F(DescribedTensors, RequiresTheStridesOfAStem) {
  const json unsaid = {{"model", {{"input", {{"stem", {{"strides", nullptr}}}}}}}};
  EXPECT_THAT(refusal(unsaid), AllOf(HasSubstr("input.stem.strides"), HasSubstr("2 numbers")));
  EXPECT_EQ(refusal(unsaid, {{"input.stem.strides", "2,2"}}), "no error");
  EXPECT_THAT(refusal(unsaid, {{"input.stem.strides", "2"}}), HasSubstr("input.stem.strides"));
  EXPECT_THAT(refusal(unsaid, {{"input.stem.strides", "2,0"}}), HasSubstr("input.stem.strides"));
  EXPECT_THAT(refusal(json::object(), {{"input.stem.widths", "8,9"}}),
              HasSubstr("input.stem.widths"));
  EXPECT_THAT(refusal(json::object(), {{"image_height", "8"}, {"image_width", "8"}}), "no error");
  for (auto& [name, shape] : shapes_) {
    if (name == "stem.1.c.weight") shape[1] = 9;
  }
  EXPECT_THAT(refusal(), AllOf(HasSubstr("stem.1.c.weight"), HasSubstr("8")));
}

}  // namespace
}  // namespace attnscope
