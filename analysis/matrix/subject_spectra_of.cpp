#include "analysis/matrix/subject_spectra_of.h"

#include <utility>

#include "analysis/matrix/analysed_matrix.h"

namespace attnscope {

SubjectSpectra subject_spectra_of(const Subject& subject, const MatrixChoice& analysed,
                                  const Progress& progress) {
  SubjectSpectra spectra;
  if (!takes_identity(analysed.of)) {
    spectra.without = spectra_of(subject, analysed, IdentityView::as_is, {}, progress);
    return spectra;
  }
  auto [without, with] = spectra_without_and_with_identity(subject, analysed, {}, progress);
  spectra = {std::move(without), std::move(with)};
  std::erase_if(spectra.with, lacks_identity);
  return spectra;
}

}  // namespace attnscope
