// What the forms of DAFT share (DAFT, section 3): every channel of the values is a head of its own,
// weighted by exp(K + w) over the keys and gated by σ(Q).
#pragma once

#include <cstdint>
#include <string_view>

#include "core/attention/mechanism.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// The position biases w of one layer: those of heads of consecutive channels.
class DaftBias {
 public:
  virtual ~DaftBias() = default;
  [[nodiscard]] virtual std::int64_t heads() const = 0;
  /// w of head `head` for the queries from `first_query` on, [rows, M]; −inf where a query does not
  /// see a key. Called from several threads at once.
  virtual void fill(std::int64_t head, std::int64_t first_query, StridedMatrixMap block) const = 0;
};

/// Which columns of K and which head of w belong to a channel of V.
struct DaftChannels {
  std::int64_t width = 0;         ///< D: of queries and values
  std::int64_t key_channels = 0;  ///< D, or h: one for each head of w
  std::int64_t bias_heads = 1;    ///< h

  [[nodiscard]] std::int64_t bias_head(std::int64_t channel) const {
    return channel * bias_heads / width;
  }
  [[nodiscard]] std::int64_t key_channel(std::int64_t channel) const {
    return key_channels == width ? channel : bias_head(channel);
  }
};

/// Throws Error(usage) unless queries are as wide as values, keys as wide as values or
/// `bias_heads`, which divides the width, and the channel asked for is one of a head.
[[nodiscard]] DaftChannels daft_channels(const AttentionInput& input, std::int64_t bias_heads);

/// exp(K) of a channel, scaled by the largest there, cannot be told from 0 in float32 for a
/// denominator below this: such elements are computed by daft_element instead.
constexpr float kDaftLeast = 1e-26F;

/// Σ_j exp(K_jc + w_j) V_jc / Σ_j exp(K_jc + w_j) of one channel, from `bias` = one row of w: in
/// double, less the largest exponent, so that it is right whatever cancels in K + w.
[[nodiscard]] float daft_element(const AttentionInput& input, const DaftChannels& channels,
                                 std::int64_t channel, const float* bias);

/// σ(x), for any x.
[[nodiscard]] float daft_gate(float x);

/// W of channel `input.channel` of every head, or the mean over each head's channels: [H, N, M].
/// Row i of channel c is σ(Q_ic) softmax_j(K_jc + w_ij) (DAFT, Eq. 4).
[[nodiscard]] Tensor daft_map(const AttentionInput& input, const DaftChannels& channels,
                              const DaftBias& bias);

/// "key_logits" [key channels, M]: K of each channel, whose exp is the channel's feature map.
[[nodiscard]] Tensor daft_key_logits(const AttentionInput& input);

[[nodiscard]] MapStructure daft_structure(const AttentionShape& shape);

/// The layer's own tensor of that name; null if there is none.
[[nodiscard]] const Tensor* daft_parameter(const AttentionInput& input, std::string_view name);

}  // namespace attnscope
