// Hashed attention: products of binary codes instead of queries and keys (EcoFormer, Eq. 7 to 11).
// Linear in the tokens. Codes are kernelised hashes: with the file's buffers "ksh.A", "ksh.mvec",
// "ksh.anchor", else random ones (KLSH).
#include <bit>
#include <tbb/parallel_for.h>

#include "core/attention/costs/costs.h"
#include "core/attention/hash_codes.h"
#include "core/attention/mechanism.h"
#include "core/attention/score_blocks.h"
#include "core/blas.h"
#include "core/error.h"

namespace attnscope {

namespace {

const std::vector<ParameterDescription>& parameters() {
  static const std::vector<ParameterDescription> list = {
      {.name = "mode",
       .default_value = std::string("paper"),
       .choices = {"paper", "upstream"},
       .explanation = "paper: bias 2^c of every value (Eq. 9); upstream, as released weights were "
                      "trained: bias b + 1, and in the numerator of the token's own value only"},
      {.name = "bits",
       .default_value = std::int64_t{16},
       .minimum = 1,
       .maximum = 64,
       .explanation = "b, bits of a code"},
      {.name = "supports",
       .default_value = std::int64_t{25},
       .minimum = 1,
       .maximum = 1e6,
       .explanation = "m, support samples of the kernel"},
  };
  return list;
}

class Hash final : public Mechanism {
 public:
  Hash(bool upstream, std::int64_t bits, std::int64_t supports)
      : upstream_(upstream), bits_(bits), supports_(supports) {}

  [[nodiscard]] MechanismChoice choice() const override {
    return {"hash",
            {{"mode", std::string(upstream_ ? "upstream" : "paper")},
             {"bits", bits_},
             {"supports", supports_}}};
  }

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    check(input);
    const std::int64_t width = input.values.cols() / input.heads;
    Tensor output({input.queries.rows(), input.values.cols()});
    if (output.size() == 0 || input.keys.rows() == 0) return output;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Codes codes = codes_of(input, head);
      const ConstStridedMatrixMap values = head_columns(input.values, input.heads, head);
      const Matrix transposed = codes.keys.signs.transpose();
      Matrix products(bits_, width);
      multiply(strided(transposed), values, 1.0F,
               {products.data(), bits_, width, Eigen::OuterStride<>(width)});
      StridedMatrixMap out(output.data() + head * width, input.queries.rows(), width,
                           Eigen::OuterStride<>(input.values.cols()));
      multiply(strided(codes.queries.signs), strided(products), 1.0F, out);
      const Eigen::RowVectorXf all = values.cast<double>().colwise().sum().cast<float>();
      const auto bias = static_cast<float>(this->bias());
      for (Eigen::Index i = 0; i < out.rows(); ++i) {
        out.row(i) += bias * (upstream_ ? Eigen::RowVectorXf(values.row(i)) : all);
        out.row(i) *= static_cast<float>(1.0 / codes.totals(i));
      }
    });
    return output;
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    check(input);
    Tensor map({input.heads, input.queries.rows(), input.keys.rows()});
    if (map.size() == 0) return map;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Codes codes = codes_of(input, head);
      MatrixMap weights = map.slice(head);
      for (Eigen::Index i = 0; i < weights.rows(); ++i) {
        const double factor = 1.0 / codes.totals(i);
        for (Eigen::Index j = 0; j < weights.cols(); ++j) {
          const double own = upstream_ ? (i == j ? bias() : 0.0) : bias();
          weights(i, j) = static_cast<float>((affinity(codes, i, j) + own) * factor);
        }
      }
    });
    return map;
  }

  /// Codes and a column for the bias: b + 1 columns; none of upstream's maps with their diagonal.
  [[nodiscard]] std::optional<MapFactors> factors(const AttentionInput& input) const override {
    check(input);
    const std::int64_t n = input.queries.rows(), m = input.keys.rows();
    if (upstream_ || bits_ + 1 >= std::min(n, m)) return std::nullopt;
    MapFactors factors{Tensor({input.heads, n, bits_ + 1}), Tensor({input.heads, m, bits_ + 1})};
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Codes codes = codes_of(input, head);
      MatrixMap left = factors.left.slice(head), right = factors.right.slice(head);
      left.leftCols(bits_) = codes.queries.signs;
      left.col(bits_).setConstant(static_cast<float>(bias()));
      for (Eigen::Index i = 0; i < n; ++i) left.row(i) *= static_cast<float>(1.0 / codes.totals(i));
      right.leftCols(bits_) = codes.keys.signs;
      right.col(bits_).setOnes();
    });
    return factors;
  }

  /// "codes" of the queries and "key_codes", [H, N, b] and [H, M, b]: +1 and −1.
  [[nodiscard]] NamedTensors quantities(const AttentionInput& input) const override {
    check(input);
    Tensor queries({input.heads, input.queries.rows(), bits_});
    Tensor keys({input.heads, input.keys.rows(), bits_});
    for (std::int64_t head = 0; head < input.heads && input.keys.rows() > 0; ++head) {
      const Codes codes = codes_of(input, head);
      queries.slice(head) = codes.queries.signs;
      keys.slice(head) = codes.keys.signs;
    }
    NamedTensors quantities;
    quantities.emplace("codes", std::move(queries));
    quantities.emplace("key_codes", std::move(keys));
    return quantities;
  }

  [[nodiscard]] std::vector<OperationCount> cost(const AttentionShape& shape,
                                                 CostConvention convention) const override {
    return costs::hash(shape, convention, {.bits = bits_, .supports = supports_});
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    const std::int64_t smaller = std::min(shape.queries, shape.keys);
    // Upstream adds a diagonal.
    return {.rank_bound = upstream_ ? smaller : std::min(smaller, bits_ + 1),
            .rows_sum_to_one = !upstream_,
            .non_negative = !upstream_};
  }

 private:
  struct Codes {
    HashCodes queries, keys;
    Eigen::VectorXd totals;  ///< of each query: h_i · Σ_j h_j + bias · M
  };

  static ConstStridedMatrixMap strided(const Matrix& matrix) {
    return {matrix.data(), matrix.rows(), matrix.cols(), Eigen::OuterStride<>(matrix.cols())};
  }

  /// 2^c with c = ⌈log2(b + 1)⌉: above b, so that no weight is negative; upstream b + 1.
  [[nodiscard]] double bias() const {
    if (upstream_) return static_cast<double>(bits_ + 1);
    return static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(bits_) + 1));
  }

  void check(const AttentionInput& input) const {
    check_shapes(input);
    if (upstream_ && input.queries.rows() != input.keys.rows()) {
      throw Error(ErrorKind::usage, "upstream hashing needs as many keys as queries")
          .expected(std::to_string(input.queries.rows()) + " keys")
          .found(std::to_string(input.keys.rows()));
    }
  }

  [[nodiscard]] Codes codes_of(const AttentionInput& input, std::int64_t head) const {
    const ConstStridedMatrixMap keys = head_columns(input.keys, input.heads, head);
    const HashFunction function =
        hash_function(input.parameters, input.heads, head, keys, bits_, supports_);
    Codes codes{function.codes_of(head_columns(input.queries, input.heads, head), upstream_),
                function.codes_of(keys, upstream_),
                {}};
    const Eigen::VectorXd sum = codes.keys.signs.cast<double>().colwise().sum();
    codes.totals = codes.queries.signs.cast<double>() * sum;
    codes.totals.array() += bias() * static_cast<double>(keys.rows());
    return codes;
  }

  /// h_i · h_j, from the bits where they say all.
  [[nodiscard]] double affinity(const Codes& codes, Eigen::Index i, Eigen::Index j) const {
    if (upstream_) {
      return static_cast<double>(codes.queries.signs.row(i).dot(codes.keys.signs.row(j)));
    }
    const std::uint64_t different = codes.queries.words[static_cast<std::size_t>(i)] ^
                                    codes.keys.words[static_cast<std::size_t>(j)];
    return static_cast<double>(bits_ - 2 * std::popcount(different));
  }

  bool upstream_;
  std::int64_t bits_;
  std::int64_t supports_;
};

}  // namespace

MechanismEntry hash_entry() {
  static constexpr std::string_view tensors[] = {"ksh.A", "ksh.mvec", "ksh.anchor"};
  return {"hash",
          "Hashed attention",
          "EcoFormer, Eq. 7 to 11",
          parameters(),
          tensors,
          [](const ParameterValues& values) -> std::unique_ptr<const Mechanism> {
            return std::make_unique<Hash>(std::get<std::string>(values.at("mode")) == "upstream",
                                          std::get<std::int64_t>(values.at("bits")),
                                          std::get<std::int64_t>(values.at("supports")));
          }};
}

}  // namespace attnscope
