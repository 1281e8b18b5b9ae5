#include "app/cli/former_spellings.h"

#include <algorithm>
#include <cstdio>

#include "app/cli/identity_argument.h"

namespace attnscope {

void advise(const std::string& former, const std::string& now) {
  std::fprintf(stderr, "attnscope: %s is now written %s\n", former.c_str(), now.c_str());
}

void add_former_option(CLI::App& command, const std::string& former, std::string& value,
                       const std::string& now) {
  command
      .add_option_function<std::string>(former,
                                        [former, now, &value](const std::string& given) {
                                          advise(former, now);
                                          value = given;
                                        })
      ->group("");
}

void add_former_option(CLI::App& command, const std::string& former, double& value,
                       const std::string& now) {
  command
      .add_option_function<double>(former,
                                   [former, now, &value](const double& given) {
                                     advise(former, now);
                                     value = given;
                                   })
      ->group("");
}

void add_former_option(CLI::App& command, const std::string& former,
                       std::vector<std::string>& values, const std::string& now) {
  command
      .add_option_function<std::vector<std::string>>(
          former,
          [former, now, &values](const std::vector<std::string>& given) {
            advise(former, now);
            values.insert(values.end(), given.begin(), given.end());
          })
      ->allow_extra_args(false)
      ->group("");
}

void add_former_flag(CLI::App& command, const std::string& former, bool& value,
                     const std::string& now) {
  command
      .add_flag_function(former,
                         [former, now, &value](std::int64_t) {
                           advise(former, now);
                           value = true;
                         })
      ->group("");
}

std::vector<std::string> with_present_spellings(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments.front() != "spectrum") return arguments;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] != "--identity") continue;
    if (i + 1 < arguments.size() && is_identity_name(arguments[i + 1])) continue;
    // A word that looks like a view, mistyped, is refused where it is read.
    advise("--identity", "--identity with");
    arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, "with");
  }
  return arguments;
}

}  // namespace attnscope
