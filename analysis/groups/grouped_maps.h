// Attention between groups of tokens: its share, and the groups that later ones return to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "analysis/heads/head_table.h"
#include "core/attention/token_groups.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

namespace attnscope {

struct GroupOptions {
  std::string groups = "auto";            ///< in the form that token_groups reads
  std::vector<std::int64_t> layers = {};  ///< all recorded layers if empty
  /// Least number of groups from a group to those whose attention to it its receiver score counts.
  std::int64_t apart = 4;
  /// Number of receiver heads; 0: 20 as in Thought Anchors, but at most a tenth of the heads.
  std::int64_t receivers = 0;
};

/// One head, or the mean over the heads of a layer (head −1). Maps are taken without the I of an
/// identity mapping; a_ij are rows divided by their sums, without rows of zeros. Values are NaN if
/// they are not known.
struct GroupedMap {
  std::int64_t layer = 0, head = -1;
  HeadState state = HeadState::ready;
  /// [G, G], share of the attention: mean over queries i of group a of Σ_{j in b} a_ij.
  MatrixD shares = {};
  std::vector<double> of_all = {};  ///< [G], the same over all queries, also those of no group
  /// [G], receiver score of group b: mean of mean_weights(a, b) over groups a that are at least
  /// `apart` groups after b (Thought Anchors, 2025: get_vertical_scores). NaN for special groups,
  /// for the last groups, and if groups are not in the order of the tokens.
  std::vector<double> received = {};
  /// Excess kurtosis m₄ / m₂² − 3 of `received` (get_3d_ar_kurtosis). NaN if all are equal.
  double kurtosis = std::numeric_limits<double>::quiet_NaN();
};

struct GroupedMaps {
  TokenGroups groups = {};
  std::int64_t tokens = 0;
  std::vector<GroupedMap> heads = {};       ///< in order of layer and head
  std::vector<std::size_t> receivers = {};  ///< heads of the greatest kurtosis, the greatest first
  std::vector<double> received = {};        ///< [G], mean receiver scores over the receiver heads

  /// The layers of `heads`, ascending.
  [[nodiscard]] std::vector<std::int64_t> layers() const;
  /// The mean over the heads of one layer whose maps are ready, without a kurtosis.
  [[nodiscard]] GroupedMap mean_of(std::int64_t layer) const;
  /// Mean over queries of group a and keys of group b of a_ij: shares(a, b) over the number of b's
  /// tokens. It compares groups of different lengths, which a share does not.
  [[nodiscard]] MatrixD mean_weights(const GroupedMap& map) const;
  /// The shares of all groups in the attention of group `from`, or of all queries.
  [[nodiscard]] std::vector<double> shares(const GroupedMap& map,
                                           std::optional<std::size_t> from) const;
};

/// Groups the tokens of the trace and its maps, on all cores. Throws Error(usage) like
/// token_groups, for options out of range and if no maps were recorded; Error(unsupported) if the
/// layers have different tokens (pyramids, encoders with decoders).
[[nodiscard]] GroupedMaps grouped_maps(const Trace& trace, const GroupOptions& options = {},
                                       const Progress& progress = {});

/// The group of a name or a number from 0; nothing for "all". Throws Error(usage) for an unknown
/// one, for a name that several groups have, and for a name that is the number of another group.
[[nodiscard]] std::optional<std::size_t> group_named(const TokenGroups& groups,
                                                     const std::string& name);

/// The group in a line: 3 "Now my charms…", or its name alone if it was given by hand.
[[nodiscard]] std::string group_in_words(const TokenGroups& groups, std::size_t group,
                                         std::size_t characters = 24);

}  // namespace attnscope
