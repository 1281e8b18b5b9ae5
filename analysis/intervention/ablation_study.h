// Study that ablates each head, each layer or everything in turn, over a data set or a text.
#pragma once

#include "analysis/intervention/ablation.h"
#include "analysis/intervention/study.h"

namespace attnscope {

enum class AblatedUnit {
  head,   ///< each head of each layer separately
  layer,  ///< all heads of each layer together
  all     ///< all layers and heads at once
};
inline constexpr EnumName<AblatedUnit> ablated_unit_names[] = {
    {AblatedUnit::head, "head"}, {AblatedUnit::layer, "layer"}, {AblatedUnit::all, "all"}};

/// Series of one subject with a column for each unit among the ablation's layers and heads, named
/// "layer 0 head 2", "layer 0" or "all". Throws Error(usage) for layers or heads that do not exist.
[[nodiscard]] SeriesRequest ablation_series(const Subject& subject, const Ablation& ablation,
                                            AblatedUnit unit);

}  // namespace attnscope
