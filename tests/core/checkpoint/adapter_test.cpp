// LoRA adapters. tests/data/checkpoint/make_adapters.py writes the folders.
#include "core/checkpoint/adapter.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

fs::path data(const std::string& name) { return test_data("checkpoint/adapters/" + name); }

class Adapter : public testing::TestWithParam<const char*> {};

TEST_P(Adapter, IsAddedToItsBase) {
  const std::string name = GetParam();
  const Checkpoint file = open_checkpoint(data(name));
  const Checkpoint expected = open_checkpoint(data("expected.npz"));
  std::size_t compared = 0;
  for (const StoredTensor& tensor : expected.tensors()) {
    if (!tensor.name.starts_with(name + "/")) continue;
    ++compared;
    const StoredTensor& merged = file.at(tensor.name.substr(name.size() + 1));
    ASSERT_EQ(merged.shape, tensor.shape) << tensor.name;
    const Tensor values = merged.view().to_float(), wanted = tensor.view().to_float();
    for (std::int64_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values.data()[i], wanted.data()[i], 1e-5) << tensor.name << " " << i;
    }
  }
  EXPECT_GT(compared, 0U);
  EXPECT_EQ(file.tensors().size(), 8U);
  EXPECT_TRUE(fs::equivalent(file.path(), data("base") / "model.safetensors"));
  EXPECT_EQ(file.metadata().at("adapter"), (data(name) / "adapter_model.safetensors").string());
  EXPECT_EQ(file.format(), "safetensors with a LoRA adapter");
}

INSTANTIATE_TEST_SUITE_P(OfPeft, Adapter, testing::Values("plain", "transposed", "convolution"));

/// A copy of an adapter of the test data and of its base, with a configuration that tests change.
class ChangedAdapter : public testing::Test {
 protected:
  ChangedAdapter() {
    fs::copy(data("base"), folder_ / "base");
    fs::copy(data("plain"), adapter());
  }
  [[nodiscard]] fs::path adapter() const { return folder_ / "lora"; }
  void set(const std::string& key, const nlohmann::json& value) const {
    const fs::path file = adapter() / "adapter_config.json";
    nlohmann::json config = nlohmann::json::parse(std::ifstream(data("plain/adapter_config.json")));
    config[key] = value;
    std::ofstream(file) << config;
  }
  [[nodiscard]] std::string refusal() const {
    try {
      (void)open_checkpoint(adapter());
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  TemporaryFolder folder_;
};

TEST_F(ChangedAdapter, SettingsThatAreNotUnderstoodAreRefused) {
  const std::pair<const char*, nlohmann::json> settings[] = {
      {"use_dora", true},
      {"use_qalora", true},
      {"init_lora_weights", "pissa_niter_16"},
      {"init_lora_weights", "olora"},
      {"layer_replication", {{0, 4}}},
      {"peft_type", "IA3"},
      {"bias", "some"},
      {"trainable_token_indices", {1, 2}},
      {"megatron_config", {{"a", 1}}},
      {"rank_pattern", {{"layers\\.[0-9]+", 4}}},
      {"something_new", 7}};
  for (const auto& [key, value] : settings) {
    set(key, value);
    EXPECT_THAT(refusal(), testing::HasSubstr(std::string(key) + ": ")) << key;
    EXPECT_THAT(refusal(), testing::HasSubstr("adapter_config.json")) << key;
  }
}

TEST_F(ChangedAdapter, SettingsThatAreOffOrChangeNothingAreTaken) {
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, nlohmann::json>>{
           {"something_new", false},
           {"something_new", nullptr},
           {"something_new", nlohmann::json::object()},
           {"init_lora_weights", "gaussian"},
           {"qalora_group_size", 16},  // belongs to use_qalora, which is off
           {"lora_dropout", 0.5}}) {
    set(key, value);
    EXPECT_EQ(refusal(), "");
  }
}

TEST_F(ChangedAdapter, TensorsThatDoNotFitAreRefused) {
  set("r", 4);
  EXPECT_THAT(refusal(), testing::AllOf(testing::HasSubstr("q_proj"), testing::HasSubstr("rank"),
                                        testing::HasSubstr("expected 4, found 2")));
  set("fan_in_fan_out", true);
  EXPECT_THAT(refusal(), testing::HasSubstr("does not fit the base's tensor"));
  set("lora_alpha", "8");
  EXPECT_THAT(refusal(), testing::HasSubstr("lora_alpha"));
}

TEST_F(ChangedAdapter, AMissingBaseIsNamed) {
  set("base_model_name_or_path", "someone/other-7b");
  EXPECT_THAT(refusal(), testing::AllOf(testing::HasSubstr("someone/other-7b"),
                                        testing::HasSubstr("'other-7b'")));
  set("base_model_name_or_path", ".");
  EXPECT_THAT(refusal(), testing::HasSubstr("base model is missing"));
  set("base_model_name_or_path", nullptr);
  EXPECT_THAT(refusal(), testing::HasSubstr("base model is missing"));
  set("base_model_name_or_path", (folder_ / "base").string());
  EXPECT_EQ(refusal(), "");
}

TEST_F(ChangedAdapter, ABaseElsewhereIsNotFollowed) {
  const TemporaryFolder elsewhere;
  fs::copy(data("base"), elsewhere / "other");
  const fs::path up = fs::path("..") / ".." / elsewhere.path().filename() / "other";
  for (const fs::path& path : {elsewhere / "other", up}) {
    set("base_model_name_or_path", path.string());
    EXPECT_THAT(refusal(), testing::AllOf(testing::HasSubstr("neither inside nor next to"),
                                          testing::HasSubstr("'other'")));
  }
  // A link next to the adapter is an explicit choice of the user.
  fs::create_directory_symlink(elsewhere / "other", folder_ / "other");
  EXPECT_EQ(refusal(), "");
  fs::copy(data("base"), adapter() / "inside");
  set("base_model_name_or_path", "./inside");
  EXPECT_EQ(refusal(), "");
}

TEST_F(ChangedAdapter, TwoAdaptersThatNameEachOtherEnd) {
  fs::copy(data("plain"), folder_ / "second");
  set("base_model_name_or_path", "second");
  EXPECT_THAT(refusal(), testing::HasSubstr("base model is missing"));
}

TEST_F(ChangedAdapter, RefusesAnAdapterWithoutWeights) {
  fs::remove(adapter() / "adapter_model.safetensors");
  EXPECT_THAT(refusal(), testing::HasSubstr("adapter_model.safetensors or adapter_model.bin"));
}

}  // namespace
}  // namespace attnscope
