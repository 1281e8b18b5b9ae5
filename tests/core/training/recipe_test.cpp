// Recipes: default values and refused values.
#include "core/training/recipe/recipe.h"

#include <gtest/gtest.h>
#include <set>

#include "core/error.h"
#include "core/training/data/random_order.h"

namespace attnscope {
namespace {

/// The error about the recipe; empty if there is none.
std::string recipe_refusal(const std::string& json) {
  try {
    (void)Recipe::from_json(json);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(RecipeTest, IsUnchangedWhenReadAgain) {
  const Recipe recipe = Recipe::from_json(
      R"({"dataset": "d", "mechanism": "adder,identity=true", "rate": 0.5, "labels": "a,b",
          "arithmetic": "adder", "multiplicative_layers": "0,5"})");
  EXPECT_EQ(Recipe::from_json(recipe.to_json()).values(), recipe.values());
  const ModelSpec spec = recipe.model(ExampleKind::images);
  EXPECT_EQ(to_string(spec.mechanism), "adder (identity=true)");
  EXPECT_EQ(spec.multiplicative_layers, (std::vector<std::int64_t>{0, 5}));
  EXPECT_EQ(recipe.data().labels, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(Recipe({{"dataset", std::string("d")}, {"labels", std::string("cifar-10")}})
                .data()
                .labels.at(3),
            "cat");
  EXPECT_EQ(recipe.rate_of_step(99), 0.5) << "the last of the warm-up";
}

TEST(RecipeTest, RefusalsNameKeyValueAndRange) {
  const auto expect = [](const std::string& json, const std::vector<std::string>& parts) {
    const std::string line = recipe_refusal(json);
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
  expect(R"({"dataset": "d", "coarse_patch": 6, "coarse_steps": 500})",
         {"coarse_patch", "multiple of patch, 4", "6"});
  expect(R"({"dataset": "d", "coarse_patch": 4, "coarse_steps": 500})", {"coarse_patch", "4"});
  expect(R"({"dataset": "d", "coarse_patch": 8})", {"coarse_steps", "1 to 999", "0"});
  expect(R"({"dataset": "d", "coarse_steps": 8})", {"coarse_steps", "0 without coarse_patch", "8"});
  expect(R"({"dataset": "d", "coarse_patch": 8, "coarse_steps": 950})",
         {"warm_up", "coarse and on fine patches, 50", "100"});
  expect(R"({"dataset": "d", "stages": "2x48x3", "mlp_width": 8, "readout": "mean"})",
         {"mlp_width", "0", "8"});
  expect(R"({"dataset": "d", "stages": "2x48x3"})", {"readout", "mean", "class"});
  expect(R"({"dataset": "d", "stages": "2x48x5", "readout": "mean"})",
         {"stages", "DEPTHxWIDTHxHEADS", "2x48x5"});
  expect(R"({"dataset": "d", "stages": "2x48", "readout": "mean"})", {"stages", "2x48"});
  expect(R"({"dataset": "d", "learnt_importances": true})",
         {"learnt_importances", "additive", "true"});
  expect(R"({"dataset": "d", "mechanism": "reformer"})",
         {"reformer", "no gradient passes", "adder, additive, agent, cosformer"});
  expect(R"({"dataset": "d", "mechanism": "adder,identiti=1"})", {"identiti"});
  expect(R"({"dataset": "d", "layer_form": "fastformer"})",
         {"mechanism", "additive with layer_form=fastformer", "softmax"});
  expect(R"({"dataset": "d", "layer_form": "perceiver"})",
         {"layer_form", "transformer", "fastformer", "perceiver"});
  expect(R"({"dataset": "d", "layer_form": "fastformer", "mechanism": "additive",
             "arithmetic": "adder"})",
         {"arithmetic", "multiplicative with layer_form=fastformer", "adder"});
  expect(R"({"dataset": "d", "mechanism": "additive,causal=true", "windows": "4,8"})",
         {"windows", "one for each of the 6 layers", "4,8"});
  expect(R"({"dataset": "d", "depth": 2, "mechanism": "additive,causal=true", "windows": "4,all"})",
         {"windows", "0 to 65536", "all"});
  expect(R"({"dataset": "d", "depth": 2, "mechanism": "additive", "windows": "4,8"})",
         {"mechanism", "additive,causal=true with windows", "additive"});
  expect(R"({"dataset": "d", "depth": 2, "windows": "4,8"})",
         {"mechanism", "additive,causal=true with windows", "softmax"});
  expect(R"({"dataset": "d", "depth": 2, "mechanism": "additive,causal=true,window=3",
             "windows": "4,8"})",
         {"mechanism", "without a window of its own", "window=3"});
  expect(R"({"dataset": "d", "multiplicative_layers": "6"})", {"multiplicative_layers", "6"});
  expect(R"({"dataset": "d", "dropout": 1})", {"dropout", "1", "0 to 0.99"});
  expect(R"({"dataset": "d", "label_smoothing": -0.1})", {"label_smoothing", "0 to 0.99"});
  expect(R"({"dataset": "d", "mixup": 0.8, "batch": 63})", {"batch", "an even number", "63"});
  expect(R"({"dataset": "d", "drop_path": 0.1, "depth": 1})", {"drop_path", "one layer", "0.1"});
  expect(R"({"dataset": "d", "drop_path": 0.1, "layer_form": "fastformer",
             "mechanism": "additive,causal=true"})",
         {"drop_path", "0 with layer_form=fastformer", "0.1"});
  expect(R"({"dataset": "d", "average_decay": 0.9, "mechanism": "hash,codes=learned"})",
         {"average_decay", "learned codes", "0.9"});
  for (const char* const mechanism : {"linear", "additive", "daft-full", "hash,codes=sign"}) {
    const std::string name = std::string(mechanism).substr(0, std::string(mechanism).find(','));
    expect(
        R"({"dataset": "d", "attention_dropout": 0.1, "mechanism": ")" + std::string(mechanism) +
            "\"}",
        {"attention_dropout", "needs a mechanism that computes them",
         "adder, entmax, forgetting, linformer, relu, retention, sigmoid, softmax, softmax-sink, "
         "sparsemax, ssmax, synthesizer, talking-heads",
         name});
  }
  expect(R"({"dataset": "d", "repeated_augmentation": 9, "batch": 8})",
         {"repeated_augmentation", "at most the batch, 8", "9"});
  expect(R"({"dataset": "d", "random_erasing": 1.5})", {"random_erasing", "0 to 1", "1.5"});
  expect(R"({"dataset": "d", "random_erasing_fill": "grey"})",
         {"random_erasing_fill", "noise, zero", "grey"});
  expect(R"({"dataset": "d", "bias_entropy": 0.001})", {"bias_entropy", "daft-conv", "0.001"});
  expect(R"({"dataset": "d", "gumbel_noise": true, "mechanism": "daft-conv"})",
         {"gumbel_noise", "daft-one-hot", "true"});
  expect(R"({"dataset": "d", "from": "m.h5", "from_without": "values"})",
         {"from_without", "positions, class_token, queries, keys, head", "values"});
  expect(R"({"dataset": "d", "from_without": "keys"})", {"from_without", "none without from"});
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

TEST(RecipeTest, FormAndWindowsAreOfALanguageModelsLayers) {
  const Recipe recipe = Recipe::from_json(
      R"({"dataset": "d", "depth": 2, "mechanism": "additive,causal=true", "windows": "4,0",
          "layer_form": "fastformer"})");
  const ModelSpec spec = recipe.model(ExampleKind::chunks);
  EXPECT_EQ(spec.layer.form, LayerForm::fastformer);
  EXPECT_EQ(spec.readout.logit_scale, 0) << "one over the root of the width";
  EXPECT_FALSE(spec.readout.final_norm);
  EXPECT_EQ(to_string(spec.mechanism), "additive (causal=true, window=-1)");
  ASSERT_EQ(spec.layer_mechanisms.size(), 2U);
  EXPECT_EQ(to_string(spec.layer_mechanisms[0]), "additive (causal=true, window=4)");
  EXPECT_EQ(to_string(spec.layer_mechanisms[1]), "additive (causal=true, window=0)");
  const auto refused = [](const std::string& more, ExampleKind kind) -> std::string {
    try {
      (void)Recipe::from_json(
          R"({"dataset": "d", "depth": 1, "mechanism": "additive,causal=true")" + more + "}")
          .model(kind);
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  };
  for (const ExampleKind kind : {ExampleKind::images, ExampleKind::texts}) {
    EXPECT_NE(refused(R"(, "layer_form": "fastformer")", kind).find("layer_form"),
              std::string::npos);
    EXPECT_NE(refused(R"(, "windows": "7")", kind).find("windows"), std::string::npos);
  }
}

TEST(RecipeTest, RegularisationIsOffInOldRecipesAndMixesOnlyImages) {
  const Recipe old = Recipe::from_json(R"({"dataset": "d"})");
  const Regularisation none = old.regularisation();
  EXPECT_EQ(none.dropout + none.attention_dropout + none.drop_path + none.label_smoothing, 0);
  EXPECT_EQ(old.average_decay(), 0);
  EXPECT_EQ(old.data().erasing.probability, 0);
  EXPECT_EQ(old.data().repeats, 1);
  EXPECT_FALSE(old.data().mixing);
  EXPECT_EQ(old.data().random_augment.operations, 0);
  const Recipe deit = Recipe::from_json(
      R"({"dataset": "d", "mixup": 0.8, "cutmix": 1, "random_augment": 2, "drop_path": 0.1,
          "label_smoothing": 0.1, "average_decay": 0.99996, "dropout": 0.2,
          "attention_dropout": 0.3, "random_erasing": 0.25, "repeated_augmentation": 3})");
  EXPECT_EQ(deit.data().mixing.mixup, 0.8);
  EXPECT_EQ(deit.data().mixing.cutmix, 1);
  EXPECT_EQ(deit.data().random_augment.operations, 2);
  EXPECT_EQ(deit.data().random_augment.magnitude, 9);
  EXPECT_EQ(deit.data().erasing.probability, 0.25);
  EXPECT_EQ(deit.data().erasing.fill, ErasedFill::noise);
  EXPECT_EQ(deit.data().repeats, 3);
  EXPECT_EQ(deit.regularisation().dropout, 0.2);
  EXPECT_EQ(deit.regularisation().attention_dropout, 0.3);
  EXPECT_EQ(deit.regularisation().drop_path, 0.1);
  EXPECT_EQ(deit.regularisation().label_smoothing, 0.1);
  EXPECT_EQ(deit.average_decay(), 0.99996);
  EXPECT_EQ(Recipe::from_json(deit.to_json()).values(), deit.values());
  (void)deit.model(ExampleKind::images);
  for (const char* const key :
       {"mixup", "cutmix", "random_augment", "random_erasing", "repeated_augmentation"}) {
    const Recipe one =
        Recipe::from_json(R"({"dataset": "d", ")" + std::string(key) +
                          (key == std::string("repeated_augmentation") ? R"(": 2})" : R"(": 1})"));
    try {
      (void)one.model(ExampleKind::texts);
      ADD_FAILURE() << key;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(key), std::string::npos) << error.what();
    }
  }
}

TEST(RecipeTest, CodesAreLearnedBeforeTheFirstStepAndAtEvenDistances) {
  const auto of = [](const std::string& mechanism, const std::string& more) {
    return Recipe::from_json(R"({"dataset": "d", "warm_up": 0, "mechanism": ")" + mechanism + "\"" +
                             more + "}")
        .code_steps();
  };
  using Steps = std::vector<std::int64_t>;
  EXPECT_EQ(of("hash,codes=learned", R"(, "steps": 937)"), (Steps{0, 468}));
  EXPECT_EQ(of("hash,codes=learned", R"(, "steps": 2, "code_updates": 5)"), (Steps{0, 1}));
  EXPECT_EQ(of("hash,codes=learned", R"(, "code_updates": 0, "from": "m.h5")"), Steps{});
  EXPECT_EQ(of("hash,codes=sign", ""), Steps{});
  EXPECT_EQ(of("hash,codes=learned", R"(, "code_updates": 5, "code_weights": "random")"),
            (Steps{0}))
      << "random weights are drawn once";
  EXPECT_EQ(
      of("hash,codes=learned", R"(, "code_updates": 0, "code_weights": "random", "from": "m.h5")"),
      Steps{});
}

TEST(RecipeTest, CodesAreLearnedFromThePapersNumberOfPairsUnlessAnotherIsGiven) {
  EXPECT_EQ(Recipe::from_json(R"({"dataset": "d"})").code_pairs(), 10);
  EXPECT_EQ(Recipe::from_json(R"({"dataset": "d", "code_pairs": 30})").code_pairs(), 30);
  EXPECT_FALSE(Recipe::from_json(R"({"dataset": "d"})").has_random_codes());
  EXPECT_THROW((void)Recipe::from_json(R"({"dataset": "d", "code_pairs": 0})"), Error);
  EXPECT_THROW((void)Recipe::from_json(R"({"dataset": "d", "code_weights": "signs"})"), Error);
}

TEST(RecipeTest, RefusesAClassTokenThatSeesOnlyItself) {
  const auto recipe = [](const char* readout) {
    return Recipe::from_json(R"({"dataset": "d", "mechanism": "forgetting", "readout": ")" +
                             std::string(readout) + "\"}");
  };
  EXPECT_EQ(recipe("mean").model(ExampleKind::images).readout.kind, Readout::mean);
  EXPECT_THROW((void)recipe("class").model(ExampleKind::images), Error);
  EXPECT_TRUE(recipe("class").model(ExampleKind::chunks).is_language_model());
}

TEST(RecipeTest, StagesAreThoseOfAPyramid) {
  const ModelSpec spec =
      Recipe::from_json(
          R"({"dataset": "d", "patch": 4, "readout": "mean", "stages": "2x24x2,4x48x3"})")
          .model(ExampleKind::images);
  EXPECT_TRUE(spec.is_pyramid());
  EXPECT_EQ(spec.layers, 6);
  EXPECT_EQ(spec.width, 48);
  ASSERT_EQ(spec.stages.size(), 2U);
  EXPECT_EQ(spec.stages[0].stride, 4);
  EXPECT_EQ(spec.stages[1].stride, 2);
  EXPECT_EQ(spec.stages[1].heads, 3);
  EXPECT_EQ(spec.stages[1].mlp_width, 192);
}

TEST(RecipeTest, CoarseAndFinePatchesHaveAScheduleEach) {
  const Recipe recipe = Recipe::from_json(
      R"({"dataset": "d", "patch": 2, "coarse_patch": 4, "steps": 30, "coarse_steps": 20,
          "coarse_rate": 8, "rate": 2, "warm_up": 4, "schedule": "linear", "checkpoints": 1,
          "mechanism": "daft-conv,full_keys=true,kernel=11,conv_heads=4"})");
  EXPECT_EQ(recipe.rate_of_step(0), 2) << "a quarter of 8";
  EXPECT_EQ(recipe.rate_of_step(3), 8);
  EXPECT_EQ(recipe.rate_of_step(12), 4) << "half of 16 steps";
  EXPECT_EQ(recipe.rate_of_step(20), 0.5) << "again a quarter, of 2";
  EXPECT_EQ(recipe.rate_of_step(27), 1) << "half of 6 steps";
  EXPECT_EQ(recipe.checkpoints(), (std::vector<std::int64_t>{0, 20, 30}));
  const ModelSpec fine = recipe.model(ExampleKind::images), coarse = recipe.coarse_model(fine);
  EXPECT_EQ(fine.input.patch_width, 2);
  EXPECT_EQ(coarse.input.patch_width, 4);
  EXPECT_EQ(coarse.mechanism.parameters.at("kernel"), ParameterValue(std::int64_t{5}));
  EXPECT_THROW((void)recipe.coarse_model(recipe.model(ExampleKind::chunks)), Error);
}

TEST(RandomOrderTest, ContainsEveryIndexOnce) {
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
