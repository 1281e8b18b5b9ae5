#include "analysis/mixing/mixed_matrices.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/mixing/layer_inside.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

double mean_ratio(const Subject& subject, std::int64_t layer) {
  const std::vector<double> ratios = mixing_ratios(subject, layer);
  return std::accumulate(ratios.begin(), ratios.end(), 0.0) / static_cast<double>(ratios.size());
}

void check_indices(const std::vector<std::int64_t>& indices, std::int64_t known,
                   const std::string& argument, const char* rule) {
  for (const std::int64_t index : indices) {
    if (index >= 0 && index < known) continue;
    throw Error(ErrorKind::usage, rule)
        .about(argument)
        .expected(known > 0 ? "0 to " + std::to_string(known - 1) : "a model with layers")
        .found(std::to_string(index));
  }
}

/// The selected heads of a layer; only −1 if the layer has a single matrix for all heads.
std::vector<std::int64_t> mixed_heads(const Subject& subject, std::int64_t layer,
                                      const MixingRequest& request, const std::string& prefix) {
  if (!request.is_by_head()) return {-1};
  const std::int64_t known = subject.trace->heads(layer);
  check_indices(request.heads, known, prefix + "heads", "no layer has this head");
  if (!request.heads.empty()) return request.heads;
  std::vector<std::int64_t> heads(static_cast<std::size_t>(known));
  std::iota(heads.begin(), heads.end(), std::int64_t{0});
  return heads;
}

}  // namespace

std::vector<std::string> mixing_words() {
  std::vector<std::string> words = names_of(mixing_names);
  words.emplace_back(kValueZeroing);
  return words;
}

bool MixingRequest::is_by_head() const {
  return by == name_of(mixing_names, Mixing::head_norms) && !rollout;
}

void check_mixing(const MixingRequest& request, const std::string& prefix) {
  const std::vector<std::string> words = mixing_words();
  if (std::ranges::find(words, request.by) == words.end()) {
    throw unknown_name("measure of mixing", request.by, name_list(words));
  }
  if (request.is_by_head() || request.heads.empty()) return;
  throw Error(ErrorKind::usage, "this measure is defined over all heads, not per head")
      .about(prefix + "heads")
      .expected(prefix + "by head-norms")
      .found(request.rollout ? prefix + "rollout" : prefix + "by " + request.by);
}

std::vector<MixedMatrix> mixed_matrices(const Subject& subject, const MixingRequest& request,
                                        const std::string& prefix, const Progress& progress) {
  check_mixing(request, prefix);
  const auto mixing = [&request] { return value_of(mixing_names, request.by, "mixing"); };
  if (request.rollout) {
    const Tensor reach = mixing_rollout(subject, mixing(), 0, progress.silent());
    return {{-1, -1, reach.matrix().cast<double>(), std::nan("")}};
  }
  require_model_and_trace(subject);
  const bool zeroes = request.by == kValueZeroing;
  const std::int64_t layers = std::ssize(subject.trace->layers);
  check_indices(request.layers, layers, prefix + "layers", "the model has no such layer");
  std::vector<MixedMatrix> all;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    if (!request.layers.empty() && std::ranges::count(request.layers, layer) == 0) continue;
    progress.step(static_cast<double>(layer) / static_cast<double>(layers), "mixing");
    const double ratio = mean_ratio(subject, layer);
    for (const std::int64_t head : mixed_heads(subject, layer, request, prefix)) {
      all.push_back({layer, head,
                     zeroes ? value_zeroing(subject, layer, true, progress.silent())
                            : mixing_of(subject, layer, mixing(), std::max<std::int64_t>(head, 0)),
                     ratio});
    }
  }
  return all;
}

}  // namespace attnscope
