#include "core/architecture/model_status.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "core/architecture/architecture.h"
#include "core/model/evaluation/self_test.h"
#include "core/model/model.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/scratch_models.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> names(const std::vector<Assumption>& list) {
  std::vector<std::string> options;
  for (const Assumption& each : list) options.push_back(each.option);
  return options;
}

TEST(ModelStatus, SortsWorstFirstAndSeparatesHarmlessOnes) {
  const std::vector<Assumption> assumed = {
      {"norm_eps", "1e-05", ""}, {"activation", "gelu", ""}, {"never heard of", "1", ""},
      {"scale", "none", ""},     {"heads", "3", "", true},   {"mechanism", "softmax", ""}};
  const ModelStatus family = model_status(assumed, "timm ViT");
  EXPECT_EQ(family.state, ModelState::unconfirmed);
  EXPECT_THAT(names(family.influential), ElementsAre("scale", "activation", "never heard of"));
  EXPECT_THAT(names(family.harmless), ElementsAre("norm_eps", "mechanism"));
  EXPECT_EQ(in_words(family), "unconfirmed: scale, activation, never heard of assumed");
  // The code of a family determines the mechanism, whereas names do not.
  EXPECT_EQ(names(model_status(assumed, kNamedModel).influential).front(), "mechanism");
  EXPECT_EQ(in_words(model_status({{"norm_eps", "1e-05", ""}}, "timm ViT")), "known");
  EXPECT_EQ(in_words(family.compared("agrees with reference.npz", true)),
            "confirmed: agrees with reference.npz");
  EXPECT_EQ(family.compared("differs", false).state, ModelState::contradicted);
}

TEST(ModelStatus, ATraceKeepsIt) {
  const ModelStatus open = model_status({{"scale", "none", ""}, {"norm_eps", "1e-05", ""}}, "");
  for (const ModelStatus& status : {open, open.compared("agrees with r.npz", true),
                                    open.compared("differs from r.npz", false)}) {
    std::map<std::string, std::string> provenance;
    record_status(status, provenance);
    const ModelStatus again = recorded_status(provenance);
    EXPECT_EQ(in_words(again), in_words(status));
    EXPECT_THAT(names(again.influential), ElementsAre("scale"));
    EXPECT_THAT(names(again.harmless), ElementsAre("norm_eps"));
  }
  EXPECT_EQ(recorded_status({{"program", "attnscope"}}).state, ModelState::known);
}

/// Every option that a deduction assumes by name, extracted from the sources.
std::set<std::string> assumed_in_sources() {
  const std::regex call(R"re(assume\(\s*"([^"]+)")re");
  const std::regex loop(R"re(const char\* member\s*:\s*\{([^}]*)\})re"), quoted("\"([^\"]+)\"");
  std::set<std::string> options;
  const fs::path folder = source_folder() + "/core/architecture";
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = read_bytes(entry.path());
    const auto add = [&options](const std::string& in, const std::regex& pattern) {
      for (std::sregex_iterator at(in.begin(), in.end(), pattern), end; at != end; ++at) {
        options.insert((*at)[1]);
      }
    };
    add(text, call);
    for (std::sregex_iterator at(text.begin(), text.end(), loop), end; at != end; ++at) {
      add((*at)[1], quoted);
    }
  }
  return options;
}

TEST(ModelStatus, EveryOptionThatIsAssumedIsInOneOfTheTwoLists) {
  const auto influential = influential_options(), harmless = harmless_options();
  const std::set<std::string> found = assumed_in_sources();
  EXPECT_GT(found.size(), 40U);
  for (const std::string& option : found) {
    const auto in_lists =
        std::ranges::count(influential, option) + std::ranges::count(harmless, option);
    EXPECT_EQ(in_lists, 1) << option;
  }
}

ModelOptions usual() { return {with_usual({}), {}}; }

TEST(ModelStatus, AReferenceNextToTheFileConfirmsOrContradicts) {
  const TemporaryFolder folder;
  const fs::path file = folder / "gpt.safetensors", beside = folder / "gpt.reference.npz";
  write_hashed_safetensors(file, scratch_gpt(false, true));
  const auto status = [&] { return load_model(file, usual())->status(); };
  EXPECT_THAT(in_words(status()), StartsWith("unconfirmed: mechanism, layer.attention.head_split"));
  fs::copy_file(test_data("fit/base.npz"), beside);
  EXPECT_THAT(in_words(status()), StartsWith("confirmed: agrees with gpt.reference.npz"));
  const auto other = fs::copy_options::overwrite_existing;
  fs::copy_file(test_data("fit/parallel.npz"), beside, other);
  EXPECT_THAT(in_words(status()), StartsWith("CONTRADICTED: differs from gpt.reference.npz"));
  fs::copy_file(test_data("self_test/reference.npz"), beside, other);
  EXPECT_EQ(status().state, ModelState::unconfirmed);
  EXPECT_THAT(in_words(status()), HasSubstr("was not compared with its reference"));
}

TEST(ModelStatus, AFamilyWithItsConfigurationIsKnown) {
  const TemporaryFolder folder;
  const std::string family = "hugging_face_llama";
  write_hashed_safetensors(folder / "model.safetensors", family_shapes(family));
  (void)folder.write("config.json",
                     read_test_data("models/families/" + family + ".json")["config"].dump());
  const ModelStatus status = load_model(folder.path())->status();
  EXPECT_EQ(in_words(status), "known");
  EXPECT_THAT(names(status.harmless), ElementsAre("mechanism", "tokenizer"));
}

}  // namespace
}  // namespace attnscope
