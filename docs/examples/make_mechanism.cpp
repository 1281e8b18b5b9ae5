// Running a mechanism on given queries, keys and values.
#include <cstdio>
#include <vector>

#include "core/attention/mechanism.h"

int main() {
  using namespace attnscope;
  // Four tokens, one head of two channels.
  const std::vector<float> queries = {1, 0, 0, 1, 1, 1, -1, 0}, values = {1, 2, 3, 4, 5, 6, 7, 8};
  const ConstMatrixMap q(queries.data(), 4, 2), v(values.data(), 4, 2);
  const auto mechanism = make_mechanism({"adder", {{"identity", true}}});
  const AttentionInput input{.queries = q, .keys = q, .values = v, .heads = 1};
  const Tensor map = mechanism->implied_map(input);  // [H, N, N]
  for (Eigen::Index i = 0; i < 4; ++i) {
    for (Eigen::Index j = 0; j < 4; ++j) {
      std::printf(" %.3f", static_cast<double>(map.slice(0)(i, j)));
    }
    std::printf("\n");
  }
}
