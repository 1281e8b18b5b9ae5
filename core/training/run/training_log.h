// The log of a run: named tables of numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attnscope {

/// Rows of numbers in row-major order; tables have names such as "steps/loss" or "probes/rank".
struct LogTable {
  std::int64_t width = 1;  ///< row length, at least 1
  std::vector<double> numbers;

  [[nodiscard]] std::int64_t rows() const { return std::ssize(numbers) / width; }
  bool operator==(const LogTable&) const = default;
};

class TrainingLog {
 public:
  /// Adds a row to the table of that name. Throws Error(usage) unless all rows have one length.
  void add(const std::string& table, std::span<const double> row);
  void add(const std::string& table, double number) { add(table, {&number, 1}); }

  [[nodiscard]] const std::map<std::string, LogTable>& tables() const { return tables_; }
  /// The table of that name; null if it does not exist or has no rows.
  [[nodiscard]] const LogTable* find(const std::string& name) const;
  /// The last number of that table; empty if find() is null.
  [[nodiscard]] std::optional<double> last(const std::string& name) const;
  void set(std::map<std::string, LogTable> tables) { tables_ = std::move(tables); }

  /// An HDF5 file with a data set per table, of its name and shape [rows], or [rows, width] if the
  /// width is above 1. The root's attribute `recipe` is the given text. Equal tables give equal
  /// bytes.
  [[nodiscard]] std::string as_hdf5(const std::string& recipe) const;

 private:
  std::map<std::string, LogTable> tables_;
};

}  // namespace attnscope
