#include "core/architecture/model_structure.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "tests/support/hashed_weights.h"
#include "tests/support/model_shapes.h"

namespace attnscope {
namespace {

const StructureNode* child(const StructureNode& node, std::string_view title) {
  const auto found = std::ranges::find(node.children, title, &StructureNode::title);
  return found == node.children.end() ? nullptr : &*found;
}

void collect(const StructureNode& node, std::multiset<std::string>& tensors) {
  if (!node.tensor.empty()) tensors.insert(node.tensor);
  for (const StructureNode& each : node.children) collect(each, tensors);
}

TEST(ModelStructure, HoldsEveryTensorOnceWithAllItsNumbers) {
  for (const NamedShapes& shapes : {timm_shapes({}), hugging_face_shapes({}),
                                    vit_pytorch_shapes({}, 64), torch_encoder_shapes(64, 96, 3)}) {
    const Checkpoint checkpoint = hashed_checkpoint(shapes);
    const Architecture architecture = recognise_architecture(checkpoint);
    const StructureNode model = structure_of(checkpoint, &architecture);
    std::multiset<std::string> shown, stored;
    std::int64_t numbers = 0;
    for (const auto& [name, shape] : shapes) {
      stored.insert(name);
      std::int64_t each = 1;
      for (const std::int64_t extent : shape) each *= extent;
      numbers += each;
    }
    collect(model, shown);
    EXPECT_EQ(shown, stored) << architecture.name;
    EXPECT_EQ(model.numbers, numbers) << architecture.name;
  }
}

TEST(ModelStructure, ShowsLayersPartsAndAssumptionsInOrder) {
  const Checkpoint checkpoint = hashed_checkpoint(timm_shapes({}));
  const Architecture architecture = recognise_architecture(checkpoint);
  const StructureNode model = structure_of(checkpoint, &architecture, 1);
  ASSERT_NE(child(model, "Assumptions"), nullptr);
  EXPECT_EQ(child(model, "Assumptions")->children.size(), architecture.assumptions.size());
  const StructureNode* const layers = child(model, "Layers");
  ASSERT_NE(layers, nullptr);
  ASSERT_EQ(layers->children.size(), 2U);
  EXPECT_EQ(layers->children[0].title, "Layer 1") << "as the window counts them";
  const StructureNode* const attention = child(layers->children[0], "Attention");
  ASSERT_NE(attention, nullptr);
  EXPECT_EQ(attention->children.front().title, "norm1.weight");
  EXPECT_EQ(attention->children.front().tensor, "blocks.0.norm1.weight");
  EXPECT_EQ(attention->children.back().title, "out.bias");
  const StructureNode* const qkv = child(*attention, "qkv.weight");
  ASSERT_NE(qkv, nullptr);
  EXPECT_EQ(qkv->shape, "[192, 64]");
  EXPECT_EQ(qkv->type, "float32");
  ASSERT_NE(child(layers->children[1], "MLP"), nullptr);
  EXPECT_NE(child(*child(layers->children[1], "MLP"), "mlp2.weight"), nullptr);
  ASSERT_NE(child(model, "Read-out"), nullptr);
  EXPECT_NE(child(*child(model, "Read-out"), "head.1.weight"), nullptr)
      << "head.0 is what timm calls pre_logits";
}

TEST(ModelStructure, ShowsTheTensorsOfAnUnknownFile) {
  const Checkpoint checkpoint = hashed_checkpoint({{"z.0.a", {2, 3}},
                                                   {"z.0.b", {2}},
                                                   {"z.0.c", {2}},
                                                   {"z.1.a", {2, 3}},
                                                   {"z.1.b", {2}},
                                                   {"z.1.c", {2}}});
  const StructureNode model = structure_of(checkpoint, nullptr);
  ASSERT_EQ(model.children.size(), 3U);
  EXPECT_EQ(model.children[0].tensor, "z.{layer}.a");
  EXPECT_EQ(model.children[0].shape, "2 × [2, 3]");
  EXPECT_EQ(model.numbers, 20);
}

TEST(ModelStructure, AbbreviatesCounts) {
  EXPECT_EQ(count_in_words(999), "999");
  EXPECT_EQ(count_in_words(124439), "124,439");
  EXPECT_EQ(count_in_words(5717416), "5.72 million");
  EXPECT_EQ(count_in_words(86567656), "86.6 million");
  EXPECT_EQ(count_in_words(7'000'000'000), "7.00 billion");
}

}  // namespace
}  // namespace attnscope
