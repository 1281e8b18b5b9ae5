// Output of `attnscope heads`: a table for people, JSON and CSV for programs.
#pragma once

#include <string>
#include <vector>

#include "analysis/heads/head_table.h"
#include "core/model/subject.h"

namespace attnscope {

struct HeadsReport {
  HeadOptions options;
  std::vector<Subject> subjects;  ///< each with a trace
  std::vector<HeadTable> tables;  ///< one table per subject
};

/// One row per head, without columns that are empty for all heads of the subject; then the sinks
/// and a legend of the columns.
[[nodiscard]] std::string heads_as_text(const HeadsReport& report);
/// A header and one row per head: the head, its sinks and every measure; unknown values are empty.
[[nodiscard]] std::string heads_as_csv(const HeadsReport& report);
/// Format as in docs/json-output.md; unknown values are null.
[[nodiscard]] std::string heads_as_json(const HeadsReport& report);

}  // namespace attnscope
