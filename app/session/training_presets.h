// Presets of the training panel: sets of networks that are instructive to compare.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/parameters/parameters.h"

namespace attnscope {

/// One of the networks that are trained next to each other.
struct PresetVariant {
  std::string name;        ///< "adder + I"; also the name of its folder and its subject
  ParameterValues recipe;  ///< settings that differ from a recipe's defaults, without the data set

  bool operator==(const PresetVariant&) const = default;
};

struct TrainingPreset {
  std::string name;  ///< "The Adder paper"
  std::string what;  ///< one sentence
  bool of_texts = false;
  std::vector<PresetVariant> variants;
  std::string why_not = {};  ///< reason why they cannot be trained; empty if they can
};

inline constexpr std::size_t kMostVariants = 4;

/// The presets in menu order; those that cannot be trained give the reason.
[[nodiscard]] std::vector<TrainingPreset> training_presets();

/// The mechanisms that have a gradient, as a recipe names them, with and without identity mapping:
/// "softmax", "adder", "adder,identity=true", "hash,codes=sign".
[[nodiscard]] std::vector<std::string> trainable_mechanisms();

/// "adder + I" for "adder,identity=true", followed by ", adder layers" for adder linear layers.
[[nodiscard]] std::string variant_name(const ParameterValues& recipe);

/// variant_name of each recipe. Those of networks that differ in the width of their heads end with
/// it: "softmax, d = 16".
[[nodiscard]] std::vector<std::string> variant_names(const std::vector<ParameterValues>& recipes);

/// The recipe's `labels` for a data set whose path names Fashion-MNIST, whose files hold the
/// numbers of its classes only: "T-shirt/top,Trouser,…". Empty for any other.
[[nodiscard]] std::string labels_for(const std::string& data_set);

/// Folder of the images in Debian's package dataset-fashion-mnist; empty if it is not installed.
[[nodiscard]] std::filesystem::path fashion_mnist_folder();

}  // namespace attnscope
