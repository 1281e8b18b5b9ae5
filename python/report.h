// A table that a command of the command line prints, with what it refers to.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "analysis/report/report.h"
#include "python/bindings.h"

namespace attnscope::python {

struct PythonReport {
  Report table;
  std::shared_ptr<const void> owner;  ///< the results that the columns read; null if they hold them
  std::string heading = {};           ///< lines above the table in text: what was measured
  std::string notes = {};             ///< lines below it: the legend
  std::map<std::string, std::shared_ptr<PythonReport>> parts = {};  ///< further tables by name
};

using SharedReport = std::shared_ptr<PythonReport>;

[[nodiscard]] inline SharedReport made_of(Report table, std::shared_ptr<const void> owner,
                                          std::string heading = {}, std::string notes = {}) {
  auto made = std::make_shared<PythonReport>();
  made->table = std::move(table);
  made->owner = std::move(owner);
  made->heading = std::move(heading);
  made->notes = std::move(notes);
  return made;
}

}  // namespace attnscope::python
