// Reformer: softmax within buckets of similar tokens, 0 elsewhere (Kitaev et al. 2020, Section 2).
// Queries and keys share a projection: keys are the queries scaled to length 1, and the model's own
// keys are unused. Tokens are hashed by random rotations, argmax([xR; −xR]), and sorted by bucket;
// each attends to tokens of its bucket in its own chunk of the sorted tokens and the previous
// chunk. Hash rounds are united: a pair that meets twice counts once (Appendix A, Eq. 6). A token
// attends to itself only if it meets no other.
//
// In causal layers, chunks are counted within each bucket. Chunks over all buckets, as in the
// paper, would let a later token of another bucket change an earlier token's chunk.
//
// Parameter "rotations" [rounds, d, buckets/2], or with the heads in front. Models without it use
// normal numbers, different in each layer, the same in all heads.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tbb/parallel_for.h>

#include "core/attention/costs/costs.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/random_parameters.h"
#include "core/attention/score_blocks.h"
#include "core/error.h"

namespace attnscope {

namespace {

std::vector<ParameterDescription> reformer_parameters() {
  return {
      setting::whole("hashes", 2, {1, 64}, "rounds of hashing, each with its own rotations"),
      setting::whole("chunk", 64, {1, 1e6}, "m, tokens of a chunk, and on average of a bucket")
          .in("tokens"),
      setting::whole("buckets", 0, {0, 1e6},
                     "number of buckets per round, even; 0: that of the model's rotations, else "
                     "one per chunk of the tokens, or of 1024 tokens in causal texts"),
      seed_parameter("the rotations"),
  };
}

/// Default number of buckets: about one per chunk, and even because every rotation gives two. In
/// causal layers it does not depend on the number of tokens, or later tokens would change earlier
/// tokens' buckets.
std::int64_t default_buckets(std::int64_t tokens, std::int64_t chunk, bool causal) {
  constexpr std::int64_t kUsualText = 1024;
  const std::int64_t chunks = ((causal ? kUsualText : tokens) + chunk - 1) / chunk;
  return std::max<std::int64_t>(2, chunks + chunks % 2);
}

/// One hash round: the bucket of each token, and its position in the order sorted by bucket.
struct Round {
  std::vector<std::int64_t> bucket;  ///< [N]
  std::vector<std::int64_t> order;   ///< [N], tokens by bucket, then by position
  std::vector<std::int64_t> place;   ///< [N], position of each token in `order`
  std::vector<std::int64_t> first;   ///< [buckets + 1], start of each bucket in `order`

  Round(std::vector<std::int64_t> bucket_of, std::int64_t buckets)
      : bucket(std::move(bucket_of)),
        order(bucket.size()),
        place(bucket.size()),
        first(static_cast<std::size_t>(buckets) + 1) {
    for (const std::int64_t b : bucket) ++first[static_cast<std::size_t>(b) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::int64_t> next(first.begin(), first.end() - 1);
    for (std::size_t token = 0; token < bucket.size(); ++token) {
      place[token] = next[static_cast<std::size_t>(bucket[token])]++;
      order[static_cast<std::size_t>(place[token])] = static_cast<std::int64_t>(token);
    }
  }

  /// The part of `order` that `token` may attend to.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> reach(std::size_t token, std::int64_t chunk,
                                                            bool within_buckets) const {
    const auto own = static_cast<std::size_t>(bucket[token]);
    const std::int64_t origin = within_buckets ? first[own] : 0;
    const std::int64_t index = (place[token] - origin) / chunk;
    return {std::max(first[own], origin + (index - 1) * chunk),
            std::min(first[own + 1], origin + (index + 1) * chunk)};
  }
};

/// A key that a query attends to.
struct AttendedToken {
  std::int64_t key;
  double weight;
};

class Reformer final : public Mechanism {
 public:
  Reformer(std::int64_t hashes, std::int64_t chunk, std::int64_t buckets, std::int64_t seed)
      : hashes_(hashes), chunk_(chunk), buckets_(buckets), seed_(seed) {}

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    check(input);
    const std::int64_t width = input.values.cols() / input.heads;
    Tensor output({input.queries.rows(), input.values.cols()});
    for_each_query(input, [&](std::int64_t head, std::int64_t query,
                              const std::vector<AttendedToken>& attended) {
      Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(width);
      for (const AttendedToken& one : attended) {
        sum += one.weight *
               input.values.row(one.key).segment(head * width, width).template cast<double>();
      }
      output.matrix().row(query).segment(head * width, width) = sum.cast<float>();
    });
    return output;
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    check(input);
    Tensor map({input.heads, input.queries.rows(), input.keys.rows()});
    for_each_query(input, [&](std::int64_t head, std::int64_t query,
                              const std::vector<AttendedToken>& attended) {
      for (const AttendedToken& one : attended) {
        map.slice(head)(query, one.key) = static_cast<float>(one.weight);
      }
    });
    return map;
  }

  /// Quantity "buckets" [H, rounds, N]: the bucket of each token.
  [[nodiscard]] NamedTensors quantities(const AttentionInput& input) const override {
    check(input);
    Tensor buckets({input.heads, hashes_, input.queries.rows()});
    for (std::int64_t head = 0; head < input.heads; ++head) {
      const std::vector<Round> rounds = rounds_of(input, head);
      for (std::int64_t round = 0; round < hashes_; ++round) {
        for (std::int64_t token = 0; token < input.queries.rows(); ++token) {
          buckets.slice(head)(round, token) = static_cast<float>(
              rounds[static_cast<std::size_t>(round)].bucket[static_cast<std::size_t>(token)]);
        }
      }
    }
    NamedTensors quantities;
    quantities.emplace("buckets", std::move(buckets));
    return quantities;
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min(shape.queries, shape.keys)};
  }

 private:
  static void check(const AttentionInput& input) {
    check_shapes(input);
    if (input.queries.rows() == input.keys.rows()) return;
    throw Error(ErrorKind::usage, "queries and keys must be projections of the same tokens")
        .about("reformer")
        .expected(std::to_string(input.queries.rows()) + " keys")
        .found(std::to_string(input.keys.rows()));
  }

  /// Number of columns of the rotations, half the number of buckets.
  [[nodiscard]] std::int64_t half_buckets(const AttentionInput& input) const {
    if (buckets_ > 0) return buckets_ / 2;
    if (input.parameters != nullptr) {
      const auto given = input.parameters->find(std::string_view("rotations"));
      if (given != input.parameters->end() && given->second.rank() > 0) {
        return std::max<std::int64_t>(given->second.shape().back(), 1);
      }
    }
    return default_buckets(input.queries.rows(), chunk_, input.causal) / 2;
  }

  [[nodiscard]] std::vector<Round> rounds_of(const AttentionInput& input, std::int64_t head) const {
    const std::int64_t d = input.queries.cols() / input.heads, n = input.queries.rows();
    const std::int64_t half = half_buckets(input);
    const MatrixD tokens = head_columns(input.queries, input.heads, head).cast<double>();
    const Tensor* const given =
        find_parameter(input.parameters, "rotations", input.heads, {hashes_, d, half});
    std::vector<Round> rounds;
    for (std::int64_t round = 0; round < hashes_; ++round) {
      // Each direction has its own stream, so more buckets do not change the existing directions.
      const MatrixD rotation =
          given == nullptr
              ? MatrixD(rows_of_streams(seed_, input.layer, round, half, d).transpose())
              : MatrixD(of_head(*given, head, hashes_ * d, half)
                            .middleRows(round * d, d)
                            .cast<double>());
      const MatrixD rotated = tokens * rotation;
      std::vector<std::int64_t> bucket(static_cast<std::size_t>(n));
      for (std::int64_t token = 0; token < n; ++token) {
        Eigen::Index greatest = 0, least = 0;
        const double up = rotated.row(token).maxCoeff(&greatest);
        const double down = -rotated.row(token).minCoeff(&least);
        bucket[static_cast<std::size_t>(token)] = up >= down ? greatest : half + least;
      }
      rounds.emplace_back(std::move(bucket), 2 * half);
    }
    return rounds;
  }

  /// Calls work(head, query, attended tokens) for every query, in parallel.
  template <class Work>
  void for_each_query(const AttentionInput& input, const Work& work) const {
    const std::int64_t n = input.queries.rows();
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const std::vector<Round> rounds = rounds_of(input, head);
      const Matrix queries = head_columns(input.queries, input.heads, head);
      Matrix keys = queries;
      for (Eigen::Index j = 0; j < n; ++j) {
        const double length = keys.row(j).cast<double>().norm();
        if (length > 0) keys.row(j) *= static_cast<float>(1 / length);
      }
      const double scale = input.score_scale();
      tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, n, 64), [&](const auto& range) {
        std::vector<AttendedToken> attended;
        // Last query that met each key.
        std::vector<std::int64_t> met(static_cast<std::size_t>(n), -1);
        for (std::int64_t query = range.begin(); query < range.end(); ++query) {
          attended.clear();
          for (const Round& round : rounds) {
            const auto [first, end] =
                round.reach(static_cast<std::size_t>(query), chunk_, input.causal);
            for (std::int64_t place = first; place < end; ++place) {
              const std::int64_t key = round.order[static_cast<std::size_t>(place)];
              std::int64_t& last = met[static_cast<std::size_t>(key)];
              if (key == query || last == query || (input.causal && key > query)) continue;
              last = query;
              const double product = static_cast<double>(queries.row(query).dot(keys.row(key)));
              attended.push_back({key, scale * product});
            }
          }
          if (attended.empty()) attended.push_back({query, 0});
          normalise(attended);
          work(head, query, attended);
        }
      });
    });
  }

  /// Turns scores into weights by softmax.
  static void normalise(std::vector<AttendedToken>& attended) {
    double greatest = attended.front().weight, sum = 0;
    for (const AttendedToken& one : attended) greatest = std::max(greatest, one.weight);
    for (AttendedToken& one : attended) sum += one.weight = std::exp(one.weight - greatest);
    for (AttendedToken& one : attended) one.weight /= sum;
  }

  std::int64_t hashes_;
  std::int64_t chunk_;
  std::int64_t buckets_;  ///< 0: derived from the input
  std::int64_t seed_;
};

std::int64_t counted_buckets(const AttentionShape& shape, const TypedValues& values) {
  const std::int64_t chosen = values.whole("buckets");
  return chosen > 0 ? chosen : default_buckets(shape.queries, values.whole("chunk"), false);
}

}  // namespace

MechanismEntry reformer_entry() {
  return {
      .name = "reformer",
      .title = "Reformer",
      .source = "Kitaev et al. 2020, Section 2",
      .formula = "softmax inside buckets of alike tokens",
      .rank = "N",
      .complexity = {"NhcD + ND²", "Nhc + ND", "Kitaev et al. 2020"},
      .parameters = reformer_parameters(),
      .accounting = {setting::flag("rotations", true, "counts the random rotations"),
                     setting::flag("scaled", false,
                                   "scales the scores instead of normalising the keys"),
                     setting::flag("shared", true, "queries and keys share one projection")},
      .tensors = {{"rotations", "[rounds, d, buckets / 2], or with the heads in front",
                   [](const AttentionShape& s, const TypedValues& values) {
                     return std::optional(Shape{values.whole("hashes"), s.head_width,
                                                counted_buckets(s, values) / 2});
                   },
                   0}},
      .counts =
          [](const AttentionShape& shape, CostConvention convention, const TypedValues& values) {
            return costs::reformer(shape, convention,
                                   {.hashes = values.whole("hashes"),
                                    .chunk = values.whole("chunk"),
                                    .buckets = values.whole("buckets"),
                                    .rotations = values.flag("rotations"),
                                    .scaled = values.flag("scaled")});
          },
      .projections =
          [](std::int64_t width, const AttentionShape& shape, const TypedValues& values) {
            return values.flag("shared") ? shared_projections(width, shape, values)
                                         : separate_projections(width, shape, values);
          },
      .make = [](const TypedValues& values) -> std::unique_ptr<Mechanism> {
        const std::int64_t buckets = values.whole("buckets");
        if (buckets % 2 != 0) {
          throw Error(ErrorKind::usage, "the number of buckets must be even")
              .about("reformer buckets")
              .expected("an even number")
              .found(std::to_string(buckets));
        }
        return std::make_unique<Reformer>(values.whole("hashes"), values.whole("chunk"), buckets,
                                          values.whole("seed"));
      },
      .causal = true,
      .scaled = true};
}

}  // namespace attnscope
