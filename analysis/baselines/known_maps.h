// Maps whose rank can be thought out before it is measured: the yardsticks of the rank lesson.
#pragma once

#include <cstdint>

#include "core/parameters/enum_names.h"
#include "core/tensor/tensor.h"

namespace attnscope {

enum class KnownMap {
  identity,     ///< every query attends to itself: I
  uniform,      ///< equal weights 1/N: rank 1
  sink,         ///< every query attends to token 0 alone: rank 1
  permutation,  ///< every query attends to another one key, drawn once: N equal singular values
  causal,       ///< query i has equal weights on keys 0 … i
  random        ///< weights exp(z) with z ~ N(0, 1), each row divided by its sum
};
inline constexpr EnumName<KnownMap> known_map_names[] = {
    {KnownMap::identity, "identity"}, {KnownMap::uniform, "uniform"},
    {KnownMap::sink, "sink"},         {KnownMap::permutation, "permutation"},
    {KnownMap::causal, "causal"},     {KnownMap::random, "random"}};

/// The map [N, N] of `tokens` ≥ 1 tokens; its rows sum to 1. The drawn ones are equal on every
/// machine.
[[nodiscard]] MatrixD known_map(KnownMap map, std::int64_t tokens);

}  // namespace attnscope
