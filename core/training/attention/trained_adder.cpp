// Adder attention with its gradient (Adder, Eq. 7, 20 and 23).
#include <cmath>
#include <numbers>

#include "core/parameters/typed_values.h"
#include "core/training/attention/score_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

/// S = −‖q − k‖₁ / √d_a, d_a = 2d(1 − 2/π).
class TrainedAdder final : public ScoreAttention {
 public:
  TrainedAdder(bool causal, bool identity, DifferenceGradient form)
      : ScoreAttention(causal, identity), form_(form) {}

 private:
  [[nodiscard]] Prepared prepare(const HeadTensors& head) const override {
    return {PackedRows(head.keys)};
  }

  static float scale(const HeadTensors& head) {
    const auto width = static_cast<double>(head.queries.cols());
    return static_cast<float>(-1.0 / std::sqrt(2 * width * (1 - 2 / std::numbers::pi)));
  }

  /// The gradients passed to score_gradients are those of the unscaled distances.
  [[nodiscard]] float gradient_scale(const HeadTensors& head) const override { return scale(head); }

  void score(const Queries& queries, const HeadTensors& head, const Prepared& prepared,
             StridedMatrixMap scores) const override {
    l1_distances(queries.rows, prepared.keys, scale(head), scores);
  }

  void score_gradients(const Queries& queries, const HeadTensors&, const Prepared& prepared,
                       StridedMatrixMap d_scores, StridedMatrixMap d_queries,
                       HeadGradients gradients, AttentionRoom& room) const override {
    StridedMatrixMap& d_keys = gradients.keys;
    room.packed.assign(static_cast<std::size_t>(packed_size(d_keys.rows(), d_keys.cols())), 0.0F);
    d_queries.setZero();
    add_difference_gradients(queries.rows, prepared.keys, seen(d_scores), form_, d_queries,
                             room.packed.data());
    add_unpacked(room.packed.data(), d_keys);
  }

  DifferenceGradient form_;
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_adder(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedAdder>(
      form.causal, TypedValues(form.mechanism.parameters).flag("identity"), form.score_gradient);
}

}  // namespace attnscope
