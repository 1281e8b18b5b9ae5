// Hashed attention: products of binary codes instead of queries and keys (EcoFormer, Eq. 7 to 11).
// The cost is linear in the number of tokens. hash_codes.h makes the codes; learned ones come from
// the layer's buffers "ksh.A", "ksh.mvec" and "ksh.anchor". Queries and keys share the hash
// function of the keys.
#include <bit>
#include <optional>
#include <span>
#include <tbb/parallel_for.h>
#include <utility>

#include "core/attention/costs/costs.h"
#include "core/attention/hash_codes.h"
#include "core/attention/kernels/hamming.h"
#include "core/attention/mechanism.h"
#include "core/attention/mechanism_cost.h"
#include "core/attention/score_blocks.h"
#include "core/error.h"
#include "core/tensor/blas.h"
#include "core/tensor/tensor.h"

namespace attnscope {

namespace {

/// Variant of the bias added to the products of codes.
enum class Bias { paper, upstream };
constexpr EnumName<Bias> bias_names[] = {{Bias::paper, "paper"}, {Bias::upstream, "upstream"}};

std::vector<ParameterDescription> hash_parameters() {
  return {
      setting::choice("mode", names_of(bias_names), "paper",
                      "paper: bias 2^c of every value (Eq. 9); upstream, as released weights were "
                      "trained: bias b + 1, and in the numerator of the token's own value only"),
      setting::choice(
          "codes", names_of(hash_kind_names), name_of(HashKind::klsh),
          "learned: the layer's own hash (Eq. 10, 11); klsh: random kernelised; lsh: "
          "random hyperplanes; sign: signs of the channels (Eq. 5); auto: learned where "
          "the layer has a hash, else klsh")
          .or_word({"auto"})
          .by_default("auto"),
      setting::whole("bits", 16, {1, 64},
                     "b, bits of a code; of sign as many as a head has channels")
          .in("bits"),
      setting::whole("supports", 25, {1, 1e6}, "m, support samples of the kernel (learned, klsh)")
          .in("tokens"),
  };
}

class Hash final : public Mechanism {
 public:
  Hash(Bias bias, std::optional<HashKind> kind, std::int64_t bits, std::int64_t supports)
      : upstream_(bias == Bias::upstream), kind_(kind), bits_(bits), supports_(supports) {}

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    check(input);
    const std::int64_t width = input.values.cols() / input.heads;
    Tensor output({input.queries.rows(), input.values.cols()});
    if (output.size() == 0 || input.keys.rows() == 0) return output;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Codes codes = codes_of(input, head);
      const ConstStridedMatrixMap values = head_columns(input.values, input.heads, head);
      StridedMatrixMap out(output.data() + head * width, input.queries.rows(), width,
                           Eigen::OuterStride<>(input.values.cols()));
      if (input.causal) return attend_to_prefixes(codes, values, out);
      const Matrix transposed = codes.keys.signs.transpose();
      Matrix products(transposed.rows(), width);
      multiply(strided(transposed), values, 1.0F, strided_output(products));
      multiply(strided(codes.queries.signs), strided(products), 1.0F, out);
      const Eigen::RowVectorXf all = values.cast<double>().colwise().sum().cast<float>();
      const auto bias = static_cast<float>(this->bias(codes));
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
      tbb::parallel_for(std::int64_t{0}, input.queries.rows(), [&](std::int64_t i) {
        const std::int64_t seen = input.causal ? i + 1 : input.keys.rows();
        fill_row(codes, i, seen, weights.row(i).data());
      });
    });
    return map;
  }

  /// Factors with b + 1 columns: the codes and a column for the bias. Causal maps and upstream's
  /// maps, which have a diagonal, have no factors.
  [[nodiscard]] std::optional<MapFactors> factors(const AttentionInput& input) const override {
    check(input);
    const std::int64_t n = input.queries.rows(), m = input.keys.rows();
    const std::int64_t bits = bits_of(input.keys.cols() / input.heads);
    if (upstream_ || input.causal || bits + 1 >= std::min(n, m)) return std::nullopt;
    MapFactors factors{Tensor({input.heads, n, bits + 1}), Tensor({input.heads, m, bits + 1})};
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Codes codes = codes_of(input, head);
      MatrixMap left = factors.left.slice(head), right = factors.right.slice(head);
      left.leftCols(bits) = codes.queries.signs;
      left.col(bits).setConstant(static_cast<float>(bias(codes)));
      for (Eigen::Index i = 0; i < n; ++i) left.row(i) *= static_cast<float>(1.0 / codes.totals(i));
      right.leftCols(bits) = codes.keys.signs;
      right.col(bits).setOnes();
    });
    return factors;
  }

  /// Quantities "codes" [H, N, b] of the queries and "key_codes" [H, M, b]: +1 and −1, without the
  /// scales of plain signs.
  [[nodiscard]] NamedTensors quantities(const AttentionInput& input) const override {
    check(input);
    const std::int64_t bits = bits_of(input.keys.cols() / input.heads);
    Tensor queries({input.heads, input.queries.rows(), bits});
    Tensor keys({input.heads, input.keys.rows(), bits});
    for (std::int64_t head = 0; head < input.heads && input.keys.rows() > 0; ++head) {
      const Codes codes = codes_of(input, head);
      queries.slice(head) = codes.queries.signs.cwiseSign();
      keys.slice(head) = codes.keys.signs.cwiseSign();
    }
    NamedTensors quantities;
    quantities.emplace("codes", std::move(queries));
    quantities.emplace("key_codes", std::move(keys));
    return quantities;
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    const std::int64_t smaller = std::min(shape.queries, shape.keys);
    // The diagonal that upstream adds makes the rank full.
    return {.rank_bound = upstream_ ? smaller : std::min(smaller, bits_of(shape.head_width) + 1),
            .rows_sum_to_one = !upstream_,
            .non_negative = !upstream_};
  }

 private:
  struct Codes {
    HashCodes queries, keys;
    Eigen::VectorXd totals;  ///< [N], Σ_j (h_i · h_j + bias) over the keys that query i sees
  };

  [[nodiscard]] std::int64_t bits_of(std::int64_t head_width) const {
    return kind_ == HashKind::sign ? head_width : bits_;
  }

  /// The bias 2^c with c = ⌈log2(b + 1)⌉, above b so that no weight is negative; upstream uses b +
  /// 1. For scaled signs, whose products are at most 1, b is replaced by 1.
  [[nodiscard]] double bias(const Codes& codes) const {
    const std::int64_t greatest = codes.keys.scales.empty() ? codes.keys.bits() : 1;
    if (upstream_) return static_cast<double>(greatest + 1);
    return static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(greatest) + 1));
  }

  void check(const AttentionInput& input) const {
    check_shapes(input);
    if ((upstream_ || input.causal) && input.queries.rows() != input.keys.rows()) {
      throw Error(ErrorKind::usage, upstream_ ? "upstream hashing needs as many keys as queries"
                                              : "causal hashing needs as many keys as queries")
          .expected(std::to_string(input.queries.rows()) + " keys")
          .found(std::to_string(input.keys.rows()));
    }
  }

  /// The kind of hash at this layer, with "auto" resolved.
  [[nodiscard]] HashKind kind_of(const AttentionInput& input) const {
    return kind_.value_or(has_hash_buffers(input.parameters) ? HashKind::learned : HashKind::klsh);
  }

  [[nodiscard]] Codes codes_of(const AttentionInput& input, std::int64_t head) const {
    const ConstStridedMatrixMap keys = head_columns(input.keys, input.heads, head);
    const ConstStridedMatrixMap queries = head_columns(input.queries, input.heads, head);
    const HashFunction function = hash_function(
        input.parameters, input.heads, head, keys,
        {.kind = kind_of(input), .bits = bits_, .supports = supports_, .causal = input.causal});
    Codes codes;
    codes.keys = function.codes_of(keys, upstream_);
    // Queries and keys from a shared projection have the same codes.
    const bool shared = queries.rows() == keys.rows() && queries == keys;
    codes.queries = shared ? codes.keys : function.codes_of(queries, upstream_);
    apply_scales(codes.keys);
    apply_scales(codes.queries);
    add_totals(codes, input.causal);
    return codes;
  }

  /// Multiplies the signs of each token by its scale α.
  static void apply_scales(HashCodes& codes) {
    for (std::size_t i = 0; i < codes.scales.size(); ++i) {
      codes.signs.row(static_cast<Eigen::Index>(i)) *= codes.scales[i];
    }
  }

  void add_totals(Codes& codes, bool causal) const {
    const MatrixD queries = codes.queries.signs.cast<double>();
    const MatrixD keys = codes.keys.signs.cast<double>();
    if (!causal) {
      codes.totals = queries * keys.colwise().sum().transpose();
      codes.totals.array() += bias(codes) * static_cast<double>(keys.rows());
      return;
    }
    codes.totals.resize(queries.rows());
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(keys.cols());
    for (Eigen::Index i = 0; i < queries.rows(); ++i) {
      sum += keys.row(i);
      codes.totals(i) = queries.row(i).dot(sum) + bias(codes) * static_cast<double>(i + 1);
    }
  }

  /// Causal attention by running sums: out_i = (h_i · Σ_{j ≤ i} h_j v_jᵀ + bias · Σ_{j ≤ i} v_j) /
  /// total_i.
  void attend_to_prefixes(const Codes& codes, const ConstStridedMatrixMap& values,
                          StridedMatrixMap out) const {
    MatrixD products = MatrixD::Zero(codes.keys.bits(), values.cols());
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(values.cols());
    for (Eigen::Index i = 0; i < out.rows(); ++i) {
      const Eigen::RowVectorXd value = values.row(i).cast<double>();
      products += codes.keys.signs.row(i).transpose().cast<double>() * value;
      sum += value;
      const Eigen::RowVectorXd weighted = codes.queries.signs.row(i).cast<double>() * products +
                                          bias(codes) * (upstream_ ? value : sum);
      out.row(i) = (weighted / codes.totals(i)).cast<float>();
    }
  }

  /// Weights of query i over the first `seen` keys.
  void fill_row(const Codes& codes, std::int64_t i, std::int64_t seen, float* row) const {
    const double factor = 1.0 / codes.totals(i);
    const double of_all = upstream_ ? 0.0 : bias(codes);
    const auto count = static_cast<std::size_t>(seen);
    if (codes.queries.has_zeros || codes.keys.has_zeros) {
      Eigen::Map<Eigen::VectorXf>(row, seen) =
          ((codes.keys.signs.topRows(seen) * codes.queries.signs.row(i).transpose())
               .cast<double>()
               .array() +
           of_all)
              .matrix()
              .cast<float>() *
          static_cast<float>(factor);
    } else {
      const std::uint64_t word = codes.queries.words[static_cast<std::size_t>(i)];
      const std::span<const std::uint64_t> words(codes.keys.words.data(), count);
      const auto bits = static_cast<double>(codes.keys.bits());
      const std::vector<float>& scales = codes.keys.scales;
      if (scales.empty()) {
        hamming_affinities(word, words, static_cast<float>((bits + of_all) * factor),
                           static_cast<float>(2 * factor), row);
      } else {
        const float own = codes.queries.scales[static_cast<std::size_t>(i)];
        hamming_affinities(word, words, static_cast<float>(bits), 2.0F, row);
        for (std::size_t j = 0; j < count; ++j) {
          const double affinity = static_cast<double>(row[j]) * static_cast<double>(own) *
                                  static_cast<double>(scales[j]);
          row[j] = static_cast<float>((affinity + of_all) * factor);
        }
      }
    }
    if (upstream_) row[i] += static_cast<float>(bias(codes) * factor);
  }

  bool upstream_;
  std::optional<HashKind> kind_;  ///< empty: auto
  std::int64_t bits_;
  std::int64_t supports_;
};

std::optional<HashKind> kind_of(const TypedValues& values) {
  if (values.is("codes", "auto")) return std::nullopt;
  return values.choice("codes", hash_kind_names);
}

costs::CodeKind counted_kind(const TypedValues& values) {
  const HashKind kind = kind_of(values).value_or(HashKind::learned);
  if (kind == HashKind::lsh) return costs::CodeKind::lsh;
  return kind == HashKind::sign ? costs::CodeKind::binary : costs::CodeKind::kernel;
}

/// `shape` if the codes may be learned, else empty.
std::optional<Shape> learned(const TypedValues& values, Shape shape) {
  if (kind_of(values).value_or(HashKind::learned) != HashKind::learned) return std::nullopt;
  return shape;
}

}  // namespace

MechanismEntry hash_entry() {
  using Values = const TypedValues&;
  using Extents = const AttentionShape&;
  return {
      .name = "hash",
      .title = "Hashed attention",
      .source = "EcoFormer, Eq. 7 to 11",
      .formula = "products of b-bit codes, + 2^c",
      .rank = "b + 1; N if causal",
      .complexity = {"NbD + ND²", "ND + bD", "EcoFormer, Eq. 7 to 9"},
      .parameters = hash_parameters(),
      .accounting = {setting::whole("features", 0, {0, 1e9},
                                    "F, Performer's features that EcoFormer's comparison makes lsh "
                                    "and sign codes of; 0: the tokens themselves, as they run")},
      .tensors = {{"ksh.A", "[H, b, m], weights of the supports (Eq. 10)",
                   [](Extents s, Values v) {
                     return learned(v, {s.heads, v.whole("bits"), v.whole("supports")});
                   }},
                  {"ksh.mvec", "[H, m], μ, the mean kernel of each support",
                   [](Extents s, Values v) {
                     return learned(v, {s.heads, v.whole("supports")});
                   }},
                  {"ksh.anchor", "[H, m, d], the supports",
                   [](Extents s, Values v) {
                     return learned(v, {s.heads, v.whole("supports"), s.head_width});
                   }}},
      .counts =
          [](Extents shape, CostConvention convention, Values values) {
            return costs::hash(shape, convention,
                               {.codes = counted_kind(values),
                                .bits = values.whole("bits"),
                                .supports = values.whole("supports"),
                                .features = values.whole("features")});
          },
      .projections = shared_projections,
      .make = [](Values values) -> std::unique_ptr<Mechanism> {
        return std::make_unique<Hash>(values.choice("mode", bias_names), kind_of(values),
                                      values.whole("bits"), values.whole("supports"));
      },
      .causal = true};
}

}  // namespace attnscope
