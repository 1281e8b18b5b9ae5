#include "app/cli/energy_list.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/energy/published.h"
#include "analysis/energy/request.h"
#include "core/attention/mechanism.h"

namespace attnscope {

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
  for (const EnergySetting& setting : energy_settings()) {
    settings.push_back({{"name", setting.name}, {"explanation", setting.explanation}});
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
