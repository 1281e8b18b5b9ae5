#include "core/training/parts/cross_entropy.h"

#include <cassert>
#include <cmath>
#include <string>

#include "core/attention/kernels/softmax_rows.h"
#include "core/error.h"
#include "core/training/kernels/products.h"

namespace attnscope {

LossSum& LossSum::operator+=(const LossSum& other) {
  loss += other.loss;
  right += other.right;
  count += other.count;
  return *this;
}

LossSum cross_entropy(Matrix& logits, std::span<const std::int64_t> targets, float weight) {
  assert(logits.rows() == std::ssize(targets));
  LossSum sum;
  for (Eigen::Index row = 0; row < logits.rows(); ++row) {
    const std::int64_t target = targets[static_cast<std::size_t>(row)];
    if (target < 0 || target >= logits.cols()) {
      throw Error(ErrorKind::usage, "the class of an example is out of range")
          .expected("0 to " + std::to_string(logits.cols() - 1))
          .found(std::to_string(target));
    }
    Eigen::Index greatest = 0;
    const double most = logits.row(row).maxCoeff(&greatest);
    const double total = (logits.row(row).cast<double>().array() - most).exp().sum();
    sum.loss += std::log(total) + most - logits(row, target);
    sum.right += greatest == target ? 1 : 0;
  }
  sum.count = logits.rows();
  if (weight == 0) return sum;
  softmax_rows(rows_of(logits));
  for (Eigen::Index row = 0; row < logits.rows(); ++row) {
    logits(row, targets[static_cast<std::size_t>(row)]) -= 1;
  }
  logits *= weight;
  return sum;
}

}  // namespace attnscope
