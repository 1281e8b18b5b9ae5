// Affinities of packed codes by XOR and popcount. The instruction set is chosen at run time.
#pragma once

#include <cstdint>
#include <span>

namespace attnscope {

/// out[j] = base − step · popcount(code ^ codes[j]); `out` has as many elements as `codes`. With
/// base = b and step = 2 this is the inner product of two codes of b bits (EcoFormer, Eq. 7).
void hamming_affinities(std::uint64_t code, std::span<const std::uint64_t> codes, float base,
                        float step, float* out);

}  // namespace attnscope
