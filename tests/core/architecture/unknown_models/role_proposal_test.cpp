// Proposals of the role editor for unknown files, and checks of a draft.
#include "core/architecture/unknown_models/role_proposal.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "core/architecture/architecture.h"
#include "core/architecture/unknown_models/description_draft.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/model_shapes.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

/// The example of docs/architecture-descriptions.md, whose names belong to no family and use no
/// common words. Matrices are stored as [in, out].
NamedShapes documented_shapes(std::int64_t layers) {
  NamedShapes shapes = {{"params.cls", {1, 1, 24}},
                        {"params.pos", {1, 17, 24}},
                        {"params.stem.kernel", {24, 3, 8, 8}},
                        {"params.stem.offset", {24}}};
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string block = "params.block_" + std::to_string(layer) + ".";
    for (const auto& [name, shape] : NamedShapes{{"before_attn.scale", {24}},
                                                 {"before_attn.offset", {24}},
                                                 {"attn.qkv", {24, 72}},
                                                 {"attn.proj", {24, 24}},
                                                 {"before_mlp.scale", {24}},
                                                 {"before_mlp.offset", {24}},
                                                 {"mlp.up", {24, 96}},
                                                 {"mlp.up_offset", {96}},
                                                 {"mlp.down", {96, 24}},
                                                 {"mlp.down_offset", {24}}}) {
      shapes.emplace_back(block + name, shape);
    }
  }
  shapes.emplace_back("params.last_norm.scale", Shape{24});
  shapes.emplace_back("params.last_norm.offset", Shape{24});
  shapes.emplace_back("params.classifier", Shape{24, 10});
  return shapes;
}

/// Tensors whose names mean nothing.
NamedShapes nameless_shapes() {
  NamedShapes shapes = {{"a0", {29, 16}}};
  for (const char* layer : {"0", "1", "2"}) {
    const std::string block = std::string("z.") + layer + ".";
    for (const auto& [name, shape] : NamedShapes{{"xa", {16}},
                                                 {"c", {16, 16}},
                                                 {"d", {16, 16}},
                                                 {"e", {16, 16}},
                                                 {"f", {16, 16}},
                                                 {"xp", {16}},
                                                 {"h", {64, 16}},
                                                 {"i", {16, 64}}}) {
      shapes.emplace_back(block + name, shape);
    }
  }
  shapes.emplace_back("y", Shape{16});
  return shapes;
}

const RoleProposal* find(const std::vector<RoleProposal>& list, std::string_view role) {
  const auto found = std::ranges::find(list, role, &RoleProposal::role);
  return found == list.end() ? nullptr : &*found;
}

std::string pattern_of(const std::vector<RoleProposal>& list, std::string_view role) {
  const RoleProposal* const found = find(list, role);
  return found ? found->pattern : "nothing";
}

TEST(TensorGroups, CountLayersAndHeads) {
  const std::vector<TensorGroup> groups =
      group_tensors(hashed_checkpoint({{"stem.0.weight", {8, 3}},
                                       {"stem.1.weight", {8, 8}},
                                       {"blocks.0.heads.0.wq.weight", {4, 8}},
                                       {"blocks.0.heads.1.wq.weight", {4, 8}},
                                       {"blocks.0.mlp.0.weight", {16, 8}},
                                       {"blocks.0.mlp.2.weight", {8, 16}},
                                       {"blocks.1.heads.0.wq.weight", {4, 8}},
                                       {"blocks.1.heads.1.wq.weight", {4, 8}},
                                       {"blocks.1.mlp.0.weight", {16, 8}},
                                       {"blocks.1.mlp.2.weight", {8, 16}}}));
  ASSERT_EQ(groups.size(), 5U);
  EXPECT_EQ(groups[0].pattern, "stem.0.weight") << "two layers are no blocks";
  EXPECT_EQ(groups[2].pattern, "blocks.{layer}.heads.{head}.wq.weight");
  EXPECT_EQ(groups[2].count, 4);
  EXPECT_EQ(groups[2].tail(), "heads.{head}.wq.weight");
  EXPECT_EQ(groups[4].pattern, "blocks.{layer}.mlp.2.weight");
}

TEST(RoleProposal, ReadsTheDocumentedExample) {
  const auto groups = group_tensors(hashed_checkpoint(documented_shapes(3)));
  EXPECT_EQ(width_of(groups), 24);
  const auto proposed = propose_roles(groups);
  EXPECT_EQ(pattern_of(proposed, "layer.qkv.weight"), "params.block_{layer}.attn.qkv");
  EXPECT_EQ(pattern_of(proposed, "layer.out.weight"), "params.block_{layer}.attn.proj");
  EXPECT_EQ(pattern_of(proposed, "layer.norm1.weight"), "params.block_{layer}.before_attn.scale");
  EXPECT_EQ(pattern_of(proposed, "layer.norm1.bias"), "params.block_{layer}.before_attn.offset");
  EXPECT_EQ(pattern_of(proposed, "layer.norm2.weight"), "params.block_{layer}.before_mlp.scale");
  EXPECT_EQ(pattern_of(proposed, "layer.norm2.bias"), "params.block_{layer}.before_mlp.offset");
  EXPECT_EQ(pattern_of(proposed, "layer.qkv.bias"), "nothing");
  EXPECT_EQ(pattern_of(proposed, "layer.mlp1.weight"), "params.block_{layer}.mlp.up");
  EXPECT_EQ(pattern_of(proposed, "layer.mlp1.bias"), "params.block_{layer}.mlp.up_offset");
  EXPECT_EQ(pattern_of(proposed, "layer.mlp2.weight"), "params.block_{layer}.mlp.down");
  EXPECT_EQ(pattern_of(proposed, "patch.weight"), "params.stem.kernel");
  EXPECT_EQ(pattern_of(proposed, "patch.bias"), "params.stem.offset");
  EXPECT_EQ(pattern_of(proposed, "positions"), "params.pos");
  EXPECT_EQ(pattern_of(proposed, "class_token"), "params.cls");
  EXPECT_EQ(pattern_of(proposed, "final_norm.weight"), "params.last_norm.scale");
  EXPECT_EQ(pattern_of(proposed, "head.weight"), "params.classifier");
  for (const char* role : {"layer.qkv.weight", "layer.out.weight", "layer.mlp1.weight",
                           "layer.mlp2.weight", "head.weight"}) {
    ASSERT_NE(find(proposed, role), nullptr) << role;
    EXPECT_TRUE(find(proposed, role)->transposed) << role;
  }
  EXPECT_EQ(find(proposed, "layer.qkv.weight")->certainty, Certainty::sure);
  EXPECT_EQ(find(proposed, "layer.norm1.weight")->certainty, Certainty::guess);
}

TEST(RoleProposal, GuessesByShapesWhereNoNameTells) {
  const auto proposed = propose_roles(group_tensors(hashed_checkpoint(nameless_shapes())));
  const std::pair<const char*, const char*> expected[] = {
      {"layer.norm1.weight", "z.{layer}.xa"}, {"layer.query.weight", "z.{layer}.c"},
      {"layer.key.weight", "z.{layer}.d"},    {"layer.value.weight", "z.{layer}.e"},
      {"layer.out.weight", "z.{layer}.f"},    {"layer.norm2.weight", "z.{layer}.xp"},
      {"layer.mlp1.weight", "z.{layer}.h"},   {"layer.mlp2.weight", "z.{layer}.i"},
      {"token_embedding.weight", "a0"},       {"final_norm.weight", "y"}};
  for (const auto& [role, pattern] : expected) {
    EXPECT_EQ(pattern_of(proposed, role), pattern);
    ASSERT_NE(find(proposed, role), nullptr) << role;
    EXPECT_EQ(find(proposed, role)->certainty, Certainty::guess) << role;
  }
}

// The proposals agree with the families themselves: none that is marked as sure is wrong.
TEST(RoleProposal, IsRightWhereItIsCertain) {
  for (const NamedShapes& shapes :
       {timm_shapes({}), hugging_face_shapes({}), torchvision_shapes({}),
        vit_pytorch_shapes({}, 64), torch_encoder_shapes(64, 96, 3)}) {
    const Checkpoint checkpoint = hashed_checkpoint(shapes);
    const Architecture known = recognise_architecture(checkpoint);
    int right = 0, sure = 0;
    for (const RoleProposal& each : propose_roles(group_tensors(checkpoint))) {
      std::string role = each.role, name = each.pattern;
      if (role.starts_with("layer.")) role.replace(0, 6, "layer.0.");
      const auto layer = name.find("{layer}");
      if (layer != std::string::npos) name.replace(layer, 7, "0");
      auto source = known.sources.find(role);
      // A deep head may have several layers, and the role belongs to the last one.
      if (role.starts_with("head.")) {
        for (const char* const layer : {"head.0", "head.1"}) {
          const auto found = known.sources.find(layer + role.substr(4));
          if (found != known.sources.end()) source = found;
        }
      }
      const bool same = source != known.sources.end() && source->second.tensor == name;
      right += same ? 1 : 0;
      sure += each.certainty == Certainty::sure ? 1 : 0;
      if (each.certainty == Certainty::sure) {
        EXPECT_TRUE(same) << known.name << ": " << each.role << " is not " << name;
      }
    }
    EXPECT_GT(sure, 5) << known.name;
    EXPECT_GE(right, 10) << known.name;
  }
}

// The layers of a gated MLP may be called values, too.
TEST(RoleProposal, ValuesOfAnMlpAreNotThoseOfTheAttention) {
  NamedShapes shapes;
  for (const char* layer : {"0", "1"}) {
    const std::string block = std::string("blocks.") + layer + ".";
    for (const auto& [name, shape] : NamedShapes{{"ff.v.weight", {32, 8}},
                                                 {"ff.w.weight", {32, 8}},
                                                 {"ff.down.weight", {8, 32}},
                                                 {"sa.q.weight", {8, 8}},
                                                 {"sa.k.weight", {8, 8}},
                                                 {"sa.v.weight", {8, 8}},
                                                 {"sa.o.weight", {8, 8}}}) {
      shapes.emplace_back(block + name, shape);
    }
  }
  const auto proposed = propose_roles(group_tensors(hashed_checkpoint(shapes)));
  EXPECT_EQ(pattern_of(proposed, "layer.value.weight"), "blocks.{layer}.sa.v.weight");
  EXPECT_EQ(pattern_of(proposed, "layer.mlp2.weight"), "blocks.{layer}.ff.down.weight");
}

TEST(RoleProposal, AModelOfTokensIsNotOfferedPatches) {
  NamedShapes shapes = nameless_shapes();
  shapes.insert(shapes.begin() + 1, {"a1", {6, 16}});
  const auto proposed = propose_roles(group_tensors(hashed_checkpoint(shapes)));
  EXPECT_EQ(pattern_of(proposed, "token_embedding.weight"), "a0");
  EXPECT_EQ(pattern_of(proposed, "patch.weight"), "nothing");
  const std::set<std::string> separate = {"layer.query.weight"}, fused = {"layer.qkv.weight"};
  EXPECT_FALSE(is_open("layer.qkv.bias", separate));
  EXPECT_FALSE(is_open("layer.value.weight", fused));
  EXPECT_TRUE(is_open("layer.value.weight", separate));
}

// Shapes are a member of the role and not read from its explanation.
TEST(RoleProposal, RolesHaveTheShapesThatTheirTensorsMayHave) {
  for (const TensorRole& role : tensor_roles()) {
    EXPECT_EQ(role.explanation.find('['), std::string_view::npos) << role.name;
    EXPECT_FALSE(role.explanation.empty()) << role.name;
  }
  EXPECT_EQ(explanation_of("layer.query_norm.weight"),
            "norm of each head's queries, or of all together [d] or [H·d]");
  EXPECT_EQ(explanation_of("layer.nothing.weight"), "");
  EXPECT_EQ(parts_of_role("patch_norm_after.running_var").module, "patch_norm_after");
  EXPECT_TRUE(shape_fits("patch.weight", {24, 3, 8, 8}, 24));
  EXPECT_TRUE(shape_fits("patch.weight", {24, 192}, 24)) << "the second of its shapes";
  EXPECT_FALSE(shape_fits("patch.weight", {24}, 24));
  EXPECT_TRUE(shape_fits("patch.bias", {24}, 24));
  EXPECT_FALSE(shape_fits("layer.norm1.weight", {25}, 24));
  EXPECT_TRUE(shape_fits("layer.mask", {7, 7}, 24)) << "any shape";
  bool transposed = false;
  EXPECT_TRUE(shape_fits("layer.mlp1.weight", {24, 96}, 24, &transposed));
  EXPECT_TRUE(transposed);
}

TEST(DescriptionDraft, IsCheckedAsLoadingChecks) {
  const Checkpoint checkpoint = hashed_checkpoint(documented_shapes(12));
  DescriptionDraft draft = draft_of(checkpoint, propose_roles(group_tensors(checkpoint)));
  DraftCheck check = check_draft(draft, checkpoint);
  EXPECT_EQ(check.about, "heads");
  EXPECT_THAT(check.problem, HasSubstr("how many heads")) << "no tensor shows them";
  EXPECT_THAT(in_words(check, draft), testing::StartsWith("12 layers understood; heads: "));

  draft.members["heads"] = "3";
  check = check_draft(draft, checkpoint);
  EXPECT_EQ(check.problem, "");
  EXPECT_EQ(check.layers, 12);
  EXPECT_EQ(in_words(check, draft), "12 layers understood");
  ASSERT_TRUE(check.spec);
  EXPECT_EQ(check.spec->width, 24);
  EXPECT_FALSE(check.assumptions.empty()) << "the activation is assumed";

  draft.members["layer.activation"] = "relu";
  EXPECT_EQ(check_draft(draft, checkpoint).problem.empty(), false) << "no such member";
  draft.members.erase("layer.activation");
  draft.members["activation"] = "relu";
  check = check_draft(draft, checkpoint);
  ASSERT_TRUE(check.spec) << check.problem;
  EXPECT_EQ(check.spec->layer.attention.heads, 3);

  DescriptionDraft headless = draft;
  headless.roles.erase("head.weight");
  EXPECT_THAT(in_words(check_draft(headless, checkpoint), headless), HasSubstr("head missing"));

  draft.roles.erase("layer.mlp2.bias");
  check = check_draft(draft, checkpoint);
  EXPECT_THAT(check.about, HasSubstr("down_offset")) << "a tensor of a block without a role";
  EXPECT_EQ(check.layers, 12);
}

TEST(DescriptionDraft, WritesAssumptionsWithTheirReasons) {
  const Checkpoint checkpoint = hashed_checkpoint(nameless_shapes());
  DescriptionDraft draft = draft_of(checkpoint, propose_roles(group_tensors(checkpoint)));
  draft.assumed = {{"norm_eps", {"1e-3", "a guess"}}, {"positions", {"none", ""}}};
  const ArchitectureDescription parsed = parse_architecture_description(to_json(draft, checkpoint));
  EXPECT_EQ(parsed.spec.layer.norm.eps, 1e-3);
  EXPECT_EQ(parsed.reasons.at("norm_eps"), "a guess");
  EXPECT_FALSE(parsed.stated.contains("norm_eps"));
  EXPECT_FALSE(parsed.stated.contains("positions"));
  EXPECT_EQ(parsed.spec.positions.kind, Positions::none);
  draft.assumed.clear();
  EXPECT_TRUE(
      parse_architecture_description(to_json(draft, checkpoint)).stated.contains("positions"));
}

TEST(DescriptionDraft, OpensTheFileItWasMadeFor) {
  const Checkpoint checkpoint = hashed_checkpoint(nameless_shapes());
  const DescriptionDraft draft = draft_of(checkpoint, propose_roles(group_tensors(checkpoint)));
  const ArchitectureDescription parsed = parse_architecture_description(to_json(draft, checkpoint));
  EXPECT_EQ(parsed.tensors.at("layer.query.weight").front().pattern, "z.{layer}.c");
  EXPECT_EQ(parsed.spec.input.kind, InputKind::tokens);
}

}  // namespace
}  // namespace attnscope
