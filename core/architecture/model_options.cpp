#include "core/architecture/model_options.h"

namespace attnscope {

bool is_file_option(std::string_view option) {
  return option == kIgnoreOption || option == kStateDictOption || option == kQkvRowsOption;
}

std::vector<std::string> ModelOptions::ignored() const {
  const auto given = overrides.find(kIgnoreOption);
  std::vector<std::string> patterns;
  std::string rest = given == overrides.end() ? std::string() : given->second;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    if (comma > 0) patterns.push_back(rest.substr(0, comma));
    rest = comma == std::string::npos ? std::string() : rest.substr(comma + 1);
  }
  return patterns;
}

std::string ModelOptions::state_dict() const {
  const auto given = overrides.find(kStateDictOption);
  return given == overrides.end() ? std::string() : given->second;
}

}  // namespace attnscope
