#include "core/training/parts/cross_entropy.h"

#include <cassert>
#include <cmath>
#include <string>

#include "core/attention/kernels/softmax_rows.h"
#include "core/error.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

void check_classes(std::span<const std::int64_t> targets, std::int64_t classes) {
  for (const std::int64_t target : targets) {
    if (target >= 0 && target < classes) continue;
    throw Error(ErrorKind::usage, "the class of an example is out of range")
        .expected("0 to " + std::to_string(classes - 1))
        .found(std::to_string(target));
  }
}

}  // namespace

LossSum& LossSum::operator+=(const LossSum& other) {
  loss += other.loss;
  right += other.right;
  count += other.count;
  return *this;
}

LossSum cross_entropy(Matrix& logits, const LossTargets& targets, float weight) {
  assert(logits.rows() == std::ssize(targets.first));
  assert(targets.second.empty() || targets.second.size() == targets.first.size());
  check_classes(targets.first, logits.cols());
  check_classes(targets.second, logits.cols());
  // Calls act(class, share of the target) for the classes of a row; shares add up to 1 − ε.
  const auto each_class = [&](Eigen::Index row, const auto& act) {
    const auto at = static_cast<std::size_t>(row);
    const double known = 1 - targets.smoothing;
    if (targets.second.empty()) return act(targets.first[at], known);
    act(targets.first[at], known * targets.share);
    act(targets.second[at], known * (1 - targets.share));
  };
  const double each = targets.smoothing / static_cast<double>(logits.cols());
  LossSum sum;
  for (Eigen::Index row = 0; row < logits.rows(); ++row) {
    Eigen::Index greatest = 0;
    const double most = logits.row(row).maxCoeff(&greatest);
    const double total = (logits.row(row).cast<double>().array() - most).exp().sum();
    double expected = 0;  // Σ_c t_c logit_c
    each_class(row, [&](std::int64_t target, double share) {
      expected += share * static_cast<double>(logits(row, target));
    });
    if (each > 0) expected += each * logits.row(row).cast<double>().sum();
    sum.loss += std::log(total) + most - expected;
    sum.right += greatest == targets.first[static_cast<std::size_t>(row)] ? 1 : 0;
  }
  sum.count = logits.rows();
  if (weight == 0) return sum;
  softmax_rows(rows_of(logits));
  for (Eigen::Index row = 0; row < logits.rows(); ++row) {
    each_class(row, [&](std::int64_t target, double share) {
      logits(row, target) -= static_cast<float>(share);
    });
  }
  if (each > 0) logits.array() -= static_cast<float>(each);
  logits *= weight;
  return sum;
}

}  // namespace attnscope
