// The analysed matrix (--of, --centred, --added) as keys and columns, equal in every command's JSON
// and CSV.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/analysed/what.h"

namespace attnscope {

/// Adds the keys "of", "centred" and "added".
void add_analysed(nlohmann::ordered_json& json, const Analysed& analysed);

/// The values of the columns "of", "centred" and "added", such as "scores", "false", "none". Empty
/// for plain attention maps, whose tables lack these columns.
[[nodiscard]] std::vector<std::string> analysed_cells(const Analysed& analysed);
/// Like analysed_cells, but as the end of a CSV line: ",scores,false,none", or empty.
[[nodiscard]] std::string analysed_csv(const Analysed& analysed);

}  // namespace attnscope
