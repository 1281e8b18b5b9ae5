// Spectra where every channel has a map of its own (DAFT): all of them, run one after the other.
#pragma once

#include <vector>

#include "analysis/spectrum/spectrum.h"
#include "core/model/subject.h"

namespace attnscope {

/// The spectra of every channel's maps, in order of channel, layer and head, each with its
/// `channel`; as spectra_of where heads have one map. The model runs once for each channel: only
/// one channel's maps are in memory. Throws Error(usage) for a subject without model or input (a
/// trace holds the maps of one channel, or their mean), else as Model::run and spectra_of.
[[nodiscard]] std::vector<MapSpectrum> spectra_of_channels(const Subject& subject,
                                                           IdentityView view,
                                                           const SpectrumOptions& options = {},
                                                           const Progress& progress = {});

}  // namespace attnscope
