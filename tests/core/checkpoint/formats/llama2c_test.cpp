// llama2.c files, written by this test in the order of llama2.c's export.py.
#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

#include "core/architecture/architecture.h"
#include "core/checkpoint/checkpoint.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

constexpr std::int64_t kLlamaWidth = 8, kLlamaHidden = 12, kLlamaLayers = 2, kLlamaHeads = 4,
                       kKeyHeads = 2, kWords = 10, kContext = 6, kKeys = 4;

template <class Number>
std::string packed(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string extents(std::int64_t words) {
  std::string bytes;
  for (const std::int64_t number :
       {kLlamaWidth, kLlamaHidden, kLlamaLayers, kLlamaHeads, kKeyHeads, words, kContext}) {
    bytes += packed(static_cast<std::int32_t>(number));
  }
  return bytes;
}

std::string stored_weight(const std::string& name, const Shape& shape) {
  const Tensor values = hashed_weight(name, shape);
  std::string bytes;
  for (std::int64_t i = 0; i < values.size(); ++i) bytes += packed(values.data()[i]);
  return bytes;
}

std::string of_layers(const std::string& name, const Shape& shape) {
  std::string bytes;
  for (std::int64_t i = 0; i < kLlamaLayers; ++i) {
    bytes += stored_weight("layers." + std::to_string(i) + "." + name + ".weight", shape);
  }
  return bytes;
}

std::string attention_weights() {
  return of_layers("attention.wq", {kLlamaWidth, kLlamaWidth}) +
         of_layers("attention.wk", {kKeys, kLlamaWidth}) +
         of_layers("attention.wv", {kKeys, kLlamaWidth}) +
         of_layers("attention.wo", {kLlamaWidth, kLlamaWidth});
}

std::string mlp_weights() {
  return of_layers("feed_forward.w1", {kLlamaHidden, kLlamaWidth}) +
         of_layers("feed_forward.w2", {kLlamaWidth, kLlamaHidden}) +
         of_layers("feed_forward.w3", {kLlamaHidden, kLlamaWidth});
}

std::string words_of(const char* name) { return stored_weight(name, {kWords, kLlamaWidth}); }

std::string version0() {
  return extents(-kWords) + words_of("tok_embeddings.weight") +
         of_layers("attention_norm", {kLlamaWidth}) + attention_weights() +
         of_layers("ffn_norm", {kLlamaWidth}) + mlp_weights() +
         stored_weight("norm.weight", {kLlamaWidth}) + stored_weight("freqs_cos", {kContext, 1}) +
         stored_weight("freqs_sin", {kContext, 1}) + words_of("output.weight");
}

std::string llama_header(std::int32_t version, char shared) {
  std::string bytes =
      packed(std::uint32_t{0x616b3432}) + packed(version) + extents(kWords) + shared;
  bytes.resize(256, '\0');
  return bytes;
}

std::string version1() {
  return llama_header(1, 1) + of_layers("attention_norm", {kLlamaWidth}) +
         of_layers("ffn_norm", {kLlamaWidth}) + stored_weight("norm.weight", {kLlamaWidth}) +
         words_of("tok_embeddings.weight") + attention_weights() + mlp_weights();
}

void expect_meta_llama(const Checkpoint& checkpoint) {
  EXPECT_EQ(checkpoint.format(), "llama2c");
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    const bool shared =
        tensor.name == "output.weight" && checkpoint.metadata().at("version") == "1";
    const Tensor expected =
        hashed_weight(shared ? "tok_embeddings.weight" : tensor.name, tensor.shape);
    const Tensor found = tensor.view().to_float();
    EXPECT_TRUE(std::ranges::equal(found.values(), expected.values())) << tensor.name;
  }
  const Architecture found = recognise_architecture(checkpoint);
  EXPECT_EQ(found.name, "Meta Llama");
  EXPECT_EQ(found.spec.layers, kLlamaLayers);
  EXPECT_EQ(found.spec.layer.attention.heads, kLlamaHeads);
  EXPECT_EQ(found.spec.layer.attention.key_heads, kKeyHeads);
  EXPECT_EQ(found.spec.input.vocabulary, kWords);
}

TEST(Llama2c, ReadsBothVersionsUnderMetasNames) {
  const TemporaryFolder folder;
  expect_meta_llama(open_checkpoint(folder.write("v0.bin", version0())));
  expect_meta_llama(open_checkpoint(folder.write("v1.bin", version1())));
}

TEST(Llama2c, RefusesQuantisedAndTruncatedFiles) {
  const TemporaryFolder folder;
  const auto quantised = folder.write("v2.bin", llama_header(2, 1) + std::string(500, '\1'));
  expect_refusal([&] { return open_checkpoint(quantised); }, ErrorKind::unsupported, "quantised",
                 quantised);
  const auto cut = folder.write("v1.bin", version1().substr(0, 1000));
  expect_refusal([&] { return open_checkpoint(cut); }, ErrorKind::damaged,
                 "do not fit the number of bytes", cut);
  const auto unknown = folder.write("v0.bin", version0() + "?");
  expect_refusal([&] { return open_checkpoint(unknown); }, ErrorKind::not_this_format, "torch.save",
                 unknown);
}

}  // namespace
}  // namespace attnscope
