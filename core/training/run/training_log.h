// What a run writes down: numbers by step, in tables by name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attnscope {

/// Rows of numbers, one after the other; "steps/loss", "probes/rank".
struct LogTable {
  std::int64_t width = 1;  ///< at least 1
  std::vector<double> numbers;

  [[nodiscard]] std::int64_t rows() const { return std::ssize(numbers) / width; }
  bool operator==(const LogTable&) const = default;
};

class TrainingLog {
 public:
  /// Adds a row to the table of that name. All rows of a table are as wide; Error(usage) if not.
  void add(const std::string& table, std::span<const double> row);
  void add(const std::string& table, double number) { add(table, {&number, 1}); }

  [[nodiscard]] const std::map<std::string, LogTable>& tables() const { return tables_; }
  /// The table of that name; null if there is none or it has no rows.
  [[nodiscard]] const LogTable* find(const std::string& name) const;
  /// The last number of that table; none where find() is null.
  [[nodiscard]] std::optional<double> last(const std::string& name) const;
  void set(std::map<std::string, LogTable> tables) { tables_ = std::move(tables); }

  /// HDF5: of each table a data set of its name, [rows], or [rows, width] where that is above 1;
  /// the root's attribute `recipe` is that text. The same tables are the same bytes.
  [[nodiscard]] std::string as_hdf5(const std::string& recipe) const;

 private:
  std::map<std::string, LogTable> tables_;
};

}  // namespace attnscope
