// Random tokens as a null model of attention: the rank that maps have at each entropy if queries
// and keys carry nothing but noise. The rank follows from the head's width, the number of tokens
// and the kind of scores.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/spectrum/rank.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"

namespace attnscope {

enum class RandomScores {
  softmax,  ///< q·k/√d: the scores have rank d at most
  adder     ///< −‖q − k‖₁/√(2d(1 − 2/π)) (Adder, Eq. 7): no such bound
};
inline constexpr EnumName<RandomScores> random_scores_names[] = {{RandomScores::softmax, "softmax"},
                                                                 {RandomScores::adder, "adder"}};

/// The shape that random tokens share with the maps of a model.
struct RandomTokens {
  std::int64_t queries = 0, keys = 0;  ///< N and M, at least 1
  std::int64_t width = 0;              ///< d of a head's queries and keys, at least 1
  bool causal = false;                 ///< query i sees keys 0 … i; needs N = M

  auto operator<=>(const RandomTokens&) const = default;
};

/// Map [N, M] of queries and keys whose entries are independent N(0, 1): a softmax of scores that
/// have variance 1 (Adder, Theorem 1). Draws are numbered from 0 and equal on every machine; both
/// kinds of scores of a draw have the same tokens.
[[nodiscard]] MatrixD random_token_map(const RandomTokens& tokens, RandomScores scores,
                                       std::int64_t draw);

/// Equivalent ranks of random tokens over entropy. All lists have one value per entropy.
struct RandomTokenCurve {
  std::vector<double> entropy;          ///< h, mean row entropy over ln n (entropy_share), 0 to 1
  std::vector<double> rank;             ///< mean over the draws
  std::vector<double> least, greatest;  ///< extremes of the draws
};

/// The curve at the entropies, each in (0, 1), that every draw reaches by temperature
/// (temper_to_entropy). With `identity`, I is added after the temperature; needs N = M. `draws` ≥
/// 1. Takes draws × entropies spectra of N × M maps, on all cores; the
/// result does not depend on their number. Throws Cancelled.
[[nodiscard]] RandomTokenCurve random_token_curve(const RandomTokens& tokens, RandomScores scores,
                                                  bool identity, std::span<const double> entropies,
                                                  std::int64_t draws,
                                                  const RankThreshold& threshold,
                                                  const Progress& progress = {});

}  // namespace attnscope
