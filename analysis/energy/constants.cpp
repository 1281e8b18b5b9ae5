#include "analysis/energy/constants.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file/read_file.h"
#include "core/text/json.h"

namespace attnscope {

namespace {

// Additions and multiplications: Horowitz, "Computing's energy problem", ISSCC 2014, quoted by
// EcoFormer's Table 1. Shifts: the same process, as given for ShiftAddNet. No source publishes the
// other operations: a division counts as one multiplication, as in EcoFormer, and an exponential as
// six multiply-additions, a polynomial of degree six. A byte is that of a 32 KB SRAM: 5 pJ for 32
// bits.
constexpr std::string_view kSource =
    "Horowitz 2014, 45 nm; division as one multiplication, exponential as six multiply-additions, "
    "a byte from 32 KB SRAM";

EnergyConstants table(std::string name, std::string title, double addition, double multiplication,
                      double shift, std::int64_t bytes) {
  return {.name = std::move(name),
          .title = std::move(title),
          .source = std::string(kSource),
          .addition_pj = addition,
          .multiplication_pj = multiplication,
          .shift_pj = shift,
          .division_pj = multiplication,
          .exponential_pj = 6 * (addition + multiplication),
          .byte_pj = 1.25,
          .bytes_per_value = bytes};
}

const EnergyConstants tables[] = {
    table("fp32", "32-bit floating point, 45 nm", 0.9, 3.7, 0.13, 4),
    table("fp16", "16-bit floating point, 45 nm", 0.4, 1.1, 0.057, 2),
    table("int32", "32-bit integers, 45 nm", 0.1, 3.1, 0.13, 4),
    table("int8", "8-bit integers, 45 nm", 0.03, 0.2, 0.024, 1),
};

}  // namespace

std::span<const EnergyConstants> energy_tables() { return tables; }

EnergyConstants find_energy_constants(const std::string& name_or_file) {
  std::string known;
  for (const EnergyConstants& constants : tables) {
    if (constants.name == name_or_file) return constants;
    known += constants.name + ", ";
  }
  if (name_or_file.find_first_of("./\\") == std::string::npos) {
    throw unknown_name("energy table", name_or_file, known + "or a JSON file of your own");
  }
  constexpr std::size_t most = 1 << 20;  // bytes
  return energy_constants_from_json(read_file(name_or_file, most), name_or_file);
}

EnergyConstants energy_constants_from_json(std::string_view text,
                                           const std::filesystem::path& file) {
  const auto json = parse_json_or_null(text);
  if (!json.is_object()) {
    throw Error(ErrorKind::damaged, "the energy table is not a JSON object")
        .in_file(file)
        .remedy(R"(write {"name": "my chip", "addition_pj": 0.9, "multiplication_pj": 3.7})");
  }
  EnergyConstants constants;
  const std::pair<const char*, double*> energies[] = {
      {"addition_pj", &constants.addition_pj},
      {"multiplication_pj", &constants.multiplication_pj},
      {"shift_pj", &constants.shift_pj},
      {"division_pj", &constants.division_pj},
      {"exponential_pj", &constants.exponential_pj},
      {"byte_pj", &constants.byte_pj}};
  const std::pair<const char*, std::string*> texts[] = {
      {"name", &constants.name}, {"title", &constants.title}, {"source", &constants.source}};
  const auto refuse = [&](const std::string& key, const char* expected, const std::string& found) {
    return Error(ErrorKind::damaged, "a value of the energy table is missing or not valid")
        .in_file(file)
        .about(key)
        .expected(expected)
        .found(found);
  };
  for (const auto& [key, value] : json.items()) {
    bool known = key == "bytes_per_value";
    for (const auto& [name, field] : energies) {
      if (key != name) continue;
      known = true;
      const double energy = value.is_number() ? value.get<double>() : -1;
      if (!std::isfinite(energy) || energy < 0) {
        throw refuse(key, "an energy in pJ, zero or more", value.dump());
      }
      *field = energy;
    }
    for (const auto& [name, field] : texts) {
      if (key != name) continue;
      known = true;
      if (!value.is_string()) throw refuse(key, "a string", value.dump());
      *field = value.get<std::string>();
    }
    if (!known) {
      throw unknown_name("key of an energy table", key,
                         "name, title, source, addition_pj, multiplication_pj, shift_pj, "
                         "division_pj, exponential_pj, byte_pj, bytes_per_value")
          .in_file(file);
    }
  }
  if (const auto bytes = json.find("bytes_per_value"); bytes != json.end()) {
    const std::int64_t width = bytes->is_number_integer() ? bytes->get<std::int64_t>() : 0;
    if (width != 1 && width != 2 && width != 4 && width != 8) {
      throw refuse("bytes_per_value", "1, 2, 4 or 8", bytes->dump());
    }
    constants.bytes_per_value = width;
  }
  for (const char* key : {"name", "addition_pj", "multiplication_pj"}) {
    if (!json.contains(key)) throw refuse(key, "a value", "none");
  }
  if (constants.title.empty()) constants.title = constants.name;
  if (constants.source.empty()) constants.source = file.filename().string();
  return constants;
}

double operations_energy_pj(const OperationCount& count, const EnergyConstants& constants) {
  return static_cast<double>(count.additions) * constants.addition_pj +
         static_cast<double>(count.multiplications) * constants.multiplication_pj +
         static_cast<double>(count.shifts) * constants.shift_pj +
         static_cast<double>(count.divisions) * constants.division_pj +
         static_cast<double>(count.exponentials) * constants.exponential_pj;
}

double traffic_energy_pj(const OperationCount& count, const EnergyConstants& constants) {
  constexpr double kCountedBytesPerValue = 4;
  return static_cast<double>(count.bytes_moved) * constants.byte_pj *
         static_cast<double>(constants.bytes_per_value) / kCountedBytesPerValue;
}

}  // namespace attnscope
