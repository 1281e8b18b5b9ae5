#include "core/training/run/training_log.h"

#include "core/checkpoint/format_version.h"
#include "core/checkpoint/hdf5/hdf5_writer.h"
#include "core/error.h"

namespace attnscope {

void TrainingLog::add(const std::string& table, std::span<const double> row) {
  LogTable& to = tables_.try_emplace(table, LogTable{std::ssize(row), {}}).first->second;
  if (to.width != std::ssize(row)) {
    throw Error(ErrorKind::usage, "rows of a log table must have the same width")
        .about(table)
        .expected(std::to_string(to.width))
        .found(std::to_string(row.size()));
  }
  to.numbers.insert(to.numbers.end(), row.begin(), row.end());
}

const LogTable* TrainingLog::find(const std::string& name) const {
  const auto found = tables_.find(name);
  return found == tables_.end() || found->second.numbers.empty() ? nullptr : &found->second;
}

std::optional<double> TrainingLog::last(const std::string& name) const {
  const LogTable* const table = find(name);
  return table ? std::optional(table->numbers.back()) : std::nullopt;
}

std::string TrainingLog::as_hdf5(const std::string& recipe) const {
  Hdf5Writer file;
  file.attribute("/", "format", "attnscope-training-log");
  file.attribute("/", "format_version", kFormatVersion);
  file.attribute("/", "recipe", recipe);
  for (const auto& [name, table] : tables_) {
    Shape shape{table.rows()};
    if (table.width > 1) shape.push_back(table.width);
    file.data("/" + name, shape, std::span<const double>(table.numbers));
  }
  return file.bytes();
}

}  // namespace attnscope
