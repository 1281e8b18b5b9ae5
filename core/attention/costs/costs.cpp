#include "core/attention/costs/costs.h"

#include <bit>

#include "core/attention/costs/build.h"
#include "core/attention/costs/features.h"
#include "core/error.h"

namespace attnscope::costs {

namespace {

OperationCount kernel_features(const AttentionShape& shape, CostConvention convention, Count m) {
  const Count pairs = Count(shape.heads) * shape.queries * m, c = shape.head_width;
  switch (convention) {
    case CostConvention::adder:
      return accumulated("hash kernel", pairs * c);
    case CostConvention::ecoformer:
      return component("hash kernel", 2 * pairs, 2 * pairs * c);
    case CostConvention::complete:
      break;
  }
  // Operations: squared distance, product with -1/(2σ), exp, mean over tokens, difference from it.
  OperationCount count = component("hash kernel", pairs * c + pairs, 2 * pairs * c + 2 * pairs);
  count.exponentials = pairs.value();
  count.divisions = (Count(shape.heads) * m).value();
  return moving(count, convention, Count(shape.heads) * (Count(shape.queries) + m) * c + pairs);
}

OperationCount code_projection(const AttentionShape& shape, CostConvention convention, Count width,
                               Count bits) {
  const Count codes = Count(shape.heads) * shape.queries * bits;
  OperationCount count = accumulated("hash projection", codes * width);
  if (convention == CostConvention::complete) {
    count.additions = (codes * width + codes).value();  // the sign is a comparison
    count = moving(
        count, convention,
        Count(shape.heads) * shape.queries * width + Count(shape.heads) * width * bits + codes);
  }
  return count;
}

/// Linear attention over codes of ±1 (EcoFormer, Eq. 9).
void append_code_attention(OperationCounts& counts, const AttentionShape& shape,
                           CostConvention convention, Count bits) {
  const Count rows = Count(shape.heads) * shape.queries, b = bits, c = shape.value_width;
  const Count h = shape.heads;
  const bool papers = convention == CostConvention::ecoformer;
  const bool complete = convention == CostConvention::complete;

  OperationCount values = component("values", 0, 2 * rows * b * c);
  OperationCount bias = component("bias 2^c", 0, papers ? rows * c : Count(0));
  OperationCount normaliser = component("normaliser", 0, 2 * rows * b);
  OperationCount division{.component = "division"};
  if (papers) {
    normaliser.multiplications = (rows * b + rows).value();
    division.multiplications = (rows * c).value();
  }
  if (complete) {
    // Operations: Σ v and its addition to every row; one shift per element of Σ v, one for 2^c N.
    bias.additions = (2 * rows * c).value();
    bias.shifts = (h * c).value();
    normaliser.additions = (2 * rows * b + rows).value();
    normaliser.shifts = shape.heads;
    division.divisions = (rows * c).value();
    values = moving(values, convention, 2 * rows * (b + c) + 2 * h * b * c);
    bias = moving(bias, convention, 3 * rows * c);
    normaliser = moving(normaliser, convention, 2 * rows * b + rows);
    division = moving(division, convention, 2 * rows * c + rows);
  }
  counts.push_back(values);
  counts.push_back(bias);
  counts.push_back(normaliser);
  counts.push_back(division);
}

/// exp(K) ⊙ V, the quotient and the gate σ(Q): three products per element in the papers'
/// convention.
void append_elementwise(OperationCounts& counts, CostConvention convention, Count queries,
                        Count keys, Count key_channels, Count width) {
  const bool complete = convention == CostConvention::complete;
  if (convention == CostConvention::adder) return;
  OperationCount weights = component("key weights", keys * width, 0);
  OperationCount division{.component = "division"};
  OperationCount gate = component("gate", queries * width, 0);
  if (complete) {
    // Operations: the largest key of a channel, the difference, exp.
    weights.additions = (2 * keys * key_channels).value();
    weights.exponentials = (keys * key_channels).value();
    weights = moving(weights, convention, 2 * keys * key_channels + 2 * keys * width);
    division.divisions = (queries * width).value();
    division = moving(division, convention, 3 * queries * width);
    gate.additions = gate.exponentials = gate.divisions = (queries * width).value();
    gate = moving(gate, convention, 3 * queries * width);
  } else {
    division.multiplications = (queries * width).value();
  }
  counts.push_back(weights);
  counts.push_back(division);
  counts.push_back(gate);
}

/// One importance per token and head: a product over `inputs` numbers, scaled, and its exp.
OperationCount importances(const char* name, const AttentionShape& shape, CostConvention convention,
                           Count inputs) {
  const Count rows = Count(shape.heads) * shape.queries;
  OperationCount count = accumulated(name, rows * inputs);
  if (convention != CostConvention::adder) {
    count.multiplications = (rows * inputs + rows).value();  // scaling by 1/√d
  }
  if (convention == CostConvention::complete) {
    count.additions = (rows * inputs + 2 * rows).value();  // the maximum, the difference
    count.exponentials = rows.value();
    count = moving(count, convention,
                   Count(shape.queries) * shape.heads * shape.head_width + inputs + rows);
  }
  return count;
}

}  // namespace

void check(const AttentionShape& shape) {
  const std::pair<const char*, std::int64_t> extents[] = {{"queries", shape.queries},
                                                          {"keys", shape.keys},
                                                          {"heads", shape.heads},
                                                          {"head width", shape.head_width},
                                                          {"value width", shape.value_width}};
  for (const auto& [name, extent] : extents) {
    if (extent <= 0) {
      throw Error(ErrorKind::usage, "a dimension of the attention layer is not positive")
          .about(name)
          .expected("1 or more")
          .found(std::to_string(extent));
    }
  }
}

OperationCount softmax_rows(std::int64_t rows, std::int64_t columns, CostConvention convention) {
  const Count scores = Count(rows) * columns;
  OperationCount count{.component = "softmax"};
  if (convention == CostConvention::ecoformer) count.multiplications = scores.value();
  if (convention == CostConvention::complete) {
    count.multiplications = scores.value();  // scaling by 1/√d
    count.additions = (3 * scores).value();  // maximum, difference, sum
    count.exponentials = scores.value();
    count.divisions = scores.value();
    count = moving(count, convention, 2 * scores);
  }
  return count;
}

OperationCounts softmax(const AttentionShape& shape, CostConvention convention) {
  check(shape);
  const Count n = shape.queries, m = shape.keys, h = shape.heads, d = shape.head_width,
              dv = shape.value_width;
  return {moving(accumulated("scores", h * n * m * d), convention, h * ((n + m) * d + n * m)),
          softmax_rows((h * n).value(), shape.keys, convention),
          moving(accumulated("values", h * n * m * dv), convention, h * ((n + m) * dv + n * m))};
}

OperationCounts adder(const AttentionShape& shape, CostConvention convention, bool identity,
                      bool identity_products) {
  OperationCounts counts = softmax(shape, convention);
  const Count n = shape.queries, m = shape.keys, h = shape.heads, d = shape.head_width,
              dv = shape.value_width;
  counts[0].multiplications = 0;
  counts[0].additions = (2 * h * n * m * d).value();
  if (identity || identity_products) {
    const Count products = identity_products ? h * n * dv : Count(0);
    const Count sums = convention == CostConvention::complete ? h * n * dv : Count(0);
    counts.push_back(moving(component("identity", products, sums), convention, 3 * h * n * dv));
  }
  return counts;
}

OperationCounts hash(const AttentionShape& shape, CostConvention convention,
                     const HashOptions& options) {
  check(shape);
  check_shared("hash", shape);
  check_positive("bits", options.bits);
  OperationCounts counts;
  if (options.codes == CodeKind::kernel) {
    check_positive("supports", options.supports);
    counts.push_back(kernel_features(shape, convention, options.supports));
    counts.push_back(code_projection(shape, convention, options.supports, options.bits));
    append_code_attention(counts, shape, convention, options.bits);
    return counts;
  }
  const bool of_tokens = options.features == 0;
  const std::int64_t features = of_tokens ? shape.head_width : options.features;
  if (!of_tokens) {
    check_positive("features", features);
    counts.push_back(random_features("features", shape, shape.queries, convention, features));
  }
  if (options.codes == CodeKind::lsh) {
    counts.push_back(code_projection(shape, convention, features, options.bits));
    append_code_attention(counts, shape, convention, options.bits);
    return counts;
  }
  if (convention == CostConvention::complete) {
    // Operations: the scale ‖u‖₁/n of a row, and its signs.
    const Count rows = Count(shape.heads) * shape.queries, f = features;
    counts.push_back(
        moving(component("binarisation", rows, 2 * rows * f), convention, 2 * rows * f));
  }
  append_code_attention(counts, shape, convention, features);
  return counts;
}

void append_linear_attention(OperationCounts& counts, const AttentionShape& shape,
                             CostConvention convention, Count f) {
  const Count n = shape.queries, m = shape.keys, h = shape.heads, c = shape.value_width;
  OperationCount values = accumulated("values", h * (n + m) * f * c);
  OperationCount normaliser{.component = "normaliser"};
  OperationCount division{.component = "division"};
  switch (convention) {
    case CostConvention::adder:
      break;
    case CostConvention::ecoformer:
      normaliser = component("normaliser", h * n * f + h * n, h * (n + m) * f);
      division.multiplications = (h * n * c).value();
      break;
    case CostConvention::complete:
      normaliser = component("normaliser", h * n * f, h * (n + m) * f);
      division.divisions = (h * n * c).value();
      values = moving(values, convention, h * ((n + m) * (f + c) + 2 * f * c));
      normaliser = moving(normaliser, convention, h * ((n + m) * f + n));
      division = moving(division, convention, h * n * (2 * c + 1));
      break;
  }
  counts.push_back(values);
  counts.push_back(normaliser);
  counts.push_back(division);
}

OperationCounts performer(const AttentionShape& shape, CostConvention convention,
                          std::int64_t features, bool as_released, bool relu) {
  check(shape);
  check_positive("features", features);
  const FeatureKind kind = relu ? FeatureKind::relu : FeatureKind::positive;
  OperationCounts counts = {
      random_features("query features", shape, shape.queries, convention, features, kind),
      random_features("key features", shape, shape.keys, convention, features, kind)};
  if (as_released && convention == CostConvention::ecoformer) {
    const Count n = shape.queries, m = shape.keys, h = shape.heads, c = shape.value_width;
    counts.push_back(accumulated("values", h * (2 * n + m) * features * c));
    counts.push_back(accumulated("normaliser", h * (n + m) * features));
    return counts;
  }
  append_linear_attention(counts, shape, convention, features);
  return counts;
}

OperationCounts linear(const AttentionShape& shape, CostConvention convention) {
  check(shape);
  const Count elements =
      Count(shape.heads) * (Count(shape.queries) + shape.keys) * shape.head_width;
  OperationCounts counts = {OperationCount{.component = "features"}};
  if (convention == CostConvention::complete) {
    // 1 + elu(x) is a comparison and, for x < 0, exp; the sum is counted for every element.
    counts[0] = component("features", 0, 2 * elements);
    counts[0].exponentials = elements.value();
    counts[0] = moving(counts[0], convention, 2 * elements);
  }
  append_linear_attention(counts, shape, convention, shape.head_width);
  return counts;
}

OperationCounts linformer(const AttentionShape& shape, CostConvention convention,
                          std::int64_t landmarks, bool mask) {
  check(shape);
  check_positive("landmarks", landmarks);
  const Count m = shape.keys, h = shape.heads, d = shape.head_width, dv = shape.value_width,
              k = landmarks;
  OperationCount projection = accumulated("landmarks", k * m * h * (d + dv));
  if (mask && convention != CostConvention::adder) {
    projection.multiplications = (k * m * h * (d + dv) + m * h * (d + dv)).value();
  }
  OperationCounts counts = {moving(projection, convention, (m + k) * h * (d + dv) + 2 * k * m)};
  AttentionShape reduced = shape;
  reduced.keys = landmarks;
  for (OperationCount& count : softmax(reduced, convention)) counts.push_back(std::move(count));
  return counts;
}

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

OperationCounts synthesizer(const AttentionShape& shape, CostConvention convention,
                            ScoreSource source, std::int64_t factors) {
  OperationCounts counts = softmax(shape, convention);
  const Count h = shape.heads, n = shape.queries, m = shape.keys, d = shape.head_width;
  const bool complete = convention == CostConvention::complete;
  switch (source) {
    case ScoreSource::random:
      counts[0] = moving(component("scores", 0, 0), convention, h * n * m);
      break;
    case ScoreSource::factorised:
      check_positive("factors", factors);
      counts[0] = moving(accumulated("scores", h * n * m * factors), convention,
                         h * ((n + m) * factors + n * m));
      break;
    case ScoreSource::dense: {
      // Scores relu(x·W1 + b1)·W2 + b2, widths d → d → M.
      const Count products = h * n * d * (d + m);
      const Count elementwise = complete ? h * n * (2 * d + m) : Count(0);
      counts[0] = moving(component("scores", products, products + elementwise), convention,
                         h * (3 * n * d + n * m + d * (d + m)));
      break;
    }
  }
  // Synthesized scores are not scaled.
  counts[1].multiplications = 0;
  return counts;
}

OperationCounts daft_full(const AttentionShape& shape, CostConvention convention,
                          std::int64_t factors) {
  check(shape);
  const Count n = shape.queries, m = shape.keys, width = Count(shape.heads) * shape.value_width;
  OperationCounts counts;
  if (factors > 0) {
    counts.push_back(moving(accumulated("position bias", n * m * factors), convention,
                            (n + m) * factors + n * m));
  }
  if (convention == CostConvention::complete) {
    // Operations: the largest bias of a row, the difference, exp.
    OperationCount weights = component("position weights", 0, 2 * n * m);
    weights.exponentials = (n * m).value();
    counts.push_back(moving(weights, convention, 2 * n * m));
  }
  counts.push_back(
      moving(accumulated("values", n * m * width), convention, n * m + (n + m) * width));
  counts.push_back(
      moving(accumulated("normaliser", n * m * width), convention, n * m + (n + m) * width));
  append_elementwise(counts, convention, n, m, width, width);
  return counts;
}

OperationCounts daft_conv(const AttentionShape& shape, CostConvention convention,
                          const DaftConvOptions& options) {
  check(shape);
  check_shared("daft-conv", shape);
  check_positive("kernel", options.kernel);
  check_positive("conv-heads", options.heads);
  const Count n = shape.queries, width = Count(shape.heads) * shape.value_width,
              channels = options.heads;
  if (width.value() % options.heads != 0) {
    throw Error(ErrorKind::usage, "the number of heads does not divide the width")
        .about("conv-heads")
        .expected("a divisor of " + std::to_string(width.value()))
        .found(std::to_string(options.heads));
  }
  const bool complete = convention == CostConvention::complete;
  const Count taps =
      options.dimensions == 2 ? Count(options.kernel) * options.kernel : Count(options.kernel);
  OperationCounts counts;
  if (complete) {
    OperationCount weights = component("position weights", 0, channels * taps);  // exp(r) - 1
    weights.exponentials = (channels * taps).value();
    counts.push_back(moving(weights, convention, 2 * channels * taps));
  }
  counts.push_back(
      moving(accumulated("values", n * width * taps), convention, 2 * n * width + channels * taps));
  counts.push_back(moving(accumulated("normaliser", n * channels * taps), convention,
                          2 * n * channels + channels * taps));
  if (convention != CostConvention::adder) {
    // Sums over all tokens of exp(K) ⊙ V and, under `complete`, of exp(K), added to every token.
    const Count sums = 2 * n * width + (complete ? 2 * n * channels : Count(0));
    counts.push_back(moving(component("global sums", 0, sums), convention, 3 * n * width));
  }
  append_elementwise(counts, convention, n, n, channels, width);
  return counts;
}

OperationCounts mixer(const AttentionShape& shape, CostConvention convention,
                      std::int64_t expansion) {
  check(shape);
  check_shared("mixer", shape);
  check_positive("expansion", expansion);
  const Count n = shape.queries, width = Count(shape.heads) * shape.value_width,
              hidden = expansion * n;
  const Count products = 2 * width * n * hidden;
  OperationCount mixing = accumulated("token mixing", products);
  if (convention == CostConvention::complete) {
    // Operations: biases, and GELU x/2 · (1 + erf(x/√2)).
    mixing.multiplications = (products + 3 * width * hidden).value();
    mixing.additions = (products + width * (2 * hidden + n)).value();
    mixing.exponentials = (width * hidden).value();
    mixing = moving(mixing, convention, 2 * width * (n + 2 * hidden) + 2 * n * hidden);
  }
  return {mixing};
}

OperationCounts additive(const AttentionShape& shape, CostConvention convention, AdditiveKind kind,
                         std::int64_t window) {
  check(shape);
  check_shared("additive", shape);
  if (window < 0) {
    throw Error(ErrorKind::usage, "a mechanism's parameter is out of range")
        .about("window")
        .expected("0 (all tokens) or more")
        .found(std::to_string(window));
  }
  const Count n = shape.queries, h = shape.heads, d = shape.head_width, width = h * d, rows = h * n;
  const bool papers = convention == CostConvention::ecoformer;
  const bool complete = convention == CostConvention::complete;
  const bool causal = kind == AdditiveKind::causal;
  const bool windowed = causal && window > 0 && window < shape.queries;

  OperationCounts counts;
  const auto append_global = [&](const char* importance, const char* global) {
    // Bidirectional logits see the whole concatenated vector, causal ones their own head.
    counts.push_back(importances(importance, shape, convention, causal ? d : width));
    OperationCount sums = accumulated(global, n * width);
    const Count divided = causal ? n * width : width;
    if (papers) sums.multiplications = (n * width + divided).value();
    if (papers || complete) sums.additions = (n * width + rows).value();
    if (windowed) {
      // Tokens that leave the window are subtracted (Eq. 15).
      sums.additions = (Count(sums.additions) + n * width +
                        (convention == CostConvention::adder ? Count(0) : rows))
                           .value();
    }
    if (complete) {
      sums.divisions = divided.value();
      sums = moving(sums, convention, (windowed ? 3 : 2) * n * width + rows);
    }
    counts.push_back(sums);
  };
  const auto append_product = [&](const char* name) {
    if (convention == CostConvention::adder) return;
    counts.push_back(moving(component(name, n * width, 0), convention, 3 * n * width));
  };

  append_global("query importances", "global query");
  append_product("query-key product");
  append_global("key importances", "global key");
  append_product(causal ? "key-value product" : "key-query product");
  return counts;
}

}  // namespace attnscope::costs
