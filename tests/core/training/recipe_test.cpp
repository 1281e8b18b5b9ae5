// Recipes: what they are by default, and what they refuse.
#include "core/training/recipe/recipe.h"

#include <gtest/gtest.h>
#include <set>

#include "core/error.h"
#include "core/training/data/random_order.h"

namespace attnscope {
namespace {

/// What refuses the recipe; empty if nothing does.
std::string refusal_of(const std::string& json) {
  try {
    (void)Recipe::from_json(json);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(RecipeTest, IsTheSameWhenItIsReadAgain) {
  const Recipe recipe = Recipe::from_json(
      R"({"dataset": "d", "mechanism": "adder,identity=true", "rate": 0.5, "labels": "a,b",
          "arithmetic": "adder", "multiplicative_layers": "0,5"})");
  EXPECT_EQ(Recipe::from_json(recipe.to_json()).values(), recipe.values());
  const ModelSpec spec = recipe.model(false);
  EXPECT_EQ(to_string(spec.mechanism), "adder (identity=true)");
  EXPECT_EQ(spec.multiplicative_layers, (std::vector<std::int64_t>{0, 5}));
  EXPECT_EQ(recipe.data().labels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(recipe.rate().highest, 0.5);
}

TEST(RecipeTest, RefusalsNameKeyValueAndRange) {
  const auto expect = [](const std::string& json, const std::vector<std::string>& parts) {
    const std::string line = refusal_of(json);
    for (const std::string& part : parts) {
      EXPECT_NE(line.find(part), std::string::npos) << json << "\n" << line;
    }
  };
  expect(R"({})", {"dataset"});
  expect(R"({"dataset": "d", "pach": 4})", {"pach", "patch"});
  expect(R"({"dataset": "d", "batch": 0})", {"batch", "0", "1 to 65536"});
  expect(R"({"dataset": "d", "rate": "fast"})", {"rate", "fast"});
  expect(R"({"dataset": "d", "optimiser": "lion"})", {"optimiser", "lion", "adamw"});
  expect(R"({"dataset": "d", "model_heads": 5})", {"model_heads", "48", "5"});
  expect(R"({"dataset": "d", "steps": 10, "warm_up": 11})", {"warm_up", "10", "11"});
  expect(R"({"dataset": "d", "mechanism": "reformer"})",
         {"reformer", "no gradient passes", "adder, additive, cosformer, daft-conv"});
  expect(R"({"dataset": "d", "mechanism": "adder,identiti=1"})", {"identiti"});
  expect(R"({"dataset": "d", "multiplicative_layers": "6"})", {"multiplicative_layers", "6"});
  expect(R"(["dataset"])", {"JSON object"});
}

TEST(RecipeTest, CheckpointsAreAtTheStartAtLogarithmicStepsAndAtTheEnd) {
  const auto of = [](const std::string& steps, const std::string& count) {
    return Recipe::from_json(R"({"dataset": "d", "warm_up": 0, "steps": )" + steps +
                             R"(, "checkpoints": )" + count + "}")
        .checkpoints();
  };
  EXPECT_EQ(of("1000", "3"), (std::vector<std::int64_t>{0, 10, 100, 1000}));
  EXPECT_EQ(of("5", "1"), (std::vector<std::int64_t>{0, 5}));
  EXPECT_EQ(of("2", "12"), (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(RandomOrderTest, HasEveryPlaceOnce) {
  for (const std::int64_t count : {1, 2, 3, 60, 1000, 4097}) {
    const RandomOrder order(RandomNumbers(3).of("order"), count);
    std::set<std::int64_t> places;
    for (std::int64_t i = 0; i < count; ++i) places.insert(order.at(i));
    EXPECT_EQ(std::ssize(places), count);
    EXPECT_EQ(*places.begin(), 0);
    EXPECT_EQ(*places.rbegin(), count - 1);
  }
}

TEST(RandomOrderTest, DiffersFromSeedToSeed) {
  const RandomOrder one(RandomNumbers(1).of("order"), 1000), other(RandomNumbers(2), 1000);
  std::int64_t same = 0, in_place = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    same += one.at(i) == other.at(i) ? 1 : 0;
    in_place += one.at(i) == i ? 1 : 0;
  }
  EXPECT_LT(same, 10);
  EXPECT_LT(in_place, 10);
}

}  // namespace
}  // namespace attnscope
