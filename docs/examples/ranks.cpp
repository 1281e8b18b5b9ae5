// Ranks of given singular values.
#include <cstdio>
#include <vector>

#include "analysis/spectrum/rank.h"

int main() {
  using namespace attnscope;
  const std::vector<double> values = {4, 2, 1, 1};  // descending
  std::printf("f(r):");
  for (const double share : cumulative_share(values)) std::printf(" %g", share);
  std::printf("\nequivalent rank at 0.9: %lld, effective rank %.2f\n",
              static_cast<long long>(equivalent_rank(values, 0.9)), effective_rank(values));
}
