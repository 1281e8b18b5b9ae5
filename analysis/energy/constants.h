// What one operation costs: energy tables, ours and the user's.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/attention/costs/cost.h"

namespace attnscope {

/// Energy per operation, in pJ. Finite, zero or more.
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
  std::int64_t bytes_per_value = 4;  ///< 1, 2, 4 or 8: traffic scales with it
};

/// 45 nm fp32, fp16, int32, int8. Additions and multiplications as published (EcoFormer, Table 1;
/// Horowitz 2014); the rest is said in `source`.
[[nodiscard]] std::span<const EnergyConstants> energy_tables();

/// A table by name, or the user's own by the path of a JSON file:
///   {"name": "my chip", "addition_pj": 0.9, "multiplication_pj": 3.7}
/// and optionally title, source, shift_pj, division_pj, exponential_pj (0 if absent), byte_pj,
/// bytes_per_value. Throws Error(usage) listing the known tables, Error(damaged) naming the key
/// that is missing, unknown, negative or not a number.
[[nodiscard]] EnergyConstants find_energy_constants(const std::string& name_or_file);

/// The same from text; `file` is what errors name.
[[nodiscard]] EnergyConstants energy_constants_from_json(std::string_view text,
                                                         const std::filesystem::path& file);

/// Σ count × constant, without memory traffic: pJ.
[[nodiscard]] double operations_energy_pj(const OperationCount& count,
                                          const EnergyConstants& constants);

/// Memory traffic alone: pJ.
[[nodiscard]] double traffic_energy_pj(const OperationCount& count,
                                       const EnergyConstants& constants);

}  // namespace attnscope
