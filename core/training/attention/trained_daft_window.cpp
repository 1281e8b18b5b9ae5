// DAFT with position biases in a window around each token, with its gradient (DAFT, Eq. 7 to 9,
// Algorithm 2, appendix C). The own parameters are r, γ and β, or r alone (Table 7).
#include <algorithm>
#include <optional>
#include <string>

#include "core/attention/daft_window.h"
#include "core/error.h"
#include "core/parameters/typed_values.h"
#include "core/training/attention/daft_attention.h"
#include "core/training/attention/window_biases.h"

namespace attnscope {

namespace {

/// The input of a layer with `tokens` tokens and `width` channels, used only for its dimensions.
AttentionInput extents_of(const TrainedAttentionForm& form, std::int64_t tokens,
                          std::int64_t width) {
  const ConstMatrixMap rows(nullptr, tokens, width);
  return {.queries = rows,
          .keys = rows,
          .values = rows,
          .heads = form.shape.heads,
          .layout = &form.layout,
          .causal = form.causal};
}

class DaftWindowAttention final : public DaftAttention {
 public:
  DaftWindowAttention(const DaftWindowOptions& options, const TrainedAttentionForm& form)
      : DaftAttention(form.causal, options.gated), options_(options), form_(form) {}

  /// All begin with biases of 0: γ = β = 0, or a plain r = 0.
  [[nodiscard]] std::vector<OwnParameter> own_parameters() const override {
    if (!options_.reparameterised) return {own_parameter(form_, "r", Initialisation::zeros)};
    return {own_parameter(form_, "r", Initialisation::standard_normal),
            own_parameter(form_, "gamma", Initialisation::zeros),
            own_parameter(form_, "beta", Initialisation::zeros)};
  }

 private:
  /// The own parameters under the names that the mechanism expects.
  [[nodiscard]] NamedTensors tensors_of(std::span<const float* const> own) const {
    NamedTensors tensors;
    const std::vector<OwnParameter> parameters = own_parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::int64_t size = element_count(parameters[i].shape);
      tensors.emplace(parameters[i].name,
                      Tensor(parameters[i].shape, std::vector<float>(own[i], own[i] + size)));
    }
    return tensors;
  }

  class WindowBiases final : public Biases {
   public:
    WindowBiases(DaftWindow window, Matrix soft, MatrixD maximum, std::span<const float* const> own)
        : window_(std::move(window)),
          soft_(std::move(soft)),
          maximum_(std::move(maximum)),
          own_(own),
          d_taps_(MatrixD::Zero(soft_.rows(), soft_.cols())) {}

    [[nodiscard]] std::int64_t heads() const override { return window_.heads(); }

    void fill(std::int64_t head, std::int64_t first, StridedMatrixMap block) const override {
      window_.fill(head, first, block);
    }

    void take(std::int64_t head, std::int64_t first, const Matrix& d_block,
              std::span<float* const>) override {
      const std::int64_t rows = window_.rows(), columns = window_.columns();
      const std::int64_t up = window_.half_rows(), left = window_.half_columns();
      for (std::int64_t row = 0; row < d_block.rows(); ++row) {
        const std::int64_t query = first + row - window_.prefix();
        if (query < 0) continue;
        const std::int64_t y = query / columns, x = query % columns;
        const std::int64_t from = std::max(-left, -x), to = std::min(left, columns - 1 - x);
        for (std::int64_t dy = std::max(-up, -y); dy <= std::min(up, rows - 1 - y); ++dy) {
          const std::int64_t tap = (dy + up) * (2 * left + 1) + left;
          const std::int64_t key = window_.prefix() + (y + dy) * columns + x;
          for (std::int64_t dx = from; dx <= to; ++dx) {
            d_taps_(head, tap + dx) += static_cast<double>(d_block(row, key + dx));
          }
        }
      }
    }

    void finish(std::span<float* const> own) override {
      const std::int64_t count = d_taps_.cols();
      for (std::int64_t head = 0; head < heads(); ++head) {
        Eigen::RowVectorXd d_taps = d_taps_.row(head);
        if (maximum_.size() > 0) {
          d_taps =
              gradient_through_maximum(soft_.row(head).cast<double>(), maximum_.row(head), d_taps);
        }
        if (own.size() == 1) {
          Eigen::Map<Eigen::RowVectorXf>(own[0] + head * count, count) += d_taps.cast<float>();
          continue;
        }
        const WindowBias bias = {
            Eigen::Map<const Eigen::RowVectorXf>(own_[0] + head * count, count).cast<double>(),
            own_[1][head], own_[2][head]};
        bias.add_gradients(d_taps, own[0] + head * count, own[1] + head, own[2] + head);
      }
    }

   private:
    DaftWindow window_;
    Matrix soft_;      ///< w in the window before any maximum, [h, taps]
    MatrixD maximum_;  ///< the relaxed maximum that gradients pass through; empty: none
    std::span<const float* const> own_;
    MatrixD d_taps_;
  };

  [[nodiscard]] std::unique_ptr<Biases> biases(const AttentionTensors& all) const override {
    const NamedTensors tensors = tensors_of(all.own);
    AttentionInput input = extents_of(form_, all.keys.rows(), all.values.cols());
    input.parameters = &tensors;
    DaftWindow window(input, options_);
    Matrix soft = window.taps();
    if (options_.kind != DaftWindowKind::one_hot) {
      return std::make_unique<WindowBiases>(std::move(window), std::move(soft), MatrixD(), all.own);
    }
    DaftWindowOptions before = options_;
    before.kind = DaftWindowKind::conv;
    soft = DaftWindow(input, before).taps();
    MatrixD maximum(soft.rows(), soft.cols());
    for (Eigen::Index head = 0; head < soft.rows(); ++head) {
      std::optional<RandomNumbers> own;
      if (all.noise != nullptr) own = all.noise->of(static_cast<std::uint64_t>(head));
      maximum.row(head) = relaxed_maximum(soft.row(head).cast<double>(), own ? &*own : nullptr);
    }
    if (all.noise == nullptr) {
      return std::make_unique<WindowBiases>(std::move(window), std::move(soft), std::move(maximum),
                                            all.own);
    }
    // Without γ and β, r is used unchanged: here as w ⊙ π.
    Tensor product(own_parameters().front().shape);
    const Matrix sample = soft.cast<double>().cwiseProduct(maximum).cast<float>();
    std::copy_n(sample.data(), product.size(), product.data());
    NamedTensors sampled;
    sampled.emplace("r", std::move(product));
    input.parameters = &sampled;
    return std::make_unique<WindowBiases>(DaftWindow(input, before), std::move(soft),
                                          std::move(maximum), all.own);
  }

  DaftWindowOptions options_;
  TrainedAttentionForm form_;
};

/// With noise, one-hot biases are w ⊙ π, Eq. 11's sample. Without, they use the hard maximum, as at
/// inference; gradients pass through it as through Eq. 11 without noise.
///
/// Throws Error(usage) for windows of two dimensions over tokens without a grid, and if the heads
/// of biases do not divide the channels.
std::unique_ptr<const TrainedAttention> make_daft_window_attention(
    DaftWindowKind kind, const TrainedAttentionForm& form) {
  const TypedValues read(form.mechanism.parameters);
  const DaftWindowOptions options = daft_window_options(kind, read);
  if (form.shape.queries > 0) {
    const AttentionInput input =
        extents_of(form, form.shape.queries, form.shape.heads * form.shape.value_width);
    (void)daft_channels(input, options.conv_heads);
    const DaftWindow checked(input, options);
  }
  return std::make_unique<DaftWindowAttention>(options, form);
}

}  // namespace

/// DAFT-conv with its gradient (DAFT, Eq. 7 to 9).
std::unique_ptr<const TrainedAttention> make_trained_daft_conv(const TrainedAttentionForm& form) {
  return make_daft_window_attention(DaftWindowKind::conv, form);
}

/// DAFT-conv without global connectivity, with its gradient (DAFT, section 5.1).
std::unique_ptr<const TrainedAttention> make_trained_daft_local(const TrainedAttentionForm& form) {
  return make_daft_window_attention(DaftWindowKind::local, form);
}

/// DAFT-conv with one nonzero bias per head, with its gradient (DAFT, appendix C).
std::unique_ptr<const TrainedAttention> make_trained_daft_one_hot(
    const TrainedAttentionForm& form) {
  return make_daft_window_attention(DaftWindowKind::one_hot, form);
}

}  // namespace attnscope
