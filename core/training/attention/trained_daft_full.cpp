// DAFT-full with its gradient (DAFT, Eq. 5 and 6, Algorithm 1): own parameters pe0 and pe1, or w.
#include "core/parameters/typed_values.h"
#include "core/tensor/blas.h"
#include "core/training/attention/daft_attention.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

/// w = pe0·pe1ᵀ, or a free w. Shorter texts use the first rows and columns.
class TrainedDaftFull final : public DaftAttention {
 public:
  explicit TrainedDaftFull(const TrainedAttentionForm& form)
      : DaftAttention(form.causal),
        form_(form),
        factors_(TypedValues(form.mechanism.parameters).whole("factors")) {}

  [[nodiscard]] std::vector<OwnParameter> own_parameters() const override {
    if (factors_ == 0) return {own_parameter(form_, "w")};
    return {own_parameter(form_, "pe0"), own_parameter(form_, "pe1")};
  }

 private:
  class FullBiases final : public Biases {
   public:
    FullBiases(const AttentionTensors& all, std::int64_t factors, std::int64_t places)
        : own_(all.own), tokens_(all.keys.rows()), factors_(factors), places_(places) {}

    [[nodiscard]] std::int64_t heads() const override { return 1; }

    void fill(std::int64_t, std::int64_t first, StridedMatrixMap block) const override {
      if (factors_ == 0) {
        block = free_rows<ConstStridedMatrixMap>(own_[0], first, block.rows());
      } else {
        multiply_transposed(factor_rows(own_[0], first, block.rows()),
                            factor_rows(own_[1], 0, tokens_), 1.0F, block);
      }
    }

    void take(std::int64_t, std::int64_t first, const Matrix& d_block,
              std::span<float* const> own) override {
      if (factors_ == 0) {
        free_rows<StridedMatrixMap>(own[0], first, d_block.rows()) += d_block;
        return;
      }
      multiply(rows_of(d_block), factor_rows(own_[1], 0, tokens_), 1.0F,
               rows_of(own[0] + first * factors_, d_block.rows(), factors_), true);
      add_transposed_product(rows_of(d_block), factor_rows(own_[0], first, d_block.rows()), 1.0F,
                             rows_of(own[1], tokens_, factors_));
    }

   private:
    template <class Map, class Number>
    [[nodiscard]] Map free_rows(Number* w, std::int64_t first, std::int64_t count) const {
      return {w + first * places_, count, tokens_, Eigen::OuterStride<>(places_)};
    }
    [[nodiscard]] ConstStridedMatrixMap factor_rows(const float* pe, std::int64_t first,
                                                    std::int64_t count) const {
      return rows_of(pe + first * factors_, count, factors_);
    }

    std::span<const float* const> own_;
    std::int64_t tokens_, factors_, places_;
  };

  [[nodiscard]] std::unique_ptr<Biases> biases(const AttentionTensors& all) const override {
    return std::make_unique<FullBiases>(all, factors_, form_.shape.keys);
  }

  TrainedAttentionForm form_;
  std::int64_t factors_;
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_daft_full(const TrainedAttentionForm& form) {
  return std::make_unique<TrainedDaftFull>(form);
}

}  // namespace attnscope
