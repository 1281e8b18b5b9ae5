#include "core/model/parts/projected_maps.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <utility>

#include "core/error.h"
#include "core/platform/process_memory.h"

namespace attnscope {

namespace {

/// A head's map, created from its queries and keys once a thread has projected them.
struct ProjectedHead {
  std::mutex projecting;
  std::optional<ImpliedMaps> map;  // [1, N, N]; empty maps if the weights could not be read
};

/// Cache of the most recently used heads of all layers and models. It stays small while heads are
/// used one by one and grows if several are used in turn (all heads of a layer, or two models).
class RememberedHeads {
 public:
  static RememberedHeads& of_the_program() {
    static RememberedHeads heads;
    return heads;
  }

  /// The cached head, or a new one that its first user projects. `layer` identifies the layer until
  /// it is forgotten; `heads` is its number of heads.
  [[nodiscard]] std::shared_ptr<ProjectedHead> at(const void* layer, std::int64_t heads,
                                                  std::int64_t head) {
    const std::lock_guard lock(mutex_);
    std::int64_t place = 0;
    auto found = list_.begin();
    for (; found != list_.end() && !(found->layer == layer && found->head == head); ++found) {
      ++place;
    }
    if (found == list_.end()) {
      list_.push_front({layer, head, nullptr});
      most_ = std::max(least_, most_ - 1);
    } else {
      list_.splice(list_.begin(), list_, found);
      most_ = std::max(most_, place + 1);  // this size would still have kept it
    }
    std::shared_ptr<ProjectedHead>& first = list_.front().projected;
    if (!first) first = std::make_shared<ProjectedHead>();
    std::shared_ptr<ProjectedHead> wanted = first;
    named_ = std::max(named_, least_ + 3 * heads);
    while (std::ssize(list_) > named_) list_.pop_back();
    for (auto kept = std::next(list_.begin(), std::min(most_, std::ssize(list_)));
         kept != list_.end(); ++kept) {
      kept->projected = nullptr;
    }
    return wanted;
  }

  void forget(const void* layer) {
    const std::lock_guard lock(mutex_);
    list_.remove_if([layer](const Named& named) { return named.layer == layer; });
  }

 private:
  struct Named {
    const void* layer;
    std::int64_t head;
    std::shared_ptr<ProjectedHead> projected;  // null if evicted
  };

  /// Minimum size: one head per thread, and some for concurrent users.
  const std::int64_t least_ = tbb::info::default_concurrency() + 4;

  std::mutex mutex_;
  std::list<Named> list_;  // most recently used first; the first `most_` are cached
  std::int64_t most_ = least_;
  std::int64_t named_ = least_;  // limit of the heads whose use is tracked
};

/// The tokens of a layer and the projections of its heads' queries and keys.
class ProjectedLayer {
 public:
  ProjectedLayer(HeadProjections projections, const LayerRun& run, bool causal, Tensor tokens)
      : projections_(std::move(projections)),
        mechanism_(make_mechanism(run.mechanism.choice())),
        causal_(causal),
        layer_(run.layer),
        scale_(run.score_scale),
        tokens_(std::move(tokens)) {}
  ~ProjectedLayer() { RememberedHeads::of_the_program().forget(this); }
  ProjectedLayer(const ProjectedLayer&) = delete;
  ProjectedLayer& operator=(const ProjectedLayer&) = delete;

  void rows(std::int64_t head, std::int64_t first, StridedMatrixMap into) const {
    const auto of_head = RememberedHeads::of_the_program().at(this, projections_.heads, head);
    const ImpliedMaps& map = projected(*of_head, head);
    if (map.empty()) {
      into.setConstant(std::numeric_limits<float>::quiet_NaN());
    } else {
      map.rows(0, first, into);
    }
  }

 private:
  const ImpliedMaps& projected(ProjectedHead& of_head, std::int64_t head) const {
    const std::lock_guard lock(of_head.projecting);
    if (of_head.map) return *of_head.map;
    // A thread that waits for its own projection must not start work that needs the mutex.
    tbb::this_task_arena::isolate([&] {
      try {
        of_head.map = map_of(head);
      } catch (const Error&) {
        of_head.map = ImpliedMaps();
      }
    });
    release_freed_memory();  // memory of evicted heads, from any thread's arena
    return *of_head.map;
  }

  [[nodiscard]] ImpliedMaps map_of(std::int64_t head) const {
    const HeadProjections& from = projections_;
    const std::int64_t key_head = head * from.key_heads / from.heads;
    Tensor queries = from.queries_of(tokens_, head, 1);
    Tensor keys = from.keys_of(tokens_, key_head, 1);
    const AttentionInput input{.queries = seen(queries),
                               .keys = seen(keys),
                               .values = seen(keys),
                               .causal = causal_,
                               .layer = layer_,
                               .scale = scale_};
    return computed_maps(*mechanism_, input, std::move(queries), std::move(keys));
  }

  HeadProjections projections_;
  std::unique_ptr<const Mechanism> mechanism_;
  bool causal_;
  std::int64_t layer_;
  std::optional<double> scale_;
  Tensor tokens_;  // [N, D]
};

/// Projects `count` heads from `first` on, each [d] of the layer's outputs.
Tensor project_rows(const Linear& linear, std::int64_t heads, std::int64_t first,
                    std::int64_t count, const std::optional<LayerNorm>& norm,
                    const std::optional<RotaryTurns>& turns, const Tensor& tokens) {
  const std::int64_t width = linear.outputs() / heads;
  Tensor rows = linear.part(first * width, count * width)(seen(tokens));
  if (norm) normalise_groups(*norm, rows);
  if (turns) turns->apply(rows, count);
  return rows;
}

}  // namespace

Tensor HeadProjections::queries_of(const Tensor& tokens, std::int64_t first,
                                   std::int64_t count) const {
  return project_rows(query, heads, first, count, query_norm, turns, tokens);
}

Tensor HeadProjections::keys_of(const Tensor& tokens, std::int64_t first,
                                std::int64_t count) const {
  return project_rows(key ? *key : query, key_heads, first, count, key_norm, turns, tokens);
}

bool HeadProjections::are_apart() const {
  const Linear& keys = key ? *key : query;
  const std::int64_t width = query.outputs() / heads;
  const auto of_a_head = [width](const std::optional<LayerNorm>& norm) {
    return !norm || std::ssize(norm->weight) == width;
  };
  return query.is_multiplicative() && keys.is_multiplicative() &&
         query.outputs() == heads * width && keys.outputs() == key_heads * width &&
         of_a_head(query_norm) && of_a_head(key_norm);
}

std::int64_t HeadProjections::bytes_of_vectors(std::int64_t tokens) const {
  return 4 * tokens * (query.outputs() + (key ? *key : query).outputs());
}

std::int64_t HeadProjections::bytes_of_sources(std::int64_t tokens) const {
  return 4 * tokens * query.inputs() + (turns ? turns->bytes() : 0);
}

ImpliedMaps projected_maps(HeadProjections projections, const LayerRun& run, bool causal,
                           Tensor tokens) {
  const std::int64_t count = tokens.extent(0);
  const Shape shape{projections.heads, count, count};
  const std::int64_t bytes = projections.bytes_of_sources(count);
  const auto source = std::make_shared<const ProjectedLayer>(std::move(projections), run, causal,
                                                             std::move(tokens));
  return ImpliedMaps(std::make_shared<const ComputedMaps>(
      shape, bytes, [source](std::int64_t head, std::int64_t first, StridedMatrixMap rows) {
        source->rows(head, first, rows);
      }));
}

}  // namespace attnscope
