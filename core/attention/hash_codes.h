// Binary codes of tokens: kernelised hashes (EcoFormer, Eq. 10 and 11), random hyperplanes, plain
// signs (Eq. 5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/mechanism.h"
#include "core/parameters/enum_names.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Bits of one head's tokens: +1 and −1 as floats, and packed, bit r of word i set for +1.
struct HashCodes {
  Matrix signs;                      ///< [N, b]; 0 only where `zero_is_zero` was asked for
  std::vector<std::uint64_t> words;  ///< [N]
  std::vector<float> scales;  ///< [N], α of a token: its code stands for α · signs; empty: all 1
  bool has_zeros = false;     ///< then the words do not say all

  [[nodiscard]] std::int64_t tokens() const { return signs.rows(); }
  [[nodiscard]] std::int64_t bits() const { return signs.cols(); }
};

/// How codes are made of tokens x that are scaled to length 1 first.
enum class HashKind {
  learned,  ///< sign(A (κ(x) − μ)) with the buffers of a file, or learnt here
  klsh,     ///< the same with random A (Kulis and Grauman 2009)
  lsh,      ///< sides of random hyperplanes through the origin (Charikar 2002)
  sign      ///< sign(x), with the scale ‖x‖₁ / d (EcoFormer, Eq. 5): as many bits as channels
};

inline constexpr EnumName<HashKind> hash_kind_names[] = {{HashKind::learned, "learned"},
                                                         {HashKind::klsh, "klsh"},
                                                         {HashKind::lsh, "lsh"},
                                                         {HashKind::sign, "sign"}};

[[nodiscard]] inline std::string_view name_of(HashKind kind) {
  return name_of(hash_kind_names, kind);
}
/// Throws Error(usage) listing the names.
[[nodiscard]] inline HashKind hash_kind(std::string_view name) {
  return value_of(hash_kind_names, name, "kind of hash codes");
}
[[nodiscard]] const std::vector<HashKind>& hash_kinds();

/// One head's hash. Kernelised: h_r = sign(Σ_a A(r, a) (κ(anchor_a, x) − μ_a)) with κ(a, x) =
/// exp(−‖x − a‖² / (2σ)) and σ the mean of ‖x − a‖² over the tokens and anchors at hand.
struct HashFunction {
  HashKind kind = HashKind::klsh;
  MatrixD weights;        ///< A [b, m] of a kernel, or normals of hyperplanes [b, d]; b ≤ 64
  MatrixD anchors;        ///< [m, d], of a kernel
  Eigen::VectorXd means;  ///< μ [m], of a kernel
  double bandwidth = 1;   ///< σ, of a kernel

  /// sign(0) is +1 (a bit has two values), or 0 as upstream if `zero_is_zero`.
  [[nodiscard]] HashCodes codes_of(const ConstStridedMatrixMap& tokens, bool zero_is_zero) const;
};

struct HashSettings {
  HashKind kind = HashKind::klsh;
  std::int64_t bits = 16;      ///< b, 1 to 64; of sign always d
  std::int64_t supports = 25;  ///< m, of a kernel
  /// Nothing may depend on the tokens: σ is that of the anchors, and KLSH's anchors are random.
  bool causal = false;
};

/// Whether `parameters` (may be null) hold a learnt hash: "ksh.A" [H, b, m], "ksh.mvec" [H, m] and
/// "ksh.anchor" [H, m, d] (upstream's buffers, leading 1s allowed). Throws Error(usage) if only
/// some of them are there.
[[nodiscard]] bool has_hash_buffers(const NamedTensors* parameters);

/// The hash function of head `head` for its keys [M, d]. Learned: from those buffers. KLSH: A
/// random normal, the same for every input, anchors evenly spaced tokens, μ their mean kernel.
/// Throws Error(usage) for learned codes without buffers, for buffers of another shape, for more
/// supports than tokens, and for plain signs of more than 64 channels.
[[nodiscard]] HashFunction hash_function(const NamedTensors* parameters, std::int64_t heads,
                                         std::int64_t head, const ConstStridedMatrixMap& keys,
                                         const HashSettings& settings);

/// ‖x_i − anchor_a‖² for every token and anchor, [N, m].
[[nodiscard]] MatrixD squared_distances(const MatrixD& tokens, const MatrixD& anchors);

/// κ(anchor_a, x_i) − μ_a for every token and anchor, [N, m]: what a kernel's A is applied to.
[[nodiscard]] MatrixD centred_kernel(const HashFunction& function, const MatrixD& unit_tokens);
/// The same of squared distances.
[[nodiscard]] MatrixD centred_kernel_of(const HashFunction& function, const MatrixD& squares);

/// Rows scaled to length 1, in double; a row of zeros stays.
[[nodiscard]] MatrixD unit_rows(const ConstStridedMatrixMap& tokens);

/// Mean of ‖x − a‖² over all pairs; 1 where it is not above 0.
[[nodiscard]] double mean_squared_distance(const MatrixD& tokens, const MatrixD& anchors);

}  // namespace attnscope
