// The networks of tests/data/training/make_training.py in C++.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "core/training/network.h"

namespace attnscope {

[[nodiscard]] ModelSpec training_spec(const nlohmann::json& one);
[[nodiscard]] GradientForms gradient_forms(const nlohmann::json& one);

/// The values of the parameters, as in the script.
[[nodiscard]] std::vector<float> training_values(const nlohmann::json& one,
                                                 const ParameterTable& table);

/// `count` images or texts made from `seed`.
[[nodiscard]] Examples training_examples(const nlohmann::json& one, std::int64_t count,
                                         unsigned seed);

/// The examples of `all` with these indices.
[[nodiscard]] Examples chosen_examples(const Examples& all,
                                       const std::vector<std::int64_t>& numbers);

}  // namespace attnscope
