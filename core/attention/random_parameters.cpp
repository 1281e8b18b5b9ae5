#include "core/attention/random_parameters.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/error.h"

namespace attnscope {

NormalNumbers::NormalNumbers(std::int64_t seed, std::int64_t layer, std::int64_t part) {
  std::seed_seq sequence{seed, layer, part};
  generator_.seed(sequence);
}

NormalNumbers::NormalNumbers(std::int64_t seed, std::int64_t layer, std::int64_t part,
                             std::int64_t row) {
  std::seed_seq sequence{seed, layer, part, row};
  generator_.seed(sequence);
}

double NormalNumbers::uniform() { return (static_cast<double>(generator_()) + 0.5) / 4294967296.0; }

double NormalNumbers::operator()() {
  // Box–Muller transform, because std::normal_distribution differs between libraries.
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

MatrixD NormalNumbers::matrix(std::int64_t rows, std::int64_t columns) {
  MatrixD numbers(rows, columns);
  for (Eigen::Index i = 0; i < numbers.size(); ++i) numbers.data()[i] = (*this)();
  return numbers;
}

MatrixD rows_of_streams(std::int64_t seed, std::int64_t layer, std::int64_t part, std::int64_t rows,
                        std::int64_t columns) {
  MatrixD numbers(rows, columns);
  for (std::int64_t row = 0; row < rows; ++row) {
    numbers.row(row) = NormalNumbers(seed, layer, part, row).matrix(1, columns);
  }
  return numbers;
}

MatrixD orthogonal_rows(NormalNumbers& numbers, std::int64_t count, std::int64_t d) {
  MatrixD rows(count, d);
  for (std::int64_t first = 0; first < count; first += d) {
    const Eigen::HouseholderQR<MatrixD> factored(numbers.matrix(d, d));
    MatrixD orthogonal = factored.householderQ();
    // Householder reflections leave the signs of R's diagonal arbitrary, so that Q is not uniform.
    // The factorisation with a positive diagonal is unique, and its Q is uniform.
    for (Eigen::Index c = 0; c < d; ++c) {
      if (factored.matrixQR()(c, c) < 0) orthogonal.col(c) *= -1;
    }
    const std::int64_t taken = std::min(d, count - first);
    rows.middleRows(first, taken) = orthogonal.topRows(taken);
  }
  for (std::int64_t row = 0; row < count; ++row) rows.row(row) *= numbers.matrix(1, d).norm();
  return rows;
}

const Tensor* find_parameter(const NamedTensors* parameters, const char* name, std::int64_t heads,
                             const Shape& of_head) {
  if (parameters == nullptr) return nullptr;
  const auto found = parameters->find(std::string_view(name));
  if (found == parameters->end()) return nullptr;
  Shape of_all = of_head;
  of_all.insert(of_all.begin(), heads);
  const Tensor& tensor = found->second;
  if (tensor.shape() != of_head && tensor.shape() != of_all) {
    throw Error(ErrorKind::usage, "a learned tensor of the mechanism has the wrong shape")
        .about(name)
        .expected(to_string(of_all) + ", or " + to_string(of_head) + " for all heads")
        .found(to_string(tensor.shape()));
  }
  return &tensor;
}

ConstMatrixMap of_head(const Tensor& parameter, std::int64_t head, std::int64_t rows,
                       std::int64_t columns) {
  const bool shared = parameter.size() == rows * columns;
  return {parameter.data() + (shared ? 0 : head * rows * columns), rows, columns};
}

ParameterDescription seed_parameter(const char* of_what) {
  return setting::whole("seed", 1, {0, 2147483647},
                        std::string("seed of ") + of_what + ", if the model has none");
}

}  // namespace attnscope
