// A model held against what its authors' code computes: how users know that it was loaded right.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/model/model.h"

namespace attnscope {

/// What a reference is told from a model by. Differences are the greatest |ours − reference|,
/// relative to the greatest |reference| of the same tensor.
struct SelfTest {
  std::filesystem::path file;  ///< the reference
  std::int64_t inputs = 0;
  double difference = 0;  ///< the greatest of all; infinite where ours is NaN
  /// The first part, in the order of the computation, that differs by more than rounding:
  /// "layer 2, attention maps". Empty where all agree.
  std::string part;
  double part_difference = 0;

  [[nodiscard]] bool agrees() const { return part.empty(); }
};

/// Above this a part differs: float32 in another order of summing stays a hundred times below.
inline constexpr double self_test_tolerance = 1e-3;

/// STEM.reference.npz or reference.npz beside a weight file; reference.npz in a folder. Null if
/// there is none.
[[nodiscard]] std::optional<std::filesystem::path> reference_beside(
    const std::filesystem::path& model);

/// Runs `model` on the reference's inputs. The file (docs/self-test.md) holds arrays of B inputs:
///
///     inputs  [B, C, H, W] normalised pixels, or whole numbers [B, N]: token ids
///     logits  [B, K], of a language model those of the last token
///     maps    [B, L, H, N, M], or [B, H, N, M] as maps_0, maps_1, … where layers differ
///     tokens  [B, L, N, D], after each layer
///
/// of which only `inputs` must be there, and one of the others. Throws Error(unsupported) for other
/// arrays, Error(damaged) for shapes that are not the model's, and what a run throws.
[[nodiscard]] SelfTest self_test(const Model& model, const std::filesystem::path& reference,
                                 const Progress& progress = {});

/// "agrees with reference.npz to 3e-06 (2 inputs)", "differs from reference.npz first in layer 2,
/// attention maps (by 0.4)".
[[nodiscard]] std::string in_words(const SelfTest& test);

}  // namespace attnscope
