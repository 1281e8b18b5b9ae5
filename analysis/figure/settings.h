// A figure's settings as the recipes read them: text in, checked values out.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/recipe.h"

namespace attnscope {

/// Reads the settings of one request. Every member throws Error(usage) naming the setting, what it
/// may be and what was found.
class Settings {
 public:
  explicit Settings(const FigureRequest& request) : request_(request) {}

  [[nodiscard]] const std::string& text(std::string_view name) const;
  /// A number in [minimum, maximum].
  [[nodiscard]] double number(std::string_view name, double minimum, double maximum) const;
  /// The index of the value among `choices`.
  [[nodiscard]] std::size_t choice(std::string_view name,
                                   std::initializer_list<std::string_view> choices) const;
  /// "yes" or "no".
  [[nodiscard]] bool flag(std::string_view name) const;
  /// "all", or indices below `count` and ranges of them: "0,3-5". In the order given.
  [[nodiscard]] std::vector<std::int64_t> indices(std::string_view name, std::int64_t count) const;

 private:
  const FigureRequest& request_;
};

/// The identity views a setting "as-is", "without", "with" or "both" asks for.
[[nodiscard]] std::vector<IdentityView> identity_views(const Settings& settings,
                                                       std::string_view name = "identity");

/// Throws Error(usage) unless every subject has a trace with maps, and there is one at least.
void require_maps(const FigureRequest& request, std::string_view figure);

/// The least layers, heads and tokens any subject has.
struct SharedExtents {
  std::int64_t layers = 0, heads = 0, tokens = 0;
};
[[nodiscard]] SharedExtents shared_extents(const FigureRequest& request);

}  // namespace attnscope
