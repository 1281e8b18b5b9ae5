#include "analysis/weights/weight_analysis.h"

#include <string>

#include "core/error.h"

namespace attnscope {

WeightRows weight_rows(const Model& model, const WeightRequest& request, const Progress& progress) {
  if (request.minus && request.of != WeightAnalysis::matrices) {
    throw Error(ErrorKind::usage, "only whole matrices are subtracted from each other")
        .about("--minus")
        .expected("--of matrices")
        .found("--of " + std::string(name_of(weight_analysis_names, request.of)));
  }
  switch (request.of) {
    case WeightAnalysis::qk:
      return weight_spectra(model, WeightProduct::qk, request.threshold, progress);
    case WeightAnalysis::ov:
      return weight_spectra(model, WeightProduct::ov, request.threshold, progress);
    case WeightAnalysis::qk_layer:
      return layer_weight_spectra(model, WeightProduct::qk, request.threshold, progress);
    case WeightAnalysis::ov_layer:
      return layer_weight_spectra(model, WeightProduct::ov, request.threshold, progress);
    case WeightAnalysis::q_composition:
      return head_compositions(model, Composition::queries, progress);
    case WeightAnalysis::k_composition:
      return head_compositions(model, Composition::keys, progress);
    case WeightAnalysis::v_composition:
      return head_compositions(model, Composition::values, progress);
    case WeightAnalysis::matrices:
      break;
  }
  return request.minus ? difference_spectra(model, *request.minus, request.threshold, progress)
                       : matrix_spectra(model, request.threshold, progress);
}

}  // namespace attnscope
