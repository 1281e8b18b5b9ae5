// --layers and --heads: which of them, by index.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
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

/// Throws Error(usage) about --heads for the first of `heads` that is not below `known`.
void check_heads(const std::vector<std::int64_t>& heads, std::int64_t known);

/// Keeps the rows whose head, as `head_of` (a member or a function) says, is one of `heads`; all if
/// empty. Throws as check_heads for a head that no row is of.
template <class Row, class HeadOf>
void keep_heads(std::vector<Row>& rows, const std::vector<std::int64_t>& heads, HeadOf head_of) {
  if (heads.empty()) return;
  std::int64_t known = 0;
  for (const Row& row : rows) {
    known = std::max<std::int64_t>(known, std::invoke(head_of, row) + 1);
  }
  check_heads(heads, known);
  std::erase_if(rows, [&](const Row& row) {
    return std::ranges::find(heads, std::invoke(head_of, row)) == heads.end();
  });
}

}  // namespace attnscope
