// Softmax with a sink: one more logit b in every row, whose share of the attention is discarded.
// With the scores s_ij = q_i·k_j / √d and m_i the greatest of b and the scores that query i sees,
//
//   A_ij = exp(s_ij − m_i) / (exp(b − m_i) + Σ_k exp(s_ik − m_i)).
//
// Rows sum to less than 1: a query with small scores attends to little. b = 0 is "softmax1" (Miller
// 2023); gpt-oss learns one b per head, which its files hold as terms of the scores (ScoreTerms).
// Where a model's scores have such sinks already, this one comes in addition: its logit is
// ln(exp(b_h) + exp(b)).
#include <algorithm>
#include <cmath>
#include <memory>

#include "core/attention/costs/costs.h"
#include "core/attention/costs/count.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/score_blocks.h"

namespace attnscope {

namespace {

/// ln(exp(a) + exp(b)).
double log_of_sum(double a, double b) {
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

/// The input with the sink among its terms. It is not copied, because it refers to itself.
struct WithSink {
  ScoreTerms terms;
  AttentionInput input;

  WithSink(const AttentionInput& plain, double sink) : input(plain) {
    check_shapes(plain);
    if (plain.terms) terms = *plain.terms;
    if (terms.sinks.empty()) {
      terms.sinks.assign(static_cast<std::size_t>(plain.heads), static_cast<float>(sink));
    } else {
      for (float& own : terms.sinks) {
        own = static_cast<float>(log_of_sum(static_cast<double>(own), sink));
      }
    }
    input.terms = &terms;
  }
  WithSink(const WithSink&) = delete;
  WithSink& operator=(const WithSink&) = delete;
};

class SoftmaxSink final : public Mechanism {
 public:
  explicit SoftmaxSink(double sink) : softmax_(make_mechanism({"softmax", {}})), sink_(sink) {}

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    return softmax_->forward(WithSink(input, sink_).input);
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    return softmax_->implied_map(WithSink(input, sink_).input);
  }

  [[nodiscard]] Attended forward_with_map(const AttentionInput& input) const override {
    return softmax_->forward_with_map(WithSink(input, sink_).input);
  }

  [[nodiscard]] MapRows map_rows(const AttentionInput& input) const override {
    const auto own = std::make_shared<const WithSink>(input, sink_);
    return [own, write = softmax_->map_rows(own->input)](std::int64_t head, std::int64_t first,
                                                         StridedMatrixMap rows) {
      write(head, first, rows);
    };
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min(shape.queries, shape.keys), .rows_sum_to_one = false};
  }

 private:
  std::unique_ptr<const Mechanism> softmax_;
  double sink_;  ///< b
};

/// Softmax with one more comparison, difference, exponential and summand per row. The papers'
/// conventions do not count these.
std::vector<OperationCount> softmax_sink_counts(const AttentionShape& shape,
                                                CostConvention convention, const TypedValues&) {
  std::vector<OperationCount> counts = costs::softmax(shape, convention);
  if (convention == CostConvention::complete) {
    OperationCount& softmax = counts[1];
    const Count rows = Count(shape.heads) * shape.queries;
    softmax.additions = (Count(softmax.additions) + 3 * rows).value();
    softmax.exponentials = (Count(softmax.exponentials) + rows).value();
  }
  return counts;
}

}  // namespace

MechanismEntry softmax_sink_entry() {
  return {.name = "softmax-sink",
          .title = "Softmax with a sink",
          .source = "Miller 2023 (softmax1); gpt-oss 2025",
          .formula = "exp(s) / (exp(b) + Σ exp(s)), s = QKᵀ/√d",
          .rank = "N",
          .complexity = {"N²D + ND²", "N² + ND", "as softmax: DAFT, Table 1"},
          .parameters = {setting::number("sink", 0, {-100, 100},
                                         "b, logit of the sink in every row; 0 is softmax1")},
          .counts = softmax_sink_counts,
          .projections = separate_projections,
          .make = [](const TypedValues& values) -> std::unique_ptr<Mechanism> {
            return std::make_unique<SoftmaxSink>(values.number("sink"));
          },
          .causal = true,
          .scaled = true,
          .terms = true,
          .rows = true};
}

}  // namespace attnscope
