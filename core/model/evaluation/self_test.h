// Compares a model with the results of its authors' code, a check that it was loaded correctly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/model/model.h"

namespace attnscope {

/// The result of a comparison with a reference. Differences are the greatest |ours − reference|,
/// relative to the greatest |reference| of the same tensor.
struct SelfTest {
  std::filesystem::path file;  ///< the reference file
  std::int64_t inputs = 0;
  double difference = 0;  ///< the greatest difference of all parts; infinite if a value is NaN
  /// The first part, in the order of the computation, that differs by more than rounding, such as
  /// "layer 2, attention maps". Empty if all parts agree.
  std::string part;
  double part_difference = 0;

  [[nodiscard]] bool agrees() const { return part.empty(); }
};

/// Relative difference above which a part differs. Float32 rounding stays a hundred times below it.
inline constexpr double self_test_tolerance = 1e-3;

/// The file STEM.reference.npz or reference.npz next to a weight file, or reference.npz in a
/// folder. Empty if there is none.
[[nodiscard]] std::optional<std::filesystem::path> reference_beside(
    const std::filesystem::path& model);

/// Runs `model` on the reference's inputs. The file (docs/self-test.md) holds arrays for B inputs:
///
///     inputs  [B, C, H, W] normalised pixels, or whole numbers [B, N]: token ids
///     logits  [B, K]; for a language model those of the last token
///     maps    [B, L, H, N, M], or [B, H, N, M] as maps_0, maps_1, … if layers differ
///     tokens  [B, L, N, D], after each layer
///
/// Required are `inputs` and at least one of the others. Throws Error(unsupported) for other
/// arrays, Error(damaged) for shapes that differ from the model's, and the errors of Model::run.
[[nodiscard]] SelfTest self_test(const Model& model, const std::filesystem::path& reference,
                                 const Progress& progress = {});

/// A sentence such as "agrees with reference.npz to 3e-06 (2 inputs)" or "differs from
/// reference.npz, first in layer 2, attention maps (by 0.4 of the greatest value; 2 inputs)".
[[nodiscard]] std::string in_words(const SelfTest& test);

}  // namespace attnscope
