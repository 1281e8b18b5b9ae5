#include "app/cli/identity_argument.h"

#include "core/error.h"

namespace attnscope {

void add_identity_option(CLI::App& command, std::string& name) {
  command
      .add_option("--identity", name,
                  "The maps as they are, without the I of an identity mapping, with I added where "
                  "there is none (Adder, Eq. 20), or both beside each other")
      ->type_name("as-is|without|with|both")
      ->capture_default_str();
}

bool is_identity_name(std::string_view name) {
  return name == "as-is" || name == "without" || name == "with" || name == "both";
}

std::vector<IdentityView> identity_views(const std::string& name) {
  if (name == "as-is") return {IdentityView::as_is};
  if (name == "without") return {IdentityView::without};
  if (name == "with") return {IdentityView::with};
  if (name == "both") return {IdentityView::without, IdentityView::with};
  throw unknown_name("view of the identity mapping", name, "as-is, without, with, both");
}

std::string name_of(IdentityView view) {
  constexpr const char* names[] = {"as-is", "without", "with"};
  return names[static_cast<std::size_t>(view)];
}

}  // namespace attnscope
