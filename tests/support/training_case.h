// The networks of tests/data/training/make_training.py, made again.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "core/training/network.h"

namespace attnscope {

[[nodiscard]] ModelSpec training_spec(const nlohmann::json& one);
[[nodiscard]] GradientForms gradient_forms(const nlohmann::json& one);

/// The parameters' values, as the script makes them.
[[nodiscard]] std::vector<float> training_values(const nlohmann::json& one,
                                                 const ParameterTable& table);

/// `count` images or texts made of `seed`.
[[nodiscard]] Examples training_examples(const nlohmann::json& one, std::int64_t count,
                                         unsigned seed);

/// Those of `all` with these numbers.
[[nodiscard]] Examples chosen_examples(const Examples& all,
                                       const std::vector<std::int64_t>& numbers);

}  // namespace attnscope
