#include "app/cli/identity_argument.h"

#include <algorithm>

#include "core/error.h"
#include "core/text/name_list.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

constexpr std::string_view kBoth = "both";

std::vector<std::string> choices() {
  std::vector<std::string> names = names_of(identity_view_names);
  names.emplace_back(kBoth);
  return names;
}

}  // namespace

void add_identity_option(CLI::App& command, std::string& name) {
  command
      .add_option("--identity", name,
                  "View of the identity mapping: the maps as they are, without their I, with I "
                  "added if they have none (Adder, Eq. 20), or both next to each other")
      ->type_name(identity_words())
      ->capture_default_str();
}

std::string identity_words() { return name_list(choices(), {}, "|"); }

std::vector<IdentityView> identity_views(const std::string& name) {
  if (name == kBoth) return {IdentityView::without, IdentityView::with};
  const std::vector<std::string> names = choices();
  if (std::ranges::find(names, name) == names.end()) {
    throw unknown_name("view of the identity mapping", name, name_list(names));
  }
  return {value_of(identity_view_names, name, "view of the identity mapping")};
}

}  // namespace attnscope
