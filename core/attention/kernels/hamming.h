// Affinities of packed codes by XOR and popcount, by SIMD chosen at run time for the CPU.
#pragma once

#include <cstdint>
#include <span>

namespace attnscope {

/// out[j] = base − step · popcount(code ^ codes[j]); `out` has room for as many as `codes` has.
/// With base = b and step = 2 the inner product of two codes of b bits (EcoFormer, Eq. 7).
void hamming_affinities(std::uint64_t code, std::span<const std::uint64_t> codes, float base,
                        float step, float* out);

}  // namespace attnscope
