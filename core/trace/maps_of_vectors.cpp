#include "core/trace/maps_of_vectors.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

/// The queries and keys of a layer, with the attention that computes rows of its maps from them.
class MapSource {
 public:
  MapSource(const Mechanism& mechanism, const AttentionInput& input, Tensor queries, Tensor keys)
      : queries_(std::move(queries)),
        keys_(std::move(keys)),
        mechanism_(make_mechanism(mechanism.choice())),
        input_({.queries = std::as_const(queries_).matrix(),
                .keys = std::as_const(keys_).matrix(),
                .values = std::as_const(keys_).matrix(),  // not used by maps
                .heads = input.heads,
                .causal = input.causal,
                .layer = input.layer,
                .scale = input.scale,
                .key_heads = input.key_heads}),
        rows_(mechanism_->map_rows(input_)) {}
  MapSource(const MapSource&) = delete;
  MapSource& operator=(const MapSource&) = delete;

  [[nodiscard]] std::int64_t bytes() const { return (queries_.size() + keys_.size()) * 4; }
  void rows(std::int64_t head, std::int64_t first, StridedMatrixMap into) const {
    rows_(head, first, into);
  }

 private:
  Tensor queries_, keys_;
  std::unique_ptr<const Mechanism> mechanism_;
  AttentionInput input_;  // refers to queries_ and keys_
  MapRows rows_;
};

/// True if its maps need nothing but queries and keys.
bool needs_only_vectors(const MechanismEntry& mechanism) {
  return mechanism.rows && mechanism.tensors.empty();
}

/// [H, N, d] as [N, H·d].
Tensor side_by_side(const Tensor& vectors) {
  const std::int64_t heads = vectors.extent(0), tokens = vectors.extent(1),
                     width = vectors.extent(2);
  Tensor rows = Tensor::unfilled({tokens, heads * width});
  for (std::int64_t head = 0; head < heads; ++head) {
    rows.matrix().middleCols(head * width, width) = vectors.slice(head);
  }
  return rows;
}

}  // namespace

ImpliedMaps computed_maps(const Mechanism& mechanism, const AttentionInput& input, Tensor queries,
                          Tensor keys) {
  const Shape shape{input.heads, queries.extent(0), keys.extent(0)};
  const auto source =
      std::make_shared<const MapSource>(mechanism, input, std::move(queries), std::move(keys));
  return ImpliedMaps(std::make_shared<const ComputedMaps>(
      shape, source->bytes(),
      [source](std::int64_t head, std::int64_t first, StridedMatrixMap rows) {
        source->rows(head, first, rows);
      }));
}

bool follow_from_vectors(const Trace& trace, const LayerTrace& layer) {
  return layer.implied_map.are_computed() && !layer.queries.empty() && !layer.keys.empty() &&
         needs_only_vectors(find_mechanism(mechanism_of(trace, layer).name));
}

ImpliedMaps maps_of_vectors(const Trace& trace, const LayerTrace& layer) {
  const auto refuse = [](const char* rule, const std::string& expected, const std::string& found) {
    throw Error(ErrorKind::damaged, rule).expected(expected).found(found);
  };
  const Shape& queries = layer.queries.shape();
  const Shape& keys = layer.keys.shape();
  const bool fit = queries.size() == 3 && keys.size() == 3 && queries[2] == keys[2] &&
                   keys[0] > 0 && queries[0] % keys[0] == 0;
  if (!fit) {
    refuse("maps that are not stored follow from queries and keys",
           "queries [heads, N, d], keys [heads, M, d]",
           to_string(queries) + " and " + to_string(keys));
  }
  const bool causal = layer.seen && !layer.seen->ranges.empty();
  if (causal && (queries[1] != keys[1] || layer.seen->ranges != up_to_the_query(keys[1]).ranges)) {
    refuse("maps that are not stored have no mask but the causal one", "keys up to the query",
           "other seen_keys");
  }
  const MechanismChoice& choice = mechanism_of(trace, layer);
  const auto list = mechanisms();
  const auto known = std::ranges::find(list, choice.name, &MechanismEntry::name);
  if (known == list.end() || !needs_only_vectors(*known) || trace.map_channels != 1) {
    refuse("maps of this mechanism do not follow from queries and keys alone",
           "a mechanism of scores, such as softmax", choice.name);
  }
  const auto mechanism = make_mechanism(choice);
  Tensor all_queries = side_by_side(layer.queries), all_keys = side_by_side(layer.keys);
  const AttentionInput input{.queries = std::as_const(all_queries).matrix(),
                             .keys = std::as_const(all_keys).matrix(),
                             .values = std::as_const(all_keys).matrix(),
                             .heads = queries[0],
                             .causal = causal,
                             .scale = known->scaled ? layer.score_scale : std::nullopt,
                             .key_heads = keys[0] == queries[0] ? 0 : keys[0]};
  return computed_maps(*mechanism, input, std::move(all_queries), std::move(all_keys));
}

}  // namespace attnscope
