// A model with numbered ONNX weights, described by the nodes that use them.
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/checkpoint/checkpoint.h"
#include "core/model/model.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

/// A length-delimited field.
std::string field(std::uint64_t number, const std::string& content) {
  return varint(number << 3 | 2) + varint(content.size()) + content;
}

std::string initialiser(const std::string& name, const Tensor& tensor) {
  std::string message;
  for (const std::int64_t extent : tensor.shape()) {
    message += varint(1 << 3) + varint(static_cast<std::uint64_t>(extent));
  }
  message += varint(2 << 3) + varint(1);  // data type float
  std::string bytes(static_cast<std::size_t>(tensor.size()) * sizeof(float), '\0');
  std::memcpy(bytes.data(), tensor.data(), bytes.size());
  return field(5, message + field(8, name) + field(9, bytes));
}

/// nanoGPT's blocks as PyTorch exports them: matrices are transposed and numbered, other tensors
/// keep their names.
std::string exported_nano_gpt() {
  std::string nodes, initialisers;
  int number = 100;
  for (const auto& [name, shape] : family_shapes("nanogpt")) {
    const Tensor tensor = hashed_weight(name, shape);
    const bool product = name.find(".c_") != std::string::npos || name == "lm_head.weight";
    if (!product) {
      initialisers += initialiser(name, tensor);
      continue;
    }
    Tensor turned({shape[1], shape[0]});
    turned.matrix() = tensor.matrix().transpose();
    const std::string numbered = "onnx::MatMul_" + std::to_string(++number);
    initialisers += initialiser(numbered, turned);
    // The node's name is, for example, "/transformer/h.0/attn/c_attn/MatMul".
    std::string path = "/" + name.substr(0, name.rfind('.'));
    for (std::size_t at = path.find('.'); at != std::string::npos; at = path.find('.', at + 1)) {
      const bool of_number = std::isdigit(static_cast<unsigned char>(path[at + 1])) != 0;
      if (!of_number) path[at] = '/';
    }
    nodes += field(1, field(1, "x") + field(1, numbered) + field(3, path + "/MatMul"));
  }
  return varint(1 << 3) + varint(8) + field(7, nodes + field(2, "main_graph") + initialisers);
}

TEST(OnnxModel, RunsByADescriptionOfItsNodes) {
  const TemporaryFolder folder;
  const auto path = folder.write("model.onnx", exported_nano_gpt());
  const auto turned = [](const char* pattern) {
    return nlohmann::json{{"pattern", pattern}, {"transposed", true}};
  };
  const nlohmann::json description = {
      {"name", "exported nanoGPT"},
      {"like", "minGPT or nanoGPT"},
      {"tensors",
       {{"layer.qkv", nullptr},
        {"layer.qkv.weight", turned("transformer/h.{layer}/attn/c_attn/MatMul")},
        {"layer.out", nullptr},
        {"layer.out.weight", turned("transformer/h.{layer}/attn/c_proj/MatMul")},
        {"layer.mlp1", nullptr},
        {"layer.mlp1.weight", turned("transformer/h.{layer}/mlp/c_fc/MatMul")},
        {"layer.mlp2", nullptr},
        {"layer.mlp2.weight", turned("transformer/h.{layer}/mlp/c_proj/MatMul")},
        {"head", nullptr},
        {"head.weight", turned("lm_head/MatMul")},
        {"positions", "transformer.wpe"},
        {"token_embedding", "transformer.wte"},
        {"layer.norm1", "transformer.h.{layer}.ln_1"},
        {"layer.norm2", "transformer.h.{layer}.ln_2"},
        {"final_norm", "transformer.ln_f"}}}};
  const auto model =
      load_model(path, {{{"heads", "4"}}, folder.write("description.json", description.dump())});
  Input input;
  input.content = Text{
      {}, read_test_data("models/families/nanogpt.json")["ids"].get<std::vector<std::int64_t>>()};
  TraceRequest request;
  request.token_logits = true;
  const Trace trace = model->run(input, model->spec().mechanism, request, {});
  const Tensor expected =
      open_checkpoint(source_folder() + "/tests/data/models/families/nanogpt.npz")
          .at("output")
          .view()
          .to_float();
  ASSERT_EQ(trace.token_logits.size(), expected.size());
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(trace.token_logits.data()[i], expected.data()[i], 1e-5F) << i;
  }
}

}  // namespace
}  // namespace attnscope
