#include "app/session/replaced_heads.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/intervention/ablation.h"
#include "core/input/data_set.h"

namespace attnscope {

PutInPlace maps_in_place(const WhatIf& what_if, const Subject& subject,
                         const std::shared_ptr<const Trace>& whole, const Progress& progress) {
  std::map<std::string, std::shared_ptr<const LayerMaps>> means;
  std::vector<std::pair<ReplacedHead, MapChange>> changes;
  for (const ReplacedHead& head : what_if.heads) {
    Ablation ablation{.where = {{head.layer}, {head.head}}};
    if (head.by == HeadReplacement::other_attention) {
      ablation.by = Replacement::mechanism;
      ablation.mechanism = head.mechanism;
    } else if (head.by == HeadReplacement::mean_over_data) {
      ablation.by = Replacement::mean;
      auto& mean = means[head.data_set];
      if (!mean) mean = mean_maps(subject, *open_data_set(head.data_set), {mean_items}, progress);
      ablation.mean = mean;
    } else {
      continue;
    }
    changes.emplace_back(head, change_of(ablation, subject, whole));
  }
  return [changes = std::move(changes)](const ReplacedHead& head, MatrixMap map) {
    for (const auto& [of, change] : changes) {
      if (of.layer == head.layer && of.head == head.head) change(head.layer, head.head, map);
    }
  };
}

}  // namespace attnscope
