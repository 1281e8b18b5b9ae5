// Linformer with its gradient (Wang et al. 2020, Eq. 7): own parameters E and F, shared by the
// heads.
#include <string>

#include "core/error.h"
#include "core/tensor/blas.h"
#include "core/training/attention/score_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

/// softmax(Q (E K)ᵀ/√d) · (F V): softmax attention to k landmarks.
class TrainedLinformer final : public TrainedHeads {
 public:
  explicit TrainedLinformer(const TrainedAttentionForm& form)
      : keys_(own_parameter(form, "E", Initialisation::xavier)),
        values_(own_parameter(form, "F", Initialisation::xavier)),
        landmarks_(keys_.shape.empty() ? 0 : keys_.shape.front()),
        softmax_(make_trained_softmax({.mechanism = {"softmax", {}}})) {
    if (landmarks_ > form.shape.keys) {
      throw Error(ErrorKind::usage, "there are more landmarks than tokens")
          .about("linformer landmarks")
          .expected("at most " + std::to_string(form.shape.keys))
          .found(std::to_string(landmarks_));
    }
  }

  [[nodiscard]] std::vector<OwnParameter> own_parameters() const override {
    return {keys_, values_};
  }

 private:
  /// The landmarks E K and F V.
  struct Landmarks {
    Matrix keys, values;
  };

  [[nodiscard]] ConstStridedMatrixMap projection(const HeadTensors& head, std::size_t which) const {
    return rows_of(head.own[which], landmarks_, head.keys.rows());
  }

  [[nodiscard]] Landmarks landmarks_of(const HeadTensors& head) const {
    Landmarks made{Matrix(landmarks_, head.keys.cols()), Matrix(landmarks_, head.values.cols())};
    multiply(projection(head, 0), head.keys, 1.0F, rows_of(made.keys));
    multiply(projection(head, 1), head.values, 1.0F, rows_of(made.values));
    return made;
  }

  /// The head as the only one of softmax attention, with dropout of its own.
  static AttentionTensors with(const HeadTensors& head, const Landmarks& landmarks) {
    AttentionTensors one{head.queries, rows_of(landmarks.keys), rows_of(landmarks.values)};
    if (head.dropout) {
      one.dropout = {head.dropout.numbers->of(static_cast<std::uint64_t>(head.head)),
                     head.dropout.share};
    }
    return one;
  }

  void forward_head(const HeadTensors& head, StridedMatrixMap output,
                    AttentionRoom& room) const override {
    const Landmarks landmarks = landmarks_of(head);
    softmax_->forward(with(head, landmarks), output, room);
  }

  void backward_head(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                     HeadGradients gradients, AttentionRoom& room) const override {
    const Landmarks landmarks = landmarks_of(head);
    Landmarks of_landmarks{Matrix(landmarks_, head.keys.cols()),
                           Matrix(landmarks_, head.values.cols())};
    softmax_->backward(
        with(head, landmarks), d_output,
        {gradients.queries, rows_of(of_landmarks.keys), rows_of(of_landmarks.values)}, room);
    const std::int64_t tokens = head.keys.rows();
    multiply_transposed(seen(rows_of(of_landmarks.keys)), head.keys, 1.0F,
                        rows_of(gradients.own[0], landmarks_, tokens), true);
    multiply_transposed(seen(rows_of(of_landmarks.values)), head.values, 1.0F,
                        rows_of(gradients.own[1], landmarks_, tokens), true);
    gradients.keys.setZero();
    gradients.values.setZero();
    add_transposed_product(projection(head, 0), seen(rows_of(of_landmarks.keys)), 1.0F,
                           gradients.keys);
    add_transposed_product(projection(head, 1), seen(rows_of(of_landmarks.values)), 1.0F,
                           gradients.values);
  }

  OwnParameter keys_, values_;  ///< E and F, [k, N]
  std::int64_t landmarks_;      ///< k
  std::unique_ptr<const TrainedAttention> softmax_;
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_linformer(const TrainedAttentionForm& form) {
  if (form.causal) {
    throw Error(ErrorKind::unsupported,
                "Linformer cannot learn texts: a landmark mixes later tokens with earlier ones")
        .about("mechanism");
  }
  if (form.shorter) {
    throw Error(ErrorKind::unsupported,
                "Linformer cannot learn texts of several lengths: its landmarks count the tokens")
        .about("mechanism");
  }
  return std::make_unique<TrainedLinformer>(form);
}

}  // namespace attnscope
