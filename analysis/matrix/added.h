// Residual stream and convolution terms that can be included in the analysed matrix.
#pragma once

#include <string>

#include "analysis/matrix/matrix_kind.h"
#include "analysis/spectrum/map_batch.h"
#include "core/model/subject.h"

namespace attnscope {

/// x + γ ⊙ A v W_O [N, D] of one head, or, if place.head is negative, of all heads together with
/// the bias of W_O; A is seen as `view` says. Throws Error(usage) if the subject has no model, a
/// required quantity was not recorded, or the layer has no residual stream, and errors of
/// LayerInside.
[[nodiscard]] MatrixD with_residual(const Subject& subject, const MapIndex& place,
                                    IdentityView view);

/// The map W without its Toeplitz part T, or T by itself. Throws Error(usage) for mechanisms
/// without a convolution, for quantities that were not recorded, and for the mean over channels
/// that have different windows.
[[nodiscard]] MatrixD split_convolution(const Trace& trace, const MapIndex& place, Added added);

}  // namespace attnscope
