// Errors for files whose names belong to no family. They never name a family without evidence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/architecture/architecture.h"
#include "core/error.h"
#include "tests/support/model_shapes.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string refused_names(const NamedShapes& shapes, const ModelOptions& options = {}) {
  try {
    (void)recognise_architecture(hashed_checkpoint(shapes), options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(UnknownNames, AreShownWithTheRolesThatAreMissing) {
  const NamedShapes files[] = {{{"W1", {4, 4}}, {"a", {4}}, {"b", {4}}},
                               {{"arr_0", {3, 4}}},
                               {{"onnx::MatMul_123", {8, 8}}, {"embedding", {5, 8}}},
                               {{"model_weights/dense/dense/kernel:0", {4, 4}},
                                {"model_weights/multi_head_attention/query/kernel:0", {16, 2, 8}}},
                               {}};
  for (const NamedShapes& shapes : files) {
    const std::string first = shapes.empty() ? "no tensors" : shapes.front().first;
    EXPECT_THAT(
        refused_names(shapes),
        AllOf(HasSubstr("no known architecture"), HasSubstr("found " + first),
              HasSubstr("queries, keys and values"), HasSubstr("attnscope list architectures"),
              HasSubstr("architecture-descriptions.md"), Not(HasSubstr("ViT")),
              Not(HasSubstr("Hugging Face"))))
        << first;
  }
}

TEST(UnknownNames, AreRefusedByTheKindOfRecurrence) {
  const NamedShapes mamba = {{"backbone.embeddings.weight", {40, 32}},
                             {"backbone.layers.0.norm.weight", {32}},
                             {"backbone.layers.0.mixer.A_log", {64, 16}},
                             {"backbone.layers.0.mixer.in_proj.weight", {128, 32}},
                             {"backbone.norm_f.weight", {32}}};
  EXPECT_THAT(refused_names(mamba), AllOf(HasSubstr("mixer.A_log"), HasSubstr("state-space"),
                                          HasSubstr("no attention"), Not(HasSubstr("ignore="))));
  const NamedShapes rwkv = {{"emb.weight", {40, 32}},
                            {"blocks.0.ln1.weight", {32}},
                            {"blocks.0.att.time_decay", {32}},
                            {"blocks.0.att.key.weight", {32, 32}},
                            {"blocks.0.att.value.weight", {32, 32}},
                            {"blocks.0.att.receptance.weight", {32, 32}}};
  EXPECT_THAT(refused_names(rwkv), AllOf(HasSubstr("RWKV"), HasSubstr("no attention")));
}

TEST(UnknownNames, ListAtMostThreeNearestFamilies) {
  NamedShapes shapes = timm_shapes({});
  std::erase_if(shapes, [](const auto& entry) { return entry.first.starts_with("patch_embed."); });
  const std::string said = refused_names(shapes);
  EXPECT_THAT(
      said, AllOf(HasSubstr("no known architecture"), HasSubstr("expected patch_embed.proj.weight"),
                  HasSubstr("nearest to timm ViT ("), HasSubstr(" roles)"),
                  HasSubstr("nearest names: "), Not(HasSubstr("matched nothing"))));
  std::size_t families = 0;
  for (std::size_t at = said.find(" roles)"); at != std::string::npos; ++families) {
    at = said.find(" roles)", at + 1);
  }
  EXPECT_LE(families, 3U);
}

TEST(UnknownNames, AskForMissingHeads) {
  const NamedShapes shapes = family_shapes("hugging_face_llama");
  EXPECT_THAT(refused_names(shapes), AllOf(HasSubstr("--model-heads"), Not(HasSubstr("k_proj"))));
  EXPECT_EQ(refused_names(shapes, {{{"heads", "4"}}, {}}), "no error");
}

}  // namespace
}  // namespace attnscope
