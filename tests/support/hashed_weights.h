// Weights made from a hash of their names, the same in C++ and in tests/data/models/
// make_reference.py: large models need not be committed to be compared with PyTorch.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

using NamedShapes = std::vector<std::pair<std::string, Shape>>;

/// Numbers in [-1, 1) made from `name` and the index alone.
[[nodiscard]] std::vector<double> hashed_uniform(const std::string& name, std::int64_t count);

/// A weight, scaled by what its name says it is for.
[[nodiscard]] Tensor hashed_weight(const std::string& name, const Shape& shape);

/// An input, already normalised.
[[nodiscard]] Tensor hashed_input(const std::string& name, const Shape& shape);

/// A checkpoint in memory, of hashed weights.
[[nodiscard]] Checkpoint hashed_checkpoint(const NamedShapes& shapes,
                                           std::map<std::string, std::string> metadata = {});

/// The same as a safetensors file, but for the tensors in `given`.
void write_hashed_safetensors(const std::filesystem::path& path, const NamedShapes& shapes,
                              const std::map<std::string, Tensor>& given = {});

}  // namespace attnscope
