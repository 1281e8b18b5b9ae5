// Vectorised sums in double for additive attention: over a token's channels and over the tokens of
// a sequence.
#pragma once

#include <cstdint>

namespace attnscope {

/// Effect of one token on running sums.
struct RunningWeight {
  double keep = 1;    ///< factor of the sums so far
  double weight = 0;  ///< factor of the token's own values
};

/// sums = keep · sums + weight · values[j, :], total = keep · total + weight and out[j, :] = 1 /
/// total · sums for every token j in order. Each token has `channels` channels; rows are `stride`
/// and `out_stride` apart. Sums and total start at 0; the first weight must not be 0.
void running_means(const RunningWeight* weights, std::int64_t tokens, const float* values,
                   std::int64_t stride, std::int64_t channels, float* out, std::int64_t out_stride);

/// out[j] = Σ_c direction[c] · rows[j, c] in double, for `tokens` rows `stride` apart.
void project(const double* direction, std::int64_t channels, const float* rows, std::int64_t stride,
             std::int64_t tokens, double* out);

/// sums[c] += weight · values[c], c from 0 to count − 1.
void add_weighted(double weight, const float* values, std::int64_t count, double* sums);

/// out[c] = a · x[c] + b · y[c], rounded to float. If y is null, out[c] = a · x[c].
void scale(const double* x, double a, const double* y, double b, std::int64_t count, float* out);

}  // namespace attnscope
