// Agent attention with its gradient (Han et al. 2023): softmax(s Q Gᵀ) softmax(s G Kᵀ), agents G
// the means of areas of the queries. The biases of both scores are not learned.
#include <utility>

#include "core/attention/token_areas.h"
#include "core/parameters/typed_values.h"
#include "core/training/attention/score_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

/// Softmax attention of the agents to the keys, then of the queries to the agents.
class TrainedAgent final : public TrainedHeads {
 public:
  explicit TrainedAgent(const TrainedAttentionForm& form)
      : layout_(form.layout),
        count_(TypedValues(form.mechanism.parameters).whole("agents")),
        softmax_(make_trained_softmax({.mechanism = {"softmax", {}}})) {
    if (form.shape.queries > 0) (void)areas_of(form.shape.queries);
  }

 private:
  [[nodiscard]] TokenAreas areas_of(std::int64_t tokens) const {
    return {&layout_, tokens, count_, "agent", "agents"};
  }

  /// The agents [k, d], and the values [k, dv] that they gather.
  struct Agents {
    Matrix queries, values;
  };

  [[nodiscard]] Agents agents_of(const HeadTensors& head, AttentionRoom& room) const {
    Agents made{areas_of(head.queries.rows()).means(head.queries.cast<double>()).cast<float>(),
                Matrix(count_, head.values.cols())};
    softmax_->forward({rows_of(std::as_const(made.queries)), head.keys, head.values},
                      rows_of(made.values), room);
    return made;
  }

  static AttentionTensors to_agents(const HeadTensors& head, const Agents& agents) {
    return {head.queries, rows_of(agents.queries), rows_of(agents.values)};
  }

  void forward_head(const HeadTensors& head, StridedMatrixMap output,
                    AttentionRoom& room) const override {
    const Agents agents = agents_of(head, room);
    softmax_->forward(to_agents(head, agents), output, room);
  }

  void backward_head(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                     HeadGradients gradients, AttentionRoom& room) const override {
    const Agents agents = agents_of(head, room);
    // Gradients of the agents: as keys of the queries, then as queries to the keys.
    Matrix d_keys(count_, head.keys.cols()), d_queries(count_, head.keys.cols()),
        d_values(count_, head.values.cols());
    softmax_->backward(to_agents(head, agents), d_output,
                       {gradients.queries, rows_of(d_keys), rows_of(d_values)}, room);
    softmax_->backward({rows_of(agents.queries), head.keys, head.values},
                       rows_of(std::as_const(d_values)),
                       {rows_of(d_queries), gradients.keys, gradients.values}, room);
    d_queries += d_keys;
    areas_of(head.queries.rows()).add_gradients(d_queries.cast<double>(), gradients.queries);
  }

  TokenLayout layout_;
  std::int64_t count_;  ///< k
  std::unique_ptr<const TrainedAttention> softmax_;
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_agent(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedAgent>(form);
}

}  // namespace attnscope
