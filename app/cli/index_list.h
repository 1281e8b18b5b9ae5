// The options --layers and --heads: lists of indices.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace attnscope {

/// Adds --layers, a selection: all, or indices from 0 and ranges of them.
void add_layers_option(CLI::App& command, std::string& layers);
/// Adds --heads, a selection of the same form.
void add_heads_option(CLI::App& command, std::string& heads);

/// "0,2-4" → 0, 2, 3, 4; "all" → empty. Throws Error(usage) about `option` if `text` is not such a
/// list or has more than a million indices.
[[nodiscard]] std::vector<std::int64_t> index_list(const std::string& text, const char* option);

/// Throws Error(usage) about --heads for the first of `heads` that is `known` or greater.
void check_heads(const std::vector<std::int64_t>& heads, std::int64_t known);

/// Keeps the rows whose head, given by `head_of` (a member or a function), is in `heads`; keeps all
/// if `heads` is empty. Throws like check_heads for a head without any row.
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
