#include "tests/support/hashed_weights.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace attnscope {

std::vector<double> hashed_uniform(const std::string& name, std::int64_t count) {
  std::uint64_t seed = 0xCBF29CE484222325U;
  for (const char byte : name) seed = (seed ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    z = z ^ (z >> 31);
    values[i] = static_cast<double>(z >> 40) / (1 << 23) - 1;
  }
  return values;
}

namespace {

/// True for a mask [.., T, T] with a name that is common for causal masks.
bool names_causal_mask(const std::string& name, const Shape& shape) {
  constexpr std::string_view endings[] = {".mask", ".tril", ".attn.bias", ".attention.bias"};
  return shape.size() >= 2 && shape.back() == shape[shape.size() - 2] &&
         std::ranges::any_of(endings, [&](auto ending) { return name.ends_with(ending); });
}

Tensor causal_mask(const Shape& shape) {
  Tensor mask(shape);
  const std::int64_t side = shape.back();
  for (std::int64_t i = 0; i < mask.size(); ++i) {
    mask.data()[i] = i % side <= i / side % side ? 1.0F : 0.0F;
  }
  return mask;
}

/// The type of a tensor in safetensors: bytes of quantised elements and their scales, or F32. A
/// tensor with factors next to it has numbers of 8 bits.
std::string type_of(const std::string& name, const NamedShapes& shapes) {
  if (name.ends_with("_blocks") || name.ends_with("_scales")) return "U8";
  const bool has_factors = std::ranges::find(shapes, name + "_scale_inv",
                                             &NamedShapes::value_type::first) != shapes.end();
  return has_factors ? "F8_E4M3" : "F32";
}

/// The bytes of hashed_bytes in make_reference.py.
std::vector<std::uint8_t> hashed_bytes(const std::string& name, std::int64_t count) {
  std::vector<std::uint8_t> bytes;
  for (const double u : hashed_uniform(name, count)) {
    auto byte = static_cast<std::uint8_t>(std::floor((u + 1) * 128));
    if (name.ends_with("_scales")) byte = static_cast<std::uint8_t>(byte % 4 + 121);
    if (name.ends_with("weight") && byte % 128 == 127) byte = 0;
    bytes.push_back(byte);
  }
  return bytes;
}

}  // namespace

Tensor hashed_weight(const std::string& name, const Shape& shape) {
  if (names_causal_mask(name, shape)) return causal_mask(shape);
  double scale = 0.5, offset = 0;
  if (shape.size() >= 2 && name.ends_with("weight")) {
    scale = 2.4 / std::sqrt(static_cast<double>(element_count(shape) / shape[0]));
  } else if (name.ends_with("weight")) {
    scale = 0.2;
    offset = 1;
  } else if (name.ends_with("bias")) {
    scale = 0.2;
  } else if (name.ends_with("running_var")) {
    offset = 1;
  } else if (name.ends_with("_scale_inv")) {
    scale = 0.001;
    offset = 0.002;
  } else if (name.ends_with("periods")) {
    scale = 2;
    offset = 3;
  }
  std::vector<float> values;
  for (const double u : hashed_uniform(name, element_count(shape))) {
    values.push_back(static_cast<float>(offset + scale * u));
  }
  return {shape, std::move(values)};
}

Tensor hashed_input(const std::string& name, const Shape& shape) {
  std::vector<float> values;
  for (const double u : hashed_uniform(name, element_count(shape))) {
    values.push_back(static_cast<float>(1.5 * u));
  }
  return {shape, std::move(values)};
}

Checkpoint hashed_checkpoint(const NamedShapes& shapes,
                             std::map<std::string, std::string> metadata) {
  std::vector<StoredTensor> tensors;
  for (const auto& [name, shape] : shapes) {
    tensors.push_back(
        {name, DType::f32, shape, 4 * element_count(shape), [name = name, shape = shape] {
           const auto values = std::make_shared<Tensor>(hashed_weight(name, shape));
           TensorView view;
           view.shape = shape;
           view.strides = TensorView::contiguous_strides(shape);
           view.data = reinterpret_cast<const std::byte*>(values->data());
           view.storage = values;
           return view;
         }});
  }
  return {"in memory", "test", std::move(tensors), std::move(metadata)};
}

void write_hashed_safetensors(const std::filesystem::path& path, const NamedShapes& shapes,
                              const std::map<std::string, Tensor>& given) {
  nlohmann::json header;
  std::int64_t offset = 0;
  for (const auto& [name, shape] : shapes) {
    const std::string type = given.contains(name) ? "F32" : type_of(name, shapes);
    const std::int64_t end = offset + (type == "F32" ? 4 : 1) * element_count(shape);
    header[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  const std::string text = header.dump();
  const auto length = static_cast<std::uint64_t>(text.size());
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(&length), 8);
  stream << text;
  for (const auto& [name, shape] : shapes) {
    const auto own = given.find(name);
    if (own == given.end() && type_of(name, shapes) != "F32") {
      const std::vector<std::uint8_t> bytes = hashed_bytes(name, element_count(shape));
      stream.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
      continue;
    }
    const Tensor tensor = own == given.end() ? hashed_weight(name, shape) : own->second;
    stream.write(reinterpret_cast<const char*>(tensor.data()),
                 static_cast<std::streamsize>(4 * tensor.size()));
  }
}

}  // namespace attnscope
