// The tensors of pyramids by name and shape, as their authors' code saves them.
#pragma once

#include "core/architecture/model_spec.h"
#include "tests/support/hashed_weights.h"

namespace attnscope {

enum class PyramidKind { reduced, linear, hashed };

/// The tensors of PVTv2 with the widths, depths, heads, MLPs and reductions of `stages`, or of
/// EcoFormer if hashed (16 bits, 25 supports, plain last stage).
[[nodiscard]] NamedShapes pvt_v2_shapes(const std::vector<PyramidStage>& stages,
                                        std::int64_t classes,
                                        PyramidKind kind = PyramidKind::reduced);
/// The tensors of PVTv2 under timm's names.
[[nodiscard]] NamedShapes timm_pvt_v2_shapes(const std::vector<PyramidStage>& stages,
                                             std::int64_t classes);
[[nodiscard]] NamedShapes twins_shapes(const std::vector<PyramidStage>& stages,
                                       std::int64_t classes);

/// PVTv2-B0's stages.
[[nodiscard]] std::vector<PyramidStage> pvt_v2_b0_stages();

}  // namespace attnscope
