// What of a run was analysed, in the words of --of, --centred and --added: the same keys and
// columns in every command's JSON and CSV.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/analysed/what.h"

namespace attnscope {

/// Adds the keys "of", "centred" and "added".
void add_analysed(nlohmann::ordered_json& json, const Analysed& analysed);

/// "scores", "false", "none": what stands under those three as columns; nothing of maps as they
/// are, of which tables have no such columns.
[[nodiscard]] std::vector<std::string> analysed_cells(const Analysed& analysed);
/// The same behind other cells of a line of CSV: ",scores,false,none", or nothing.
[[nodiscard]] std::string analysed_csv(const Analysed& analysed);

}  // namespace attnscope
