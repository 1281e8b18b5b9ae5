#include "core/attention/hash_codes.h"

#include <cmath>

#include "core/attention/random_parameters.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::int64_t kMostBits = 64;  // bits of a word

MatrixD kernel_of(const MatrixD& squares, double bandwidth) {
  return (squares.array() / (-2 * bandwidth)).exp();
}

/// One head's share [rows, columns] of a buffer [H, …]. Upstream's buffers have leading dimensions
/// of 1.
MatrixD head_projection(const NamedTensors& parameters, const char* name, std::int64_t heads,
                        std::int64_t head, std::int64_t rows, std::int64_t columns) {
  const Tensor& tensor = parameters.find(name)->second;
  if (tensor.size() != heads * rows * columns || tensor.shape().empty() ||
      tensor.shape().back() != columns) {
    throw Error(ErrorKind::usage, "the hash buffer has the wrong shape")
        .about(name)
        .expected(to_string(Shape{heads, rows, columns}))
        .found(to_string(tensor.shape()))
        .remedy("set bits and supports to those of the buffers");
  }
  return ConstMatrixMap(tensor.data() + head * rows * columns, rows, columns).cast<double>();
}

void read_buffers(const NamedTensors& parameters, std::int64_t heads, std::int64_t head,
                  std::int64_t width, const HashSettings& settings, HashFunction& function) {
  function.weights =
      head_projection(parameters, "ksh.A", heads, head, settings.bits, settings.supports);
  function.means =
      head_projection(parameters, "ksh.mvec", heads, head, 1, settings.supports).row(0);
  function.anchors =
      head_projection(parameters, "ksh.anchor", heads, head, settings.supports, width);
}

/// Chooses random weights, and as anchors evenly spaced tokens, or random directions in causal
/// layers.
void choose_at_random(const MatrixD& tokens, std::int64_t head, const HashSettings& settings,
                      HashFunction& function) {
  const std::int64_t supports = settings.supports;
  const auto seed = static_cast<std::uint32_t>(head) + 1U;
  function.weights = NormalNumbers(seed).matrix(settings.bits, supports);
  if (settings.causal) {
    function.anchors =
        NormalNumbers(seed + 0x10000U).matrix(supports, tokens.cols()).rowwise().normalized();
    return;
  }
  if (supports > tokens.rows()) {
    throw Error(ErrorKind::usage, "there are more supports than tokens")
        .about("hash supports")
        .expected("at most " + std::to_string(tokens.rows()))
        .found(std::to_string(supports));
  }
  function.anchors.resize(supports, tokens.cols());
  for (std::int64_t a = 0; a < supports; ++a) {
    function.anchors.row(a) = tokens.row(a * tokens.rows() / supports);
  }
}

}  // namespace

const std::vector<HashKind>& hash_kinds() {
  static const std::vector<HashKind> all = {HashKind::learned, HashKind::klsh, HashKind::lsh,
                                            HashKind::sign};
  return all;
}

MatrixD unit_rows(const ConstStridedMatrixMap& tokens) {
  MatrixD rows = tokens.cast<double>();
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const double length = rows.row(i).norm();
    if (length > 0) rows.row(i) /= length;
  }
  return rows;
}

MatrixD squared_distances(const MatrixD& tokens, const MatrixD& anchors) {
  MatrixD squares(tokens.rows(), anchors.rows());
  for (Eigen::Index a = 0; a < anchors.rows(); ++a) {
    squares.col(a) = (tokens.rowwise() - anchors.row(a)).rowwise().squaredNorm();
  }
  return squares;
}

double mean_squared_distance(const MatrixD& tokens, const MatrixD& anchors) {
  if (tokens.size() == 0 || anchors.size() == 0) return 1;
  const double mean = squared_distances(tokens, anchors).mean();
  return mean > 0 ? mean : 1;  // 0 if all are equal
}

bool has_hash_buffers(const NamedTensors* parameters) {
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

HashFunction hash_function(const NamedTensors* parameters, std::int64_t heads, std::int64_t head,
                           const ConstStridedMatrixMap& keys, const HashSettings& settings) {
  HashFunction function;
  function.kind = settings.kind;
  if (settings.kind == HashKind::sign) {
    if (keys.cols() > kMostBits) {
      throw Error(ErrorKind::usage, "sign codes need one bit per channel of a head")
          .about("hash codes")
          .expected("heads of at most 64 channels")
          .found(std::to_string(keys.cols()));
    }
    return function;
  }
  if (settings.kind == HashKind::lsh) {
    function.weights =
        NormalNumbers(static_cast<std::uint32_t>(head) + 1U).matrix(settings.bits, keys.cols());
    return function;
  }
  const MatrixD tokens = unit_rows(keys);
  const bool learned = settings.kind == HashKind::learned;
  if (learned && !has_hash_buffers(parameters)) {
    throw Error(ErrorKind::usage, "the layer has no learned hash codes")
        .about("hash codes")
        .expected("the tensors ksh.A, ksh.mvec and ksh.anchor")
        .found("none of them")
        .remedy("learn codes for the model and overlay them, or set codes=klsh");
  }
  if (learned) {
    read_buffers(*parameters, heads, head, keys.cols(), settings, function);
  } else {
    choose_at_random(tokens, head, settings, function);
  }
  const MatrixD& seen = settings.causal ? function.anchors : tokens;
  function.bandwidth = mean_squared_distance(seen, function.anchors);
  if (!learned) {
    function.means =
        kernel_of(squared_distances(seen, function.anchors), function.bandwidth).colwise().mean();
  }
  return function;
}

MatrixD centred_kernel(const HashFunction& function, const MatrixD& unit_tokens) {
  return centred_kernel_of(function, squared_distances(unit_tokens, function.anchors));
}

MatrixD centred_kernel_of(const HashFunction& function, const MatrixD& squares) {
  MatrixD kernel = kernel_of(squares, function.bandwidth);
  kernel.rowwise() -= function.means.transpose();
  return kernel;
}

HashCodes HashFunction::codes_of(const ConstStridedMatrixMap& tokens, bool zero_is_zero) const {
  // Computed in double because rounding near zero would flip signs.
  MatrixD projected = unit_rows(tokens);
  HashCodes codes;
  if (kind == HashKind::sign) {
    const Eigen::VectorXd scales = projected.cwiseAbs().rowwise().mean();
    for (const double scale : scales) codes.scales.push_back(static_cast<float>(scale));
  } else if (kind == HashKind::lsh) {
    projected = (projected * weights.transpose()).eval();
  } else {
    projected = (centred_kernel(*this, projected) * weights.transpose()).eval();
  }
  codes.signs.resize(projected.rows(), projected.cols());
  codes.words.resize(static_cast<std::size_t>(projected.rows()));
  for (Eigen::Index i = 0; i < projected.rows(); ++i) {
    std::uint64_t word = 0;
    for (Eigen::Index r = 0; r < projected.cols(); ++r) {
      const double value = projected(i, r);
      const bool positive = value > 0 || (value == 0 && !zero_is_zero);
      codes.signs(i, r) = positive ? 1.0F : value == 0 ? 0.0F : -1.0F;
      codes.has_zeros |= value == 0 && zero_is_zero;
      if (positive) word |= std::uint64_t{1} << r;
    }
    codes.words[static_cast<std::size_t>(i)] = word;
  }
  return codes;
}

}  // namespace attnscope
