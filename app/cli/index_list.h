// --layers and --heads: which of them, by index.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

/// --layers, a selection: all, or indices from 0 and ranges of them.
void add_layers_option(CLI::App& command, std::string& layers);
/// --heads, a selection of the same form.
void add_heads_option(CLI::App& command, std::string& heads);

/// "0,2-4" → 0, 2, 3, 4; "all" → empty. Throws Error(usage) about `option` for what is no such
/// list, or names more than a million.
[[nodiscard]] std::vector<std::int64_t> index_list(const std::string& text, const char* option);

}  // namespace attnscope
