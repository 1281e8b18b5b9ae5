#include <bit>

#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/costs/features.h"

namespace attnscope::costs {

OperationCounts reformer(const AttentionShape& shape, CostConvention convention,
                         const ReformerOptions& options) {
  check(shape);
  check_shared("reformer", shape);
  check_positive("hashes", options.hashes);
  check_positive("chunk", options.chunk);
  const bool papers = convention == CostConvention::ecoformer;
  const bool complete = convention == CostConvention::complete;
  const Count h = shape.heads, n = shape.queries, d = shape.head_width, dv = shape.value_width,
              rounds = options.hashes;
  // Keys per query: a chunk of `chunk` tokens and the previous one, at most the number of tokens.
  const Count reach = papers ? 2 * Count(options.chunk)
                             : Count(std::min((2 * Count(options.chunk)).value(), shape.keys));
  const Count buckets = options.buckets > 0 ? Count(options.buckets) : n / options.chunk;

  OperationCounts counts;
  OperationCount normalisation{.component = "key normalisation"};
  if (!options.scaled && convention != CostConvention::adder) {
    normalisation = component("key normalisation", (papers ? 2 : 1) * h * n * d, h * n * d);
    if (complete) {
      normalisation.divisions = (h * n * d).value();
      normalisation.exponentials = (h * n).value();  // the square root
      normalisation = moving(normalisation, convention, 2 * h * n * d);
    }
  }
  counts.push_back(normalisation);

  if (options.rotations) {
    OperationCount rotations = accumulated("hash rotations", rounds * h * n * d * buckets / 2);
    if (complete) {
      // Comparisons: the largest of the rotations and their negatives; a merge sort by bucket.
      const Count comparisons = rounds * h * n *
                                (buckets + static_cast<std::int64_t>(std::bit_width(
                                               static_cast<std::uint64_t>(shape.queries - 1))));
      rotations.additions = (Count(rotations.additions) + comparisons).value();
      rotations = moving(rotations, convention,
                         h * n * d + rounds * h * (d * buckets / 2 + n * buckets / 2 + 2 * n));
    }
    counts.push_back(rotations);
  }

  const Count pairs = rounds * h * n * reach;
  counts.push_back(
      moving(accumulated("scores", pairs * d), convention, pairs + rounds * 3 * h * n * d));
  OperationCount scaling = softmax_rows((rounds * h * n).value(), reach.value(), convention);
  if (papers && !options.scaled) scaling.multiplications = 0;
  counts.push_back(scaling);
  counts.push_back(
      moving(accumulated("values", pairs * dv), convention, pairs + rounds * 3 * h * n * dv));
  if (complete && options.hashes > 1) {
    // Rounds are weighted by the softmax of their normalisers, then summed.
    OperationCount rounds_sum = softmax_rows((h * n).value(), options.hashes, convention);
    rounds_sum.component = "rounds";
    rounds_sum.multiplications = (rounds * h * n * dv).value();
    rounds_sum.additions = (Count(rounds_sum.additions) + rounds * h * n * dv).value();
    counts.push_back(moving(rounds_sum, convention, rounds * h * n * (dv + 1) + h * n * dv));
  }
  return counts;
}

}  // namespace attnscope::costs
