#include "analysis/experts/token_experts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "analysis/heads/row_entropy.h"
#include "core/error.h"
#include "core/model/parts/experts.h"

namespace attnscope {

namespace {

const Tensor* quantity(const LayerTrace& layer, const char* name) {
  const auto found = layer.quantities.find(std::string_view(name));
  return found == layer.quantities.end() ? nullptr : &found->second;
}

/// Throws unless the quantities are numbers and weights of the same tokens' experts, and one load
/// for each expert.
void check_quantities(const Tensor& experts, const Tensor& weights, const Tensor& loads,
                      std::int64_t layer) {
  const auto count = static_cast<float>(loads.size());
  const bool fit = experts.rank() == 2 && experts.shape() == weights.shape() && loads.rank() == 1 &&
                   !experts.empty() && std::ranges::all_of(experts.values(), [&](float number) {
                     return number >= 0 && number < count;
                   });
  if (fit) return;
  throw Error(ErrorKind::damaged, "the recorded experts of a layer do not fit together")
      .about("layer " + std::to_string(layer))
      .expected("numbers and weights [tokens, k], loads [experts]")
      .found(to_string(experts.shape()) + ", " + to_string(weights.shape()) + ", " +
             to_string(loads.shape()));
}

LayerExperts experts_of(const Tensor& experts, const Tensor& weights, const Tensor& loads,
                        std::int64_t layer) {
  check_quantities(experts, weights, loads, layer);
  LayerExperts found{.layer = layer};
  found.loads.assign(static_cast<std::size_t>(loads.size()), 0);
  for (std::int64_t token = 0; token < experts.extent(0); ++token) {
    std::vector<ChosenExpert>& chosen = found.tokens.emplace_back();
    for (std::int64_t place = 0; place < experts.extent(1); ++place) {
      chosen.push_back({static_cast<std::int64_t>(experts.matrix()(token, place)),
                        weights.matrix()(token, place)});
      ++found.loads[static_cast<std::size_t>(chosen.back().expert)];
    }
  }
  return found;
}

}  // namespace

std::int64_t LayerExperts::active() const { return tokens.empty() ? 0 : std::ssize(tokens[0]); }

std::int64_t LayerExperts::used() const {
  return std::ranges::count_if(loads, [](std::int64_t load) { return load > 0; });
}

std::int64_t LayerExperts::busiest() const {
  return std::ranges::max_element(loads) - loads.begin();
}

double LayerExperts::balance() const {
  if (loads.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> shares(loads.begin(), loads.end());
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return entropy_of(shares) / std::log(static_cast<double>(loads.size()));
}

std::vector<LayerExperts> layer_experts(const Trace& trace,
                                        const std::vector<std::int64_t>& asked) {
  std::vector<LayerExperts> found;
  for (std::int64_t index = 0; index < std::ssize(trace.layers); ++index) {
    if (!asked.empty() && std::ranges::find(asked, index) == asked.end()) continue;
    const LayerTrace& layer = trace.layers[static_cast<std::size_t>(index)];
    const Tensor *const experts = quantity(layer, kExpertNumbers),
                        *const weights = quantity(layer, kExpertWeights),
                        *const loads = quantity(layer, kExpertLoads);
    if (experts && weights && loads) found.push_back(experts_of(*experts, *weights, *loads, index));
  }
  if (!found.empty()) return found;
  throw Error(ErrorKind::usage, "no experts were recorded")
      .about(trace.model_name)
      .expected("a mixture of experts, and layers that have them")
      .remedy("record them in a trace: attnscope trace --record quantities");
}

}  // namespace attnscope
