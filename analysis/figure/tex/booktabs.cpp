#include "analysis/figure/tex/booktabs.h"

#include "analysis/figure/tex/words.h"
#include "analysis/figure/text_layout.h"

namespace attnscope {

namespace {

/// A row of the table; cells of several lines are aligned at their last line.
std::string row_of(const std::vector<std::string>& cells, std::size_t text_columns) {
  std::string row = "  ";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string cell = tex_text(cells[i]);
    if (lines_of(cells[i]) > 1) {
      cell = std::string("\\shortstack[") + (i < text_columns ? "l" : "r") + "]{" + cell + "}";
    }
    row += (i == 0 ? "" : " & ") + cell;
  }
  return row + " \\\\\n";
}

}  // namespace

std::string tex_booktabs(const Table& table) {
  std::string out = "\\begin{tabular}{";
  for (std::size_t i = 0; i < table.header.size(); ++i) out += i < table.text_columns ? 'l' : 'r';
  out += "}\n  \\toprule\n" + row_of(table.header, table.text_columns) + "  \\midrule\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (i > 0 && !table.rows[i][0].empty() && table.rows[i - 1][0].empty()) {
      out += "  \\addlinespace\n";
    }
    out += row_of(table.rows[i], table.text_columns);
  }
  return out + "  \\bottomrule\n\\end{tabular}\n";
}

}  // namespace attnscope
