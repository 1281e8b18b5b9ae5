#include "app/cli/energy_list.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/energy/published.h"
#include "analysis/energy/request.h"
#include "app/cli/table_cell.h"
#include "core/attention/mechanism.h"
#include "core/text/number_text.h"

namespace attnscope {

std::string known_networks_as_text() {
  std::string text = "Networks\n";
  for (const NamedNetwork& network : named_architectures()) {
    text += "  " + left_cell(std::string(network.name), 18) +
            left_cell(std::string(network.title), 16) + std::string(network.source) + "\n";
  }
  text += "\nMechanisms, with the parameters --set takes\n";
  for (const MechanismEntry& mechanism : counted_mechanisms()) {
    text += "  " + left_cell(std::string(mechanism.name), 18) + std::string(mechanism.title) +
            ": " + std::string(mechanism.source) + "\n";
    for (const ParameterDescription& parameter : mechanism.counted_parameters()) {
      text += "    " + left_cell(parameter.name + "=" + to_string(parameter.default_value), 25) +
              " " + parameter.explanation + "\n";
    }
  }
  text += "\nSettings of the network, for --set\n";
  for (const ParameterDescription& setting : energy_settings()) {
    text +=
        "  " + left_cell(setting.name, 22) + setting.explanation + ": " + range_of(setting) + "\n";
  }
  text += "\nEnergy tables, for --constants, in pJ\n";
  for (const EnergyConstants& table : energy_tables()) {
    text += "  " + left_cell(table.name, 8);
    std::string separator;
    for (const auto& [operation, energy] : {std::pair{"addition", table.addition_pj},
                                            {"multiplication", table.multiplication_pj},
                                            {"shift", table.shift_pj},
                                            {"division", table.division_pj},
                                            {"exponential", table.exponential_pj},
                                            {"byte", table.byte_pj}}) {
      text += separator + operation + " " + rounded_text(energy, 6);
      separator = ", ";
    }
    text += "\n";
  }
  text += "  " + energy_tables().front().source + "\n";
  return text + "\nPublished tables, for --paper\n  " + published_table_names() + "\n";
}

nlohmann::ordered_json known_networks_as_json() {
  using Json = nlohmann::ordered_json;
  Json networks = Json::array(), mechanisms = Json::array(), settings = Json::array(),
       constants = Json::array(), papers = Json::array();
  for (const NamedNetwork& network : named_architectures()) {
    networks.push_back(
        {{"name", network.name}, {"title", network.title}, {"source", network.source}});
  }
  for (const MechanismEntry& entry : counted_mechanisms()) {
    mechanisms.push_back({{"name", entry.name}, {"title", entry.title}, {"source", entry.source}});
  }
  for (const ParameterDescription& setting : energy_settings()) {
    settings.push_back({{"name", setting.name},
                        {"default", to_string(setting.default_value)},
                        {"range", range_of(setting)},
                        {"explanation", setting.explanation}});
  }
  for (const EnergyConstants& table : energy_tables()) {
    constants.push_back({{"name", table.name},
                         {"addition_pj", table.addition_pj},
                         {"multiplication_pj", table.multiplication_pj},
                         {"shift_pj", table.shift_pj},
                         {"division_pj", table.division_pj},
                         {"exponential_pj", table.exponential_pj},
                         {"byte_pj", table.byte_pj}});
  }
  std::istringstream names(published_table_names());
  for (std::string name; std::getline(names >> std::ws, name, ',');) papers.push_back(name);
  return {{"networks", std::move(networks)},
          {"mechanisms", std::move(mechanisms)},
          {"settings", std::move(settings)},
          {"constants", std::move(constants)},
          {"papers", std::move(papers)}};
}

}  // namespace attnscope
