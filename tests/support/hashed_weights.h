// Weights made from a hash of their names, the same in C++ and in
// tests/data/models/make_reference.py. Large models can be compared with PyTorch without being
// committed.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

using NamedShapes = std::vector<std::pair<std::string, Shape>>;

/// Numbers in [-1, 1) that depend only on `name` and the index.
[[nodiscard]] std::vector<double> hashed_uniform(const std::string& name, std::int64_t count);

/// A weight, scaled according to the purpose that its name gives.
[[nodiscard]] Tensor hashed_weight(const std::string& name, const Shape& shape);

/// A normalised input made from a hash of `name`.
[[nodiscard]] Tensor hashed_input(const std::string& name, const Shape& shape);

/// A checkpoint in memory with hashed weights.
[[nodiscard]] Checkpoint hashed_checkpoint(const NamedShapes& shapes,
                                           std::map<std::string, std::string> metadata = {});

/// Writes hashed weights as a safetensors file; tensors in `given` replace them.
void write_hashed_safetensors(const std::filesystem::path& path, const NamedShapes& shapes,
                              const std::map<std::string, Tensor>& given = {});

}  // namespace attnscope
