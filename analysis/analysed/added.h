// What else a layer adds to A v, besides the I of an identity mapping: A with it, or without.
#pragma once

#include <string>

#include "analysis/analysed/what.h"
#include "analysis/spectrum/map_batch.h"
#include "core/model/subject.h"

namespace attnscope {

/// x + γ ⊙ A v W_O [N, D] of one head, of all heads together (and W_O's bias) if place.head is
/// negative; A as `view` sees it. Throws Error(usage) without the model, for what was not recorded,
/// for layers without residual, and as LayerInside.
[[nodiscard]] MatrixD with_residual(const Subject& subject, const RecordedMap& place,
                                    IdentityView view);

/// W less T, or T alone. Throws Error(usage) for mechanisms without a convolution, for quantities
/// that were not recorded, and for the mean over channels that have windows of their own.
[[nodiscard]] MatrixD split_convolution(const Trace& trace, const RecordedMap& place, Added added);

}  // namespace attnscope
