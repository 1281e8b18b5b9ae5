// Spectra of something else than maps, as those of maps are kept: without and with I.
#pragma once

#include "analysis/analysed/what.h"
#include "analysis/spectrum/spectrum.h"
#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// `with` where an I can be part of it alone. Of a run: the subject has a trace. Throws as
/// spectra_of (analysis/analysed/analysed.h).
[[nodiscard]] SubjectSpectra subject_spectra_of(const Subject& subject, const Analysed& analysed,
                                                const Progress& progress = {});

}  // namespace attnscope
