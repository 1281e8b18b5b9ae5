#include "analysis/frequencies/frequencies.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

[[noreturn]] void refuse_other_rows(const char* rows) {
  throw Error(ErrorKind::usage,
              std::string("the inputs have different ") + rows + ", which have no mean")
      .about("inputs")
      .remedy("take inputs of one size");
}

void accumulate_values(const std::vector<double>& from, std::vector<double>& sums) {
  std::ranges::transform(sums, from, sums.begin(), std::plus<>());
}

void accumulate_row(const FrequencyCurve& row, FrequencyCurve& sum) {
  const bool fits =
      row.layer == sum.layer && row.frequency == sum.frequency && row.cells == sum.cells;
  if (!fits) refuse_other_rows("grids");
  accumulate_values(row.value, sum.value);
}

void accumulate_row(const RotaryUse& row, RotaryUse& sum) {
  const bool fits = row.layer == sum.layer && row.head == sum.head &&
                    std::ranges::equal(row.pairs, sum.pairs, {}, &RotaryPair::wavelength,
                                       &RotaryPair::wavelength);
  if (!fits) refuse_other_rows("wavelengths");
  accumulate_values(row.use, sum.use);
  sum.slow_share += row.slow_share;
}

void average_row(FrequencyCurve& row, double inputs) {
  for (double& value : row.value) value /= inputs;
}

void average_row(RotaryUse& row, double inputs) {
  for (double& use : row.use) use /= inputs;
  row.slow_share /= inputs;
  row.strongest = static_cast<std::size_t>(std::ranges::max_element(row.use) - row.use.begin());
}

}  // namespace

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

void MeanFrequencyRows::add(FrequencyRows rows) {
  if (inputs_++ == 0) {
    sums_ = std::move(rows);
    return;
  }
  std::visit(
      [&](auto& sums) {
        const auto* const more = std::get_if<std::decay_t<decltype(sums)>>(&rows);
        if (more == nullptr || more->size() != sums.size()) refuse_other_rows("layers");
        for (std::size_t i = 0; i < sums.size(); ++i) accumulate_row((*more)[i], sums[i]);
      },
      sums_);
}

FrequencyRows MeanFrequencyRows::rows() const {
  FrequencyRows means = sums_;
  std::visit(
      [this](auto& rows) {
        for (auto& row : rows) average_row(row, static_cast<double>(inputs_));
      },
      means);
  return means;
}

}  // namespace attnscope
