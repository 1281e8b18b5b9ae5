#include "analysis/frequencies/frequencies.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace attnscope {

void check_frequencies(const FrequencyRequest& request, const std::string& prefix) {
  const auto refuse = [&](const char* option) {
    throw Error(ErrorKind::usage, "the analysis does not depend on this option")
        .about(prefix + option)
        .found(std::string(name_of(frequency_analysis_names, request.of)));
  };
  using enum FrequencyAnalysis;
  if (request.of != filter_response && request.identity != IdentityView::as_is) refuse("identity");
  if (request.of == rotary_use && request.profile != FrequencyProfile::radius) refuse("profile");
  if (request.of == amplitude && !request.heads.empty()) refuse("heads");
}

void request_for(const FrequencyRequest& request, TraceRequest& recorded) {
  using enum FrequencyAnalysis;
  recorded.queries_keys_values = recorded.queries_keys_values || request.of == rotary_use;
  recorded.tokens = recorded.tokens || request.of == amplitude;
  if (request.of != amplitude) recorded.layers = request.layers;
}

FrequencyRows frequency_rows(const Subject& subject, const FrequencyRequest& request,
                             const Progress& progress) {
  if (request.of == FrequencyAnalysis::filter_response) {
    return filter_responses(*subject.trace, request.profile, request.identity, request.layers,
                            request.heads, progress);
  }
  if (request.of == FrequencyAnalysis::amplitude) {
    return token_amplitudes(*subject.trace, request.profile, request.layers);
  }
  std::vector<RotaryUse> uses = rotary_uses(subject, request.layers, progress);
  std::erase_if(uses, [&](const RotaryUse& use) {
    return !request.heads.empty() && std::ranges::count(request.heads, use.head) == 0;
  });
  if (uses.empty()) throw Error(ErrorKind::usage, "no layer has these heads").about("heads");
  return uses;
}

}  // namespace attnscope
