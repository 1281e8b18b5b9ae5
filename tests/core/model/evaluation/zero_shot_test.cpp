#include "core/model/evaluation/zero_shot.h"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

class ZeroShot : public testing::Test {
 protected:
  /// Writes the tensors and the configuration of a case of make_families.py into a folder and loads
  /// both towers.
  explicit ZeroShot(const std::string& name = "hugging_face_clip") {
    const nlohmann::json& config = read_test_data("models/families/" + name + ".json")["config"];
    write_hashed_safetensors(folder_ / "model.safetensors", family_shapes(name));
    if (!config.is_null()) (void)folder_.write("config.json", config.dump());
    images_ = load_model(folder_.path());
    texts_ = load_model(folder_.path(), {{{"input.kind", "tokens"}}, {}});
    image_.content = hashed_input("image", {3, 32, 32});
  }

  const TemporaryFolder folder_;
  std::shared_ptr<const Model> images_, texts_;
  Input image_;
  const std::vector<ClassPrompt> prompts_ = {{"cat", {{}, {3, 7, 28}}}, {"dog", {{}, {5, 28}}}};
};

double cosine(const Tensor& a, const Tensor& b) {
  double product = 0, of_a = 0, of_b = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double x = a.data()[i], y = b.data()[i];
    product += x * y;
    of_a += x * x;
    of_b += y * y;
  }
  return product / std::sqrt(of_a * of_b);
}

TEST_F(ZeroShot, LogitsAreCosinesOfTheTowersOutputs) {
  const auto model = zero_shot_model(images_, *texts_, prompts_);
  const Trace trace = model->run(image_, model->spec().mechanism, {}, {});
  EXPECT_EQ(trace.labels, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(model->spec().labels, trace.labels);
  const Trace image = images_->run(image_, images_->spec().mechanism, {}, {});
  EXPECT_EQ(trace.layers.size(), image.layers.size());
  ASSERT_EQ(trace.logits.size(), 2);
  for (std::size_t i = 0; i < 2; ++i) {
    Input text;
    text.content = prompts_[i].text;
    const Trace read = texts_->run(text, texts_->spec().mechanism, {}, {});
    EXPECT_NEAR(trace.logits.data()[i], cosine(image.logits, read.logits), 1e-6) << i;
  }
}

class SiglipZeroShot : public ZeroShot {
 protected:
  SiglipZeroShot() : ZeroShot("hugging_face_siglip") {}
};

TEST_F(SiglipZeroShot, ComparesPooledImagesWithTextsOfOneLength) {
  const auto model = zero_shot_model(images_, *texts_, prompts_);
  const Trace trace = model->run(image_, model->spec().mechanism, {}, {});
  const Trace image = images_->run(image_, images_->spec().mechanism, {}, {});
  ASSERT_EQ(trace.logits.size(), 2);
  for (std::size_t i = 0; i < 2; ++i) {
    Text text = prompts_[i].text;
    const std::size_t own = text.ids.size();
    Input filled, bare;
    bare.content = text;
    text.ids.resize(24, 1);
    filled.content = text;
    const Trace read = texts_->run(filled, texts_->spec().mechanism, {}, {});
    EXPECT_NEAR(trace.logits.data()[i], cosine(image.features, read.logits), 1e-6) << i;
    const TokenLayout layout = texts_->run(bare, texts_->spec().mechanism, {}, {}).layout;
    EXPECT_EQ(layout.texts.size(), 24U);
    ASSERT_EQ(layout.special.size(), 24 - own);
    EXPECT_EQ(layout.special.front(), static_cast<std::int64_t>(own));
  }
}

TEST_F(ZeroShot, OpenClipsSiglipHasItsTowersInOneFile) {
  NamedShapes shapes = family_shapes("open_clip_siglip_text");
  for (auto& [name, shape] : family_shapes("timm_siglip")) {
    shapes.emplace_back("visual.trunk." + name, shape);
  }
  const TemporaryFolder folder;
  write_hashed_safetensors(folder / "open_clip_model.safetensors", shapes);
  (void)folder.write("open_clip_config.json", R"({"model_cfg": {
      "embed_dim": 48, "init_logit_bias": -10, "custom_text": true,
      "vision_cfg": {"image_size": 32, "timm_model_name": "vit_so400m_patch16_siglip_256",
                     "timm_model_pretrained": false, "timm_pool": "map", "timm_proj": "none"},
      "text_cfg": {"context_length": 24, "vocab_size": 29, "width": 32, "heads": 2, "layers": 3,
                   "no_causal_mask": true, "proj_bias": true, "pool_type": "last",
                   "norm_kwargs": {"eps": 1e-6}}},
      "preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5],
                         "interpolation": "bicubic", "resize_mode": "squash"}})");
  const auto images = load_model(folder.path());
  const auto texts = load_model(folder.path(), {{{"input.kind", "tokens"}}, {}});
  const auto model = zero_shot_model(images, *texts, prompts_);
  const Trace trace = model->run(image_, model->spec().mechanism, {}, {});
  const Trace image = images->run(image_, images->spec().mechanism, {}, {});
  ASSERT_EQ(trace.logits.size(), 2);
  for (std::size_t i = 0; i < 2; ++i) {
    Input text;
    text.content = prompts_[i].text;
    const Trace read = texts->run(text, texts->spec().mechanism, {}, {});
    ASSERT_EQ(read.logits.size(), 48);
    EXPECT_NEAR(trace.logits.data()[i], cosine(image.features, read.logits), 1e-6) << i;
  }
}

TEST_F(ZeroShot, NeedsBothTowersAndPrompts) {
  const auto refused = [&](const std::shared_ptr<const Model>& images, const Model& texts,
                           const std::vector<ClassPrompt>& prompts, const std::string& part) {
    const Error error = refusal_of([&] { (void)zero_shot_model(images, texts, prompts); },
                                   testing::Message() << "not refused: " << part);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  };
  refused(images_, *texts_, {}, "needs prompts");
  refused(texts_, *texts_, prompts_, "no embedding in a space shared by");
  refused(images_, *images_, prompts_, "read texts at their end");
  const auto other = load_model(source_folder() + "/sample_data/models/fashion-softmax.h5");
  refused(other, *texts_, prompts_, "no embedding in a space shared by");
}

}  // namespace
}  // namespace attnscope
