// Settings and labels of figures of groups of tokens.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figure/settings.h"
#include "analysis/groups/grouped_maps.h"

namespace attnscope {

/// Settings "groups" and "from".
[[nodiscard]] ParameterDescription groups_setting();
[[nodiscard]] ParameterDescription from_setting();

/// The maps of the request's only subject by the groups of the setting.
[[nodiscard]] GroupedMaps maps_by_setting(const FigureRequest& request, const Progress& progress);

/// The group's name, shortened; with its number if another group has the name.
[[nodiscard]] std::string group_label(const TokenGroups& groups, std::size_t group,
                                      std::size_t characters);

/// "sentences" or "groups by hand", for captions.
[[nodiscard]] std::string groups_written(const Settings& read);

/// "of all queries", or those of one group.
[[nodiscard]] std::string queries_in_words(const GroupedMaps& maps,
                                           std::optional<std::size_t> from);

}  // namespace attnscope
