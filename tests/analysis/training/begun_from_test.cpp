// Runs that start from the weights of a model, and hash codes learned during training.
#include <filesystem>
#include <gtest/gtest.h>

#include "analysis/training/run_folder.h"
#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "tests/support/folder_bytes.h"
#include "tests/support/small_data_set.h"
#include "tests/support/small_recipe.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

ParameterValues text_of(const char* name, const std::string& word) { return {{name, word}}; }

class BegunFrom : public testing::Test {
 protected:
  [[nodiscard]] RunFolder begun(const std::string& name, ParameterValues more = {}) const {
    more.merge(ParameterValues{{"dataset", data_},
                               {"steps", std::int64_t{12}},
                               {"warm_up", std::int64_t{0}},
                               {"rate", 0.01},
                               {"save_every", std::int64_t{4}}});
    const RunFolder folder{folder_ / name / "run"};
    begin_run_folder(folder, Recipe(small_recipe(more)));
    return folder;
  }

  /// The last model of a run with the given settings.
  [[nodiscard]] std::string model(const std::string& name, const ParameterValues& more = {}) const {
    const RunFolder folder = begun(name, more);
    (void)train(folder, {});
    return folder.model(12).string();
  }

  /// A run at its first step, with the values that it starts from.
  [[nodiscard]] TrainingRun at_first(const std::string& name, const std::string& from,
                                     ParameterValues more = {}) const {
    more.merge(text_of("from", from));
    const Recipe recipe = recipe_of(begun(name, more));
    return {recipe, open_training_data(recipe.data())};
  }

  static std::vector<float> tensor_in(const std::string& file, const std::string& name) {
    const Tensor tensor = open_checkpoint(file).at(name).view().to_float();
    return {tensor.values().begin(), tensor.values().end()};
  }

  static std::vector<float> tensor_of(const TrainingRun& run, const std::string& name) {
    const Parameter& parameter = *run.network().parameters().find(name);
    const float* const first = parameter.slot.in(run.values().data());
    return {first, first + parameter.slot.size};
  }

  TemporaryFolder folder_, sources_;
  std::string data_ = write_small_data_set(sources_).string();
};

const ParameterValues kHashed = text_of("mechanism", "hash,codes=learned,bits=6,supports=7");

TEST_F(BegunFrom, KeepsItsOwnModelAtARateOfZero) {
  const ParameterValues variants[] = {
      {},
      text_of("mechanism", "daft-full,factors=3"),
      {{"mechanism", std::string("adder")}, {"arithmetic", std::string("adder")}},
      text_of("dataset", write_small_text(sources_).string())};
  int number = 0;
  for (const ParameterValues& variant : variants) {
    const std::string name = std::to_string(number++);
    const RunFolder first = begun("first" + name, variant);
    const auto run = train(first, {});
    ParameterValues more = variant;
    more.insert({{"from", first.model(12).string()}, {"rate", 0.0}, {"seed", std::int64_t{7}}});
    const RunFolder second = begun("second" + name, more);
    const auto again = train(second, {});
    EXPECT_EQ(again->values(), run->values());
    EXPECT_EQ(again->log().tables().at("tests/loss").numbers.back(),
              run->log().tables().at("tests/loss").numbers.back());
  }
}

TEST_F(BegunFrom, SharesTheMeanOfSeparateQueriesAndKeys) {
  const std::string softmax = model("softmax");
  const TrainingRun run = at_first("hashed", softmax, kHashed);
  for (const std::string part : {".weight", ".bias"}) {
    const std::vector<float> whole = tensor_in(softmax, "blocks.1.attn.qkv" + part);
    const std::vector<float> shared = tensor_of(run, "blocks.1.attn.to_qk" + part),
                             values = tensor_of(run, "blocks.1.attn.to_v" + part);
    const std::size_t each = whole.size() / 3;
    ASSERT_EQ(shared.size(), each);
    for (std::size_t i = 0; i < each; ++i) {
      EXPECT_EQ(shared[i], (whole[i] + whole[each + i]) / 2);
      EXPECT_EQ(values[i], whole[2 * each + i]);
    }
  }
  EXPECT_EQ(tensor_of(run, "head.weight"), tensor_in(softmax, "head.weight"));
  EXPECT_EQ(tensor_of(run, "blocks.0.attn.fast_attention.ksh.anchor").size(), 2U * 7U * 6U);
}

TEST_F(BegunFrom, InitialisesTensorsOfADifferentMechanismAsUsual) {
  const std::string softmax = model("softmax");
  const TrainingRun run = at_first("daft", softmax, text_of("mechanism", "daft-full,factors=3"));
  const std::vector<float> usual = run.network().parameters().initial_values(1);
  const Parameter& own = *run.network().parameters().find("blocks.1.attn.pe0");
  for (std::int64_t i = 0; i < own.slot.size; ++i) {
    EXPECT_EQ(own.slot.in(run.values().data())[i], own.slot.in(usual.data())[i]);
  }
  EXPECT_EQ(tensor_of(run, "norm.weight"), tensor_in(softmax, "norm.weight"));
  const std::string daft = model("daft-model", text_of("mechanism", "daft-full,factors=3"));
  EXPECT_EQ(tensor_of(at_first("back", daft), "pos_embed"), tensor_in(daft, "pos_embed"));
}

TEST_F(BegunFrom, ConvertsATrainedViTToDaftWithoutPositionsClassTokenQueriesAndKeys) {
  const std::string softmax = model("softmax");
  const ParameterValues converted = {
      {"from_without", std::string("positions,class_token,queries,keys")},
      {"readout", std::string("mean")},
      {"positions", std::string("none")}};
  const auto with_keys = [&](const std::string& keys) {
    ParameterValues more = converted;
    more["mechanism"] = "daft-conv,kernel=3,conv_heads=4,full_keys=" + keys;
    return more;
  };
  const TrainingRun narrow = at_first("narrow", softmax, with_keys("false")),
                    full = at_first("full", softmax, with_keys("true"));
  const std::vector<float> random = narrow.network().parameters().initial_values(1),
                           fused = full.network().parameters().initial_values(1);
  for (const std::string part : {".weight", ".bias"}) {
    const std::vector<float> whole = tensor_in(softmax, "blocks.1.attn.qkv" + part);
    const std::ptrdiff_t third = std::ssize(whole) / 3;
    EXPECT_TRUE(std::equal(whole.end() - third, whole.end(),
                           tensor_of(narrow, "blocks.1.attn.to_v" + part).begin()));
    for (const std::string name : {"to_q", "to_k"}) {
      const Parameter& own = *narrow.network().parameters().find("blocks.1.attn." + name + part);
      const float* const first = own.slot.in(random.data());
      EXPECT_EQ(tensor_of(narrow, own.name), std::vector<float>(first, first + own.slot.size));
    }
    const Parameter& qkv = *full.network().parameters().find("blocks.1.attn.qkv" + part);
    const std::vector<float> found = tensor_of(full, qkv.name);
    const float* const first = qkv.slot.in(fused.data());
    EXPECT_TRUE(std::equal(found.begin(), found.end() - third, first)) << "queries and keys";
    EXPECT_TRUE(std::equal(found.end() - third, found.end(), whole.end() - third)) << "values";
  }
  for (const char* const name : {"patch_embed.proj.weight", "blocks.0.mlp.fc1.weight", "norm.bias",
                                 "blocks.1.attn.proj.weight", "head.weight"}) {
    EXPECT_EQ(tensor_of(narrow, name), tensor_in(softmax, name)) << name;
  }
  EXPECT_EQ(narrow.network().parameters().find("pos_embed"), nullptr);
  EXPECT_EQ(narrow.network().parameters().find("cls_token"), nullptr);
}

TEST_F(BegunFrom, PartsOfAFileAreLeftOutOneByOne) {
  const std::string softmax = model("softmax");
  const auto changed = [&](const std::string& part) {
    const TrainingRun run = at_first(part, softmax, text_of("from_without", part));
    std::string names;
    for (const Parameter& parameter : run.network().parameters().list()) {
      const std::vector<float> found = tensor_of(run, parameter.name);
      const bool same = found == tensor_in(softmax, parameter.name);
      if (!same && parameter.name.find("blocks.0") == std::string::npos) {
        names += parameter.name + " ";
      }
    }
    return names;
  };
  EXPECT_EQ(changed("positions"), "pos_embed ");
  EXPECT_EQ(changed("class_token"), "cls_token ");
  EXPECT_EQ(changed("head"), "head.weight head.bias ");
  EXPECT_EQ(changed("queries"), "blocks.1.attn.qkv.weight blocks.1.attn.qkv.bias ");
  const TrainingRun run = at_first("third", softmax, text_of("from_without", "keys"));
  const std::vector<float> found = tensor_of(run, "blocks.1.attn.qkv.weight"),
                           whole = tensor_in(softmax, "blocks.1.attn.qkv.weight");
  const std::ptrdiff_t third = std::ssize(whole) / 3;
  EXPECT_TRUE(std::equal(found.begin(), found.begin() + third, whole.begin()));
  EXPECT_FALSE(std::equal(found.begin() + third, found.end() - third, whole.begin() + third));
  EXPECT_TRUE(std::equal(found.end() - third, found.end(), whole.end() - third));
}

TEST_F(BegunFrom, RefusesUnfitTensorsWithFileNameAndShapes) {
  const std::string softmax = model("softmax"), missing = (folder_ / "none.h5").string();
  int number = 0;
  const auto refused = [&](const std::string& from, const ParameterValues& more) -> std::string {
    try {
      (void)at_first("refused" + std::to_string(number++), from, more);
      return "nothing";
    } catch (const Error& error) {
      return error.what();
    }
  };
  const auto expect = [&](const ParameterValues& more, const std::vector<std::string>& words) {
    const std::string what = refused(softmax, more);
    for (const std::string& word : words) EXPECT_NE(what.find(word), std::string::npos) << what;
  };
  expect({{"width", std::int64_t{16}}}, {softmax, "cls_token", "[1, 1, 16]", "[1, 1, 12]"});
  expect({{"depth", std::int64_t{3}}}, {softmax, "blocks.2.norm1.weight", "is missing"});
  expect({{"depth", std::int64_t{1}}}, {softmax, "blocks.1.", "no such tensor"});
  expect({{"model_heads", std::int64_t{3}}}, {softmax, "heads", "3", "2"});
  expect({{"arithmetic", std::string("adder")}}, {softmax, "qkv_norm"});
  ParameterValues kept = kHashed;
  kept.insert({"code_updates", std::int64_t{0}});
  expect(kept, {softmax, "ksh.A", "is missing"});
  EXPECT_NE(refused(missing, {}).find(missing), std::string::npos);
  EXPECT_EQ(refused(model("hashed", kHashed), kept), "nothing") << "this one has codes";
  EXPECT_THROW((void)Recipe({{"dataset", data_},
                             {"mechanism", std::string("hash,codes=learned")},
                             {"code_updates", std::int64_t{0}}}),
               Error)
      << "no codes at all";
  const ParameterValues texts = text_of("dataset", write_small_text(sources_).string());
  const std::string language = model("language", texts);
  std::string text = read_bytes(std::get<std::string>(texts.at("dataset")));
  for (char& letter : text) letter = static_cast<char>(letter ^ 1);
  const ParameterValues others = text_of("dataset", sources_.write("others.txt", text).string());
  EXPECT_NE(refused(language, others).find("vocabulary"), std::string::npos);
  EXPECT_EQ(refused(language, texts), "nothing");
}

TEST_F(BegunFrom, DoesNotReadItsFileAgainWhenResumed) {
  const std::string softmax = model("softmax");
  ParameterValues more = kHashed;
  more.insert({{"from", softmax}, {"code_updates", std::int64_t{3}}});
  const RunFolder whole = begun("whole", more), parts = begun("parts", more);
  (void)train(whole, {});
  for (const std::int64_t stop : {1, 4, 5, 8, 11}) {
    std::stop_source source;
    EXPECT_THROW((void)train(parts, Progress({}, source.get_token()),
                             [&](const TrainingRun& run) {
                               if (run.step() == stop) source.request_stop();
                             }),
                 Cancelled);
    fs::remove(softmax);
  }
  const auto run = train(parts, {});
  EXPECT_EQ(folder_bytes(whole.folder), folder_bytes(parts.folder));
  EXPECT_EQ(run->log().tables().at("codes/step").numbers, (std::vector<double>{0, 4, 8}));
  EXPECT_EQ(run->log().tables().at("codes/error").width, 2);
}

TEST_F(BegunFrom, RandomCodesStayAndTheRestLearns) {
  ParameterValues more = kHashed;
  more.insert({{"code_weights", std::string("random")}, {"code_updates", std::int64_t{5}}});
  const RunFolder folder = begun("random", more);
  const auto run = train(folder, {});
  const auto of_step = [&](std::int64_t step, const std::string& name) {
    return tensor_in(folder.model(step).string(), "blocks.1.attn." + name);
  };
  for (const std::string part : {"A", "mvec", "anchor"}) {
    EXPECT_EQ(of_step(0, "fast_attention.ksh." + part), of_step(12, "fast_attention.ksh." + part));
  }
  EXPECT_NE(of_step(0, "to_qk.weight"), of_step(12, "to_qk.weight"));
  const auto& tables = run->log().tables();
  EXPECT_EQ(tables.at("codes/step").numbers, (std::vector<double>{0}));
  EXPECT_EQ(tables.at("codes/error").numbers, tables.at("codes/error_before").numbers);
}

TEST_F(BegunFrom, CodesFollowTheNumberOfPairs) {
  const auto codes_with = [&](std::int64_t pairs) {
    ParameterValues more = kHashed;
    more.insert({"code_pairs", pairs});
    const RunFolder folder = begun("pairs" + std::to_string(pairs), more);
    (void)train(folder, {});
    return tensor_in(folder.model(0).string(), "blocks.1.attn.fast_attention.ksh.A");
  };
  const std::vector<float> most = codes_with(1000);
  EXPECT_NE(codes_with(1), most);
  EXPECT_EQ(codes_with(999), most) << "both are half of the tokens";
}

TEST_F(BegunFrom, CodesAreThoseOfTheLastUpdate) {
  ParameterValues more = kHashed;
  more.insert({"checkpoints", std::int64_t{12}});
  const RunFolder folder = begun("hashed", more);
  const auto run = train(folder, {});
  const std::string name = "blocks.1.attn.fast_attention.ksh.A";
  const auto of_step = [&](std::int64_t step) {
    return tensor_in(folder.model(step).string(), name);
  };
  EXPECT_EQ(of_step(0), of_step(5)) << "no gradient, no decay";
  EXPECT_NE(of_step(5), of_step(6)) << "learned again";
  EXPECT_EQ(of_step(6), of_step(12));
  const auto& tables = run->log().tables();
  EXPECT_EQ(tables.at("codes/step").numbers, (std::vector<double>{0, 6}));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_LE(tables.at("codes/error").numbers[i], tables.at("codes/error_before").numbers[i]);
  }
}

}  // namespace
}  // namespace attnscope
