#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/tables/reports.h"
#include "core/shown_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

/// One line for each token in CSV, and an object in JSON.
Report alternatives_report(const GeneratedToken& token) {
  return report_on(token.alternatives, {{{.name = "alternative"}, &TokenAlternative::id},
                                        {{.name = "alternative_text"}, &TokenAlternative::text},
                                        {{.name = "alternative_probability", .digits = 0},
                                         &TokenAlternative::probability}});
}

std::string alternatives_in_words(const GeneratedToken& token) {
  std::string words;
  for (const TokenAlternative& one : token.alternatives) {
    words += (words.empty() ? "\"" : "  \"") + shown_text(one.text) + "\" " +
             number_cell(one.probability, 0, 3);
  }
  return words;
}

}  // namespace

Report generated_tokens_report(const GeneratedText& text) {
  using Token = GeneratedToken;
  std::vector<ColumnOf<Token>> columns = {
      {{.name = "position", .title = "position"}, &Token::position},
      {{.name = "token", .title = "token"}, [](const Token& one) { return one.chosen.id; }},
      {{.name = "text", .title = "text", .left = true},
       [](const Token& one) { return one.chosen.text; },
       [](const Token& one) { return "\"" + shown_text(one.chosen.text) + "\""; }},
      {{.name = "probability", .title = "probability", .decimals = 3, .digits = 0},
       [](const Token& one) { return one.chosen.probability; }},
      {{.name = "entropy_bits", .title = "entropy", .unit = "bits", .digits = 0}, &Token::entropy}};
  const auto has_any = [](const Token& one) { return !one.alternatives.empty(); };
  if (std::ranges::any_of(text.tokens, has_any)) {
    columns.push_back({{.name = "alternatives"},
                       [](const Token& one) { return table_cell(alternatives_report(one)); },
                       nullptr});
    columns.push_back({{.title = "likeliest", .left = true}, nullptr, alternatives_in_words});
  }
  return report_on(text.tokens, std::move(columns));
}

}  // namespace attnscope
