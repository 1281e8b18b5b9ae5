// Attention whose layer adds the convolution T of the values to its map
// (core/attention/values_convolution.h), with its gradient. The kernels begin like those of
// torch.nn.Conv2d; there is no bias.
#include <utility>

#include "core/attention/values_convolution.h"
#include "core/training/attention/trained_heads.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

/// Any attention with the map A + T. T's kernels are the last own parameter, "dwc", of the side
/// that the accounting of the mechanism has by default.
class WithConvolution final : public TrainedAttention {
 public:
  WithConvolution(const TrainedAttentionForm& form,
                  std::unique_ptr<const TrainedAttention> attention)
      : attention_(std::move(attention)),
        own_(attention_->own_parameters()),
        layout_(form.layout),
        side_(0) {
    own_.push_back(own_parameter(form, "dwc", Initialisation::kernel));
    if (!kernels().empty()) side_ = kernels().back();
  }

  [[nodiscard]] std::vector<OwnParameter> own_parameters() const override { return own_; }

  void forward(const AttentionTensors& all, StridedMatrixMap output,
               AttentionRoom& room) const override {
    attention_->forward(without_kernels(all), output, room);
    const Matrix taps = taps_of(all);
    each_head_run(all, [&](const TapRun& run, std::int64_t head, std::int64_t first) {
      const auto values = share_of_head(all.values, all.heads, head);
      share_of_head(output, all.heads, head).middleRows(run.query, run.count).array() +=
          values.middleRows(run.key, run.count).array().rowwise() *
          taps.row(run.tap).segment(first, values.cols()).array();
    });
  }

  void backward(const AttentionTensors& all, const ConstStridedMatrixMap& d_output,
                AttentionGradients gradients, AttentionRoom& room) const override {
    AttentionGradients without = gradients;
    without.own = gradients.own.first(gradients.own.size() - 1);
    attention_->backward(without_kernels(all), d_output, without, room);
    StridedMatrixMap d_kernels = rows_of(gradients.own.back(), kernels().front(), side_ * side_);
    const Matrix taps = taps_of(all);
    Matrix d_taps = Matrix::Zero(taps.rows(), taps.cols());
    each_head_run(all, [&](const TapRun& run, std::int64_t head, std::int64_t first) {
      const auto values = share_of_head(all.values, all.heads, head);
      const auto passed = share_of_head(d_output, all.heads, head).middleRows(run.query, run.count);
      share_of_head(gradients.values, all.heads, head).middleRows(run.key, run.count).array() +=
          passed.array().rowwise() * taps.row(run.tap).segment(first, values.cols()).array();
      d_taps.row(run.tap).segment(first, values.cols()) +=
          passed.cwiseProduct(values.middleRows(run.key, run.count)).colwise().sum();
    });
    d_kernels += d_taps.transpose();
  }

 private:
  /// [H·dv, w, w], or [dv, w, w] for all heads.
  [[nodiscard]] const Shape& kernels() const { return own_.back().shape; }

  /// The kernels, one row a tap.
  [[nodiscard]] Matrix taps_of(const AttentionTensors& all) const {
    return rows_of(all.own.back(), kernels().front(), side_ * side_).transpose();
  }

  static AttentionTensors without_kernels(AttentionTensors all) {
    all.own = all.own.first(all.own.size() - 1);
    return all;
  }

  /// Calls act(run, head, first channel of the head among the kernels).
  template <class Act>
  void each_head_run(const AttentionTensors& all, const Act& act) const {
    const std::int64_t width = all.values.cols() / all.heads;
    const bool shared = kernels().front() == width;
    for (std::int64_t head = 0; head < all.heads; ++head) {
      each_tap_run(layout_, side_,
                   [&](const TapRun& run) { act(run, head, shared ? 0 : head * width); });
    }
  }

  std::unique_ptr<const TrainedAttention> attention_;
  std::vector<OwnParameter> own_;  ///< own parameters of the attention, then the kernels
  TokenLayout layout_;
  std::int64_t side_;  ///< w
};

}  // namespace

std::unique_ptr<const TrainedAttention> with_values_convolution(
    const TrainedAttentionForm& form, std::unique_ptr<const TrainedAttention> attention) {
  if (form.shape.queries > 0) check_on_grid(&form.layout, form.shape.queries, form.shape.keys);
  return std::make_unique<WithConvolution>(form, std::move(attention));
}

}  // namespace attnscope
