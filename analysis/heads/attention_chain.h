// A map as a Markov chain over its tokens, which step from query to key, and as a weighted graph.
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

// All maps here are square, with rows of weights that sum to 1.

/// |λ_2|, the second greatest modulus of the eigenvalues of the map, from 0 to 1: its powers
/// approach equal rows as |λ_2|^t (Erel et al. 2025). Those of a causal map are its diagonal. NaN
/// for one token, and if it did not converge. Above 256 tokens Spectra's GenEigsSolver finds it in
/// a sixteenth of the time that LAPACK's dgeev takes for all eigenvalues (10 of 160 ms at N = 577,
/// 25 of 420 ms at 1025, softmax maps, one core).
[[nodiscard]] double second_eigenvalue(const MatrixD& map, bool causal);

/// The share of each token [N] in the stationary distribution of αA + (1 − α)/N 11ᵀ, α = 0.99
/// (TokenRank, Erel et al. 2025). A causal map leaves nearly all to its first token.
[[nodiscard]] Eigen::VectorXd token_rank(const MatrixD& map);

/// Mean of ln a_ii: of a causal map ln det A / N (attention score, Sriramanan et al. 2024). −∞ if
/// an entry is 0.
[[nodiscard]] double mean_log_diagonal(const MatrixD& map);

/// Greatest eigenvalue λ_i = Σ_u a_ui / (N − i) − a_ii, i from 0, of the Laplacian of a causal map
/// (LapEigvals, Binkowski et al. 2025, without edges between layers).
[[nodiscard]] double greatest_laplacian_eigenvalue(const MatrixD& map);

}  // namespace attnscope
