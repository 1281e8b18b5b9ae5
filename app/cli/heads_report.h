// What `attnscope heads` prints: a table for people, JSON and CSV for programs.
#pragma once

#include <string>
#include <vector>

#include "analysis/heads/head_table.h"
#include "core/model/subject.h"

namespace attnscope {

struct HeadsReport {
  HeadOptions options;
  std::vector<Subject> subjects;  ///< each with its trace
  std::vector<HeadTable> tables;  ///< of each
};

/// A row a head, without the columns that no head of the subject has; then its sinks. A legend says
/// what each column is.
[[nodiscard]] std::string heads_as_text(const HeadsReport& report);
/// A header and a row a head: what it is, its sinks, every measure; nothing where it is not known.
[[nodiscard]] std::string heads_as_csv(const HeadsReport& report);
/// docs/json-output.md; null where it is not known.
[[nodiscard]] std::string heads_as_json(const HeadsReport& report);

}  // namespace attnscope
