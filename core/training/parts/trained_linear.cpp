#include "core/training/parts/trained_linear.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/tensor/blas.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

using BiasRow = Eigen::Map<const Eigen::RowVectorXf>;
using BiasGradient = Eigen::Map<Eigen::RowVectorXf>;

}  // namespace

TrainedLinear::TrainedLinear(ParameterTable& table, TrainedLinearForm form)
    : form_(std::move(form)) {
  // Parts are added consecutively, so that they form one matrix and one row of biases.
  for (const LinearPart& part : form_.parts) {
    const ParameterSlot slot =
        table.add(part.name + ".weight", {part.outputs, form_.inputs}, form_.initialisation);
    weight_ = {weight_ ? weight_.offset : slot.offset, weight_.size + slot.size};
  }
  for (const LinearPart& part : form_.parts) {
    if (!form_.bias) break;
    const ParameterSlot slot =
        table.add(part.name + ".bias", {part.outputs}, Initialisation::zeros);
    bias_ = {bias_ ? bias_.offset : slot.offset, bias_.size + slot.size};
  }
  if (weight_) return;
  const bool adder = form_.arithmetic == Arithmetic::adder;
  const Shape shape =
      form_.weight_shape.empty() ? Shape{form_.outputs, form_.inputs} : form_.weight_shape;
  weight_ = table.add(form_.name + ".weight", shape,
                      adder ? Initialisation::standard_normal : form_.initialisation, adder);
  if (form_.bias) bias_ = table.add(form_.name + ".bias", {form_.outputs}, Initialisation::zeros);
  if (adder) {
    norm_.emplace(table, form_.norm, form_.outputs / form_.groups, form_.norm_eps, form_.groups);
  }
}

void TrainedLinear::forward(const float* values, const Matrix& x, Matrix& y, Memory& memory) const {
  const auto weight = rows_of(weight_.in(values), form_.outputs, form_.inputs);
  if (!norm_) {
    // The rows start with the bias, to which the product is added.
    y.resize(x.rows(), form_.outputs);
    for (Eigen::Index row = 0; bias_ && row < y.rows(); ++row) {
      std::copy_n(bias_.in(values), form_.outputs, y.data() + row * form_.outputs);
    }
    multiply_transposed(rows_of(x), weight, 1.0F, rows_of(y), static_cast<bool>(bias_));
    return;
  }
  memory.distances.resize(x.rows(), form_.outputs);
  l1_distances(rows_of(x), PackedRows(weight), -1.0F, rows_of(memory.distances));
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    memory.distances.row(row) += BiasRow(bias_.in(values), form_.outputs);
  }
  norm_->forward(values, memory.distances, y, memory.norm);
}

void TrainedLinear::backward(const float* values, float* gradients, const Matrix& x,
                             const Matrix& dy, const Memory& memory, Matrix* dx) const {
  if (!norm_) return multiplicative_backward(values, gradients, x, dy, dx);
  Matrix of_distances = Matrix::Zero(dy.rows(), dy.cols());
  norm_->backward(values, gradients, memory.distances, dy, memory.norm, of_distances);
  adder_backward(values, gradients, x, of_distances, dx);
}

void TrainedLinear::multiplicative_backward(const float* values, float* gradients, const Matrix& x,
                                            const Matrix& dy, Matrix* dx) const {
  add_transposed_product(rows_of(dy), rows_of(x), 1.0F,
                         rows_of(weight_.in(gradients), form_.outputs, form_.inputs));
  if (bias_) BiasGradient(bias_.in(gradients), form_.outputs) += dy.colwise().sum();
  if (dx == nullptr) return;
  dx->resize(x.rows(), form_.inputs);
  multiply(rows_of(dy), rows_of(weight_.in(values), form_.outputs, form_.inputs), 1.0F,
           rows_of(*dx));
}

void TrainedLinear::add_weight_gradient(const float* values, float* gradients, const Matrix& x,
                                        const Matrix& dy) const {
  // dW(o, i) = Σ_n dy(n, o) (x(n, i) − W(o, i)), computed as a product minus the weight times Σ dy.
  const auto to = rows_of(weight_.in(gradients), form_.outputs, form_.inputs);
  add_transposed_product(rows_of(dy), rows_of(x), 1.0F, to);
  const Vector sums = dy.colwise().sum().transpose();
  const auto weight = rows_of(weight_.in(values), form_.outputs, form_.inputs);
  StridedMatrixMap(to) -= sums.asDiagonal() * weight;
}

void TrainedLinear::adder_backward(const float* values, float* gradients, const Matrix& x,
                                   const Matrix& dy, Matrix* dx) const {
  BiasGradient(bias_.in(gradients), form_.outputs) += dy.colwise().sum();
  const PackedRows weight(rows_of(weight_.in(values), form_.outputs, form_.inputs));
  const AdderGradients& forms = form_.gradients;
  const bool by_product = forms.of_weights == DifferenceGradient::full;
  if (by_product) add_weight_gradient(values, gradients, x, dy);
  // For y = −Σ|x − W| the gradient of the distances is −dy.
  const Matrix of_distances = -dy;
  const bool together = forms.of_weights == forms.of_inputs && dx != nullptr;
  const auto run = [&](DifferenceGradient form, Matrix& of_inputs, float* of_weights) {
    of_inputs.setZero(x.rows(), form_.inputs);
    add_difference_gradients(rows_of(x), weight, rows_of(of_distances), form, rows_of(of_inputs),
                             of_weights);
  };
  std::vector<float> packed;
  if (!by_product) {
    packed.assign(static_cast<std::size_t>(packed_size(form_.outputs, form_.inputs)), 0.0F);
    Matrix unused;
    run(forms.of_weights, together ? *dx : unused, packed.data());
    add_unpacked(packed.data(), rows_of(weight_.in(gradients), form_.outputs, form_.inputs));
  }
  if (dx != nullptr && (by_product || !together)) run(forms.of_inputs, *dx, nullptr);
}

}  // namespace attnscope
