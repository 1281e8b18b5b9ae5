// Tensors and maps that the Python scripts under tests/data also make, bit for bit.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/tensor/tensor.h"
#include "tests/support/hashed_weights.h"

namespace attnscope {

class Mechanism;
struct RandomAttention;

/// (u >> 8) / 2²² − 2 from MT19937's raw output u: uniform in [−2, 2), exact in float32.
[[nodiscard]] Tensor raw_uniform(Shape shape, unsigned seed);

/// Queries, keys and values by raw_uniform from `seed`, the next seed and the one after it
/// (tests/support/naive_attention.h).
[[nodiscard]] RandomAttention raw_attention(std::int64_t n, std::int64_t heads, std::int64_t width,
                                            unsigned seed);

/// Expects a mechanism's map and output to be those of a case of make_softmax_sink.py or
/// make_score_weights.py, to 1e-5. The case is layer 2 of its model.
void expect_reference(const Mechanism& mechanism, const nlohmann::json& reference);

/// Rows of (1 + ‖q − k‖² / width)^−power, normalised, [n, n] in float32.
[[nodiscard]] Tensor kernel_map(std::int64_t n, std::int64_t width, std::int64_t power,
                                unsigned seed);

/// The tensors of a case of make_families.py: tests/data/models/families/`name`.json.
[[nodiscard]] NamedShapes family_shapes(const std::string& name);

/// The parsed file tests/data/`path`, read once and cached.
[[nodiscard]] const nlohmann::json& read_test_data(const std::string& path);

}  // namespace attnscope
