// Forgetting attention, retention, gated linear attention, Mamba-2 and the delta rules transcribed
// from their recurrences: a column of the map is what a state returns, token by token, after the
// value 1 of one token and the value 0 of all others.
#include <cmath>
#include <string>

#include "tests/support/counted_attention.h"
#include "tests/support/naive_twins.h"

namespace attnscope {

namespace {

/// The number of token and channel in the layer's tensor `name`, [H, N, d] or [H, N]; `otherwise`
/// without it.
double gate(const AttentionInput& input, const char* name, std::int64_t head, std::int64_t token,
            std::int64_t channel, double otherwise) {
  if (input.parameters == nullptr || !input.parameters->contains(name)) return otherwise;
  const Tensor& tensor = input.parameters->at(name);
  const std::int64_t tokens = tensor.extent(1);
  const std::int64_t channels = tensor.shape().size() == 3 ? tensor.extent(2) : 1;
  const std::int64_t c = channels == 1 ? 0 : channel;
  return static_cast<double>(tensor.data()[(head * tokens + token) * channels + c]);
}

std::vector<double> row_of(const ConstMatrixMap& all, std::int64_t token, std::int64_t head,
                           std::int64_t d) {
  std::vector<double> row;
  for (std::int64_t c = head * d; c < (head + 1) * d; ++c) {
    row.push_back(static_cast<double>(all(token, c)));
  }
  return row;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}

std::vector<double> of_length_one(std::vector<double> row) {
  const double length = std::sqrt(product(row, row) + 1e-6);
  for (double& value : row) value /= length;
  return row;
}

/// The logarithm of a decay, and the strength of a token.
struct Gates {
  double logarithm, strength;
};

Gates gates_of(const MechanismChoice& choice, const AttentionInput& input, std::int64_t head,
               std::int64_t token, std::int64_t channel) {
  const TypedValues values(choice.parameters);
  if (choice.name == "retention") {
    const double power = values.number("exponent") + static_cast<double>(head);
    return {std::log(1 - std::pow(2.0, -power)), 1};
  }
  if (choice.name == "mamba2") {
    const double step = values.number("step");
    const double share =
        input.heads > 1 ? static_cast<double>(head) / static_cast<double>(input.heads - 1) : 0;
    return {gate(input, "log_decay", head, token, channel, -(1 + 15 * share) * step),
            gate(input, "step", head, token, 0, step)};
  }
  const double logarithm = gate(input, "log_decay", head, token, channel, -values.number("rate"));
  const bool delta = choice.name == "gated-delta" || choice.name == "kda";
  return {logarithm, delta ? gate(input, "beta", head, token, 0, values.number("beta")) : 1};
}

NaiveMap recurrent_map(const MechanismChoice& choice, const AttentionInput& input,
                       std::int64_t head) {
  const std::int64_t n = input.queries.rows(), d = input.queries.cols() / input.heads;
  const bool delta = choice.name == "gated-delta" || choice.name == "kda";
  const bool both_ways = choice.name == "retention" && !input.causal;
  NaiveMap map(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n)));
  // The state that one token leaves, from that token on to the last, or to the first.
  const auto follow = [&](std::int64_t source, std::int64_t direction) {
    std::vector<double> state(static_cast<std::size_t>(d));
    for (std::int64_t t = source; t >= 0 && t < n; t += direction) {
      std::vector<double> query = row_of(input.queries, t, head, d);
      std::vector<double> key = row_of(input.keys, t, head, d);
      if (delta) {
        query = of_length_one(query);
        key = of_length_one(key);
      }
      for (std::size_t c = 0; c < state.size(); ++c) {
        state[c] *=
            std::exp(gates_of(choice, input, head, t, static_cast<std::int64_t>(c)).logarithm);
      }
      double value = t == source ? 1 : 0;
      if (delta) value -= product(state, key);
      value *= gates_of(choice, input, head, t, 0).strength;
      for (std::size_t c = 0; c < state.size(); ++c) state[c] += value * key[c];
      map[static_cast<std::size_t>(t)][static_cast<std::size_t>(source)] =
          product(query, state) / std::sqrt(static_cast<double>(d));
    }
  };
  for (std::int64_t source = 0; source < n; ++source) {
    follow(source, 1);
    if (both_ways) follow(source, -1);
  }
  return map;
}

/// Random numbers below 0 as logarithms of decays, and between 0 and 1 as strengths.
void prepare_gates(NamedTensors& tensors) {
  for (auto& [name, tensor] : tensors) {
    for (float& value : tensor.values()) {
      value = name == "log_decay" ? -0.1F * std::abs(value) : 1 / (1 + std::exp(-value));
    }
  }
}

void count_recurrence(const AttentionShape& s, std::int64_t gates, bool strengths, bool delta) {
  using test::Counted;
  using test::Row;
  using test::Rows;
  const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  for (std::int64_t head = 0; head < s.heads; ++head) {
    Rows queries = test::random_rows(s.queries, s.head_width);
    Rows keys = test::random_rows(s.keys, s.head_width);
    const Rows values = test::random_rows(s.keys, s.value_width);
    Rows state(size(s.head_width), Row(size(s.value_width), 0.0));
    for (std::size_t t = 0; t < keys.size(); ++t) {
      Row decays(size(s.head_width), 0.9);
      Counted::enter("gates");
      for (std::int64_t g = 0; g < gates; ++g) decays[size(g)] = exp(Counted(-0.1));
      Counted::enter("query-key normalisation");
      for (Row* const row : {&queries[t], &keys[t]}) {
        if (!delta) continue;
        Counted squares = 0;
        for (const Counted& value : *row) squares += value * value;
        const Counted length = sqrt(squares + Counted(1e-6));
        for (Counted& value : *row) value = value / length;
      }
      Counted::enter("decay");
      for (std::size_t c = 0; c < state.size(); ++c) {
        for (Counted& value : state[c]) value = value * decays[c];
      }
      Row written = values[t];
      Counted::enter("prediction");
      for (std::size_t v = 0; delta && v < written.size(); ++v) {
        Counted known = 0;
        for (std::size_t c = 0; c < state.size(); ++c) known += keys[t][c] * state[c][v];
        written[v] = written[v] - known;
      }
      Counted::enter("state");
      for (Counted& value : written) {
        if (strengths) value = value * Counted(0.5);
      }
      for (std::size_t c = 0; c < state.size(); ++c) {
        for (std::size_t v = 0; v < written.size(); ++v) state[c][v] += keys[t][c] * written[v];
      }
      Counted::enter("output");
      for (Counted& value : queries[t]) value = value * Counted(0.5);
      Row output(written.size(), 0.0);
      for (std::size_t c = 0; c < state.size(); ++c) {
        for (std::size_t v = 0; v < output.size(); ++v) output[v] += queries[t][c] * state[c][v];
      }
    }
  }
}

constexpr AttentionShape kCounted{
    .queries = 6, .keys = 6, .heads = 2, .head_width = 3, .value_width = 4};

NaiveTwin recurrent_twin(std::string_view name, std::vector<NaiveCase> cases) {
  for (NaiveCase& one : cases) one.square = true;
  return {.name = name,
          .map = recurrent_map,
          .cases = std::move(cases),
          .differences = true,
          .knows_order = true,
          .prepare = prepare_gates,
          .counted = {{.shape = kCounted}}};
}

NaiveMap forgetting_map(const MechanismChoice& choice, const AttentionInput& input,
                        std::int64_t head) {
  const std::int64_t n = input.queries.rows(), d = input.queries.cols() / input.heads;
  NaiveMap map;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double>& row = map.emplace_back(static_cast<std::size_t>(n));
    const std::vector<double> query = row_of(input.queries, i, head, d);
    double forgotten = 0, largest = -1e300, sum = 0;
    for (std::int64_t j = i; j >= 0; --j) {
      double& score = row[static_cast<std::size_t>(j)];
      score = product(query, row_of(input.keys, j, head, d)) / std::sqrt(static_cast<double>(d)) +
              forgotten;
      largest = std::max(largest, score);
      forgotten += gates_of(choice, input, head, j, 0).logarithm;
    }
    for (std::int64_t j = 0; j <= i; ++j) {
      double& weight = row[static_cast<std::size_t>(j)];
      sum += weight = std::exp(weight - largest);
    }
    for (std::int64_t j = 0; j <= i; ++j) row[static_cast<std::size_t>(j)] /= sum;
  }
  return map;
}

}  // namespace

NaiveTwin forgetting_twin() {
  NaiveTwin twin = recurrent_twin("forgetting", {{}, {{{"rate", 0.0}}}, {{{"rate", 1.5}}}});
  twin.map = forgetting_map;
  twin.differences = false;
  twin.count = [](const AttentionShape& s, const TypedValues&) {
    using test::Counted;
    for (std::int64_t head = 0; head < s.heads; ++head) {
      Counted::enter("gates");
      test::Row sums;
      Counted sum = 0;
      for (std::int64_t i = 0; i < s.keys; ++i) sums.push_back(sum += Counted(-0.1));
      Counted::enter("scores");
      test::Rows rows = test::products(test::random_rows(s.queries, s.head_width),
                                       test::random_rows(s.keys, s.head_width));
      Counted::enter("gates");
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rows[i].size(); ++j) rows[i][j] += sums[i] - sums[j];
      }
      test::softmax_in_place(rows);
      Counted::enter("values");
      // The values are the rows of their transpose.
      static_cast<void>(test::products(rows, test::random_rows(s.value_width, s.keys)));
    }
  };
  return twin;
}

NaiveTwin retention_twin() {
  NaiveTwin twin = recurrent_twin("retention", {{}, {{{"exponent", 1.0}}}});
  twin.count = [](const AttentionShape& s, const TypedValues&) {
    count_recurrence(s, 0, false, false);
  };
  return twin;
}

NaiveTwin gla_twin() {
  NaiveTwin twin = recurrent_twin("gla", {{}});
  twin.count = [](const AttentionShape& s, const TypedValues&) {
    count_recurrence(s, s.head_width, false, false);
  };
  return twin;
}

NaiveTwin mamba2_twin() {
  NaiveTwin twin = recurrent_twin("mamba2", {{}});
  twin.count = [](const AttentionShape& s, const TypedValues&) {
    count_recurrence(s, 1, true, false);
  };
  return twin;
}

NaiveTwin gated_delta_twin() {
  NaiveTwin twin = recurrent_twin("gated-delta", {{}});
  twin.count = [](const AttentionShape& s, const TypedValues&) {
    count_recurrence(s, 1, true, true);
  };
  return twin;
}

NaiveTwin kda_twin() {
  NaiveTwin twin = recurrent_twin("kda", {{}});
  twin.count = [](const AttentionShape& s, const TypedValues&) {
    count_recurrence(s, s.head_width, true, true);
  };
  return twin;
}

}  // namespace attnscope
