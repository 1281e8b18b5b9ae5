#include "core/attention/narrow_map.h"

#include <algorithm>
#include <optional>
#include <tbb/parallel_for.h>
#include <utility>

#include "core/attention/costs/count.h"
#include "core/attention/score_blocks.h"
#include "core/attention/values_convolution.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

class NarrowMap final : public Mechanism {
 public:
  explicit NarrowMap(NarrowProperties properties) : properties_(std::move(properties)) {}

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    const Parts parts = parts_of(input);
    Tensor output({input.queries.rows(), input.values.cols()});
    if (output.size() == 0 || input.keys.rows() == 0) return output;
    const std::int64_t width = input.values.cols() / input.heads;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const NarrowFactors factors = parts.heads(head);
      const Matrix transposed = factors.right.transpose();
      Matrix products(transposed.rows(), width);
      multiply(strided(transposed), head_columns(input.values, input.heads, head), 1.0F,
               strided_output(products));
      StridedMatrixMap out(output.data() + head * width, output.extent(0), width,
                           Eigen::OuterStride<>(input.values.cols()));
      multiply(strided(factors.left), strided(products), 1.0F, out);
      if (parts.term) parts.term->add_output(head, out);
    });
    return output;
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    const Parts parts = parts_of(input);
    Tensor map({input.heads, input.queries.rows(), input.keys.rows()});
    if (map.size() == 0) return map;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const NarrowFactors factors = parts.heads(head);
      MatrixMap out = map.slice(head);
      multiply_transposed(strided(factors.left), strided(factors.right), 1.0F,
                          {out.data(), out.rows(), out.cols(), Eigen::OuterStride<>(out.cols())});
      if (parts.term) parts.term->add_map(head, out);
    });
    return map;
  }

  [[nodiscard]] std::optional<MapFactors> factors(const AttentionInput& input) const override {
    const std::int64_t n = input.queries.rows(), m = input.keys.rows();
    const std::int64_t columns = properties_.columns(input.shape());
    if (columns >= std::min(n, m)) return std::nullopt;
    const Parts parts = parts_of(input);
    if (parts.term) return std::nullopt;
    MapFactors factors{Tensor({input.heads, n, columns}), Tensor({input.heads, m, columns})};
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const NarrowFactors of_head = parts.heads(head);
      factors.left.slice(head) = of_head.left;
      factors.right.slice(head) = of_head.right;
    });
    return factors;
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    const std::int64_t least = std::min(shape.queries, shape.keys);
    if (properties_.term) {
      return {.rank_bound = least,
              .rows_sum_to_one = false,
              .non_negative = false,
              .channels = std::max<std::int64_t>(shape.value_width, 1)};
    }
    return {.rank_bound = std::min(least, properties_.columns(shape)),
            .rows_sum_to_one = properties_.rows_sum_to_one,
            .non_negative = properties_.non_negative};
  }

 private:
  struct Parts {
    NarrowHeads heads;
    std::optional<ValuesConvolution> term;
  };

  [[nodiscard]] Parts parts_of(const AttentionInput& input) const {
    check_shapes(input);
    refuse_causal(input, properties_.name);
    return {.heads = properties_.factorise(input),
            .term = properties_.term ? find_values_convolution(input) : std::nullopt};
  }

  NarrowProperties properties_;
};

}  // namespace

NarrowFactors narrow_quotient(const Eigen::Ref<const MatrixD>& left,
                              const Eigen::Ref<const MatrixD>& right,
                              const Eigen::Ref<const MatrixD>& queries,
                              const Eigen::Ref<const MatrixD>& keys) {
  const Eigen::VectorXd key_sum = keys.colwise().sum();
  const Eigen::ArrayXd sums =
      (queries * key_sum).array() + kQuotientOffset * static_cast<double>(keys.rows());
  return {.left = (left.array().colwise() / sums).cast<float>(), .right = right.cast<float>()};
}

void count_offset(std::vector<OperationCount>& counts, const AttentionShape& shape,
                  CostConvention convention) {
  if (convention != CostConvention::complete) return;
  const auto normaliser = std::ranges::find(counts, "normaliser", &OperationCount::component);
  normaliser->additions =
      (Count(normaliser->additions) + Count(shape.heads) * shape.queries).value();
}

std::unique_ptr<Mechanism> make_narrow(NarrowProperties properties) {
  return std::make_unique<NarrowMap>(std::move(properties));
}

}  // namespace attnscope
