#include "analysis/spectrum/causal_map.h"

namespace attnscope {

bool is_causal(const MatrixD& map) {
  if (map.rows() != map.cols() || map.rows() < 2) return false;
  for (Eigen::Index i = 0; i < map.rows(); ++i) {
    if ((map.row(i).tail(map.cols() - i - 1).array() != 0).any()) return false;
  }
  return true;
}

}  // namespace attnscope
