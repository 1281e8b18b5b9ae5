// Energy per operation: built-in tables and the user's own.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/attention/costs/cost.h"

namespace attnscope {

/// Energy per operation in pJ; finite, at least 0.
struct EnergyConstants {
  std::string name;   ///< "fp32"
  std::string title;  ///< "32-bit floating point, 45 nm"
  std::string source;
  double addition_pj = 0;
  double multiplication_pj = 0;
  double shift_pj = 0;
  double division_pj = 0;
  double exponential_pj = 0;
  double byte_pj = 0;                ///< reading or writing a byte
  std::int64_t bytes_per_value = 4;  ///< 1, 2, 4 or 8; scales the memory traffic
};

/// Tables for 45 nm: fp32, fp16, int32, int8. Additions and multiplications as published
/// (EcoFormer, Table 1; Horowitz 2014); `source` describes the others.
[[nodiscard]] std::span<const EnergyConstants> energy_tables();

/// Finds a built-in table by name, or reads the user's own from a JSON file:
///   {"name": "my chip", "addition_pj": 0.9, "multiplication_pj": 3.7}
/// Optional keys are title, source, shift_pj, division_pj, exponential_pj (default 0), byte_pj,
/// bytes_per_value. Throws Error(usage) listing the known tables, Error(damaged) naming a key that
/// is missing, unknown, negative or not a number.
[[nodiscard]] EnergyConstants find_energy_constants(const std::string& name_or_file);

/// Parses the JSON text of a table; `file` is named in errors.
[[nodiscard]] EnergyConstants energy_constants_from_json(std::string_view text,
                                                         const std::filesystem::path& file);

/// Σ count × constant in pJ, without memory traffic.
[[nodiscard]] double operations_energy_pj(const OperationCount& count,
                                          const EnergyConstants& constants);

/// Energy of the memory traffic only, in pJ.
[[nodiscard]] double traffic_energy_pj(const OperationCount& count,
                                       const EnergyConstants& constants);

}  // namespace attnscope
