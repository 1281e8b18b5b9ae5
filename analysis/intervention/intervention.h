// Changes of a model's maps while it runs, which truncation and ablation share: the layers and
// heads that are changed, one change, and the changes on one model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/model/subject.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Changed heads: each of `heads` in each of `layers`. An empty list means all.
struct HeadChoice {
  std::vector<std::int64_t> layers = {}, heads = {};

  [[nodiscard]] bool has_layer(std::int64_t layer) const;
  [[nodiscard]] bool has_head(std::int64_t head) const;
};

/// Description: "layers 0, 3, all heads".
[[nodiscard]] std::string in_words(const HeadChoice& choice);

/// Throws Error(usage) about "layers" or "heads" with `prefix` ("--" for options) for the first
/// layer outside [0, layers) or head outside [0, heads).
void check_choice(const HeadChoice& choice, std::int64_t layers, std::int64_t heads,
                  const char* prefix);

/// Function for TraceRequest::change_map: changes the map of one head in place.
using MapChange = std::function<void(std::int64_t layer, std::int64_t head, MatrixMap map)>;

/// One change of a model's maps.
struct Intervention {
  std::string name;                    ///< name in files: "rank 4", "layer 0 head 2"
  std::int64_t layer = -1, head = -1;  ///< the one layer or head that is changed; else −1
  std::int64_t rank = 0;               ///< rank to which maps are truncated; 0 if they are not
  /// Adds the tensors of an unchanged run that `change` needs; may be null.
  std::function<void(TraceRequest& request)> needs;
  /// Returns the change_map for one input, whose unchanged run is `whole`. Called from several
  /// threads.
  std::function<MapChange(const Subject& subject, std::shared_ptr<const Trace> whole)> change;
};

/// Sums over the maps that a series changes, in the unchanged run of one question.
struct RankSum {
  double sum = 0;
  std::int64_t maps = 0, greatest = 0;  ///< greatest: min(N, M) of the largest map
  /// Sums of null ranks (rows shuffled) and of rank / null, if requested.
  double null_sum = 0, ratio_sum = 0;
  std::int64_t null_maps = 0;
};

/// One model and the interventions on it.
struct SeriesRequest {
  Subject subject;
  std::string label;  ///< "vit", "vit as adder + I"
  std::vector<Intervention> interventions;
  /// Computes ranks from the trace of an unchanged run with maps; null if not requested.
  std::function<RankSum(const Trace& whole)> ranks;
  bool null_ranks = false;  ///< true if `ranks` also sets null ranks
};

}  // namespace attnscope
