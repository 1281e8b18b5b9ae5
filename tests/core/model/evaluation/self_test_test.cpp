// A model compared with its reference from PyTorch: tests/data/self_test/make_reference.py.
#include "core/model/evaluation/self_test.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/npz_writer.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/model_shapes.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

const fs::path kReference = source_folder() + "/tests/data/self_test/reference.npz";
const VitExtents kExtents = {.layers = 3};

class SelfTests : public testing::Test {
 protected:
  /// The model of the reference, with the tensors in `given` replaced.
  std::shared_ptr<const Model> model(const std::map<std::string, Tensor>& given = {}) {
    write_hashed_safetensors(file_, timm_shapes(kExtents), given);
    return load_model(file_, {{{"heads", "4"}}, {}});
  }
  /// A tensor of the model with its first number changed.
  static std::map<std::string, Tensor> changed(const std::string& name, const Shape& shape) {
    Tensor tensor = hashed_weight(name, shape);
    tensor.values()[0] += 3;
    return {{name, tensor}};
  }
  std::string refusal(const fs::path& reference) {
    try {
      (void)self_test(*model(), reference);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  }

  const TemporaryFolder folder_;
  const fs::path file_ = folder_ / "vit.safetensors";
};

TEST_F(SelfTests, AModelThatWasLoadedRightAgreesToRounding) {
  const SelfTest test = self_test(*model(), kReference);
  EXPECT_TRUE(test.agrees()) << in_words(test);
  EXPECT_EQ(test.inputs, 2);
  EXPECT_GT(test.difference, 0);
  EXPECT_LT(test.difference, 1e-5);
  EXPECT_THAT(in_words(test), AllOf(HasSubstr("agrees with reference.npz to "), HasSubstr("e-"),
                                    HasSubstr("(2 inputs)")));
}

TEST_F(SelfTests, TheFirstPartThatDiffersIsNamed) {
  const struct {
    const char* tensor;
    Shape shape;
    const char* part;
  } cases[] = {{"pos_embed", {1, 17, 64}, "layer 0, attention maps"},
               {"blocks.1.attn.qkv.bias", {192}, "layer 1, attention maps"},
               {"blocks.1.mlp.fc2.bias", {64}, "layer 1, output"},
               {"blocks.2.mlp.fc2.bias", {64}, "layer 2, output"},
               {"head.bias", {10}, "logits"}};
  for (const auto& [tensor, shape, part] : cases) {
    const SelfTest test = self_test(*model(changed(tensor, shape)), kReference);
    EXPECT_FALSE(test.agrees()) << tensor;
    EXPECT_EQ(test.part, part) << tensor;
    EXPECT_GT(test.part_difference, self_test_tolerance) << tensor;
    EXPECT_THAT(in_words(test), HasSubstr(std::string("first in ") + part));
  }
}

TEST_F(SelfTests, AReferenceLiesInTheModelsFolderOrBearsItsName) {
  EXPECT_EQ(reference_beside(file_), std::nullopt);
  fs::copy_file(kReference, folder_ / "reference.npz");
  EXPECT_EQ(reference_beside(file_), folder_ / "reference.npz");
  EXPECT_EQ(reference_beside(folder_.path()), folder_ / "reference.npz");
  fs::copy_file(kReference, folder_ / "vit.reference.npz");
  EXPECT_EQ(reference_beside(file_), folder_ / "vit.reference.npz");
  // The model's own weights are not a reference.
  EXPECT_EQ(reference_beside(folder_ / "reference.npz"), std::nullopt);
}

TEST_F(SelfTests, RefusesFilesThatAreNotReferencesOfTheModel) {
  const auto write = [&](const NpzWriter& file) {
    const fs::path path = folder_ / "wrong.npz";
    write_file(path, file.bytes());
    return path;
  };
  const std::vector<float> pixels(3 * 32 * 32, 0.5F), numbers(10, 0);
  const auto with = [&](const char* name, const Shape& shape, std::size_t count) {
    NpzWriter file;
    file.add("inputs", {1, 3, 32, 32}, std::span<const float>(pixels));
    file.add(name, shape, std::span<const float>(numbers).first(count));
    return write(file);
  };
  EXPECT_THAT(refusal(with("logit", {1, 10}, 10)), HasSubstr("inputs, logits, tokens, maps"));
  EXPECT_THAT(refusal(with("logits", {1, 5}, 5)), AllOf(HasSubstr("logits"), HasSubstr("[10]")));
  EXPECT_THAT(refusal(with("logits", {2, 5}, 10)), HasSubstr("different numbers of inputs"));
  EXPECT_THAT(refusal(with("tokens", {1, 2, 1, 5}, 10)), HasSubstr("a different number of layers"));
  NpzWriter alone;
  alone.add("inputs", {1, 3, 32, 32}, std::span<const float>(pixels));
  EXPECT_THAT(refusal(write(alone)), HasSubstr("holds no logits, tokens or maps"));
}

}  // namespace
}  // namespace attnscope
