// Singular values and ranks of every map of a run.
#include <cstdio>

#include "analysis/spectrum/spectrum.h"
#include "core/model/model.h"

int main(int, char** argv) {
  using namespace attnscope;
  const auto model = load_model(argv[1]);
  const Trace trace = model->run(open_input(argv[2]), model->spec().mechanism, {}, {});
  for (const MapSpectrum& map : spectra_of(trace, IdentityView::as_is, {.threshold = 0.9})) {
    // NaN or all zeros is a state, not an exception.
    if (map.state != SpectrumState::ready) continue;
    std::printf("layer %lld, head %lld: equivalent rank %lld of %zu, effective rank %.1f\n",
                static_cast<long long>(map.layer), static_cast<long long>(map.head),
                static_cast<long long>(map.equivalent_rank), map.singular_values.size(),
                map.effective_rank);
  }
}
