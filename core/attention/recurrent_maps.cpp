// Attention by a state that decays from token to token (recurrence.h). s is 1/√d, α a decay, and
// Π α the product of the decays of tokens after j up to i.
//
//   retention    A_ij = s γ_h^(i−j) q_i·k_j, γ_h = 1 − 2^(−e−h) in head h        (Sun et al. 2023)
//   gla          A_ij = s q_iᵀ diag(Π α) k_j, α of every token and channel      (Yang et al. 2023)
//   mamba2       A_ij = s Π α · q_i·k_j Δ_j, α = exp(−a_h Δ)              (Dao and Gu 2024, SSD)
//   gated-delta  the delta rule, α of every token                               (Yang et al. 2024)
//   kda          the delta rule, α of every token and channel            (Kimi Team 2025, Eq. 1)
//
// The delta rule takes from the values what the state already returns for their keys (Yang et al.
// 2024, Eq. 10): with the strength β of a token, and q and k of length 1, q̂ = q / √(‖q‖² + 10⁻⁶),
//
//   A = P (I + R)⁻¹ diag(β), P_ij = s q̂_iᵀ diag(Π α) k̂_j for j ≤ i,
//                            R_ij = β_i k̂_iᵀ diag(Π α) k̂_j for j < i.
//
// With α = 1 (rate = 0) gated-delta is DeltaNet (Yang et al. 2024b).
//
// α, Δ and β depend on the tokens. They are tensors of the layer: "log_decay" with ln α, "step"
// with Δ and "beta" with β. A layer without them, such as one of another model that the mechanism
// is laid over, has the constants of the settings: one decay per token, the same in every head and
// channel, but for mamba2, whose heads have a_h from 1 to 16 as they begin in its authors' code.
// Without those tensors kda is therefore gated-delta, and gla is a retention with one decay.
//
// Blocks of a map below its diagonal have rank d at most; the whole map may have rank N. Weights
// have both signs, and rows any sum. All layers are causal, also those of pictures, whose patches
// are read row by row; only retention has a form in both directions, A_ij = s γ_h^|i−j| q_i·k_j
// (Fan et al. 2023, RMT, Section 3.2), which layers that are not causal have.
//
// Not part of a map: what follows the weighted values (norms of groups, gates of the output,
// Mamba's skip D x), and what precedes queries and keys (short convolutions, SiLU). RetNet's code
// also divides scores by ‖row of decays‖₁^½ and by the row's own sum, which its group norm undoes.
// Mamba-2 has s = 1, which a model of it gives as its scale.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "core/attention/costs/build.h"
#include "core/attention/costs/costs.h"
#include "core/attention/costs/features.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/recurrence.h"
#include "core/attention/score_blocks.h"
#include "core/attention/token_gates.h"

namespace attnscope {

namespace {

/// The scaled queries and the keys of a head, without decay and with strengths of 1.
Recurrence plain_recurrence(const AttentionInput& input, std::int64_t head) {
  const std::int64_t tokens = input.keys.rows();
  return {.queries =
              input.score_scale() * head_columns(input.queries, input.heads, head).cast<double>(),
          .keys = head_columns(input.keys, input.heads, head).cast<double>(),
          .log_decays = MatrixD::Zero(tokens, 1),
          .strengths = Eigen::VectorXd::Ones(tokens)};
}

/// The layer's tensor `name` for the tokens of a head, or `otherwise` for every token.
Eigen::VectorXd strengths_of(const AttentionInput& input, const char* name, std::int64_t head,
                             double otherwise) {
  const std::optional<MatrixD> found = token_gates(input, name, head, GateOf::token);
  if (!found) return Eigen::VectorXd::Constant(input.keys.rows(), otherwise);
  return found->col(0);
}

std::unique_ptr<Mechanism> make_retention(const TypedValues& values) {
  const auto heads = [exponent = values.number("exponent")](const AttentionInput& input) {
    return [&input, exponent](std::int64_t head) {
      Recurrence found = plain_recurrence(input, head);
      found.log_decays.setConstant(std::log1p(-std::exp2(-exponent - static_cast<double>(head))));
      return found;
    };
  };
  return make_recurrent({.name = "retention", .heads = heads, .both_ways = true});
}

std::unique_ptr<Mechanism> make_gla(const TypedValues& values) {
  const auto heads = [rate = values.number("rate")](const AttentionInput& input) {
    return [&input, rate](std::int64_t head) {
      Recurrence found = plain_recurrence(input, head);
      found.log_decays = log_decays(input, head, GateOf::channel, rate);
      return found;
    };
  };
  return make_recurrent({.name = "gla", .heads = heads});
}

std::unique_ptr<Mechanism> make_mamba2(const TypedValues& values) {
  const auto heads = [step = values.number("step")](const AttentionInput& input) {
    return [&input, step](std::int64_t head) {
      const auto last = static_cast<double>(std::max<std::int64_t>(input.heads - 1, 1));
      const double factor = 1 + 15 * static_cast<double>(head) / last;  // a_h
      Recurrence found = plain_recurrence(input, head);
      found.log_decays = log_decays(input, head, GateOf::token, factor * step);
      found.strengths = strengths_of(input, "step", head, step);
      return found;
    };
  };
  return make_recurrent({.name = "mamba2", .heads = heads});
}

/// Rows divided by √(‖x‖² + 10⁻⁶).
void normalise(MatrixD& rows) {
  constexpr double kOffset = 1e-6;
  rows.array().colwise() /= (rows.rowwise().squaredNorm().array() + kOffset).sqrt();
}

template <GateOf kDecay>
std::unique_ptr<Mechanism> make_delta(const TypedValues& values) {
  const auto heads = [rate = values.number("rate"),
                      beta = values.number("beta")](const AttentionInput& input) {
    return [&input, rate, beta](std::int64_t head) {
      Recurrence found = plain_recurrence(input, head);
      found.queries = head_columns(input.queries, input.heads, head).cast<double>();
      normalise(found.queries);
      found.queries *= input.score_scale();
      normalise(found.keys);
      found.log_decays = log_decays(input, head, kDecay, rate);
      found.strengths = strengths_of(input, "beta", head, beta);
      return found;
    };
  };
  return make_recurrent(
      {.name = kDecay == GateOf::token ? "gated-delta" : "kda", .heads = heads, .delta = true});
}

/// Steps of the recurrence of a token.
struct Steps {
  Count gates;             ///< exponentials of gates per head: 0, 1 or d
  bool strengths = false;  ///< values are multiplied by β
  bool delta = false;      ///< the delta rule, with queries and keys of length 1
};

/// The recurrence from token to token; the papers' conventions count its products of matrices, and
/// EcoFormer's also the decay of the state and other factors.
std::vector<OperationCount> count_recurrence(const char* mechanism, const AttentionShape& shape,
                                             CostConvention convention, const Steps& steps) {
  costs::check(shape);
  costs::check_shared(mechanism, shape);
  const bool complete = convention == CostConvention::complete;
  const bool factors = convention != CostConvention::adder;
  const Count d = shape.head_width, dv = shape.value_width;
  const Count rows = Count(shape.heads) * shape.queries, states = Count(shape.heads) * d * dv;
  std::vector<OperationCount> counts;
  if (complete && steps.gates.value() > 0) {
    OperationCount gates{.component = "gates"};
    gates.exponentials = (rows * steps.gates).value();
    counts.push_back(costs::moving(gates, convention, 2 * rows * steps.gates));
  }
  if (factors && steps.delta) {
    OperationCount lengths = costs::accumulated("query-key normalisation", 2 * rows * d);
    if (complete) {
      lengths.additions = (Count(lengths.additions) + 2 * rows).value();  // 10⁻⁶
      lengths.exponentials = (2 * rows).value();                          // √
      lengths.divisions = (2 * rows * d).value();
    } else {
      lengths.multiplications = (Count(lengths.multiplications) + 2 * rows * d).value();
    }
    counts.push_back(costs::moving(lengths, convention, 4 * rows * d));
  }
  if (factors) {
    counts.push_back(costs::moving(costs::component("decay", rows * d * dv, 0), convention,
                                   rows * steps.gates + 2 * states));
  }
  if (steps.delta) {
    OperationCount known = costs::accumulated("prediction", rows * d * dv);
    if (factors) known.additions = (Count(known.additions) + rows * dv).value();  // v − Sᵀ k
    counts.push_back(costs::moving(known, convention, rows * (d + 2 * dv) + states));
  }
  OperationCount state = costs::accumulated("state", rows * d * dv);
  if (factors && steps.strengths) {
    state.multiplications = (Count(state.multiplications) + rows * dv).value();
  }
  counts.push_back(
      costs::moving(state, convention, rows * (d + dv + (steps.strengths ? 1 : 0)) + states));
  OperationCount output = costs::accumulated("output", rows * d * dv);
  if (factors) output.multiplications = (Count(output.multiplications) + rows * d).value();  // s
  counts.push_back(costs::moving(output, convention, rows * (d + dv) + states));
  return counts;
}

/// Adds projections of gates, with `inner` columns in between if not 0, after those of values.
std::vector<Projection> with_gates(std::vector<Projection> list, std::int64_t width,
                                   std::int64_t inner, std::int64_t outputs) {
  if (inner == 0) {
    list.insert(list.end() - 1, {"gate projection", width, outputs, true});
  } else {
    list.insert(list.end() - 1, {"gate projection", width, inner, true});
    list.insert(list.end() - 1, {"gate projection", inner, outputs, true});
  }
  return list;
}

constexpr Complexity kComplexity = {"ND² + NDd", "ND + Dd", "the recurrence, token by token"};

/// Fills in what the entries of this file have in common.
MechanismEntry recurrent_entry(MechanismEntry entry, bool sequential = true) {
  entry.rank = "N; d in blocks below the diagonal";
  entry.complexity = kComplexity;
  entry.causal = entry.scaled = true;
  entry.sequential = sequential;
  return entry;
}

ParameterDescription beta_parameter() {
  return setting::number("beta", 0.5, {0, 2},
                         "β, strength with which tokens are written, if the layer has no beta");
}

constexpr TensorDescription kTokenDecays = {"log_decay", "[H, N], ln α of each token",
                                            gate_per_token, 0};
constexpr TensorDescription kChannelDecays = {
    "log_decay", "[H, N, d], ln α of each token and channel of the keys", gate_per_channel, 0};
constexpr TensorDescription kStrengths = {"beta", "[H, N], β of each token", gate_per_token, 0};

}  // namespace

MechanismEntry retention_entry() {
  return recurrent_entry(
      {.name = "retention",
       .title = "Retention",
       .source = "Sun et al. 2023, Eq. 5 and 8",
       .formula = "γ^(i−j) q·k/√d, γ = 1 − 2^(−e−h) in head h",
       .parameters = {setting::number("exponent", 5, {0.01, 60},
                                      "e of the decay γ = 1 − 2^(−e−h) in head h, from 0")},
       .counts =
           [](const AttentionShape& shape, CostConvention convention, const TypedValues&) {
             return count_recurrence("retention", shape, convention, {.gates = 0});
           },
       .projections = separate_projections,
       .make = make_retention},
      /*sequential=*/false);
}

MechanismEntry gla_entry() {
  return recurrent_entry(
      {.name = "gla",
       .title = "Gated linear attention",
       .source = "Yang et al. 2023, Eq. 3 and 4",
       .formula = "Σ_c q_c k_c Π α_c / √d over tokens in between",
       .parameters = {rate_parameter()},
       .tensors = {kChannelDecays},
       .counts =
           [](const AttentionShape& shape, CostConvention convention, const TypedValues&) {
             return count_recurrence("gla", shape, convention, {.gates = shape.head_width});
           },
       .projections =
           [](std::int64_t width, const AttentionShape& shape, const TypedValues& values) {
             return with_gates(separate_projections(width, shape, values), width, 16,
                               (Count(shape.heads) * shape.head_width).value());
           },
       .make = make_gla});
}

MechanismEntry mamba2_entry() {
  return recurrent_entry(
      {.name = "mamba2",
       .title = "State space duality (Mamba-2)",
       .source = "Dao and Gu 2024, Section 5",
       .formula = "q·k Π α Δ / √d over tokens in between",
       .parameters = {setting::number("step", 0.01, {0, 100},
                                      "Δ of every token, if the layer has no step; without "
                                      "log_decay, ln α = −a Δ with a from 1 to 16 over the heads")},
       .tensors = {kTokenDecays, {"step", "[H, N], Δ of each token", gate_per_token, 0}},
       .counts =
           [](const AttentionShape& shape, CostConvention convention, const TypedValues&) {
             return count_recurrence("mamba2", shape, convention, {.gates = 1, .strengths = true});
           },
       .projections =
           [](std::int64_t width, const AttentionShape& shape, const TypedValues& values) {
             return with_gates(separate_projections(width, shape, values), width, 0, shape.heads);
           },
       .make = make_mamba2});
}

MechanismEntry gated_delta_entry() {
  return recurrent_entry(
      {.name = "gated-delta",
       .title = "Gated delta rule (Gated DeltaNet)",
       .source = "Yang et al. 2024, Eq. 10",
       .formula = "P (I + R)⁻¹ diag(β), the delta rule with a decay per token",
       .parameters = {rate_parameter(), beta_parameter()},
       .tensors = {kTokenDecays, kStrengths},
       .counts =
           [](const AttentionShape& shape, CostConvention convention, const TypedValues&) {
             return count_recurrence("gated-delta", shape, convention,
                                     {.gates = 1, .strengths = true, .delta = true});
           },
       .projections =
           [](std::int64_t width, const AttentionShape& shape, const TypedValues& values) {
             return with_gates(separate_projections(width, shape, values), width, 0,
                               (2 * Count(shape.heads)).value());
           },
       .make = make_delta<GateOf::token>});
}

MechanismEntry kda_entry() {
  return recurrent_entry(
      {.name = "kda",
       .title = "Kimi delta attention",
       .source = "Kimi Team 2025, Eq. 1",
       .formula = "P (I + R)⁻¹ diag(β), the delta rule with a decay per channel",
       .parameters = {rate_parameter(), beta_parameter()},
       .tensors = {kChannelDecays, kStrengths},
       .counts =
           [](const AttentionShape& shape, CostConvention convention, const TypedValues&) {
             return count_recurrence("kda", shape, convention,
                                     {.gates = shape.head_width, .strengths = true, .delta = true});
           },
       .projections =
           [](std::int64_t width, const AttentionShape& shape, const TypedValues& values) {
             std::vector<Projection> list =
                 with_gates(separate_projections(width, shape, values), width, 0, shape.heads);
             return with_gates(std::move(list), width, shape.head_width,
                               (Count(shape.heads) * shape.head_width).value());
           },
       .make = make_delta<GateOf::channel>});
}

}  // namespace attnscope
