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

/// Codes of one head's tokens, once as floats ±1 and once packed: bit r of word i is set for +1.
struct HashCodes {
  Matrix signs;                      ///< [N, b]; 0 occurs only with `zero_is_zero`
  std::vector<std::uint64_t> words;  ///< [N]
  std::vector<float> scales;         ///< [N], α: a code stands for α · signs; empty: all 1
  bool has_zeros = false;            ///< if true, `words` cannot represent the codes

  [[nodiscard]] std::int64_t tokens() const { return signs.rows(); }
  [[nodiscard]] std::int64_t bits() const { return signs.cols(); }
};

/// Method that makes codes of tokens x. Tokens are scaled to length 1 first.
enum class HashKind {
  learned,  ///< sign(A (κ(x) − μ)) with learned buffers
  klsh,     ///< like `learned`, with random A (Kulis and Grauman 2009)
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
/// exp(−‖x − a‖² / (2σ)), where σ is the mean of ‖x − a‖² over the given tokens and anchors.
struct HashFunction {
  HashKind kind = HashKind::klsh;
  MatrixD weights;        ///< A [b, m] (kernels) or hyperplane normals [b, d]; b ≤ 64
  MatrixD anchors;        ///< [m, d], kernels only
  Eigen::VectorXd means;  ///< μ [m], kernels only
  double bandwidth = 1;   ///< σ, kernels only

  /// The codes of `tokens` [N, d]. sign(0) is +1, or 0 as upstream if `zero_is_zero`.
  [[nodiscard]] HashCodes codes_of(const ConstStridedMatrixMap& tokens, bool zero_is_zero) const;
};

struct HashSettings {
  HashKind kind = HashKind::klsh;
  std::int64_t bits = 16;      ///< b, 1 to 64; ignored for `sign`, which has d bits
  std::int64_t supports = 25;  ///< m, the number of anchors of a kernel
  /// If true, nothing depends on the tokens: σ comes from the anchors, and KLSH's anchors are
  /// random.
  bool causal = false;
};

/// True if `parameters` (may be null) hold a learned hash: "ksh.A" [H, b, m], "ksh.mvec" [H, m] and
/// "ksh.anchor" [H, m, d] (upstream's buffers, leading 1s allowed). Throws Error(usage) if only
/// some of the three are present.
[[nodiscard]] bool has_hash_buffers(const NamedTensors* parameters);

/// The hash function of head `head` for its keys [M, d]. Learned codes take A, μ and the anchors
/// from the buffers of has_hash_buffers. KLSH takes a random normal A (the same for every input),
/// evenly spaced tokens as anchors, and their mean kernel as μ. Throws Error(usage) for learned
/// codes without buffers, buffers of the wrong shape, more supports than tokens, and plain signs of
/// more than 64 channels.
[[nodiscard]] HashFunction hash_function(const NamedTensors* parameters, std::int64_t heads,
                                         std::int64_t head, const ConstStridedMatrixMap& keys,
                                         const HashSettings& settings);

/// ‖x_i − anchor_a‖² [N, m] for every token and anchor.
[[nodiscard]] MatrixD squared_distances(const MatrixD& tokens, const MatrixD& anchors);

/// κ(anchor_a, x_i) − μ_a [N, m] for every token and anchor, the input of a kernel's A.
[[nodiscard]] MatrixD centred_kernel(const HashFunction& function, const MatrixD& unit_tokens);
/// Like centred_kernel, but takes the squared distances [N, m].
[[nodiscard]] MatrixD centred_kernel_of(const HashFunction& function, const MatrixD& squares);

/// Rows scaled to length 1, in double; rows of zeros are unchanged.
[[nodiscard]] MatrixD unit_rows(const ConstStridedMatrixMap& tokens);

/// Mean of ‖x − a‖² over all pairs; 1 if the mean is not positive.
[[nodiscard]] double mean_squared_distance(const MatrixD& tokens, const MatrixD& anchors);

}  // namespace attnscope
