#include "core/attention/additive_state.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/attention/kernels/running_sums.h"

namespace attnscope {

AdditiveState::AdditiveState(std::int64_t width, std::int64_t window)
    : width_(width), window_(window), begun_(nothing()) {
  assert(width >= 0 && window >= 0);
}

AdditiveState::Sums AdditiveState::nothing() const {
  return {-std::numeric_limits<double>::infinity(), 0,
          std::vector<double>(static_cast<std::size_t>(width_))};
}

void AdditiveState::add(Sums& sums, double logit, std::span<const float> value) {
  if (logit > sums.greatest) {
    const double shrink = std::exp(sums.greatest - logit);
    sums.greatest = logit;
    sums.weight *= shrink;
    for (double& sum : sums.values) sum *= shrink;
  }
  const double weight = std::exp(logit - sums.greatest);
  sums.weight += weight;
  add_weighted(weight, value.data(), std::ssize(value), sums.values.data());
}

double AdditiveState::push(double logit, std::span<const float> value, std::span<float> mean) {
  assert(value.size() == static_cast<std::size_t>(width_) && mean.size() == value.size());
  add(begun_, logit, value);
  double greatest = begun_.greatest, own = 1, other = 0;
  const Sums* ending = nullptr;
  if (window_ > 0) {
    logits_.push_back(logit);
    values_.insert(values_.end(), value.begin(), value.end());
    // The token at position p of its block sees the last window − 1 − p tokens of the previous
    // block.
    if (logits_.size() < endings_.size()) ending = &endings_[logits_.size()];
  }
  if (ending != nullptr) {
    greatest = std::max(begun_.greatest, ending->greatest);
    own = std::exp(begun_.greatest - greatest);
    other = std::exp(ending->greatest - greatest);
  }
  const double total = own * begun_.weight + (ending != nullptr ? other * ending->weight : 0);
  scale(begun_.values.data(), own / total, ending != nullptr ? ending->values.data() : nullptr,
        other / total, std::ssize(mean), mean.data());
  if (window_ > 0 && static_cast<std::int64_t>(logits_.size()) == window_) finish_block();
  return greatest + std::log(total);
}

void AdditiveState::finish_block() {
  const std::size_t count = logits_.size();
  const auto width = static_cast<std::size_t>(width_);
  endings_.resize(count);
  Sums sums = nothing();
  for (std::size_t token = count; token-- > 0;) {
    add(sums, logits_[token], std::span<const float>(values_).subspan(token * width, width));
    endings_[token] = sums;
  }
  begun_ = nothing();
  logits_.clear();
  values_.clear();
}

}  // namespace attnscope
