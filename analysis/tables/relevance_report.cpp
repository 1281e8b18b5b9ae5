#include <numeric>
#include <string>
#include <utility>

#include "analysis/tables/reports.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

/// Name of a token: "(3, 7)" for an image patch, "to" for a text token.
std::string relevant_token(const Trace& trace, std::size_t token) {
  const TokenLayout& layout = trace.layout;
  const auto index = static_cast<std::int64_t>(token);
  if (layout.has_grid() && index >= layout.prefix) {
    const std::int64_t cell = index - layout.prefix;
    return "(" + std::to_string(cell / layout.columns) + ", " +
           std::to_string(cell % layout.columns) + ")";
  }
  return shown_text(layout.name(index));
}

}  // namespace

Report relevant_tokens_report(const Trace& trace, const TokenRelevance& found,
                              std::vector<std::size_t> tokens) {
  const std::vector<double>& relevance = found.tokens;
  const double sum = std::accumulate(relevance.begin(), relevance.end(), 0.0);
  const auto name = [&trace](std::size_t token) { return relevant_token(trace, token); };
  return report_of<std::size_t>(
      std::move(tokens), {{{.name = "token", .title = "token", .width = 5},
                           [](std::size_t token) { return static_cast<std::int64_t>(token); }},
                          {{.name = "name"}, name},
                          {{.name = "relevance", .title = "relevance", .width = 11, .decimals = 5},
                           [&relevance](std::size_t token) { return relevance[token]; }},
                          {{.title = "share", .width = 9, .decimals = 1, .per_cent = true},
                           [&relevance, sum](std::size_t token) { return relevance[token] / sum; }},
                          {{.left = true}, name}});
}

}  // namespace attnscope
