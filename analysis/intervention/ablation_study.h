// Ablation of one head, layer or everything after another, over a data set or a text.
#pragma once

#include "analysis/intervention/ablation.h"
#include "analysis/intervention/study.h"

namespace attnscope {

enum class AblatedUnit {
  head,   ///< each head of each layer by itself
  layer,  ///< all heads of each layer
  all     ///< everything at once
};
inline constexpr EnumName<AblatedUnit> ablated_unit_names[] = {
    {AblatedUnit::head, "head"}, {AblatedUnit::layer, "layer"}, {AblatedUnit::all, "all"}};

/// The series of one subject: a column for each unit among the ablation's layers and heads, named
/// "layer 0 head 2", "layer 0", "all". Throws Error(usage) for layers or heads that it has not.
[[nodiscard]] SeriesRequest ablation_series(const Subject& subject, const Ablation& ablation,
                                            AblatedUnit unit);

}  // namespace attnscope
