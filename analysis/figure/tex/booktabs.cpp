#include "analysis/figure/tex/booktabs.h"

#include "analysis/figure/tex/words.h"

namespace attnscope {

namespace {

std::string row_of(const std::vector<std::string>& cells) {
  std::string row = "  ";
  for (std::size_t i = 0; i < cells.size(); ++i) row += (i == 0 ? "" : " & ") + tex_text(cells[i]);
  return row + " \\\\\n";
}

}  // namespace

std::string tex_booktabs(const Table& table) {
  std::string out = "\\begin{tabular}{";
  for (std::size_t i = 0; i < table.header.size(); ++i) out += i < table.text_columns ? 'l' : 'r';
  out += "}\n  \\toprule\n" + row_of(table.header) + "  \\midrule\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (i > 0 && !table.rows[i][0].empty() && table.rows[i - 1][0].empty()) {
      out += "  \\addlinespace\n";
    }
    out += row_of(table.rows[i]);
  }
  return out + "  \\bottomrule\n\\end{tabular}\n";
}

}  // namespace attnscope
