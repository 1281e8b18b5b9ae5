// Spectra of all channels of mechanisms with one map per channel (DAFT), in sequence.
#pragma once

#include <vector>

#include "analysis/spectrum/spectrum.h"
#include "core/model/subject.h"

namespace attnscope {

/// Spectra of every channel's maps, in order of channel, layer and head, each with its `channel`;
/// like spectra_of for mechanisms with one map per head. The model runs once per channel, so that
/// only one channel's maps are in memory. Throws Error(usage) for a subject without model or input
/// (a trace holds the maps of one channel, or their mean), and like Model::run and spectra_of.
[[nodiscard]] std::vector<MapSpectrum> spectra_of_channels(const Subject& subject,
                                                           IdentityView view,
                                                           const SpectrumOptions& options = {},
                                                           const Progress& progress = {});

}  // namespace attnscope
