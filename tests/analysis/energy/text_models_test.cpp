// The cost of encoder–decoder models and of encoders of texts and sounds, against counts by hand
// and against published numbers of parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/energy/accounting.h"
#include "analysis/energy/architecture.h"
#include "core/error.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

NetworkCost counted_text(const Network& network, CostConvention convention) {
  AccountingOptions options;
  options.convention = convention;
  options.mechanism = network.mechanism;
  return count_operations(network, options);
}

std::int64_t learned_numbers_of(const Network& network) {
  AccountingOptions options;
  options.mechanism = network.mechanism;
  options.native_attention = network.native_attention;
  std::int64_t sum = 0;
  for (const ParameterCount& count : count_parameters(network, options)) sum += count.parameters;
  return sum;
}

OperationCount component_of(const NetworkCost& cost, const std::string& name) {
  OperationCount sum;
  for (const ComponentCost& one : cost.by_component()) {
    if (one.count.component == name) accumulate(sum, one.count);
  }
  return sum;
}

ModelSpec text_spec(std::int64_t width, std::int64_t layers, std::int64_t heads,
                    std::int64_t vocabulary) {
  ModelSpec spec;
  spec.input.kind = InputKind::tokens;
  spec.input.class_tokens = 0;
  spec.input.patch_height = spec.input.patch_width = 0;
  spec.input.vocabulary = vocabulary;
  spec.width = width;
  spec.layers = layers;
  spec.layer.attention.heads = heads;
  spec.layer.mlp.width = 4 * width;
  return spec;
}

/// T5-small.
ModelSpec t5_spec() {
  ModelSpec spec = text_spec(512, 18, 8, 32128);
  spec.positions.kind = Positions::none;
  spec.layer.norm.kind = Norm::rms;
  spec.layer.scores = {.scale = {ScoreScale::Rule::number, 1}, .bias = ScoreBias::buckets};
  spec.layer.mlp.activation = Activation::relu;
  spec.tail = {.kind = Tail::decoder, .blocks = 6, .start_token = 0};
  spec.readout.kind = Readout::next_token;
  spec.readout.logit_scale = 0;
  validate(spec);
  return spec;
}

WeightExtents t5_weights() {
  WeightExtents weights;
  weights.tied_head = true;
  weights.head_biases = weights.linear_biases = weights.output_biases = false;
  weights.query_key_value_biases = false;
  weights.encoder_norm = true;
  return weights;
}

constexpr std::int64_t kRead = 64;

Network t5() { return architecture_of(t5_spec(), "t5", kRead, -1, t5_weights()); }

TEST(EncoderDecoderEnergy, ParametersOfT5AreThosePublished) {
  EXPECT_EQ(learned_numbers_of(t5()), 60'506'624);  // transformers' t5-small
}

TEST(EncoderDecoderEnergy, ProductsOfT5AreCountedByHand) {
  constexpr std::int64_t n = kRead, d = 512, linear = n * d * d;
  constexpr std::int64_t attention = 4 * linear + 2 * n * n * d, mlp = 8 * linear;
  const NetworkCost cost = counted_text(t5(), CostConvention::adder);
  EXPECT_EQ(cost.total().multiplications,
            6 * (attention + mlp) + 6 * (2 * attention + mlp) + n * d * 32128);
  // The odd layers of the decoder are the cross-attention layers, and only they have an MLP.
  ASSERT_EQ(cost.parts.back().name, "head");
  std::int64_t with_mlp = 0;
  for (const PartCost& part : cost.parts) {
    for (const ComponentCost& one : part.components) {
      if (one.count.component != "FFN in") continue;
      ++with_mlp;
      EXPECT_TRUE(part.layer < 6 || part.layer % 2 == 1) << part.layer;
    }
  }
  EXPECT_EQ(with_mlp, 12);
}

TEST(EncoderDecoderEnergy, ScoresOfT5HaveABiasAndNoScale) {
  const NetworkCost cost = counted_text(t5(), CostConvention::complete);
  constexpr std::int64_t scores = 8 * kRead * kRead;
  EXPECT_EQ(component_of(cost, "softmax").multiplications, 0);
  EXPECT_EQ(component_of(cost, "softmax").exponentials, 18 * scores);
  EXPECT_EQ(component_of(cost, "position bias").additions, 12 * scores)
      << "none of cross attention";
  // A norm multiplies x by itself, by the inverse root and by the gain: 3·D products per token.
  // There are 30 norms in the layers and two at the ends of the stacks.
  EXPECT_EQ(component_of(cost, "normalisation").multiplications, 32 * 3 * kRead * 512);
  EXPECT_EQ(component_of(cost, "normalisation").additions, 32 * kRead * 513);
  EXPECT_EQ(component_of(cost, "head").multiplications, kRead * 512 * 32128 + kRead * 512);
}

TEST(EncoderDecoderEnergy, CrossAttentionAsksTheEncodersTokens) {
  Network network = t5();
  network.stages[1].tokens = 5;
  network.head_tokens = 5;
  const NetworkCost cost = counted_text(network, CostConvention::adder);
  constexpr std::int64_t n = kRead, m = 5, d = 512;
  EXPECT_EQ(component_of(cost, "scores").multiplications, 6 * d * (n * n + m * m + m * n));
  EXPECT_EQ(component_of(cost, "key projection").multiplications, 6 * d * d * (n + m + n));
  EXPECT_EQ(component_of(cost, "query projection").multiplications, 6 * d * d * (n + m + m));
}

TEST(EncoderDecoderEnergy, AGatedMlpHasAThirdLayerAndAProduct) {
  ModelSpec spec = t5_spec();
  spec.layer.mlp = {.form = MlpForm::gated, .width = 1024, .activation = Activation::gelu_tanh};
  const Network network = architecture_of(spec, "t5 1.1", kRead, -1, t5_weights());
  const NetworkCost cost = counted_text(network, CostConvention::complete);
  EXPECT_EQ(component_of(cost, "FFN gate").multiplications, 12 * kRead * 512 * 1024);
  EXPECT_EQ(component_of(cost, "gate").multiplications, 12 * kRead * 1024);
  // A layer has 3 · 512 · 1024 parameters in place of 2 · 512 · 2048.
  EXPECT_EQ(learned_numbers_of(network), 60'506'624 - 12 * 512 * 1024);
}

/// A language model of RMS norms, gated MLPs and rotary positions, such as Llama.
struct LlamaExtents {
  std::int64_t width, layers, heads, key_heads, hidden, vocabulary;
};

ModelSpec llama_spec(const LlamaExtents& of) {
  ModelSpec spec = text_spec(of.width, of.layers, of.heads, of.vocabulary);
  spec.input.context = 4096;
  spec.positions.kind = Positions::none;
  spec.layer.norm.kind = Norm::rms;
  spec.layer.scores.causal = true;
  spec.layer.attention.key_heads = of.key_heads;
  spec.layer.rotary.form = Rotary::half;
  spec.layer.mlp = {.form = MlpForm::gated, .width = of.hidden, .activation = Activation::silu};
  spec.readout.kind = Readout::next_token;
  return spec;
}

WeightExtents llama_weights() {
  WeightExtents weights;
  weights.head_biases = weights.linear_biases = weights.output_biases = false;
  weights.query_key_value_biases = false;
  return weights;
}

std::int64_t learned_numbers_of(const ModelSpec& spec, const WeightExtents& weights) {
  return learned_numbers_of(architecture_of(spec, "model", kRead, -1, weights));
}

TEST(LanguageModelEnergy, ParametersAreThosePublished) {
  const WeightExtents weights = llama_weights();
  EXPECT_EQ(learned_numbers_of(llama_spec({4096, 32, 32, 0, 11008, 32000}), weights), 6'738'415'616)
      << "Llama 2 7B";
  EXPECT_EQ(learned_numbers_of(llama_spec({2048, 22, 32, 4, 5632, 32000}), weights), 1'100'048'384)
      << "TinyLlama 1.1B";
  ModelSpec qwen = llama_spec({1024, 28, 16, 8, 3072, 151936});
  qwen.layer.attention.head_width = 128;
  WeightExtents qwen_weights = weights;
  qwen_weights.query_norm = 128;
  qwen_weights.tied_head = true;
  EXPECT_EQ(learned_numbers_of(qwen, qwen_weights), 596'049'920) << "Qwen3 0.6B";
  ModelSpec mixtral = llama_spec({4096, 32, 32, 8, 14336, 32000});
  mixtral.layer.mlp.experts = 8;
  EXPECT_EQ(learned_numbers_of(mixtral, weights), 46'702'792'704) << "Mixtral 8x7B";
  ModelSpec phi = llama_spec({2560, 32, 32, 0, 10240, 51200});
  phi.layer.norm.kind = Norm::layer;
  phi.layer.residual = Residual::parallel;
  phi.layer.rotary.width = 32;
  phi.layer.mlp = {.width = 10240, .activation = Activation::gelu_tanh};
  WeightExtents phi_weights;
  phi_weights.mlp_norm = false;
  EXPECT_EQ(learned_numbers_of(phi, phi_weights), 2'779'683'840) << "Phi-2";
}

TEST(LanguageModelEnergy, GroupedKeysAndRotaryPositionsAreCountedByHand) {
  const ModelSpec spec = llama_spec({64, 3, 8, 2, 96, 100});
  WeightExtents weights = llama_weights();
  weights.query_norm = 8;
  const NetworkCost cost =
      counted_text(architecture_of(spec, "small", kRead, -1, weights), CostConvention::complete);
  constexpr std::int64_t n = kRead, layers = 3;
  EXPECT_EQ(component_of(cost, "query projection").multiplications, layers * n * 64 * 64);
  EXPECT_EQ(component_of(cost, "key projection").multiplications, layers * n * 64 * 16);
  EXPECT_EQ(component_of(cost, "value projection").multiplications, layers * n * 64 * 16);
  EXPECT_EQ(component_of(cost, "scores").multiplications, layers * n * n * 64) << "as of all heads";
  EXPECT_EQ(component_of(cost, "rotary positions").multiplications, layers * n * 2 * (64 + 16));
  EXPECT_EQ(component_of(cost, "rotary positions").additions, layers * n * (64 + 16));
  EXPECT_EQ(component_of(cost, "norms of queries and keys").multiplications,
            layers * n * 3 * (64 + 16));
}

TEST(LanguageModelEnergy, EachTokenPassesThroughItsExperts) {
  ModelSpec spec = llama_spec({64, 3, 8, 2, 96, 100});
  spec.layer.mlp.experts = 16;
  spec.layer.mlp.active_experts = 4;
  spec.layer.mlp.shared_width = 32;
  const auto cost_for = [&](std::int64_t tokens) {
    return counted_text(architecture_of(spec, "small", tokens, -1, llama_weights()),
                        CostConvention::complete);
  };
  const NetworkCost cost = cost_for(kRead);
  constexpr std::int64_t n = kRead, layers = 3;
  EXPECT_EQ(component_of(cost, "FFN in").multiplications, layers * n * 64 * (4 * 96 + 32));
  EXPECT_EQ(component_of(cost, "FFN gate").multiplications, layers * n * 64 * (4 * 96 + 32));
  EXPECT_EQ(component_of(cost, "router").exponentials, layers * n * 16);
  EXPECT_EQ(component_of(cost, "router").multiplications, layers * n * (64 * 16 + 4 * 64));
  // The weights of 16 experts are read for 64 tokens, of 4 experts for one.
  const auto moved = [](std::int64_t tokens, std::int64_t read) {
    return 4 * layers * (tokens * (4 * (64 + 96) + 64 + 32) + read * 64 * 96 + 64 * 32);
  };
  EXPECT_EQ(component_of(cost, "FFN out").bytes_moved, moved(n, 16));
  EXPECT_EQ(component_of(cost_for(1), "FFN out").bytes_moved, moved(1, 4));
}

TEST(LanguageModelEnergy, WindowsMustBeAsLongAsTheInput) {
  ModelSpec spec = llama_spec({64, 3, 8, 2, 96, 100});
  spec.layer.scores.window = 48;
  EXPECT_NO_THROW((void)architecture_of(spec, "small", 48));
  EXPECT_THAT(
      error_of([&] { return architecture_of(spec, "small", 49); }),
      testing::AllOf(testing::HasSubstr("windows shorter than the input"),
                     testing::HasSubstr("at most 48 tokens"), testing::HasSubstr("--tokens 48")));
}

/// BART-base.
ModelSpec bart_spec() {
  ModelSpec spec = text_spec(768, 18, 12, 50265);
  spec.input.context = 1024;
  spec.positions = {.kind = Positions::learned, .offset = 2};
  spec.layer.norm = {.position = NormPosition::post, .eps = 1e-5};
  spec.tail = {.kind = Tail::decoder, .blocks = 6, .context = 1024, .start_token = 2};
  spec.readout.kind = Readout::next_token;
  spec.readout.final_norm = false;
  validate(spec);
  return spec;
}

WeightExtents bart_weights() {
  WeightExtents weights;
  weights.tied_head = true;
  weights.head_biases = false;
  weights.embedding_norm = true;
  weights.final_norm = false;
  return weights;
}

TEST(EncoderDecoderEnergy, ParametersOfBartAreThosePublished) {
  EXPECT_EQ(learned_numbers_of(architecture_of(bart_spec(), "bart", 0, -1, bart_weights())),
            139'420'416);  // transformers' bart-base
}

TEST(EncoderDecoderEnergy, EveryTokenOfBartHasAPositionAndTwoOrThreeNormsALayer) {
  const Network network = architecture_of(bart_spec(), "bart", kRead, -1, bart_weights());
  EXPECT_EQ(network.stages[1].tokens, kRead);
  const NetworkCost cost = counted_text(network, CostConvention::complete);
  EXPECT_EQ(component_of(cost, "position embedding").additions, 2 * kRead * 768);
  EXPECT_EQ(component_of(cost, "normalisation").divisions, (2 + 12 + 18) * 3 * kRead);
  EXPECT_EQ(architecture_of(bart_spec(), "bart", 0, -1, bart_weights()).stages[1].tokens, 1024);
}

TEST(EncoderDecoderEnergy, NeedsTheTokenCountOfT5) {
  EXPECT_THAT(error_of([&] { (void)architecture_of(t5_spec(), "t5", 0, -1, t5_weights()); }),
              testing::HasSubstr("--tokens"));
}

TEST(EncoderEnergy, ParametersOfBertAreThosePublished) {
  ModelSpec spec = text_spec(768, 12, 12, 30522);
  spec.input.context = 512;
  spec.input.token_types = 2;
  spec.layer.norm = {.position = NormPosition::post, .eps = 1e-12};
  spec.readout.kind = Readout::pooler;
  spec.readout.final_norm = false;
  validate(spec);
  WeightExtents weights;
  weights.embedding_norm = true;
  weights.final_norm = false;
  const Network network = architecture_of(spec, "bert", 0, -1, weights);
  EXPECT_EQ(learned_numbers_of(network), 109'482'240);  // transformers' bert-base-uncased
  const NetworkCost cost = counted_text(network, CostConvention::complete);
  EXPECT_EQ(component_of(cost, "pooler").multiplications, 768 * 768);
  EXPECT_EQ(component_of(cost, "type embedding").additions, 512 * 768);
  ModelSpec narrower = spec;
  narrower.input.width = 128;  // ELECTRA, ALBERT
  EXPECT_THROW((void)architecture_of(narrower, "electra", 0, -1, weights), Error);
  spec.readout.kind = Readout::masked_token;
  EXPECT_THROW((void)architecture_of(spec, "bert", 0, -1, weights), Error);
}

/// Whisper-tiny's encoder.
Network whisper() {
  ModelSpec spec;
  spec.input.kind = InputKind::audio;
  spec.input.class_tokens = 0;
  spec.input.patch_height = spec.input.patch_width = 0;
  spec.input.channels = 80;
  spec.input.context = 1500;
  spec.width = 384;
  spec.layers = 4;
  spec.layer.attention.heads = 6;
  spec.layer.mlp.width = 1536;
  spec.readout.kind = Readout::none;
  validate(spec);
  WeightExtents weights;
  weights.key_biases = false;
  return architecture_of(spec, "whisper", 0, -1, weights);
}

TEST(SoundEnergy, ParametersOfWhispersEncoderAreThosePublished) {
  EXPECT_EQ(learned_numbers_of(whisper()),
            7'632'384 + 1500 * 384);  // openai's model, with its sinusoids
}

TEST(SoundEnergy, BothConvolutionsAreCounted) {
  const NetworkCost cost = counted_text(whisper(), CostConvention::complete);
  EXPECT_EQ(component_of(cost, "sound embedding").multiplications,
            3000 * 3 * 80 * 384 + 1500 * 3 * 384 * 384);
  EXPECT_EQ(component_of(cost, "activation").exponentials, 4500 * 384 + 4 * 1500 * 1536);
  // Queries and values have biases; keys do not.
  EXPECT_EQ(component_of(cost, "query projection").additions -
                component_of(cost, "key projection").additions,
            4 * 1500 * 384);
}

}  // namespace
}  // namespace attnscope
