// The analyses by frequency by name, as the command line and Python select them.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "analysis/frequencies/grid_spectrum.h"
#include "analysis/frequencies/rotary_use.h"
#include "core/model/subject.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

enum class FrequencyAnalysis {
  rotary_use,       ///< use of each rotated pair of channels by wavelength
  filter_response,  ///< response of the maps to spatial frequencies
  amplitude         ///< log-amplitude of the tokens by spatial frequency
};
inline constexpr EnumName<FrequencyAnalysis> frequency_analysis_names[] = {
    {FrequencyAnalysis::rotary_use, "rotary-use"},
    {FrequencyAnalysis::filter_response, "filter-response"},
    {FrequencyAnalysis::amplitude, "amplitude"}};

struct FrequencyRequest {
  FrequencyAnalysis of = FrequencyAnalysis::filter_response;
  FrequencyProfile profile = FrequencyProfile::radius;  ///< ignored for rotary_use
  IdentityView identity = IdentityView::as_is;          ///< for filter_response alone
  std::vector<std::int64_t> layers = {};                ///< all if empty
  std::vector<std::int64_t> heads = {};  ///< all if empty; for filter_response those of the mean
};

using FrequencyRows = std::variant<std::vector<FrequencyCurve>, std::vector<RotaryUse>>;

/// Throws Error(usage) for an option without an effect on the analysis, with its name after
/// `prefix`: "--".
void check_frequencies(const FrequencyRequest& request, const std::string& prefix);

/// Adds to `recorded` the quantities that the analysis needs from a run.
void request_for(const FrequencyRequest& request, TraceRequest& recorded);

/// The rows of the analysis of the subject's trace. Throws Error(usage), Cancelled.
[[nodiscard]] FrequencyRows frequency_rows(const Subject& subject, const FrequencyRequest& request,
                                           const Progress& progress = {});

/// Means of the rows of several inputs: of the values at each frequency, or of the uses of each
/// pair and of the shares in slow pairs.
class MeanFrequencyRows {
 public:
  /// Throws Error(usage) unless the rows have the layers, heads, and frequencies or pairs of those
  /// before.
  void add(FrequencyRows rows);
  /// Empty curves if there was no input.
  [[nodiscard]] FrequencyRows rows() const;

 private:
  FrequencyRows sums_;
  std::int64_t inputs_ = 0;
};

}  // namespace attnscope
