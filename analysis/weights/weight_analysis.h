// The analyses of weights without input by name, as the command line and Python select them.
#pragma once

#include <variant>
#include <vector>

#include "analysis/spectrum/rank.h"
#include "analysis/weights/head_composition.h"
#include "analysis/weights/weight_matrices.h"
#include "analysis/weights/weight_spectra.h"
#include "core/model/model.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"

namespace attnscope {

enum class WeightAnalysis {
  qk,             ///< W_QK of each head
  ov,             ///< W_OV of each head
  qk_layer,       ///< Σ_h W_QK of each layer
  ov_layer,       ///< Σ_h W_OV of each layer
  q_composition,  ///< the part of a head's output that a later head's queries read
  k_composition,  ///< the same by its keys
  v_composition,  ///< the same by its values
  matrices        ///< the weight matrices of the layers, or their differences from another model's
};
inline constexpr EnumName<WeightAnalysis> weight_analysis_names[] = {
    {WeightAnalysis::qk, "qk"},
    {WeightAnalysis::ov, "ov"},
    {WeightAnalysis::qk_layer, "qk-layer"},
    {WeightAnalysis::ov_layer, "ov-layer"},
    {WeightAnalysis::q_composition, "q-composition"},
    {WeightAnalysis::k_composition, "k-composition"},
    {WeightAnalysis::v_composition, "v-composition"},
    {WeightAnalysis::matrices, "matrices"}};

/// True for one of the three compositions, whose rows are pairs of heads.
[[nodiscard]] constexpr bool is_composition(WeightAnalysis of) {
  return of == WeightAnalysis::q_composition || of == WeightAnalysis::k_composition ||
         of == WeightAnalysis::v_composition;
}

struct WeightRequest {
  WeightAnalysis of = WeightAnalysis::ov;
  RankThreshold threshold;
  /// The model whose matrices are subtracted; null for none. Must outlive the request.
  const Model* minus = nullptr;
};

using WeightRows = std::variant<std::vector<WeightSpectrum>, std::vector<HeadComposition>,
                                std::vector<MatrixSpectrum>>;

/// The rows of the analysis. Throws Error(usage) if it is not defined for the model, and for
/// `minus` with anything but matrices; Cancelled.
[[nodiscard]] WeightRows weight_rows(const Model& model, const WeightRequest& request,
                                     const Progress& progress = {});

}  // namespace attnscope
