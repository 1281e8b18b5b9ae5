#include "tests/support/counted_attention.h"

#include <algorithm>
#include <random>

namespace attnscope::test {

Rows random_rows(std::int64_t rows, std::int64_t columns) {
  static std::mt19937 engine(7);
  std::normal_distribution<double> normal;
  Rows result(static_cast<std::size_t>(rows), Row(static_cast<std::size_t>(columns)));
  for (Row& row : result) {
    for (Counted& value : row) value = normal(engine);
  }
  return result;
}

namespace {

Counted dot(const Row& a, const Row& b) {
  Counted sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

Rows products(const Rows& a, const Rows& b) {
  Rows result;
  for (const Row& x : a) {
    result.emplace_back();
    for (const Row& y : b) result.back().push_back(dot(x, y));
  }
  return result;
}

namespace {

Rows transposed(const Rows& a) {
  Rows result(a[0].size(), Row(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[0].size(); ++j) result[j][i] = a[i][j];
  }
  return result;
}

void attend(Rows scores, const Rows& values, bool scaled = true) {
  softmax_in_place(scores, scaled);
  Counted::enter("values");
  products(scores, transposed(values));
}

}  // namespace

void softmax_in_place(Rows& scores, bool scaled) {
  Counted::enter("softmax");
  for (Row& row : scores) {
    if (scaled) {
      for (Counted& score : row) score = score * 0.5;
    }
    Counted largest = -1e300;
    for (const Counted& score : row) largest = largest < score ? score : largest;
    Counted sum = 0;
    for (Counted& score : row) sum += score = exp(score - largest);
    for (Counted& score : row) score = score / sum;
  }
}

void count_softmax(const AttentionShape& s) {
  for (std::int64_t head = 0; head < s.heads; ++head) {
    Counted::enter("scores");
    Rows scores = products(random_rows(s.queries, s.head_width), random_rows(s.keys, s.head_width));
    attend(std::move(scores), random_rows(s.keys, s.value_width));
  }
}

void count_adder(const AttentionShape& s, bool identity) {
  for (std::int64_t head = 0; head < s.heads; ++head) {
    Counted::enter("scores");
    const Rows queries = random_rows(s.queries, s.head_width);
    const Rows keys = random_rows(s.keys, s.head_width);
    Rows scores;
    for (const Row& query : queries) {
      scores.emplace_back();
      for (const Row& key : keys) {
        Counted distance = 0;
        for (std::size_t i = 0; i < key.size(); ++i) distance += abs(query[i] - key[i]);
        scores.back().push_back(-distance);
      }
    }
    Rows values = random_rows(s.keys, s.value_width);
    attend(std::move(scores), values);
    if (!identity) continue;
    Counted::enter("identity");
    for (Row& row : values) {
      for (Counted& value : row) value += value;
    }
  }
}

namespace {

Rows random_features(const Rows& rows, std::int64_t features, const char* component,
                     bool relu = false) {
  const Rows directions = random_rows(features, static_cast<std::int64_t>(rows[0].size()));
  Counted::enter(component);
  Rows result;
  for (Row row : rows) {
    for (Counted& value : row) value = value * 0.7;
    result.emplace_back();
    if (relu) {
      for (const Row& direction : directions) {
        const Counted product = dot(direction, row);
        result.back().push_back((product < Counted(0) ? Counted(0) : product) + 0.001);
      }
      continue;
    }
    const Counted half = dot(row, row) * 0.5;
    for (const Row& direction : directions) {
      result.back().push_back(exp(dot(direction, row) - half) * 0.1);
    }
  }
  return result;
}

}  // namespace

void linear_attention(const Rows& queries, const Rows& keys, const Rows& values) {
  Counted::enter("values");
  const Rows read = products(queries, products(transposed(values), transposed(keys)));
  Counted::enter("normaliser");
  Row key_sum(keys[0].size(), 0.0);
  for (const Row& key : keys) {
    for (std::size_t f = 0; f < key.size(); ++f) key_sum[f] += key[f];
  }
  Row normalisers;
  for (const Row& query : queries) normalisers.push_back(dot(query, key_sum));
  Counted::enter("division");
  for (std::size_t i = 0; i < read.size(); ++i) {
    for (const Counted& value : read[i]) value / normalisers[i];
  }
}

void guarded_linear_attention(const AttentionShape& s) {
  for (std::int64_t head = 0; head < s.heads; ++head) {
    linear_attention(random_rows(s.queries, s.head_width), random_rows(s.keys, s.head_width),
                     random_rows(s.keys, s.value_width));
    Counted::enter("normaliser");
    for (std::int64_t i = 0; i < s.queries; ++i) static_cast<void>(Counted(1) + 1e-6);
  }
}

void count_performer(const AttentionShape& s, std::int64_t features, bool relu) {
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const Rows queries =
        random_features(random_rows(s.queries, s.head_width), features, "query features", relu);
    const Rows keys =
        random_features(random_rows(s.keys, s.head_width), features, "key features", relu);
    linear_attention(queries, keys, random_rows(s.keys, s.value_width));
  }
}

namespace {

Rows one_plus_elu(Rows rows) {
  Counted::enter("features");
  for (Row& row : rows) {
    for (Counted& value : row) {
      const bool positive = Counted(0) < value;
      value = (positive ? value : Counted(0)) + exp(positive ? Counted(0) : value);
    }
  }
  return rows;
}

}  // namespace

void count_linear(const AttentionShape& s) {
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const Rows queries = one_plus_elu(random_rows(s.queries, s.head_width));
    const Rows keys = one_plus_elu(random_rows(s.keys, s.head_width));
    linear_attention(queries, keys, random_rows(s.keys, s.value_width));
  }
}

void count_linformer(const AttentionShape& s, std::int64_t landmarks) {
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const Rows queries = random_rows(s.queries, s.head_width);
    const Rows keys = random_rows(s.keys, s.head_width);
    const Rows values = random_rows(s.keys, s.value_width);
    const Rows e = random_rows(landmarks, s.keys), f = random_rows(landmarks, s.keys);
    Counted::enter("landmarks");
    const Rows few_keys = products(e, transposed(keys));
    const Rows few_values = products(f, transposed(values));
    Counted::enter("scores");
    attend(products(queries, few_keys), few_values);
  }
}

namespace {

/// Codes from the signs of g·A.

std::vector<std::vector<int>> codes_of(const Rows& features, std::int64_t bits) {
  const Rows a = random_rows(bits, static_cast<std::int64_t>(features[0].size()));
  Counted::enter("hash projection");
  std::vector<std::vector<int>> codes;
  for (const Row& row : products(features, a)) {
    codes.emplace_back();
    for (const Counted& value : row) codes.back().push_back(value < Counted(0) ? -1 : 1);
  }
  return codes;
}

Counted signed_by(int code, Counted value) { return code < 0 ? -value : value; }

void code_attention(const std::vector<std::vector<int>>& codes, const Rows& values) {
  const std::size_t bits = codes[0].size(), width = values[0].size();
  Counted::enter("values");
  Rows sums(bits, Row(width, 0.0));
  for (std::size_t j = 0; j < values.size(); ++j) {
    for (std::size_t b = 0; b < bits; ++b) {
      for (std::size_t c = 0; c < width; ++c) sums[b][c] += signed_by(codes[j][b], values[j][c]);
    }
  }
  Rows read(values.size(), Row(width, 0.0));
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t b = 0; b < bits; ++b) {
      for (std::size_t c = 0; c < width; ++c) read[i][c] += signed_by(codes[i][b], sums[b][c]);
    }
  }
  Counted::enter("bias 2^c");
  Row total(width, 0.0);
  for (const Row& value : values) {
    for (std::size_t c = 0; c < width; ++c) total[c] += value[c];
  }
  for (Counted& value : total) value = shift_left(value, 5);
  for (Row& row : read) {
    for (std::size_t c = 0; c < width; ++c) row[c] += total[c];
  }
  Counted::enter("normaliser");
  Row code_sum(bits, 0.0);
  for (const auto& code : codes) {
    for (std::size_t b = 0; b < bits; ++b) code_sum[b] += Counted(code[b]);
  }
  const Counted offset = shift_left(Counted(static_cast<double>(values.size())), 5);
  Row normalisers;
  for (const auto& code : codes) {
    Counted sum = 0;
    for (std::size_t b = 0; b < bits; ++b) sum += signed_by(code[b], code_sum[b]);
    normalisers.push_back(sum + offset);
  }
  Counted::enter("division");
  for (std::size_t i = 0; i < read.size(); ++i) {
    for (Counted& value : read[i]) value = value / normalisers[i];
  }
}

}  // namespace

void count_kernel_hash(const AttentionShape& s, std::int64_t supports, std::int64_t bits) {
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const Rows queries = random_rows(s.queries, s.head_width);
    const Rows anchors = random_rows(supports, s.head_width);
    Counted::enter("hash kernel");
    Rows features;
    for (const Row& query : queries) {
      features.emplace_back();
      for (const Row& anchor : anchors) {
        Counted distance = 0;
        for (std::size_t i = 0; i < query.size(); ++i) {
          const Counted difference = query[i] - anchor[i];
          distance += difference * difference;
        }
        features.back().push_back(exp(distance * -0.5));
      }
    }
    for (std::size_t a = 0; a < anchors.size(); ++a) {
      Counted sum = 0;
      for (const Row& row : features) sum += row[a];
      const Counted mean = sum / static_cast<double>(features.size());
      for (Row& row : features) row[a] = row[a] - mean;
    }
    code_attention(codes_of(features, bits), random_rows(s.keys, s.value_width));
  }
}

void count_lsh(const AttentionShape& s, std::int64_t features, std::int64_t bits) {
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const Rows rows = random_features(random_rows(s.queries, s.head_width), features, "features");
    code_attention(codes_of(rows, bits), random_rows(s.keys, s.value_width));
  }
}

void count_binary(const AttentionShape& s, std::int64_t features) {
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const Rows rows = random_features(random_rows(s.queries, s.head_width), features, "features");
    Counted::enter("binarisation");
    std::vector<std::vector<int>> codes;
    for (const Row& row : rows) {
      Counted magnitude = 0;
      for (const Counted& value : row) magnitude += abs(value);
      magnitude*(1.0 / static_cast<double>(row.size()));
      codes.emplace_back();
      for (const Counted& value : row) codes.back().push_back(value < Counted(0) ? -1 : 1);
    }
    code_attention(codes, random_rows(s.keys, s.value_width));
  }
}

void count_synthesizer(const AttentionShape& s, costs::ScoreSource source, std::int64_t factors) {
  for (std::int64_t head = 0; head < s.heads; ++head) {
    const Rows inputs = random_rows(s.queries, s.head_width);
    Rows scores = random_rows(s.queries, s.keys);
    Counted::enter("scores");
    if (source == costs::ScoreSource::factorised) {
      scores = products(random_rows(s.queries, factors), random_rows(s.keys, factors));
    }
    if (source == costs::ScoreSource::dense) {
      Rows hidden = products(inputs, random_rows(s.head_width, s.head_width));
      for (Row& row : hidden) {
        for (Counted& value : row) {
          value += Counted(0.1);
          value = value < Counted(0) ? Counted(0) : value;
        }
      }
      scores = products(hidden, random_rows(s.keys, s.head_width));
      for (Row& row : scores) {
        for (Counted& value : row) value += Counted(0.1);
      }
    }
    attend(std::move(scores), random_rows(s.keys, s.value_width), /*scaled=*/false);
  }
}

namespace {

/// exp(K) after the maximum of each channel is subtracted.

Rows key_weights(std::int64_t tokens, std::int64_t channels) {
  Rows keys = random_rows(tokens, channels);
  Counted::enter("key weights");
  for (std::size_t c = 0; c < keys[0].size(); ++c) {
    Counted largest = -1e300;
    for (const Row& row : keys) largest = largest < row[c] ? row[c] : largest;
    for (Row& row : keys) row[c] = exp(row[c] - largest);
  }
  return keys;
}

void divide_and_gate(Rows numerators, const Rows& denominators) {
  const std::size_t share = numerators[0].size() / denominators[0].size();
  for (std::size_t i = 0; i < numerators.size(); ++i) {
    for (std::size_t c = 0; c < numerators[0].size(); ++c) {
      Counted::enter("division");
      const Counted quotient = numerators[i][c] / denominators[i][c / share];
      Counted::enter("gate");
      const Counted gate = Counted(1) / (Counted(1) + exp(-Counted(0.3)));
      gate* quotient;
    }
  }
}

Rows weighted_values(const Rows& weights, Rows values) {
  const std::size_t share = values[0].size() / weights[0].size();
  Counted::enter("key weights");
  for (std::size_t j = 0; j < values.size(); ++j) {
    for (std::size_t c = 0; c < values[0].size(); ++c) {
      values[j][c] = weights[j][c / share] * values[j][c];
    }
  }
  return values;
}

}  // namespace

void count_daft_full(const AttentionShape& s, std::int64_t factors) {
  const std::int64_t width = s.heads * s.value_width;
  Counted::enter("position bias");
  Rows bias = products(random_rows(s.queries, factors), random_rows(s.keys, factors));
  Counted::enter("position weights");
  for (Row& row : bias) {
    Counted largest = -1e300;
    for (const Counted& value : row) largest = largest < value ? value : largest;
    for (Counted& value : row) value = exp(value - largest);
  }
  const Rows weights = key_weights(s.keys, width);
  const Rows weighted = weighted_values(weights, random_rows(s.keys, width));
  Counted::enter("values");
  Rows numerators = products(bias, transposed(weighted));
  Counted::enter("normaliser");
  divide_and_gate(std::move(numerators), products(bias, transposed(weights)));
}

namespace {

/// Weighted sums of `rows` in a window around each token. Padding is multiplied too.

Rows convolved(const Rows& rows, std::int64_t taps) {
  Rows result(rows.size(), Row(rows[0].size(), 0.0));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t c = 0; c < rows[0].size(); ++c) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const std::int64_t j = static_cast<std::int64_t>(i) + tap - taps / 2;
        const bool inside = j >= 0 && j < static_cast<std::int64_t>(rows.size());
        result[i][c] += Counted(0.2) * (inside ? rows[static_cast<std::size_t>(j)][c] : Counted(0));
      }
    }
  }
  return result;
}

void add_global_sums(Rows& local, const Rows& rows) {
  Counted::enter("global sums");
  Row sums(rows[0].size(), 0.0);
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) sums[c] += row[c];
  }
  for (Row& row : local) {
    for (std::size_t c = 0; c < row.size(); ++c) row[c] += sums[c];
  }
}

}  // namespace

void count_daft_conv(const AttentionShape& s, std::int64_t kernel, std::int64_t heads) {
  Counted::enter("position weights");
  for (std::int64_t i = 0; i < heads * kernel; ++i) exp(Counted(0.1)) - Counted(1);
  const Rows weights = key_weights(s.keys, heads);
  const Rows weighted = weighted_values(weights, random_rows(s.keys, s.heads * s.value_width));
  Counted::enter("values");
  Rows numerators = convolved(weighted, kernel);
  Counted::enter("normaliser");
  Rows denominators = convolved(weights, kernel);
  add_global_sums(numerators, weighted);
  add_global_sums(denominators, weights);
  divide_and_gate(std::move(numerators), denominators);
}

namespace {

/// The importance e of every token and head.

Rows importances(const Rows& tokens, std::int64_t heads, bool causal, const char* component) {
  Counted::enter(component);
  const std::size_t share = tokens[0].size() / static_cast<std::size_t>(heads);
  Rows result;
  for (const Row& token : tokens) {
    result.emplace_back();
    for (std::size_t head = 0; head < static_cast<std::size_t>(heads); ++head) {
      const Row seen = causal ? Row(token.begin() + static_cast<std::ptrdiff_t>(head * share),
                                    token.begin() + static_cast<std::ptrdiff_t>((head + 1) * share))
                              : token;
      result.back().push_back(dot(Row(seen.size(), 0.3), seen) * 0.5);
    }
  }
  for (std::size_t head = 0; head < static_cast<std::size_t>(heads); ++head) {
    Counted largest = -1e300;
    for (const Row& row : result) largest = largest < row[head] ? row[head] : largest;
    for (Row& row : result) row[head] = exp(row[head] - largest);
  }
  return result;
}

void global_vectors(const Rows& tokens, const Rows& e, bool causal, std::int64_t window,
                    const char* component) {
  Counted::enter(component);
  const std::size_t heads = e[0].size(), share = tokens[0].size() / heads;
  Row sums(tokens[0].size(), 0.0), norms(heads, 0.0);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::size_t head = 0; head < heads; ++head) norms[head] += e[i][head];
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += e[i][c / share] * tokens[i][c];
    if (!causal) continue;
    for (std::size_t c = 0; c < sums.size(); ++c) {
      // The sum that leaves the window is known, because Eq. 13 and 14 keep it.
      const Counted sum = window > 0 ? sums[c] - Counted(0.1) : sums[c];
      sum / norms[c / share];
    }
    if (window > 0) {
      for (std::size_t head = 0; head < heads; ++head) norms[head] - Counted(0.1);
    }
  }
  if (!causal) {
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] / norms[c / share];
  }
}

}  // namespace

void count_additive(const AttentionShape& s, bool causal, std::int64_t window) {
  const std::int64_t width = s.heads * s.head_width;
  const auto multiply = [&](const char* component) {
    Counted::enter(component);
    Rows result = random_rows(s.queries, width);
    for (Row& row : result) {
      for (Counted& value : row) value = value * 0.5;
    }
    return result;
  };
  const Rows queries = random_rows(s.queries, width);
  const Rows alpha = importances(queries, s.heads, causal, "query importances");
  global_vectors(queries, alpha, causal, window, "global query");
  const Rows p = multiply("query-key product");
  const Rows beta = importances(p, s.heads, causal, "key importances");
  global_vectors(p, beta, causal, window, "global key");
  multiply(causal ? "key-value product" : "key-query product");
}

void count_mixer(const AttentionShape& s, std::int64_t expansion) {
  const std::int64_t width = s.heads * s.value_width, hidden = expansion * s.queries;
  Counted::enter("token mixing");
  Rows inner = products(random_rows(width, s.queries), random_rows(hidden, s.queries));
  for (Row& row : inner) {
    for (Counted& value : row) {
      value += Counted(0.1);
      value = value * 0.5 * (Counted(1) + exp(value * 0.7));  // erf, counted like exp
    }
  }
  Rows outer = products(inner, random_rows(s.queries, hidden));
  for (Row& row : outer) {
    for (Counted& value : row) value += Counted(0.1);
  }
}

void count_reformer(const AttentionShape& s, const costs::ReformerOptions& options) {
  const std::int64_t buckets = s.queries / options.chunk;
  for (std::int64_t head = 0; head < s.heads; ++head) {
    Rows keys = random_rows(s.keys, s.head_width);
    Counted::enter("key normalisation");
    for (Row& key : keys) {
      const Counted length = sqrt(dot(key, key));
      for (Counted& value : key) value = value / length;
    }
    for (std::int64_t round = 0; round < options.hashes; ++round) {
      Counted::enter("hash rotations");
      for (const Row& rotated : products(keys, random_rows(buckets / 2, s.head_width))) {
        Counted largest = -1e300;
        for (const Counted& value : rotated) {
          largest = largest < value ? value : largest;
          largest = largest < -value ? -value : largest;
        }
      }
      Counted::enter("scores");
      const Rows reached(keys.begin(),
                         keys.begin() + std::min<std::int64_t>(2 * options.chunk, s.keys));
      Rows scores = products(keys, reached);
      attend(std::move(scores),
             random_rows(static_cast<std::int64_t>(reached.size()), s.value_width));
    }
  }
}

}  // namespace attnscope::test
