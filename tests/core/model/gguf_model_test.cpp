// GGUF files with llama.cpp's names give the results of the same models with Hugging Face's names.
// tests/data/models/make_gguf_models.py makes the files and PyTorch's results.
#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/architecture/architecture.h"
#include "core/checkpoint/checkpoint.h"
#include "core/file/read_file.h"
#include "core/model/model.h"
#include "tests/support/expected_maps.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

const std::filesystem::path kGgufData = source_folder() + "/tests/data/models";

Input of_text(Text text) {
  Input input;
  input.content = std::move(text);
  return input;
}

struct GgufCase {
  const char* name;
  const char* reference;  // in kGgufData
  const char* architecture = "GGUF language model";
};

class GgufModel : public testing::TestWithParam<GgufCase> {};

TEST_P(GgufModel, AgreesWithPyTorch) {
  const Checkpoint expected = open_checkpoint(kGgufData / GetParam().reference);
  const auto model = load_model(kGgufData / "gguf" / (std::string(GetParam().name) + ".gguf"));
  EXPECT_EQ(model->architecture(), GetParam().architecture);
  EXPECT_EQ(model->name(), GetParam().name);
  TraceRequest request;
  request.token_logits = true;
  const Text ids{{}, read_test_data("models/families/hugging_face_llama.json")["ids"]};
  const Trace trace = model->run(of_text(ids), model->spec().mechanism, request, {});
  const Tensor output = expected.at("output").view().to_float();
  ASSERT_EQ(trace.token_logits.size(), output.size());
  // Six layers of Gemma 3 change logits of 9 by 1.5e-5 if the weights change by their rounding.
  const float tolerance = std::max(1e-5F, 4e-6F * output.matrix().cwiseAbs().maxCoeff());
  for (std::int64_t i = 0; i < output.size(); ++i) {
    ASSERT_NEAR(trace.token_logits.data()[i], output.data()[i], tolerance) << i;
  }
  expect_map_rows(trace, expected);
}

constexpr const char* kMixture = "GGUF mixture of experts";
constexpr const char* kLatent = "GGUF latent attention";

INSTANTIATE_TEST_SUITE_P(
    All, GgufModel,
    testing::Values(GgufCase{"llama", "families/hugging_face_llama.npz"},
                    GgufCase{"llama3", "families/hugging_face_llama3.npz"},
                    GgufCase{"llama_q8_0", "gguf/llama_q8_0.npz"},
                    GgufCase{"qwen2", "gguf/qwen2.npz"},
                    GgufCase{"qwen3", "families/hugging_face_qwen3.npz"},
                    GgufCase{"gemma", "families/hugging_face_gemma.npz"},
                    GgufCase{"gemma2", "gguf/gemma2.npz"}, GgufCase{"gemma3", "gguf/gemma3.npz"},
                    GgufCase{"mixtral", "families/hugging_face_mixtral.npz", kMixture},
                    GgufCase{"mixtral_q8_0", "gguf/mixtral_q8_0.npz", kMixture},
                    GgufCase{"mixtral_q8_0_apart", "gguf/mixtral_q8_0.npz", kMixture},
                    GgufCase{"qwen3moe", "gguf/qwen3moe.npz", kMixture},
                    GgufCase{"gpt_oss_mxfp4", "gguf/gpt_oss_mxfp4.npz", "GGUF gpt-oss"},
                    GgufCase{"deepseek2", "families/hugging_face_deepseek_v2_lite.npz", kLatent},
                    GgufCase{"deepseek2_apart", "gguf/deepseek2_apart.npz", kLatent}),
    [](const auto& each) { return std::string(each.param.name); });

/// A copy of a GGUF file with some bytes replaced.
class ChangedGguf : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path with(const std::string& before, const std::string& after,
                                           const std::string& file = "llama") const {
    std::string bytes = read_file(kGgufData / "gguf" / (file + ".gguf"), 1 << 20);
    const std::size_t at = bytes.find(before);
    EXPECT_NE(at, std::string::npos) << before;
    EXPECT_EQ(before.size(), after.size());
    return folder_.write("changed.gguf", bytes.replace(at, after.size(), after));
  }

  void expect_refused(const std::string& before, const std::string& after, ErrorKind kind,
                      const std::string& part, const std::string& file = "llama") const {
    const std::filesystem::path path = with(before, after, file);
    expect_refusal([&] { return load_model(path); }, kind, part, path);
  }

  const TemporaryFolder folder_;
};

TEST_F(ChangedGguf, KeysAreHonouredOrRefused) {
  using enum ErrorKind;
  expect_refused("llama.rope.freq_base", "llama.rope.freq_bass", unsupported, "freq_bass");
  expect_refused("rms_epsilon", "rms_epsilom", damaged, "layer_norm_rms_epsilon");
  // The bytes are the length of a text and the text.
  expect_refused(std::string("\5\0\0\0\0\0\0\0llama", 13), std::string("\5\0\0\0\0\0\0\0mamba", 13),
                 unsupported, "mamba");
  expect_refused("qwen2.rope.scaling.typ", "qwen2.rope.scaling.tip", unsupported, "tip", "qwen2");
  expect_refused("linear", "clever", unsupported, "clever", "qwen2");
  expect_refused("llama.expert_used_count", "llama.expert_uses_count", damaged, "expert_used_count",
                 "mixtral");
  expect_refused("expert_feed_forward_length", "expert_feed_forward_widths", unsupported,
                 "expert_feed_forward_widths", "qwen3moe");
  expect_refused("gemma2.attn_logit_soft", "gemma2.attn_logit_hard", damaged, "softcapping",
                 "gemma2");
  ModelOptions options;
  options.overrides["ignore"] = "config.llama.rope.freq_bass";
  EXPECT_NO_THROW((void)load_model(with("llama.rope.freq_base", "llama.rope.freq_bass"), options));
}

TEST_F(ChangedGguf, KeysOfExpertsAndLatentsAreHonouredOrRefused) {
  using enum ErrorKind;
  const std::string file = "deepseek2_apart";
  // The bytes are the key, its type (a whole number of 32 bits), and sigmoid or softmax.
  const std::string key = "expert_gating_func" + std::string("\4\0\0\0", 4);
  expect_refused(key + '\2', key + '\1', damaged, "router_correction", file);
  expect_refused(key + '\2', key + '\3', unsupported, "softmax", file);
  expect_refused("expert_group_count", "expert_group_coumt", unsupported, "coumt", file);
  expect_refused("yarn_log_multiplier", "yarn_log_multiplies", damaged, "yarn_log_multiplier",
                 file);
  expect_refused("expert_shared_count", "expert_shared_coumt", damaged, "expert_shared_count",
                 file);
  expect_refused("attn_kv_a_norm", "attn_kv_b_norm", unsupported, "attn_kv_a_norm", file);
  expect_refused("gpt-oss.attention.sliding_window", "gpt-oss.attention.sliding_widths", damaged,
                 "sliding_window", "gpt_oss_mxfp4");
  const std::string layers = "gpt-oss.block_count" + std::string("\4\0\0\0", 4);
  expect_refused(layers + std::string("\2\0\0\0", 4), layers + "\xff\xff\xff\xff", damaged,
                 "block_count", "gpt_oss_mxfp4");
  const auto assumed = load_model(kGgufData / "gguf" / "deepseek2.gguf")->assumptions();
  EXPECT_TRUE(std::ranges::any_of(assumed, [](const Assumption& each) {
    return each.option == "layer.mlp.expert_groups";
  })) << "no key of the file gives groups";
}

TEST_F(ChangedGguf, RefusesTensorsOfAnotherArchitecture) {
  using enum ErrorKind;
  expect_refused("blk.1.ffn_up", "blk.1.ffn_xp", unsupported, "blk.1.ffn_up.weight");
  expect_refused("rope_freqs", "rope_freqz", unsupported, "rope_freqz", "llama3");
  expect_refused("blk.0.post_attention_norm", "blk.0.past_attention_norm", unsupported,
                 "post_attention_norm", "gemma2");
}

TEST(GgufModelText, IsSplitByTheTokenizerInside) {
  const auto model = load_model(kGgufData / "gguf" / "llama.gguf");
  EXPECT_EQ(model->spec().input.tokenizer, Tokenizer::file);
  const Trace trace = model->run(of_text({"that the cat", {}}), model->spec().mechanism, {}, {});
  EXPECT_EQ(trace.layout.texts,
            (std::vector<std::string>{"<s>", "th", "at", " the", " ", "c", "at"}));
  EXPECT_EQ(trace.layout.special, (std::vector<std::int64_t>{0}));
  EXPECT_TRUE(model->assumptions().size() <= 1) << "only what it was trained with is assumed";
}

TEST_F(ChangedGguf, ATokenizerThatIsNotKnownLeavesIds) {
  const auto model = load_model(with("gpt-2", "gpt-9"));
  const auto run = [&](Text text) {
    return model->run(of_text(std::move(text)), model->spec().mechanism, {}, {});
  };
  EXPECT_EQ(run({{}, {1, 2}}).layout.texts[1], "2");
  expect_refusal(
      [&] {
        return run({"that", {}});
      },
      ErrorKind::unsupported, "gpt-9", "tokenizer.ggml.pre");
}

}  // namespace
}  // namespace attnscope
