#include "app/session/what_if.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

// oneTBB has a function of the name of Qt's keyword.
#pragma push_macro("emit")
#undef emit
#include "analysis/baselines/null_model.h"
#include "analysis/intervention/ablation.h"
#include "analysis/intervention/truncation.h"
#pragma pop_macro("emit")
#include "core/attention/kernels/temper_row.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/input/data_set.h"
#include "core/text/number_text.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

std::string described(const ReplacedHead& head) {
  const std::string place =
      "head " + std::to_string(head.head) + " of layer " + std::to_string(head.layer);
  switch (head.by) {
    case HeadReplacement::zero:
      return "without " + place;
    case HeadReplacement::uniform:
      return place + " uniform";
    case HeadReplacement::mean_row:
      return place + " its mean row";
    case HeadReplacement::other_head:
      return place + " as head " + std::to_string(head.other);
    case HeadReplacement::other_attention:
      return place + " with " + in_words(head.mechanism);
    case HeadReplacement::mean_over_data:
      return place + " its mean over " + std::filesystem::path(head.data_set).filename().string();
  }
  return place;
}

bool is_causal(const MatrixD& map) {
  if (map.rows() != map.cols()) return false;
  for (Eigen::Index row = 0; row < map.rows(); ++row) {
    if (!map.row(row).tail(map.cols() - row - 1).isZero(0)) return false;
  }
  return true;
}

/// The mean row in every row. For a causal map only up to the diagonal, scaled to the row's own
/// sum.
MatrixD mean_rows(const MatrixD& map, bool causal) {
  const Eigen::RowVectorXd mean = map.colwise().mean();
  MatrixD result(map.rows(), map.cols());
  for (Eigen::Index row = 0; row < map.rows(); ++row) {
    result.row(row) = mean;
    if (!causal) continue;
    result.row(row).tail(map.cols() - row - 1).setZero();
    const double sum = result.row(row).sum();
    if (sum != 0) result.row(row) *= map.row(row).sum() / sum;
  }
  return result;
}

const LayerTrace& layer_of(const Trace& trace, std::int64_t layer) {
  return trace.layers.at(static_cast<std::size_t>(layer));
}

/// A recorded map without I.
Matrix bare_map(const Trace& trace, std::int64_t layer, std::int64_t head) {
  Matrix map = layer_of(trace, layer).implied_map.head(head);
  if (has_identity(trace, layer)) map.diagonal().array() -= 1;
  return map;
}

class Change {
 public:
  Change(WhatIf what_if, std::shared_ptr<const Trace> unchanged,
         std::shared_ptr<const Trace> toward, PutInPlace put)
      : what_if_(std::move(what_if)),
        own_(std::move(unchanged)),
        toward_(std::move(toward)),
        put_(std::move(put)) {
    check_heads();
    if (toward_) check_other();
    if (what_if_.identity) check_square();
  }

  void operator()(std::int64_t layer, std::int64_t head, MatrixMap map) const {
    const bool square = map.rows() == map.cols();
    const double held = square && has_identity(*own_, layer) ? 1 : 0;
    double identity = held;
    if (held > 0) map.diagonal().array() -= 1;
    if (toward_) {
      const auto share = static_cast<float>(what_if_.share);
      map = (1 - share) * map + share * bare_map(*toward_, layer, head);
      const double others = square && has_identity(*toward_, layer) ? 1 : 0;
      identity = (1 - what_if_.share) * held + what_if_.share * others;
    }
    if (const ReplacedHead* const replaced = replacement(layer, head)) replace(*replaced, map);
    if (what_if_.temperature != 1) {
      for (Eigen::Index row = 0; row < map.rows(); ++row) {
        temper_row({map.data() + row * map.cols(), static_cast<std::size_t>(map.cols())},
                   what_if_.temperature);
      }
    }
    if (what_if_.rank) {
      const bool causal = is_causal(map.cast<double>());
      truncate_to_rank(*what_if_.rank, map);
      if (causal) hide_later_keys(map);
    }
    if (square) {
      map.diagonal().array() += static_cast<float>(what_if_.identity.value_or(identity));
    }
  }

 private:
  [[nodiscard]] const ReplacedHead* replacement(std::int64_t layer, std::int64_t head) const {
    const auto found = std::ranges::find_if(what_if_.heads, [&](const ReplacedHead& one) {
      return one.layer == layer && one.head == head;
    });
    return found == what_if_.heads.end() ? nullptr : &*found;
  }

  void replace(const ReplacedHead& replaced, MatrixMap map) const {
    const MatrixD own = map.cast<double>();
    const bool causal = is_causal(own);
    switch (replaced.by) {
      case HeadReplacement::zero:
        map.setZero();
        return;
      case HeadReplacement::uniform:
        map = even_map(map.rows(), map.cols(), seen_keys(layer_of(*own_, replaced.layer), own))
                  .cast<float>();
        return;
      case HeadReplacement::mean_row:
        map = mean_rows(own, causal).cast<float>();
        return;
      case HeadReplacement::other_head:
        map = bare_map(*own_, replaced.layer, replaced.other);
        return;
      case HeadReplacement::other_attention:
      case HeadReplacement::mean_over_data: {
        const bool held = has_identity(*own_, replaced.layer) && map.rows() == map.cols();
        if (held) map.diagonal().array() += 1;
        put_(replaced, map);
        if (held) map.diagonal().array() -= 1;
        return;
      }
    }
  }

  void check_heads() const {
    for (const ReplacedHead& one : what_if_.heads) {
      const std::int64_t heads = own_->heads(one.layer);
      const bool other = one.by == HeadReplacement::other_head;
      for (const std::int64_t head : {one.head, other ? one.other : one.head}) {
        if (head >= 0 && head < heads) continue;
        throw Error(ErrorKind::usage, "the layer has no such head")
            .about("layer " + std::to_string(one.layer) + ", head " + std::to_string(head))
            .expected("0 to " + std::to_string(heads - 1));
      }
    }
  }

  void check_other() const {
    const auto layers = std::ssize(own_->layers);
    bool same = layers == std::ssize(toward_->layers);
    for (std::int64_t layer = 0; same && layer < layers; ++layer) {
      same = layer_of(*own_, layer).implied_map.shape() ==
             layer_of(*toward_, layer).implied_map.shape();
    }
    if (same) return;
    throw Error(ErrorKind::usage, "maps of different shapes cannot be interpolated")
        .expected("two attentions over the same weights, on the same input");
  }

  void check_square() const {
    for (std::int64_t layer = 0; layer < std::ssize(own_->layers); ++layer) {
      if (own_->queries(layer) == own_->keys(layer)) continue;
      throw Error(ErrorKind::usage, "I can only be added to square maps")
          .about(layer_name(*own_, layer))
          .found(std::to_string(own_->queries(layer)) + " queries, " +
                 std::to_string(own_->keys(layer)) + " keys");
    }
  }

  WhatIf what_if_;
  std::shared_ptr<const Trace> own_, toward_;
  PutInPlace put_;
};

}  // namespace

bool WhatIf::any() const {
  return identity || temperature != 1 || rank || !heads.empty() ||
         (toward != SubjectId::none && share > 0);
}

std::string in_words(const WhatIf& what_if) {
  std::vector<std::string> parts;
  if (what_if.toward != SubjectId::none && what_if.share > 0) {
    parts.push_back(fixed_text(100 * what_if.share, 0) + " % of the way to another attention");
  }
  if (what_if.identity) parts.push_back("A + " + fixed_text(*what_if.identity, 2) + " I");
  if (what_if.temperature != 1) parts.push_back("T = " + fixed_text(what_if.temperature, 2));
  if (what_if.rank) parts.push_back("rank " + std::to_string(*what_if.rank));
  for (const ReplacedHead& head : what_if.heads) parts.push_back(described(head));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

WhatIf with_head(WhatIf what_if, const ReplacedHead& head) {
  what_if = without_replacement(std::move(what_if), head.layer, head.head);
  what_if.heads.push_back(head);
  return what_if;
}

WhatIf without_replacement(WhatIf what_if, std::int64_t layer, std::int64_t head) {
  std::erase_if(what_if.heads,
                [&](const ReplacedHead& one) { return one.layer == layer && one.head == head; });
  return what_if;
}

std::function<void(std::int64_t layer, std::int64_t head, MatrixMap map)> map_change(
    const WhatIf& what_if, std::shared_ptr<const Trace> unchanged,
    std::shared_ptr<const Trace> toward, PutInPlace put) {
  return Change(what_if, std::move(unchanged), std::move(toward), std::move(put));
}

void mark_changed(const WhatIf& what_if, const Trace* toward, Trace& trace) {
  for (std::int64_t index = 0; index < std::ssize(trace.layers); ++index) {
    LayerTrace& layer = trace.layers[static_cast<std::size_t>(index)];
    const bool held = has_identity(trace, index);
    layer.rank_bound = 0;
    layer.factors.reset();
    layer.exact_map = nullptr;
    // A partial I cannot be subtracted as I; it counts as part of the map.
    const bool whole =
        toward && what_if.share > 0
            ? (held || what_if.share >= 1) && (has_identity(*toward, index) || what_if.share <= 0)
            : held;
    layer.identity = what_if.identity ? *what_if.identity >= 1 : whole;
  }
  if (what_if.identity) trace.identity_in_maps = *what_if.identity >= 1;
  if (!what_if.identity && toward && !trace.layers.empty()) {
    trace.identity_in_maps = has_identity(trace, 0);
  }
  trace.provenance["changed"] = in_words(what_if);
}

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
