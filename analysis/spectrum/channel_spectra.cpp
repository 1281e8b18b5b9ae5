#include "analysis/spectrum/channel_spectra.h"

#include <iterator>

#include "core/error.h"

namespace attnscope {

std::vector<MapSpectrum> spectra_of_channels(const Subject& subject, IdentityView view,
                                             const SpectrumOptions& options,
                                             const Progress& progress) {
  if (subject.trace && subject.trace->map_channels < 2) {
    return spectra_of(*subject.trace, view, options, progress);
  }
  if (!subject.model || !subject.input) {
    throw Error(ErrorKind::usage, "a trace holds the maps of one channel, or their mean")
        .about(subject.label)
        .remedy("give the model's weight file and an input");
  }
  std::vector<MapSpectrum> spectra;
  TraceRequest request;
  request.layers = options.layers;
  request.parameters = subject.parameters;
  std::int64_t channels = 1;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const auto part = [&](double from, double to) {
      const auto count = static_cast<double>(channels);
      return progress.part((static_cast<double>(channel) + from) / count,
                           (static_cast<double>(channel) + to) / count);
    };
    request.channel = channel;
    const Trace trace = subject.model->run(*subject.input, subject.mechanism, request,
                                           channel == 0 ? Progress() : part(0, 0.2));
    channels = trace.map_channels;
    std::vector<MapSpectrum> found = spectra_of(trace, view, options, part(0.2, 1));
    std::move(found.begin(), found.end(), std::back_inserter(spectra));
  }
  return spectra;
}

}  // namespace attnscope
