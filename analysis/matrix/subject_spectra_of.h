// Spectra of analysed matrices without and with I, stored like those of maps. Apart from
// analysed_matrix.h, whose TBB headers cannot be compiled with the macro emit of Qt.
#pragma once

#include "analysis/matrix/matrix_kind.h"
#include "analysis/spectrum/spectrum.h"
#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// Spectra of the subject's trace, which is required. `with` is empty for matrices that take no
/// identity mapping. Throws like spectra_of (analysis/matrix/analysed_matrix.h).
[[nodiscard]] SubjectSpectra subject_spectra_of(const Subject& subject,
                                                const MatrixChoice& analysed,
                                                const Progress& progress = {});

}  // namespace attnscope
