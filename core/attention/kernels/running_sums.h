// What additive attention sums in double, by SIMD: a token's channels, and the tokens of a sequence
// as they come.
#pragma once

#include <cstdint>

namespace attnscope {

/// What a token does to running sums.
struct RunningWeight {
  double keep = 1;    ///< what came before is multiplied by it
  double weight = 0;  ///< of the token's own values
};

/// sums = keep · sums + weight · values[j, :], total = keep · total + weight and
/// out[j, :] = 1 / total · sums for every token j of `tokens`, one after the other; `channels` of
/// each, rows `stride` and `out_stride` apart. Sums and total begin with 0; the first weight is not
/// 0.
void running_means(const RunningWeight* weights, std::int64_t tokens, const float* values,
                   std::int64_t stride, std::int64_t channels, float* out, std::int64_t out_stride);

/// x[i] = exp(x[i]) in double, of finite numbers.
void exponentiate(double* x, std::int64_t count);

/// out[j] = Σ_c direction[c] · rows[j, c] in double, of `tokens` rows `stride` apart.
void project(const double* direction, std::int64_t channels, const float* rows, std::int64_t stride,
             std::int64_t tokens, double* out);

/// sums[c] += weight · values[c], c from 0 to count − 1.
void add_weighted(double weight, const float* values, std::int64_t count, double* sums);

/// out[c] = a · x[c] + b · y[c], rounded to float; y may be null: a · x[c].
void scale(const double* x, double a, const double* y, double b, std::int64_t count, float* out);

}  // namespace attnscope
