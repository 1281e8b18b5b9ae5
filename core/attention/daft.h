// Parts common to all DAFT variants (DAFT, section 3): each value channel is a head of its own,
// weighted by exp(K + w) over the keys and gated by σ(Q).
#pragma once

#include <cstdint>
#include <string_view>

#include "core/attention/mechanism.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Position biases w of one layer. A bias head serves a group of consecutive channels.
class DaftBias {
 public:
  virtual ~DaftBias() = default;
  [[nodiscard]] virtual std::int64_t heads() const = 0;
  /// w of head `head` for the queries from `first_query` on, [rows, M]; −inf marks keys that a
  /// query does not see. Called from several threads at once.
  virtual void fill(std::int64_t head, std::int64_t first_query, StridedMatrixMap block) const = 0;
};

/// The logistic function σ(x) for any x.
[[nodiscard]] float daft_gate(float x);

/// Columns of K and heads of w that belong to a channel of V.
struct DaftChannels {
  std::int64_t width = 0;         ///< D, width of queries and values
  std::int64_t key_channels = 0;  ///< D, or h with one key channel per head of w
  std::int64_t bias_heads = 1;    ///< h
  bool gated = true;              ///< false: without σ(Q), so that Q has no effect (DAFT, Table 8)

  [[nodiscard]] std::int64_t bias_head(std::int64_t channel) const {
    return channel * bias_heads / width;
  }
  [[nodiscard]] std::int64_t key_channel(std::int64_t channel) const {
    return key_channels == width ? channel : bias_head(channel);
  }
  /// The factor of a channel's output and map for its query x.
  [[nodiscard]] float gate(float x) const { return gated ? daft_gate(x) : 1.0F; }
};

/// Throws Error(usage) unless queries are as wide as values, keys have that width or `bias_heads`
/// columns, `bias_heads` divides the width, and the requested channel exists in a head.
[[nodiscard]] DaftChannels daft_channels(const AttentionInput& input, std::int64_t bias_heads);

/// Least denominator computed in float32. Below it, exp(K) of a channel, scaled by its largest
/// value, is indistinguishable from 0, and daft_element computes the element instead.
constexpr float kDaftLeast = 1e-26F;

/// Σ_j exp(K_jc + w_j) V_jc / Σ_j exp(K_jc + w_j) of one channel; `bias` is one row of w. Computed
/// in double relative to the largest exponent, so cancellation in K + w does no harm.
[[nodiscard]] float daft_element(const AttentionInput& input, const DaftChannels& channels,
                                 std::int64_t channel, const float* bias);

/// W [H, N, M] of channel `input.channel` of every head, or the mean over each head's channels. Row
/// i of channel c is σ(Q_ic) softmax_j(K_jc + w_ij) (DAFT, Eq. 4), without σ(Q_ic) if not gated.
[[nodiscard]] Tensor daft_map(const AttentionInput& input, const DaftChannels& channels,
                              const DaftBias& bias);

/// "key_logits" [key channels, M]: K of each channel, whose exp is the channel's feature map.
[[nodiscard]] Tensor daft_key_logits(const AttentionInput& input);

[[nodiscard]] MapStructure daft_structure(const AttentionShape& shape);

/// The layer's tensor `name`; null if missing.
[[nodiscard]] const Tensor* daft_parameter(const AttentionInput& input, std::string_view name);

}  // namespace attnscope
