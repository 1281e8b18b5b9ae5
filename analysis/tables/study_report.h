// The tables of truncation and ablation studies, and of one answer before and after a change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/intervention/ablation.h"
#include "analysis/intervention/study.h"
#include "analysis/report/report.h"

namespace attnscope {

/// One row per change of the maps, first the unchanged model if `with_whole`: its name, rank, layer
/// and head, and every number of Outcome. Of one series, or of all with the columns "series" and
/// "mechanism".
[[nodiscard]] Report changes_report(const StudyResult& result, std::optional<std::size_t> series,
                                    bool with_whole = true);

/// One row per series: label, mechanism, mean ranks, and changes_report in a cell. `result` must
/// outlive it.
[[nodiscard]] Report series_report(const StudyResult& result);

/// Lines above the changes of a series: model, mechanism, questions and what is changed.
[[nodiscard]] std::string series_in_words(const StudyResult& result, std::size_t series);
/// A line below the changes that explains their errors.
[[nodiscard]] std::string study_errors_in_words(const StudyResult& result);

/// Answers on one input before and after a change: index, label, logits and probabilities.
[[nodiscard]] Report answers_report(const std::vector<LogitChange>& changes);

}  // namespace attnscope
