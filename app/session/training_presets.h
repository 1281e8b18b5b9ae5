// What the training panel offers: a few networks that are worth seeing side by side.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/parameters/parameters.h"

namespace attnscope {

/// One of the networks that learn side by side.
struct PresetVariant {
  std::string name;        ///< "adder + I"; as its folder and its subject are called
  ParameterValues recipe;  ///< what is not as a recipe has it by itself, but for the data set

  bool operator==(const PresetVariant&) const = default;
};

struct TrainingPreset {
  std::string name;  ///< "The Adder paper"
  std::string what;  ///< in one sentence
  bool of_texts = false;
  std::vector<PresetVariant> variants;
  std::string why_not = {};  ///< they cannot be trained today; empty: they can
};

inline constexpr std::size_t kMostVariants = 4;

/// In the order in which they are offered; those that cannot be trained say why.
[[nodiscard]] std::vector<TrainingPreset> training_presets();

/// The mechanisms that have a gradient, as a recipe names them, with or without identity mapping:
/// "softmax", "adder", "adder,identity=true", "hash,codes=sign".
[[nodiscard]] std::vector<std::string> trainable_mechanisms();

/// "adder + I" for "adder,identity=true", and with "adder layers" where these add, too.
[[nodiscard]] std::string variant_name(const ParameterValues& recipe);

/// Where Debian's package dataset-fashion-mnist puts the images; empty where it is not installed.
[[nodiscard]] std::filesystem::path fashion_mnist_folder();

}  // namespace attnscope
