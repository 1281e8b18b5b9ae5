#include "core/model/parts/score_bias.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <tbb/parallel_for.h>

#include "core/error.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

using Keys = std::pair<std::int64_t, std::int64_t>;

/// The keys within a query's window, including later ones.
Keys window_of(const ScoreSpec& scores, std::int64_t query, std::int64_t tokens) {
  const std::int64_t width = scores.window;
  switch (scores.window_form) {
    case WindowForm::before:
      return {std::max<std::int64_t>(query - width + 1, 0), query + 1};
    case WindowForm::around:
      return {std::max<std::int64_t>(query - width / 2, 0),
              std::min(query + width / 2 + 1, tokens)};
    case WindowForm::chunk:
    case WindowForm::tiles:
      break;
  }
  const std::int64_t first = query / width * width;
  return {first, std::min(first + width, tokens)};
}

void add_window(const ScoreSpec& scores, std::int64_t tokens, ScoreTerms& terms) {
  if (scores.window == 0 || scores.window_form == WindowForm::tiles) return;
  bool hides = false;
  for (std::int64_t query = 0; query < tokens; ++query) {
    const Keys keys = window_of(scores, query, tokens);
    const std::int64_t end = scores.causal ? query + 1 : tokens;
    hides = hides || keys.first > 0 || keys.second < end;
    terms.seen.push_back(keys);
  }
  if (hides) {
    terms.names += ", a window of " + std::to_string(scores.window) + " tokens";
  } else {
    terms.seen.clear();
  }
}

/// Lets the tokens of each picture see each other, and hides other later keys from all tokens.
void add_pictures(const TokenLayout& layout, std::int64_t tokens, ScoreTerms& terms) {
  if (terms.seen.empty()) {
    terms.seen.assign(static_cast<std::size_t>(tokens), {std::int64_t{0}, tokens});
  }
  for (std::int64_t query = 0; query < tokens; ++query) {
    auto& [first, end] = terms.seen[static_cast<std::size_t>(query)];
    end = std::min(end, query + 1);
    const auto own = layout.picture_of(query);
    if (!own) continue;
    const TokenCells picture = layout.cells(*own);
    first = std::min(first, picture.first);
    end = std::max(end, picture.end());
  }
  terms.names += ", a picture whose tokens see each other";
}

void add_alibi(const LayerSpec& layer, ScoreTerms& terms) {
  const std::vector<double> slopes =
      alibi_slopes(layer.attention.heads, layer.scores.alibi_maximum);
  terms.add_bias = [slopes](std::int64_t head, std::int64_t query, std::span<float> scores) {
    const auto slope = static_cast<float>(slopes[static_cast<std::size_t>(head)]);
    for (std::size_t key = 0; key < scores.size(); ++key) {
      const std::int64_t away = std::abs(query - static_cast<std::int64_t>(key));
      scores[key] -= slope * static_cast<float>(away);
    }
  };
  terms.names += ", ALiBi's biases";
}

/// The nearest bfloat16, to even.
float rounded_to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7FFFU + (bits >> 16 & 1U)) & 0xFFFF0000U);
}

/// Falcon's biases depend on the key's position alone. Rounding makes those of long texts differ
/// from ALiBi's.
void add_rounded_alibi(const LayerSpec& layer, ScoreTerms& terms) {
  const std::vector<double> slopes =
      alibi_slopes(layer.attention.heads, layer.scores.alibi_maximum);
  const float scale = 1 / std::sqrt(static_cast<float>(layer.attention.head_width));
  terms.add_bias = [slopes, scale](std::int64_t head, std::int64_t, std::span<float> scores) {
    const float slope =
        rounded_to_bfloat(static_cast<float>(slopes[static_cast<std::size_t>(head)]));
    for (std::size_t key = 0; key < scores.size(); ++key) {
      scores[key] += scale * rounded_to_bfloat(slope * rounded_to_bfloat(static_cast<float>(key)));
    }
  };
  terms.names += ", ALiBi's biases";
}

void add_buckets(const LayerSpec& layer, std::int64_t tokens, const Tensor& table,
                 ScoreTerms& terms) {
  const ScoreSpec& scores = layer.scores;
  // One bias per head and distance from −(N − 1) to N − 1.
  auto of_distance = std::make_shared<Matrix>(layer.attention.heads, 2 * tokens - 1);
  for (std::int64_t distance = 1 - tokens; distance < tokens; ++distance) {
    const std::int64_t bucket =
        distance_bucket(distance, scores.buckets, scores.bucket_distance, scores.causal);
    of_distance->col(distance + tokens - 1) = table.matrix().row(bucket).transpose();
  }
  terms.add_bias = [of_distance, tokens](std::int64_t head, std::int64_t query,
                                         std::span<float> row) {
    const float* const biases = of_distance->row(head).data() + tokens - 1 - query;
    for (std::size_t key = 0; key < row.size(); ++key) row[key] += biases[key];
  };
  terms.names += ", biases of relative positions";
}

/// Products of each query with the vectors of all key rows and key columns.
struct AxisProducts {
  Tensor rows;     ///< [H, N, grid.rows]
  Tensor columns;  ///< [H, N, grid.columns]
};

/// The vectors [cells, d] for a query in cell `cell`, with offsets cell, cell − 1, …, from a table
/// of offsets [2·cells − 1, d].
Matrix offsets_of(const Tensor& table, std::int64_t cell, std::int64_t cells) {
  Matrix met(cells, table.extent(1));
  for (std::int64_t key = 0; key < cells; ++key) {
    met.row(key) = table.matrix().row(cell - key + cells - 1);
  }
  return met;
}

ConstStridedMatrixMap whole(const Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols(), Eigen::OuterStride<>(matrix.cols())};
}

/// Fills the products of one head's queries.
void fill_products(const Tensor& rows, const Tensor& columns, const ConstMatrixMap& queries,
                   std::int64_t heads, std::int64_t head, const GridExtents& grid,
                   AxisProducts& products) {
  const std::int64_t d = queries.cols() / heads, tokens = grid.tokens();
  const float* const first = queries.data() + head * d;
  for (std::int64_t y = 0; y < grid.rows; ++y) {
    const Matrix met = offsets_of(rows, y, grid.rows);
    multiply_transposed({first + y * grid.columns * queries.cols(), grid.columns, d,
                         Eigen::OuterStride<>(queries.cols())},
                        whole(met), 1.0F,
                        {products.rows.data() + (head * tokens + y * grid.columns) * grid.rows,
                         grid.columns, grid.rows, Eigen::OuterStride<>(grid.rows)});
  }
  for (std::int64_t x = 0; x < grid.columns; ++x) {
    const Matrix met = offsets_of(columns, x, grid.columns);
    multiply_transposed({first + x * queries.cols(), grid.rows, d,
                         Eigen::OuterStride<>(grid.columns * queries.cols())},
                        whole(met), 1.0F,
                        {products.columns.data() + (head * tokens + x) * grid.columns, grid.rows,
                         grid.columns, Eigen::OuterStride<>(grid.columns * grid.columns)});
  }
}

}  // namespace

std::vector<double> alibi_slopes(std::int64_t heads, double maximum) {
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const auto slope = [maximum](std::int64_t head, std::int64_t of) {
    return std::pow(2.0, -maximum * static_cast<double>(head) / static_cast<double>(of));
  };
  std::vector<double> slopes;
  for (std::int64_t head = 1; head <= power; ++head) slopes.push_back(slope(head, power));
  for (std::int64_t head = 1; std::ssize(slopes) < heads; head += 2) {
    slopes.push_back(slope(head, 2 * power));
  }
  return slopes;
}

std::int64_t distance_bucket(std::int64_t distance, std::int64_t buckets, std::int64_t furthest,
                             bool causal) {
  std::int64_t first = 0;
  if (causal) {
    distance = std::max<std::int64_t>(-distance, 0);
  } else {
    buckets /= 2;
    if (distance > 0) first = buckets;
    distance = std::abs(distance);
  }
  const std::int64_t exact = buckets / 2;
  if (distance < exact) return first + distance;
  // Float32 as in PyTorch, because rounding decides at bucket borders.
  const float ratio =
      std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
      static_cast<float>(std::log(static_cast<double>(furthest) / static_cast<double>(exact)));
  const auto beyond = static_cast<std::int64_t>(ratio * static_cast<float>(buckets - exact));
  return first + std::min(buckets - 1, exact + beyond);
}

std::int64_t relative_bucket(std::int64_t distance, std::int64_t buckets, std::int64_t furthest) {
  const std::int64_t exact = buckets / 2, away = std::abs(distance);
  std::int64_t bucket = distance;
  if (furthest > 0 && away > exact) {
    // Float32 as in PyTorch, because rounding decides at bucket borders.
    const auto border = static_cast<float>(exact);
    const float ratio = std::log(static_cast<float>(away) / border) /
                        std::log(static_cast<float>(static_cast<double>(furthest - 1) /
                                                    static_cast<double>(exact)));
    const auto beyond =
        static_cast<std::int64_t>(std::ceil(ratio * static_cast<float>(exact - 1))) + exact;
    bucket = distance < 0 ? -beyond : beyond;
  }
  return std::clamp(bucket, -buckets, buckets - 1);
}

void add_disentangled(const LayerSpec& layer, const DisentangledTerms& from, ScoreTerms& terms) {
  const std::int64_t heads = layer.attention.heads, tokens = from.queries.extent(0);
  const std::int64_t width = from.queries.extent(1) / heads;
  /// Products with all buckets per head, [N, 2·buckets], and the bucket of each distance from −(N −
  /// 1) to N − 1.
  struct Products {
    std::vector<Matrix> of_queries, of_keys;
    std::vector<std::int64_t> buckets;
  };
  auto products = std::make_shared<Products>();
  const auto scale = static_cast<float>(from.scale);
  const auto multiply = [&](const Tensor& rows, const Tensor& relative, std::int64_t head) {
    return Matrix(scale * rows.matrix().middleCols(head * width, width) *
                  relative.matrix().middleCols(head * width, width).transpose());
  };
  for (std::int64_t head = 0; head < heads; ++head) {
    products->of_queries.push_back(multiply(from.queries, from.relative_keys, head));
    products->of_keys.push_back(multiply(from.keys, from.relative_queries, head));
  }
  const std::int64_t buckets = layer.scores.buckets;
  for (std::int64_t distance = 1 - tokens; distance < tokens; ++distance) {
    products->buckets.push_back(buckets +
                                relative_bucket(distance, buckets, layer.scores.bucket_distance));
  }
  terms.add_bias = [products, tokens](std::int64_t head, std::int64_t query,
                                      std::span<float> scores) {
    const Matrix& of_queries = products->of_queries[static_cast<std::size_t>(head)];
    const Matrix& of_keys = products->of_keys[static_cast<std::size_t>(head)];
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const auto key = static_cast<std::int64_t>(i);
      const std::int64_t bucket =
          products->buckets[static_cast<std::size_t>(query - key + tokens - 1)];
      scores[i] += of_queries(query, bucket) + of_keys(key, bucket);
    }
  };
  terms.names += (terms.names.empty() ? "" : ", ") + std::string("vectors of relative positions");
}

Tensor grid_bias(const Tensor& table, const TokenLayout& layout) {
  const std::int64_t rows = layout.rows, columns = layout.columns, heads = table.extent(1);
  const std::int64_t offsets = (2 * rows - 1) * (2 * columns - 1);
  const std::int64_t tokens = layout.prefix + rows * columns;
  const bool with_class = table.extent(0) == offsets + 3 && layout.prefix == 1;
  if (!with_class && (table.extent(0) != offsets || layout.prefix != 0)) {
    throw Error(ErrorKind::damaged, "the table of relative positions does not fit the grid")
        .expected(std::to_string(offsets + (layout.prefix ? 3 : 0)) + " rows for " +
                  std::to_string(rows) + " × " + std::to_string(columns) + " patches")
        .found(std::to_string(table.extent(0)));
  }
  const auto place = [&](std::int64_t query, std::int64_t key) {
    if (query < layout.prefix || key < layout.prefix) {
      const bool from = query < layout.prefix, to = key < layout.prefix;
      return offsets + (from && to ? 2 : from ? 0 : 1);
    }
    const std::int64_t q = query - layout.prefix, k = key - layout.prefix;
    return (q / columns - k / columns + rows - 1) * (2 * columns - 1) + q % columns - k % columns +
           columns - 1;
  };
  Tensor bias({heads, tokens, tokens});
  for (std::int64_t query = 0; query < tokens; ++query) {
    for (std::int64_t key = 0; key < tokens; ++key) {
      const std::int64_t row = place(query, key);
      for (std::int64_t head = 0; head < heads; ++head) {
        bias.data()[(head * tokens + query) * tokens + key] = table.data()[row * heads + head];
      }
    }
  }
  return bias;
}

bool sees_both_ways(const ScoreSpec& scores, const TokenLayout& layout) {
  return scores.picture_both_ways && !layout.pictures.empty();
}

ScoreTerms score_terms(const LayerSpec& layer, const TokenLayout& layout, std::int64_t tokens,
                       const Tensor& table, const std::vector<float>& sinks) {
  ScoreTerms terms;
  terms.soft_cap = layer.scores.soft_cap;
  if (terms.soft_cap > 0) terms.names += ", a soft cap";
  if (layer.scores.bias == ScoreBias::alibi) add_alibi(layer, terms);
  if (layer.scores.bias == ScoreBias::alibi_bfloat16) add_rounded_alibi(layer, terms);
  if (layer.scores.bias == ScoreBias::buckets) add_buckets(layer, tokens, table, terms);
  const bool of_grid = layer.scores.bias == ScoreBias::table;
  if (of_grid && layer.scores.window == 0) {
    terms.add_bias = bias_of(grid_bias(table, layout));
    terms.names += ", biases of relative positions";
  } else if (!of_grid) {
    add_window(layer.scores, tokens, terms);
  }
  if (sees_both_ways(layer.scores, layout)) add_pictures(layout, tokens, terms);
  terms.sinks = sinks;
  if (!sinks.empty()) terms.names += ", sink logits";
  if (terms.names.starts_with(", ")) terms.names.erase(0, 2);
  return terms;
}

Tensor resample_offsets(const Tensor& table, std::int64_t side) {
  const std::int64_t stored = table.extent(0), wanted = 2 * side - 1;
  if (stored == wanted) return table;
  Tensor result({wanted, table.extent(1)});
  const double step = static_cast<double>(stored) / static_cast<double>(wanted);
  for (std::int64_t i = 0; i < wanted; ++i) {
    const double place = std::max((static_cast<double>(i) + 0.5) * step - 0.5, 0.0);
    const std::int64_t before = std::min(static_cast<std::int64_t>(place), stored - 1);
    const std::int64_t after = std::min(before + 1, stored - 1);
    const auto share = static_cast<float>(place - static_cast<double>(before));
    result.matrix().row(i) =
        (1 - share) * table.matrix().row(before) + share * table.matrix().row(after);
  }
  return result;
}

void add_decomposed(const Tensor& rows, const Tensor& columns, const ConstMatrixMap& queries,
                    std::int64_t heads, const GridExtents& grid, ScoreTerms& terms) {
  const std::int64_t tokens = grid.tokens();
  const auto products = std::make_shared<AxisProducts>();
  products->rows = Tensor({heads, tokens, grid.rows});
  products->columns = Tensor({heads, tokens, grid.columns});
  tbb::parallel_for(std::int64_t{0}, heads, [&](std::int64_t head) {
    fill_products(rows, columns, queries, heads, head, grid, *products);
  });
  terms.add_bias = [products, grid](std::int64_t head, std::int64_t query,
                                    std::span<float> scores) {
    const std::int64_t row = head * grid.tokens() + query;
    const float* const of_rows = std::as_const(products->rows).data() + row * grid.rows;
    const float* const of_columns = std::as_const(products->columns).data() + row * grid.columns;
    for (std::int64_t y = 0; y < grid.rows; ++y) {
      float* const line = scores.data() + y * grid.columns;
      for (std::int64_t x = 0; x < grid.columns; ++x) line[x] += of_rows[y] + of_columns[x];
    }
  };
  terms.names += (terms.names.empty() ? "" : ", ") + std::string("vectors of relative positions");
}

}  // namespace attnscope
