#include "core/attention/hash_codes.h"

#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "core/error.h"

namespace attnscope {

namespace {

/// Rows scaled to length 1; a row of zeros stays.
MatrixD normalised(const ConstStridedMatrixMap& tokens) {
  MatrixD rows = tokens.cast<double>();
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const double length = rows.row(i).norm();
    if (length > 0) rows.row(i) /= length;
  }
  return rows;
}

/// ‖x − a‖² for every token and anchor, [N, m].
MatrixD squared_distances(const MatrixD& tokens, const MatrixD& anchors) {
  MatrixD squares(tokens.rows(), anchors.rows());
  for (Eigen::Index a = 0; a < anchors.rows(); ++a) {
    squares.col(a) = (tokens.rowwise() - anchors.row(a)).rowwise().squaredNorm();
  }
  return squares;
}

/// Standard normal numbers, the same on every machine.
MatrixD random_weights(std::int64_t bits, std::int64_t supports, std::int64_t head) {
  std::mt19937 generator(static_cast<unsigned>(head) + 1U);
  const auto uniform = [&generator] {
    return (static_cast<double>(generator()) + 0.5) / 4294967296.0;
  };
  MatrixD weights(bits, supports);
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    weights.data()[i] = radius * std::cos(2.0 * std::numbers::pi * uniform());
  }
  return weights;
}

/// One head's share of a buffer [H, …], as [rows, columns]. Leading extents of 1 are upstream's.
MatrixD of_head(const NamedTensors& parameters, const char* name, std::int64_t heads,
                std::int64_t head, std::int64_t rows, std::int64_t columns) {
  const Tensor& tensor = parameters.find(name)->second;
  if (tensor.size() != heads * rows * columns || tensor.shape().empty() ||
      tensor.shape().back() != columns) {
    throw Error(ErrorKind::usage, "the hash buffer has another shape")
        .about(name)
        .expected(to_string(Shape{heads, rows, columns}))
        .found(to_string(tensor.shape()));
  }
  return ConstMatrixMap(tensor.data() + head * rows * columns, rows, columns).cast<double>();
}

bool has_buffers(const NamedTensors* parameters) {
  if (parameters == nullptr) return false;
  int found = 0;
  std::string missing;
  for (const char* name : {"ksh.A", "ksh.mvec", "ksh.anchor"}) {
    if (parameters->contains(std::string_view(name))) {
      ++found;
    } else {
      missing = name;
    }
  }
  if (found != 0 && found != 3) {
    throw Error(ErrorKind::usage, "a buffer of the hash function is missing").about(missing);
  }
  return found == 3;
}

}  // namespace

HashFunction hash_function(const NamedTensors* parameters, std::int64_t heads, std::int64_t head,
                           const ConstStridedMatrixMap& keys, std::int64_t bits,
                           std::int64_t supports) {
  HashFunction function;
  const MatrixD tokens = normalised(keys);
  const bool learned = has_buffers(parameters);
  if (learned) {
    function.weights = of_head(*parameters, "ksh.A", heads, head, bits, supports);
    function.means = of_head(*parameters, "ksh.mvec", heads, head, 1, supports).row(0);
    function.anchors = of_head(*parameters, "ksh.anchor", heads, head, supports, keys.cols());
  } else {
    if (supports > tokens.rows()) {
      throw Error(ErrorKind::usage, "there are more supports than tokens")
          .about("hash supports")
          .expected("at most " + std::to_string(tokens.rows()))
          .found(std::to_string(supports));
    }
    function.weights = random_weights(bits, supports, head);
    function.anchors.resize(supports, keys.cols());
    for (std::int64_t a = 0; a < supports; ++a) {
      function.anchors.row(a) = tokens.row(a * tokens.rows() / supports);
    }
  }
  const MatrixD squares = squared_distances(tokens, function.anchors);
  function.bandwidth = squares.size() > 0 ? squares.mean() : 1;
  if (!(function.bandwidth > 0)) function.bandwidth = 1;  // all tokens alike
  if (!learned) {
    function.means = (squares.array() / (-2 * function.bandwidth)).exp().colwise().mean();
  }
  return function;
}

HashCodes HashFunction::codes_of(const ConstStridedMatrixMap& tokens, bool zero_is_zero) const {
  // In double: a sign does not forgive a rounded zero.
  MatrixD kernel = squared_distances(normalised(tokens), anchors);
  kernel = (kernel.array() / (-2 * bandwidth)).exp();
  kernel.rowwise() -= means.transpose();
  const MatrixD projected = kernel * weights.transpose();
  HashCodes codes{Matrix(projected.rows(), projected.cols()),
                  std::vector<std::uint64_t>(static_cast<std::size_t>(projected.rows()))};
  for (Eigen::Index i = 0; i < projected.rows(); ++i) {
    for (Eigen::Index r = 0; r < projected.cols(); ++r) {
      const double value = projected(i, r);
      const bool positive = value > 0 || (value == 0 && !zero_is_zero);
      codes.signs(i, r) = positive ? 1.0F : value == 0 ? 0.0F : -1.0F;
      if (positive) codes.words[static_cast<std::size_t>(i)] |= std::uint64_t{1} << r;
    }
  }
  return codes;
}

}  // namespace attnscope
