#include "analysis/comparison/predictions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "analysis/comparison/map_distance.h"
#include "core/error.h"

namespace attnscope {

namespace {

bool finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

std::int64_t largest(std::span<const float> logits) {
  return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

std::vector<double> softmax(std::span<const float> logits) {
  const double peak = *std::max_element(logits.begin(), logits.end());
  std::vector<double> shares;
  for (const float logit : logits) shares.push_back(std::exp(static_cast<double>(logit) - peak));
  return shares;  // not normalised: row_divergence normalises rows
}

}  // namespace

void PredictionAgreement::add(std::span<const float> logits,
                              std::span<const float> reference_logits, int true_class) {
  if (logits.empty() || logits.size() != reference_logits.size()) {
    throw Error(ErrorKind::usage, "predictions of these models cannot be compared")
        .expected(std::to_string(reference_logits.size()) + " classes as the reference")
        .found(std::to_string(logits.size()) + " classes");
  }
  if (!finite(logits) || !finite(reference_logits)) {
    ++not_finite;
    return;
  }
  ++items;
  const std::int64_t own = largest(logits), reference = largest(reference_logits);
  agreeing += own == reference ? 1 : 0;
  sum_divergence_bits += row_divergence(softmax(logits), softmax(reference_logits)).bits;
  if (true_class < 0) return;
  ++labelled;
  const bool own_right = own == true_class, reference_right = reference == true_class;
  both_right += own_right && reference_right ? 1 : 0;
  only_reference_right += !own_right && reference_right ? 1 : 0;
  only_other_right += own_right && !reference_right ? 1 : 0;
  both_wrong += !own_right && !reference_right ? 1 : 0;
}

double PredictionAgreement::share() const {
  return items > 0 ? static_cast<double>(agreeing) / static_cast<double>(items)
                   : std::numeric_limits<double>::quiet_NaN();
}

double PredictionAgreement::standard_error() const {
  const double p = share();
  return std::sqrt(p * (1 - p) / static_cast<double>(items));
}

double PredictionAgreement::mean_divergence() const {
  return items > 0 ? sum_divergence_bits / static_cast<double>(items)
                   : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace attnscope
