// Kinds of configurations as data: all built-in ones are whole, mistakes in a file are refused by
// place, and a user's description has its own.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/architecture/architecture.h"
#include "core/architecture/configuration/config_kind.h"
#include "core/architecture/configuration/neighbour_config.h"
#include "core/architecture/model_spec_json.h"
#include "core/architecture/spec_members.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Expects members that exist, with values that they may have.
void expect_members(const MemberValues& members, const std::string& kind) {
  for (const auto& [member, value] : members) {
    ModelSpec spec;
    EXPECT_EQ(
        error_of([&, member = member, value = value] { apply_override(spec, member, value); }), "")
        << kind << " " << member;
  }
}

TEST(ConfigurationKinds, AllNameFamiliesMembersAndTowersThatExist) {
  EXPECT_GT(config_kinds().size(), 80U);
  for (const ConfigKind& kind : config_kinds()) {
    EXPECT_EQ(std::ranges::count(config_kinds(), kind.name, &ConfigKind::name), 1) << kind.name;
    for (const std::string& family : kind.families) {
      if (family.empty()) continue;  // keys that kinds share
      EXPECT_EQ(built_in_family(family).id, family) << kind.name;
    }
    for (const ConfigKey& key : kind.keys) {
      const bool named = key.use != KeyUse::required && !key.what.empty();
      for (const std::string end : {"_height", "_width"}) {
        const std::string member = key.what + (key.use == KeyUse::side ? end : "");
        EXPECT_TRUE(!named || find_spec_member(member)) << kind.name << " " << key.name;
      }
    }
    expect_members(kind.set, kind.name);
    for (const ConfigFlag& flag : kind.flags) {
      for (const MemberValues& members : flag.values) expect_members(members, kind.name);
    }
    for (const auto& [pattern, members] : kind.by_name) expect_members(members, kind.name);
    for (const auto& [key, tower] : kind.towers) {
      const std::string usual = tower.substr(0, tower.find('|'));
      EXPECT_NE(find_config_kind(usual), nullptr) << kind.name << " " << key;
    }
  }
}

TEST(ConfigurationKinds, EveryModelTypeReadsAnEmptyConfigurationOrNamesAKey) {
  for (const ConfigKind& kind : config_kinds()) {
    if (kind.name.find('/') != std::string::npos) continue;
    const TemporaryFolder folder;
    (void)folder.write("config.json", R"({"model_type": ")" + kind.name + R"("})");
    const std::string error =
        error_of([&] { return neighbour_config(folder / "model.safetensors").kind; });
    EXPECT_TRUE(error.empty() || error.find("config.json: ") != std::string::npos) << error;
  }
}

TEST(ConfigurationKinds, LikeTakesOverAllButFamiliesAndDefaults) {
  const std::vector<ConfigKind> kinds = parse_config_kinds(
      R"({"a": {"families": ["hugging-face-opt"], "member": {"x": "heads"}, "set": {"scale": "none"},
                "flags": {"f": {"default": true, "false": {"final_norm": false}}},
                "defaults": {"x": 1}},
          "b|c": {"like": "a", "harmless": {"training": ["y*", "x"]}, "set": {"scale": 0.5}}})",
      "timm-vit");
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_THAT(kinds[0].families, ElementsAre("hugging-face-opt"));
  EXPECT_EQ(kinds[2].name, "c");
  EXPECT_THAT(kinds[2].families, ElementsAre("timm-vit"));
  EXPECT_FALSE(kinds[2].defaults);
  EXPECT_EQ(kinds[2].set.at("scale"), "0.5");
  ASSERT_EQ(kinds[2].flags.size(), 1U);
  EXPECT_EQ(kinds[2].flags[0].values[0].at("final_norm"), "false");
  ASSERT_EQ(kinds[2].keys.size(), 3U);
  EXPECT_EQ(kinds[2].keys[1].use, KeyUse::harmless) << "its own keys come first";
  EXPECT_EQ(kinds[2].keys[2].what, "heads");
}

TEST(ConfigurationKinds, MistakesAreRefusedByPlace) {
  const std::pair<const char*, std::vector<const char*>> cases[] = {
      {R"({"a": {"members": {}}})", {"a.members", "unknown key 'members'", "known: like"}},
      {R"({"a": {"member": {"x": "head"}}})", {"a.member.x", "no such member", "heads"}},
      {R"({"a": {"side": {"x": "heads"}}})", {"a.side.x", "no such member"}},
      {R"({"a": {"member": {"x": 1}}})", {"a.member.x", "not a text"}},
      {R"({"a": {"harmless": ["x"]}})", {"a.harmless", "not an object"}},
      {R"({"a": {"set": {"hats": 1}}})", {"a.set", "no such member"}},
      {R"({"a": {"like": "nothing"}})", {"a.like", "no kind before it", "nothing"}},
      {R"({"a": {"families": ["nobody"]}})", {"a.families", "no family has this id", "nobody"}},
      {R"({"a": {"families": []}})", {"a.families", "at least one"}},
      {R"({"a": {"rules": ["magic"]}})", {"a.rules", "unknown rule", "last_windows"}},
      {R"({"a": {"flags": {"f": {"true": {}}}}})", {"a.flags.f", "no default"}},
      {R"({"a": {"flags": {"f": {"default": 1}}}})", {"a.flags.f", "neither true nor false"}},
      {R"({"a": {"flags": {"f": {"default": true, "maybe": {}}}}})", {"a.flags.f", "'maybe'"}},
      {R"({"a": {"rotary": {"base": "x"}}})", {"a.rotary", "'base'", "theta"}},
      {R"({"a": {"local_layers": {"theta": "x"}}})", {"a.local_layers", "is missing"}},
      {R"({"a": 1})", {"configuration a", "not an object"}},
  };
  for (const auto& [text, parts] : cases) {
    const std::string error = error_of([&, text = text] { return parse_config_kinds(text, ""); });
    for (const char* const part : parts) EXPECT_THAT(error, HasSubstr(part)) << text;
    const std::string whole =
        R"({"name": "x", "like": "timm-vit", "configuration": )" + std::string(text) + "}";
    EXPECT_EQ(error_of([&] { return parse_architecture_description(whole); }), error);
  }
}

TEST(ConfigurationKinds, AFamilyThatDoesNotExistIsAnError) {
  EXPECT_THAT(error_of([] { return built_in_family("nobody").name; }),
              AllOf(HasSubstr("internal error"), HasSubstr("nobody")));
  EXPECT_THAT(error_of([] { return config_kind("nothing").name; }), HasSubstr("internal error"));
}

TEST(ConfigurationKinds, ADescriptionReadsItsOwnKeys) {
  const TemporaryFolder folder;
  write_hashed_safetensors(folder / "model.safetensors", family_shapes("hugging_face_bloom"));
  const auto heads_and_eps = [&](const std::string& configuration, const std::string& config) {
    (void)folder.write("config.json", config);
    (void)folder.write("own.txt",
                       R"({"name": "mine", "like": "hugging-face-bloom")" + configuration + "}");
    const ModelSpec spec =
        recognise_architecture(open_checkpoint(folder.path()), {{}, folder / "own.txt"}).spec;
    return std::pair(spec.layer.attention.heads, spec.layer.norm.eps);
  };
  const std::string own = R"(, "configuration": {"mine": {
      "member": {"count": "heads", "eps": "norm_eps"}, "defaults": {"count": 3}}})";
  EXPECT_EQ(heads_and_eps(own, R"({"model_type": "mine", "count": 6, "eps": 0.01})"),
            std::pair(std::int64_t{6}, 0.01));
  EXPECT_EQ(heads_and_eps(own, R"({"model_type": "mine", "eps": 0.02})"),
            std::pair(std::int64_t{3}, 0.02));
  EXPECT_THAT(
      error_of([&] { return heads_and_eps(own, R"({"model_type": "mine", "of_tomorrow": 1})"); }),
      HasSubstr("of_tomorrow"));
  EXPECT_THAT(error_of([&] { return heads_and_eps("", R"({"model_type": "mine"})"); }),
              HasSubstr("models of this type are not supported"));
}

}  // namespace
}  // namespace attnscope
