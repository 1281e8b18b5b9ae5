#include "analysis/figure/recipes/group_figures.h"

#include <algorithm>

namespace attnscope {

ParameterDescription groups_setting() {
  return setting::text("groups", "auto",
                       "words, sentences, parts, roles, a JSON file, or groups by hand such as "
                       "subject=3-5,others=rest; auto: sentences of texts, roles otherwise");
}

ParameterDescription from_setting() {
  return setting::text("from", "all",
                       "the group whose queries the shares are of, by name or number; all: all "
                       "queries");
}

GroupedMaps maps_by_setting(const FigureRequest& request, const Progress& progress) {
  return grouped_maps(*request.subjects.front().trace,
                      {.groups = to_string(request.settings.at("groups"))}, progress);
}

std::string group_label(const TokenGroups& groups, std::size_t group, std::size_t characters) {
  const std::string name = group_in_words(groups, group, characters);
  const bool alone = std::ranges::count(groups, groups[group].name, &TokenGroup::name) == 1;
  return alone ? name : std::to_string(group) + " " + name;
}

std::string groups_written(const Settings& read) {
  const std::string written = read.written("groups");
  if (written == "auto") return "groups of tokens";
  return written.find('=') == std::string::npos ? written : "groups by hand";
}

std::string queries_in_words(const GroupedMaps& maps, std::optional<std::size_t> from) {
  if (!from) return "of all queries";
  return "of the queries in “" + group_in_words(maps.groups, *from) + "”";
}

}  // namespace attnscope
