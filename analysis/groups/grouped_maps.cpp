#include "analysis/groups/grouped_maps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/heads/row_weights.h"
#include "analysis/spectrum/map_batch.h"
#include "core/error.h"
#include "core/input/text.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kReceivers = 20;  // top_k of Thought Anchors, of 1,920 heads

/// Successive tokens of one group.
struct Stretch {
  std::size_t group;
  Eigen::Index first, count;
};

std::vector<Stretch> stretches_of(const TokenGroups& groups) {
  std::vector<Stretch> all;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::vector<std::int64_t>& tokens = groups[group].tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0 && tokens[i] == tokens[i - 1] + 1) {
        ++all.back().count;
      } else {
        all.push_back({group, tokens[i], 1});
      }
    }
  }
  return all;
}

/// The groups that receiver scores are between: those of text, if they are in order.
std::vector<std::size_t> receivable(const TokenGroups& groups) {
  std::vector<std::size_t> found;
  if (!in_order(groups)) return found;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (!groups[group].special && !groups[group].tokens.empty()) found.push_back(group);
  }
  return found;
}

double excess_kurtosis(const std::vector<double>& values) {
  std::vector<double> known;
  std::ranges::copy_if(values, std::back_inserter(known),
                       [](double value) { return std::isfinite(value); });
  const auto mean_power = [&known](double from, int power) {
    double sum = 0;
    for (const double value : known) sum += std::pow(value - from, power);
    return sum / static_cast<double>(known.size());
  };
  if (known.size() < 2) return kUnknown;
  const double mean = mean_power(0, 1), variance = mean_power(mean, 2);
  // The rounding of float32 weights would otherwise be taken for a difference.
  if (std::sqrt(variance) <= kFloatEpsilon * std::abs(mean)) return kUnknown;
  return mean_power(mean, 4) / (variance * variance) - 3;
}

/// Sums of the shares over queries, and the numbers of queries that attend to some key.
void add_shares(const MatrixD& map, const TokenGroups& groups, GroupedMap& into) {
  const std::vector<Stretch> stretches = stretches_of(groups);
  const std::vector<std::int64_t> owners = group_of_tokens(groups, map.rows());
  const auto count = static_cast<Eigen::Index>(groups.size());
  Eigen::VectorXd all = Eigen::VectorXd::Zero(count), row(count),
                  queries = Eigen::VectorXd::Zero(count);
  double attending = 0;
  into.shares = MatrixD::Zero(count, count);
  for (Eigen::Index query = 0; query < map.rows(); ++query) {
    const double sum = map.row(query).sum();
    if (!(sum > 0)) continue;
    row.setZero();
    for (const Stretch& keys : stretches) {
      row(static_cast<Eigen::Index>(keys.group)) +=
          map.row(query).segment(keys.first, keys.count).sum() / sum;
    }
    all += row;
    ++attending;
    const std::int64_t own = owners[static_cast<std::size_t>(query)];
    if (own < 0) continue;
    into.shares.row(own) += row.transpose();
    ++queries(own);
  }
  // A group whose queries attend to nothing has no shares: 0 / 0.
  into.shares.array().colwise() /= queries.array();
  all /= attending;
  into.of_all.assign(all.begin(), all.end());
}

void add_received(const TokenGroups& groups, std::size_t apart, GroupedMap& into) {
  const std::vector<std::size_t> order = receivable(groups);
  for (std::size_t key = 0; key + apart < order.size(); ++key) {
    const std::size_t received = order[key];
    double sum = 0;
    for (std::size_t query = key + apart; query < order.size(); ++query) {
      sum +=
          into.shares(static_cast<Eigen::Index>(order[query]), static_cast<Eigen::Index>(received));
    }
    into.received[received] = sum / static_cast<double>(groups[received].tokens.size()) /
                              static_cast<double>(order.size() - key - apart);
  }
  into.kurtosis = excess_kurtosis(into.received);
}

GroupedMap map_by_groups(const MatrixD& map, const MapIndex& place, const TokenGroups& groups,
                         std::int64_t apart) {
  const auto count = static_cast<Eigen::Index>(groups.size());
  GroupedMap found{.layer = place.layer, .head = place.head, .state = state_of(map)};
  found.shares = MatrixD::Constant(count, count, kUnknown);
  found.of_all.assign(groups.size(), kUnknown);
  found.received.assign(groups.size(), kUnknown);
  if (found.state != HeadState::ready) return found;
  add_shares(map, groups, found);
  add_received(groups, static_cast<std::size_t>(apart), found);
  return found;
}

/// Throws Error(unsupported) for a layer whose queries or keys are not the tokens of `first`.
void check_same_tokens(const Trace& trace, std::int64_t first, std::int64_t layer) {
  const auto same = [&](const TokenLayout& a) {
    const TokenLayout& b = query_layout(trace, first);
    return a.prefix == b.prefix && a.rows == b.rows && a.columns == b.columns && a.texts == b.texts;
  };
  const std::int64_t tokens = trace.queries(first);
  if (trace.queries(layer) == tokens && trace.keys(layer) == tokens &&
      same(query_layout(trace, layer)) && same(key_layout(trace, layer))) {
    return;
  }
  throw Error(ErrorKind::unsupported, "groups need layers of the same tokens")
      .about(layer_name(trace, layer))
      .expected("queries and keys that are the " + std::to_string(tokens) + " tokens of " +
                layer_name(trace, first))
      .found(std::to_string(trace.queries(layer)) + " queries and " +
             std::to_string(trace.keys(layer)) + " keys")
      .remedy("select layers of one kind: --layers");
}

void choose_receivers(std::int64_t most, GroupedMaps& maps) {
  std::vector<std::size_t> heads(maps.heads.size());
  std::iota(heads.begin(), heads.end(), std::size_t{0});
  std::erase_if(heads, [&](std::size_t head) { return std::isnan(maps.heads[head].kurtosis); });
  std::ranges::stable_sort(heads, [&](std::size_t a, std::size_t b) {
    return maps.heads[a].kurtosis > maps.heads[b].kurtosis;
  });
  const std::int64_t tenth = (std::ssize(maps.heads) + 9) / 10;
  const auto wanted = static_cast<std::size_t>(most > 0 ? most : std::min(kReceivers, tenth));
  heads.resize(std::min(heads.size(), wanted));
  maps.receivers = std::move(heads);
  maps.received.assign(maps.groups.size(), kUnknown);
  if (maps.receivers.empty()) return;
  for (std::size_t group = 0; group < maps.groups.size(); ++group) {
    double sum = 0;
    for (const std::size_t head : maps.receivers) sum += maps.heads[head].received[group];
    maps.received[group] = sum / static_cast<double>(maps.receivers.size());
  }
}

}  // namespace

std::vector<std::int64_t> GroupedMaps::layers() const {
  std::vector<std::int64_t> found;
  for (const GroupedMap& map : heads) {
    if (found.empty() || found.back() != map.layer) found.push_back(map.layer);
  }
  return found;
}

GroupedMap GroupedMaps::mean_of(std::int64_t layer) const {
  const auto count = static_cast<Eigen::Index>(groups.size());
  GroupedMap mean{.layer = layer};
  mean.shares = MatrixD::Zero(count, count);
  mean.of_all.assign(groups.size(), 0);
  mean.received.assign(groups.size(), 0);
  double ready = 0;
  for (const GroupedMap& map : heads) {
    if (map.layer != layer) continue;
    if (map.state != HeadState::ready) {
      mean.state = map.state;
      continue;
    }
    ++ready;
    mean.shares += map.shares;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      mean.of_all[group] += map.of_all[group];
      mean.received[group] += map.received[group];
    }
  }
  if (ready > 0) mean.state = HeadState::ready;
  mean.shares /= ready;
  for (double& share : mean.of_all) share /= ready;
  for (double& score : mean.received) score /= ready;
  return mean;
}

MatrixD GroupedMaps::mean_weights(const GroupedMap& map) const {
  MatrixD means = map.shares;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    means.col(static_cast<Eigen::Index>(group)) /= static_cast<double>(groups[group].tokens.size());
  }
  return means;
}

std::vector<double> GroupedMaps::shares(const GroupedMap& map,
                                        std::optional<std::size_t> from) const {
  if (!from) return map.of_all;
  const auto row = map.shares.row(static_cast<Eigen::Index>(*from));
  return {row.begin(), row.end()};
}

GroupedMaps grouped_maps(const Trace& trace, const GroupOptions& options,
                         const Progress& progress) {
  if (options.apart < 1) {
    throw Error(ErrorKind::usage, "a receiver score needs later groups")
        .about("apart")
        .expected("at least 1")
        .found(std::to_string(options.apart));
  }
  if (options.receivers < 0) {
    throw Error(ErrorKind::usage, "the number of receiver heads is positive")
        .about("receivers")
        .found(std::to_string(options.receivers));
  }
  const std::vector<MapIndex> places = recorded_maps(trace, options.layers);
  const std::int64_t first = places.front().layer;
  for (const MapIndex& place : places) check_same_tokens(trace, first, place.layer);
  GroupedMaps maps{.tokens = trace.queries(first)};
  maps.groups = token_groups(query_layout(trace, first), maps.tokens, options.groups);
  maps.heads.resize(places.size());
  for_each_map(
      trace, places, progress,
      [&](std::size_t index) {
        maps.heads[index] = map_by_groups(map_seen(trace, places[index], IdentityView::without),
                                          places[index], maps.groups, options.apart);
        return [] {};
      },
      "groups");
  choose_receivers(options.receivers, maps);
  return maps;
}

std::optional<std::size_t> group_named(const TokenGroups& groups, const std::string& name) {
  if (name == "all") return {};
  const auto found = std::ranges::find(groups, name, &TokenGroup::name);
  const auto number = parse_whole(name);
  const bool is_number = number && *number >= 0 && *number < std::ssize(groups);
  if (is_number && (found == groups.end() || found - groups.begin() == *number)) {
    return static_cast<std::size_t>(*number);
  }
  const bool alone = std::ranges::count(groups, name, &TokenGroup::name) == 1;
  if (alone && !is_number) return static_cast<std::size_t>(found - groups.begin());
  throw Error(ErrorKind::usage,
              found == groups.end() ? "no group has this name" : "several groups have this name")
      .about("from")
      .expected("all, a name, or a number below " + std::to_string(groups.size()))
      .found(name);
}

std::string group_in_words(const TokenGroups& groups, std::size_t group, std::size_t characters) {
  std::string name = shown_text(groups[group].name);
  const std::vector<std::size_t> starts = character_starts(name);
  if (starts.size() > characters + 1) name = name.substr(0, starts[characters - 1]) + "…";
  return name;
}

}  // namespace attnscope
