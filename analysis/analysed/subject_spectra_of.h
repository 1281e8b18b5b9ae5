// Spectra of analysed matrices without and with I, stored like those of maps.
#pragma once

#include "analysis/analysed/what.h"
#include "analysis/spectrum/spectrum.h"
#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// Spectra of the subject's trace, which is required. `with` is empty for matrices that take no
/// identity mapping. Throws like spectra_of (analysis/analysed/analysed.h).
[[nodiscard]] SubjectSpectra subject_spectra_of(const Subject& subject, const Analysed& analysed,
                                                const Progress& progress = {});

}  // namespace attnscope
