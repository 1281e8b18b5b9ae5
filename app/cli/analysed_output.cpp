#include "app/cli/analysed_output.h"

namespace attnscope {

void add_analysed(nlohmann::ordered_json& json, const Analysed& analysed) {
  json["of"] = name_of(spectrum_of_names, analysed.of);
  json["centred"] = analysed.centred;
  json["added"] = name_of(added_names, analysed.added);
}

std::vector<std::string> analysed_cells(const Analysed& analysed) {
  if (analysed == Analysed{}) return {};
  return {std::string(name_of(spectrum_of_names, analysed.of)), analysed.centred ? "true" : "false",
          std::string(name_of(added_names, analysed.added))};
}

std::string analysed_csv(const Analysed& analysed) {
  std::string text;
  for (const std::string& cell : analysed_cells(analysed)) text += "," + cell;
  return text;
}

}  // namespace attnscope
