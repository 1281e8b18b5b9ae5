// Every family with the tensor names of its upstream: compared with PyTorch, and refused if a
// tensor is renamed or added or if the configuration asks for something else. The cases and
// expected results are in tests/data/models/make_families.py.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

#include "core/architecture/architecture.h"
#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/model/model.h"
#include "core/model/transformer/transformer.h"
#include "core/model/transformer/vision_language_model.h"
#include "tests/support/expected_maps.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

const std::filesystem::path kFamilyData = source_folder() + "/tests/data/models/families";
constexpr float kFamilyTolerance = 1e-5F;

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFamilyData)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Compares the maps of a pyramid, whose layers have rows [H, 3, N] of the first, middle and last
/// query.
void expect_rows_of_each_layer(const Trace& trace, const Checkpoint& expected) {
  for (std::size_t layer = 0; layer < trace.layers.size(); ++layer) {
    const Tensor rows = expected.at("map_rows_" + std::to_string(layer)).view().to_float();
    const ImpliedMaps& map = trace.layers[layer].implied_map;
    const std::int64_t tokens = map.extent(1);
    ASSERT_EQ(rows.shape(), (Shape{map.extent(0), 3, map.extent(2)}));
    for (std::int64_t head = 0; head < map.extent(0); ++head) {
      for (std::int64_t i = 0; i < 3; ++i) {
        const std::int64_t query = i == 0 ? 0 : i == 1 ? tokens / 2 : tokens - 1;
        for (std::int64_t key = 0; key < map.extent(2); ++key) {
          ASSERT_NEAR(map.at(head, query, key), rows.slice(head)(i, key), kFamilyTolerance)
              << "layer " << layer << ", head " << head << ", " << query << ", " << key;
        }
      }
    }
  }
}

class Family : public testing::TestWithParam<std::string> {
 protected:
  Family() {
    case_ = read_test_data("models/families/" + GetParam() + ".json");
    shapes_ = family_shapes(GetParam());
    for (const auto& [option, value] : case_["options"].items()) {
      options_.overrides[option] = value.get<std::string>();
    }
    config_ = case_["config"];
    if (case_.contains("description")) {
      options_.description = folder_.write("description.json", case_["description"].dump());
    }
  }

  /// A folder like on the hub: the weights and the configuration, if there is one.
  [[nodiscard]] std::filesystem::path written() const {
    const bool open_clip = config_.contains("model_cfg");
    const char* const name = open_clip ? "open_clip_config.json" : "config.json";
    if (!config_.is_null()) (void)folder_.write(name, config_.dump());
    if (case_.contains("preprocessor")) {
      (void)folder_.write("preprocessor_config.json", case_["preprocessor"].dump());
    }
    if (case_.contains("vocabulary")) {
      std::string lines;
      for (const json& word : case_["vocabulary"]) lines += word.get<std::string>() + "\n";
      (void)folder_.write("vocab.txt", lines);
    }
    write_hashed_safetensors(folder_ / "model.safetensors", shapes_);
    return folder_.path();
  }

  /// Bytes made from a hash of "picture", "picture_2", …, as by references/llava.py.
  [[nodiscard]] std::vector<std::shared_ptr<const Image>> pictures() const {
    std::vector<Shape> shapes;
    if (case_.contains("picture")) shapes.push_back(case_["picture"].get<Shape>());
    if (case_.contains("pictures")) shapes = case_["pictures"].get<std::vector<Shape>>();
    std::vector<std::shared_ptr<const Image>> all;
    for (const Shape& shape : shapes) {
      const std::string number = all.empty() ? "" : "_" + std::to_string(all.size() + 1);
      Image image{shape[1], shape[0], shape[2], {}};
      for (const double value : hashed_uniform("picture" + number, element_count(shape))) {
        image.pixels.push_back(static_cast<std::uint8_t>(std::floor((value + 1) * 128)));
      }
      all.push_back(std::make_shared<const Image>(std::move(image)));
    }
    return all;
  }

  [[nodiscard]] std::string refusal() const {
    const std::filesystem::path path = written();
    try {
      (void)load_model(path, options_);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  json case_, config_;
  NamedShapes shapes_;
  ModelOptions options_;
  const TemporaryFolder folder_;
};

TEST_P(Family, IsRecognised) {
  const auto model = load_model(written(), options_);
  EXPECT_EQ(model->architecture(), case_["family"].get<std::string>());
}

TEST_P(Family, AgreesWithPyTorch) {
  const std::filesystem::path reference = kFamilyData / (GetParam() + ".npz");
  if (!std::filesystem::exists(reference)) {
    GTEST_SKIP() << "its reference is of another test: agreement_test or pyramid_vit_test";
  }
  const auto model = load_model(written(), options_);
  Input input;
  if (case_.contains("texts")) {
    input.content = Text{case_["texts"][0], {}, case_["texts"][1]};
  } else if (case_.contains("spectrum")) {
    input.content = hashed_input("input", case_["spectrum"].get<Shape>());
  } else if (case_["ids"].is_null()) {
    const bool own = case_.contains("image");
    input.content = hashed_input("input", own ? case_["image"].get<Shape>() : Shape{3, 32, 32});
  } else {
    Text text{{}, case_["ids"].get<std::vector<std::int64_t>>()};
    if (case_.contains("second_ids")) {
      text.second_ids = case_["second_ids"].get<std::vector<std::int64_t>>();
    }
    text.pictures = pictures();
    input.content = std::move(text);
  }
  TraceRequest request;
  request.tokens = request.token_logits = true;
  const Trace trace = model->run(input, model->spec().mechanism, request, {});
  const Checkpoint expected = open_checkpoint(reference);
  const Tensor output = expected.at("output").view().to_float();
  const Tensor& found = !trace.token_logits.empty() ? trace.token_logits
                        : !trace.logits.empty()     ? trace.logits
                                                    : trace.layers.back().tokens;
  ASSERT_EQ(found.size(), output.size());
  // The tolerance grows with the logits, whose rounding depends on the processor.
  float greatest = 1;
  for (const float value : output.values()) greatest = std::max(greatest, std::abs(value));
  for (std::int64_t i = 0; i < output.size(); ++i) {
    ASSERT_NEAR(found.data()[i], output.data()[i], kFamilyTolerance * greatest) << i;
  }
  if (const StoredTensor* const features = expected.find("features")) {
    const Tensor read = features->view().to_float();
    ASSERT_EQ(trace.features.size(), read.size());
    for (std::int64_t i = 0; i < read.size(); ++i) {
      ASSERT_NEAR(trace.features.data()[i], read.data()[i], kFamilyTolerance) << i;
    }
  }
  if (expected.find("map_rows")) {
    expect_map_rows(trace, expected);
  } else {
    expect_rows_of_each_layer(trace, expected);
  }
}

TEST_P(Family, HasTheLogitsOfTheWholeTextWhenItIsRunPartByPart) {
  if (case_["ids"].is_null() || case_.contains("texts")) GTEST_SKIP() << "reads no text of ids";
  const auto model = load_model(written(), options_);
  const auto* const with_picture = dynamic_cast<const VisionLanguageModel*>(model.get());
  const Transformer* const transformer = find_transformer(*model);
  const MechanismChoice& trained = model->spec().mechanism;
  const auto ids = case_["ids"].get<std::vector<std::int64_t>>();
  if (!transformer || !transformer->can_append(trained, std::ssize(ids))) {
    GTEST_SKIP() << "no causal language model with keys of earlier tokens";
  }
  Text text{{}, ids};
  if (with_picture) text.pictures = pictures();
  Input input;
  input.content = std::move(text);
  const std::optional<PictureTokens> seen =
      with_picture ? with_picture->look_at(input, with_picture->tokens_of(input), {})
                   : std::nullopt;
  TraceRequest request;
  request.token_logits = true;
  const Tensor whole = model->run(input, trained, request, {}).token_logits;
  float greatest = 1;
  for (const float value : whole.values()) greatest = std::max(greatest, std::abs(value));
  std::vector<KeyValueCache> cache;
  const std::size_t half = ids.size() / 2;
  const auto end = static_cast<std::size_t>(seen ? seen->places.back() + 1 : 0);
  for (std::size_t first = 0, count = std::max(half, end); first < ids.size(); count = 1) {
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(first);
    first += count;
    const Tensor part = transformer->append({begin, begin + static_cast<std::ptrdiff_t>(count)},
                                            trained, cache, {}, seen ? &*seen : nullptr);
    const auto expected = whole.matrix().row(static_cast<Eigen::Index>(first) - 1);
    ASSERT_EQ(part.size(), expected.size());
    for (Eigen::Index i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(part.data()[i], expected[i], kFamilyTolerance * greatest)
          << "token " << first - 1 << ", logit " << i;
    }
  }
}

TEST_P(Family, IsRefusedWithATensorRenamed) {
  const std::string renamed = case_["rename"];
  for (auto& [name, shape] : shapes_) {
    if (name == renamed) name.insert(name.rfind('.') + 1, "other_");
  }
  EXPECT_THAT(refusal(), testing::Not(HasSubstr("no error")));
}

TEST_P(Family, IsRefusedWithATensorAddedAndNamesIt) {
  const std::string added = case_["add"];
  shapes_.emplace_back(added, Shape{4});
  const std::string refused = refusal();
  EXPECT_THAT(refused, testing::Not(HasSubstr("no error")));
  // Tensors that identify another model are reported by their meaning.
  if (!refused.ends_with(" does not have")) {
    EXPECT_THAT(refused, AllOf(HasSubstr(added), HasSubstr("ignore=")));
    options_.overrides["ignore"] = added;
    const auto model = load_model(written(), options_);
    const auto& assumed = model->assumptions();
    EXPECT_TRUE(std::any_of(assumed.begin(), assumed.end(), [&](const Assumption& assumption) {
      return assumption.option == "ignore" && assumption.value == added;
    }));
  }
}

TEST_P(Family, IsRefusedWithAnotherValueInItsConfiguration) {
  if (case_["unknown"].is_null()) GTEST_SKIP() << "its library writes no configuration";
  config_.merge_patch(case_["unknown"]);
  const json& changed = case_["unknown"];
  EXPECT_THAT(refusal(), AllOf(HasSubstr("config.json"), testing::Not(HasSubstr("no error"))));
  // Unknown keys are refused too, unless their value is false.
  config_ = case_["config"];
  config_["attention_of_tomorrow"] = "linear";
  EXPECT_THAT(refusal(), HasSubstr("attention_of_tomorrow"));
  config_["attention_of_tomorrow"] = false;
  EXPECT_EQ(refusal(), "no error") << changed;
}

std::string name_of(const testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(All, Family, testing::ValuesIn(cases()), name_of);

TEST(Families, RunsSharedLayersAsOftenAsConfigured) {
  const TemporaryFolder folder;
  write_hashed_safetensors(folder / "model.safetensors",
                           family_shapes("hugging_face_albert_groups"));
  const Checkpoint checkpoint = open_checkpoint(folder.path());
  ModelOptions options;
  options.overrides["heads"] = "3";
  // Without a configuration the number of layers is that of most models.
  const Architecture usual = recognise_architecture(checkpoint, options);
  EXPECT_EQ(usual.spec.layers, 12);
  EXPECT_EQ(usual.spec.stored_layers, 2);
  EXPECT_TRUE(std::any_of(usual.assumptions.begin(), usual.assumptions.end(),
                          [](const Assumption& assumed) { return assumed.option == "layers"; }));
  const auto group_of = [&](const char* role) { return usual.sources.find(role)->second.tensor; };
  EXPECT_THAT(group_of("layer.5.query.weight"), HasSubstr("groups.0."));
  EXPECT_THAT(group_of("layer.6.query.weight"), HasSubstr("groups.1."));
  options.overrides["layers"] = "1";
  EXPECT_THROW((void)recognise_architecture(checkpoint, options), Error);
  options.overrides["layers"] = "2";
  EXPECT_EQ(recognise_architecture(checkpoint, options).spec.layers, 2);
}

/// Agent-DeiT with hashed weights.
std::filesystem::path write_agent_deit(const TemporaryFolder& folder) {
  write_hashed_safetensors(folder / "model.safetensors", family_shapes("agent_deit"));
  return folder / "model.safetensors";
}

TEST(Families, AgentTablesBelongToOneGrid) {
  const TemporaryFolder folder;
  ModelOptions options;
  options.overrides = {{"image_height", "48"}, {"image_width", "48"}};
  try {
    (void)load_model(write_agent_deit(folder), options);
    FAIL() << "rows of another grid";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("blocks.0.attn.ah_bias"), HasSubstr("6")));
  }
}

TEST(Families, AgentsAddTheBiasOfTheConvolutionOnlyWithTheConvolution) {
  const TemporaryFolder folder;
  const auto model = load_model(write_agent_deit(folder));
  Matrix heads;
  TraceRequest request;
  request.queries_keys_values = true;
  request.change_rows = [&](LayerRows of, std::int64_t layer, MatrixMap rows) {
    if (of == LayerRows::heads && layer == 0) heads = rows;
  };
  Input input;
  input.content = hashed_input("input", {3, 32, 32});
  const auto greatest_rest = [&](bool term) {
    const Trace trace =
        model->run(input, {"agent", {{"agents", std::int64_t{9}}, {"term", term}}}, request, {});
    const LayerTrace& layer = trace.layers.front();
    const std::int64_t width = layer.values.extent(2);
    float greatest = 0;
    for (std::int64_t head = 0; head < layer.values.extent(0); ++head) {
      const Matrix product = layer.implied_map.slice(head) * layer.values.slice(head);
      const Matrix rest = heads.middleCols(head * width, width) - product;
      greatest = std::max(greatest, rest.cwiseAbs().maxCoeff());
    }
    return greatest;
  };
  EXPECT_LT(greatest_rest(false), 1e-5);
  EXPECT_GT(greatest_rest(true), 0.01);
}

/// Cosines and sines that MLLA stores for a grid of `side` × `side` cells; its base is 10000.
Tensor mlla_rotations(std::int64_t side, std::int64_t width, double base) {
  Tensor rotations({side, side, width / 2, 2});
  const std::int64_t pairs = width / 4;
  for (std::int64_t i = 0; i < rotations.size(); i += 2) {
    const std::int64_t cell = i / width, pair = i / 2 % (width / 2);
    const auto place = static_cast<double>(pair < pairs ? cell / side : cell % side);
    const double angle =
        place * std::pow(base, -static_cast<double>(pair % pairs) / static_cast<double>(pairs));
    rotations.data()[i] = static_cast<float>(std::cos(angle));
    rotations.data()[i + 1] = static_cast<float>(std::sin(angle));
  }
  return rotations;
}

TEST(Families, MllasRotationsGiveTheImageSizeAndAreCompared) {
  const TemporaryFolder folder;
  const std::string name = "layers.0.blocks.0.attn.rope.rotations";
  NamedShapes shapes = family_shapes("mlla");
  shapes.emplace_back(name, Shape{12, 12, 8, 2});
  ModelOptions options;
  options.overrides["head_width"] = "8";
  const auto load = [&](double base) {
    write_hashed_safetensors(folder / "model.safetensors", shapes,
                             {{name, mlla_rotations(12, 16, base)}});
    return load_model(folder / "model.safetensors", options);
  };
  const auto model = load(10000);
  EXPECT_EQ(model->spec().input.image_height, 48);
  EXPECT_EQ(model->spec().stages.front().heads, 2);
  try {
    (void)load(100);
    FAIL() << "other angles";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(name));
  }
}

TEST(Families, EachHasACase) {
  std::set<std::string> covered = {
      "Attnscope model",      // sample models, vit_test
      "Attnscope pyramid",    // run_folder_test
      "GGUF language model",  // gguf_model_test
      "GGUF mixture of experts",
      "GGUF gpt-oss",
      "GGUF latent attention",
      "Hugging Face Qwen3-VL-MoE text",  // qwen3_vl_moe, with the tower
  };
  for (const std::string& name : cases()) {
    std::ifstream stream(kFamilyData / (name + ".json"));
    covered.insert(json::parse(stream)["family"].get<std::string>());
  }
  for (const ArchitectureFamily& family : architecture_families()) {
    EXPECT_TRUE(covered.contains(std::string(family.name))) << family.name;
  }
}

}  // namespace
}  // namespace attnscope
