// Gates that a layer computes for each token: decays of what came before, and strengths with which
// a token is written.
#pragma once

#include <cstdint>
#include <optional>

#include "core/attention/mechanism.h"
#include "core/parameters/parameters.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Throws Error(usage) unless the shapes fit a mechanism that reads its tokens in order, which
/// needs as many keys as queries in every layer.
void check_sequence(const AttentionInput& input, std::string_view mechanism);

/// A token has one gate, or one for each channel of its key.
enum class GateOf { token, channel };

/// The layer's tensor `name` for the tokens of a head, [N, 1] or [N, d]; absent if the layer has
/// none. It is stored as [H, N] or [H, N, d]; without H it is shared by the heads. A tensor of more
/// tokens is that of a longer text. Throws Error(usage) for another shape.
[[nodiscard]] std::optional<MatrixD> token_gates(const AttentionInput& input, const char* name,
                                                 std::int64_t head, GateOf of);

/// The logarithms of a head's decays, [N, 1] or [N, d]: the layer's tensor "log_decay", or −rate
/// for every token, [N, 1], if it has none. Throws Error(usage) for positive logarithms.
[[nodiscard]] MatrixD log_decays(const AttentionInput& input, std::int64_t head, GateOf of,
                                 double rate);

/// The description of the parameter "rate", which log_decays takes.
[[nodiscard]] ParameterDescription rate_parameter();

/// Shapes of gates: one number per head and token, and one per channel of the keys, too.
[[nodiscard]] std::optional<Shape> gate_per_token(const AttentionShape& shape, const TypedValues&);
[[nodiscard]] std::optional<Shape> gate_per_channel(const AttentionShape& shape,
                                                    const TypedValues&);

}  // namespace attnscope
