// Exports a figure as a LaTeX document: the page, its styles, and its panels.
#include <algorithm>
#include <string>

#include "analysis/figure/figure.h"
#include "analysis/figure/table.h"
#include "analysis/figure/tex/layout.h"
#include "analysis/figure/tex/legend.h"
#include "analysis/figure/tex/panel.h"
#include "analysis/figure/tex/words.h"
#include "analysis/figure/text_export.h"
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

std::int64_t cell_count(const Figure& figure) {
  std::int64_t count = 0;
  for (const Panel& panel : figure.panels) {
    for (const Mark& mark : panel.marks) {
      if (const auto* map = std::get_if<HeatMap>(&mark)) count += map->rows * map->columns;
    }
  }
  return count;
}

/// A name that TeX accepts in any context: letters, digits, dots and hyphens.
std::string plain_name(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '-';
    plain += is_plain ? c : '-';
  }
  return plain.empty() ? "figure" : plain;
}

std::string comments(const Figure& figure) {
  std::string out;
  for (const auto& [name, text] : provenance_of(figure)) out += "% " + name + ": " + text + "\n";
  return out;
}

/// The preamble of a page of exactly the figure's size without headers and margins.
std::string page(const Figure& figure, const std::string& packages) {
  return "\\RequirePackage{fix-cm}  % type of any size\n\\documentclass{article}\n"
         "\\usepackage[utf8]{inputenc}\n\\usepackage[paperwidth=" +
         tex_mm(figure.width_mm) + ", paperheight=" + tex_mm(figure.height_mm) +
         ", margin=0mm]{geometry}\n" + packages +
         "\\pagestyle{empty}\\setlength\\parindent{0pt}\\setlength\\topskip{0pt}\n";
}

std::string font(double pt) {
  return "\\sffamily\\fontsize{" + tex_number(pt) + "}{" + tex_number(1.2 * pt) + "}\\selectfont";
}

std::string styles(const Figure& figure) {
  const double size = figure.font_size_pt;
  const std::string text = font(size);
  const double small_pt = std::max(std::min(6.0, size), size - 0.75);
  const std::string small = font(small_pt);
  return "\\pgfplotsset{compat=1.16}\n"
         "\\tikzset{\n"
         "  attnscope text/.style={font=" +
         text +
         ", inner sep=0.5mm, align=center},\n"
         "  attnscope small/.style={font=" +
         small +
         ", inner sep=0.3mm, align=center},\n"
         "  attnscope line/.style={text height=" +
         tex_number(0.72 * small_pt) +
         "pt, text depth=0pt},  % on one base line\n"
         "  attnscope frame/.style={draw=black!45, line width=0.35pt},\n"
         "  attnscope axis/.style={draw=black!80, line width=0.5pt},\n"
         "  attnscope legend/.style={inner sep=0.3mm, row sep=0.2mm, nodes={anchor=base west,\n"
         "    font=" +
         small +
         ", inner xsep=0.6mm, inner ysep=0.2mm}}}\n"
         "\\pgfplotsset{attnscope/.style={anchor=south west, scale only axis, clip=false,\n"
         "  tick align=outside, major tick length=0.7mm, scaled ticks=false,\n"
         "  unbounded coords=jump, axis line style={attnscope axis},\n"
         "  every tick/.style={attnscope axis}, label style={attnscope text, inner sep=0.3mm},\n"
         "  tick label style={attnscope small}}}\n"
         "% A character that no font of pdfTeX has: itself in XeTeX and LuaTeX, else its code.\n"
         "\\newcommand\\attnscopeglyph[2]{\\ifdefined\\Umathcode #1\\else"
         "{\\fboxsep=0.4pt\\fbox{\\tiny #2}}\\fi}\n";
}

/// Source of the panels and bars of one area, or of the whole figure.
std::string area_source(const Figure& figure, std::size_t index, TexBox room,
                        const std::string& title, bool cells_as_plot, const std::string& name,
                        std::vector<TexFigure::File>& images) {
  for (std::size_t scale = 0; scale < figure.colour_scales.size(); ++scale) {
    if (figure.colour_scales[scale].bar_area == index) {
      return tex_bar(figure, {scale,
                              {room.x + 0.8, room.y + 2.2, 2.1, room.height - 4.4},
                              figure.colour_scales[scale].label});
    }
  }
  std::string out;
  if (!title.empty()) {
    out += tex_node("attnscope text, anchor=north", room.x + room.width / 2, room.y + room.height,
                    "\\bfseries " + tex_text(title));
    room.height -= 1.6 * figure.font_size_pt * 25.4 / 72;
  }
  const TexLayout layout = tex_layout(figure, index, room);
  for (const TexPanel& placed : layout.panels) {
    out += tex_panel(figure, placed, cells_as_plot, name, images);
  }
  for (const TexBar& bar : layout.bars) out += tex_bar(figure, bar);
  return out;
}

/// Margin at the page's edges that stays white.
constexpr double edge_mm = 0.4;

/// A document with the table, scaled down if it is wider than the figure, so that its rules fit.
TexFigure table_document(const Figure& figure) {
  return {comments(figure) + page(figure, "\\usepackage{booktabs}\n\\usepackage{graphicx}\n") +
              "\\begin{document}" + font(figure.font_size_pt) +
              "\\setlength\\tabcolsep{0.6em}%\n\\vspace*{\\fill}\\centering\n"
              "\\newdimen\\room \\room=\\textwidth \\advance\\room by -" +
              tex_mm(2 * edge_mm) +
              "\n\\resizebox{\\ifdim\\width>\\room \\room\\else\\width\\fi}{!}{%\n" +
              table_as_tex(broken_table(*figure.table, figure.width_mm)) +
              "\\unskip}\\par\n\\vspace*{\\fill}\n\\end{document}\n",
          {}};
}

}  // namespace

std::string table_as_tex(const Table& table) {
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

TexFigure figure_as_tex(const Figure& figure, const std::string& name) {
  if (figure.table) return table_document(figure);
  TexFigure out;
  const std::string images = plain_name(name);
  const bool cells_as_plot = cell_count(figure) <= most_cells_as_plot;
  TexBox room{0, 0, figure.width_mm, figure.height_mm};
  std::string panels;
  if (figure.shared_legend) {
    panels += tex_shared_legend(figure, {edge_mm, edge_mm, room.width - 2 * edge_mm, 0});
    room.y = legend_mm(figure, figure.width_mm);
    room.height -= room.y;
  }
  if (figure.areas.empty()) {
    panels += area_source(
        figure, 0, {edge_mm, room.y + edge_mm, room.width - 2 * edge_mm, room.height - 2 * edge_mm},
        figure.show_title ? figure.title : std::string(), cells_as_plot, images, out.images);
  }
  double bottom = 1e-9;
  for (const FigureArea& area : figure.areas) bottom = std::max(bottom, area.y_mm + area.height_mm);
  for (std::size_t index = 0; index < figure.areas.size(); ++index) {
    const FigureArea& area = figure.areas[index];
    const double scale = room.height / bottom;
    panels += area_source(
        figure, index,
        {area.x_mm + edge_mm, room.y + (bottom - area.y_mm - area.height_mm) * scale + edge_mm,
         area.width_mm - 2 * edge_mm, area.height_mm * scale - 2 * edge_mm},
        area.title, cells_as_plot, images, out.images);
  }
  out.source = comments(figure) + page(figure, "\\usepackage{pgfplots}\n") + styles(figure) +
               "\\begin{document}%\n\\begin{tikzpicture}\n\\useasboundingbox (0,0) rectangle " +
               tex_place(figure.width_mm, figure.height_mm) + ";\n" + panels +
               "\\end{tikzpicture}%\n\\end{document}\n";
  return out;
}

}  // namespace attnscope
