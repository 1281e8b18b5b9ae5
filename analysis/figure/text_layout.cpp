#include "analysis/figure/text_layout.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

namespace attnscope {

namespace {

double mm_of_em(double size_pt) { return size_pt * 25.4 / 72; }

std::string label_of(const Mark& mark) {
  if (const auto* line = std::get_if<Line>(&mark)) return line->label;
  if (const auto* band = std::get_if<Band>(&mark)) return band->label;
  if (const auto* bars = std::get_if<Bars>(&mark)) return bars->label;
  return {};
}

}  // namespace

double text_ems(const std::string& text) {
  constexpr double narrow = 0.36, capital = 0.75, wide = 0.86, other = 0.61;
  double widest = 0, width = 0;
  for (const char c : text) {
    if (c == '\n') width = 0;
    if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) continue;  // UTF-8 continuation byte
    width += std::string_view(" ijltfr.,:;()|/-").find(c) != std::string_view::npos ? narrow
             : std::string_view("mwMW=+%").find(c) != std::string_view::npos        ? wide
             : c >= 'A' && c <= 'Z'                                                 ? capital
                                                                                    : other;
    widest = std::max(widest, width);
  }
  return widest;
}

double text_mm(const std::string& text, double size_pt) {
  return text_ems(text) * mm_of_em(size_pt);
}

std::string fitted(const std::string& label, double room_mm, double size_pt) {
  return text_mm(label, size_pt) <= room_mm ? label : in_two_lines(label);
}

std::size_t lines_of(const std::string& text) {
  if (text.empty()) return 0;
  return 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string wrapped(const std::string& text, double ems) {
  std::istringstream words(text);
  std::string out, line;
  for (std::string word; words >> word;) {
    const std::string longer = line.empty() ? word : line + " " + word;
    if (!line.empty() && text_ems(longer) > ems) {
      out += line + "\n";
      line = word;
    } else {
      line = longer;
    }
  }
  return out + line;
}

std::string in_two_lines(const std::string& label) {
  std::size_t best = std::string::npos;
  const auto off_middle = [&](std::size_t place) {
    return std::abs(static_cast<double>(place) - static_cast<double>(label.size()) / 2);
  };
  for (std::size_t place = 1; place < label.size(); ++place) {
    const bool may_break = std::string(" -_").find(label[place - 1]) != std::string::npos;
    if (may_break && (best == std::string::npos || off_middle(place) < off_middle(best))) {
      best = place;
    }
  }
  if (best == std::string::npos || label.find('\n') != std::string::npos) return label;
  std::string first = label.substr(0, best);
  if (first.back() == ' ') first.pop_back();
  return first + "\n" + label.substr(best);
}

namespace {

/// The label broken after spaces, hyphens and underscores into lines of at most `ems`, if no part
/// is wider.
std::string broken_anywhere(const std::string& label, double ems) {
  std::string out, line;
  for (std::size_t first = 0; first < label.size();) {
    const std::size_t end = std::min(label.find_first_of(" -_", first), label.size() - 1) + 1;
    const std::string part = label.substr(first, end - first);
    if (!line.empty() && text_ems(line + part) > ems) {
      if (line.back() == ' ') line.pop_back();
      out += line + "\n";
      line.clear();
    }
    line += part;
    first = end;
  }
  return out + line;
}

}  // namespace

std::size_t legend_rows(const std::vector<std::string>& labels, double width_mm) {
  constexpr double text_pt = 6.25, icon_pt = 18, gap_pt = 8, margins_pt = 4;
  for (std::size_t rows = 1; rows < labels.size(); ++rows) {
    double width_pt = margins_pt - gap_pt;
    for (std::size_t first = 0; first < labels.size(); first += rows) {
      double widest = 0;
      for (std::size_t i = first; i < std::min(first + rows, labels.size()); ++i) {
        widest = std::max(widest, text_ems(labels[i]));
      }
      width_pt += icon_pt + widest * text_pt + gap_pt;
    }
    if (width_pt <= width_mm / 25.4 * 72) return rows;
  }
  return labels.size();
}

std::string elided(const std::string& text, double ems) {
  std::string out;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t end = std::min(text.find('\n', first), text.size());
    std::string line = text.substr(first, end - first);
    if (text_ems(line) > ems) {
      const auto shorten = [&line] {
        while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0xC0U) == 0x80U) {
          line.pop_back();
        }
        if (!line.empty()) line.pop_back();
      };
      do shorten();
      while (line.size() > 1 && text_ems(line + "…") > ems);
      while (line.ends_with(' ') || line.ends_with(',')) line.pop_back();
      line += "…";
    }
    out += (first > 0 ? "\n" : "") + line;
    first = end + 1;
  }
  return out;
}

std::string elided_middle(const std::string& text, double ems) {
  std::string out;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t end = std::min(text.find('\n', first), text.size());
    std::string line = text.substr(first, end - first);
    if (text_ems(line) > ems) {
      std::vector<std::string> letters;
      for (const char c : line) {
        if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) letters.emplace_back();
        if (!letters.empty()) letters.back() += c;
      }
      for (std::size_t kept = letters.size(); kept > 1 && text_ems(line) > ems;) {
        --kept;
        std::string start, tail;
        const std::size_t last = letters.size() - kept / 2;
        for (std::size_t i = 0; i < (kept + 1) / 2; ++i) start += letters[i];
        for (std::size_t i = last; i < letters.size(); ++i) tail += letters[i];
        while (start.ends_with(' ')) start.pop_back();
        while (tail.starts_with(' ')) tail.erase(0, 1);
        line = start + "…" + tail;
      }
    }
    out += (first > 0 ? "\n" : "") + line;
    first = end + 1;
  }
  return out;
}

std::string row_label(const std::string& label, double room_mm, double size_pt) {
  if (text_mm(label, size_pt) <= room_mm) return label;
  std::string lines = in_two_lines(label);
  // Widths are estimated generously, and a label may extend a little beyond its row.
  constexpr double slack = 1.25;
  room_mm *= slack;
  const std::size_t comma = label.rfind(", ");
  if (text_mm(lines, size_pt) > room_mm && comma != std::string::npos &&
      label.find('\n') == std::string::npos) {
    lines = label.substr(0, comma) + "\n" + label.substr(comma + 2);
  }
  constexpr std::size_t most_lines = 3;
  const std::string narrow = broken_anywhere(label, room_mm / mm_of_em(size_pt));
  if (text_mm(lines, size_pt) > room_mm && text_mm(narrow, size_pt) <= room_mm &&
      lines_of(narrow) <= most_lines) {
    return narrow;
  }
  return elided_middle(lines, room_mm / mm_of_em(size_pt));
}

double legend_mm(const Figure& figure, double width_mm) {
  constexpr double row_mm = 3.1;
  std::size_t rows = 0;
  std::vector<std::string> labels;
  for (const Panel& panel : figure.panels) {
    if (!figure.shared_legend) labels.clear();
    if (panel.legend == LegendPosition::none) continue;
    for (const Mark& mark : panel.marks) {
      const std::string label = label_of(mark);
      const bool said = std::find(labels.begin(), labels.end(), label) != labels.end();
      if (!label.empty() && !(figure.shared_legend && said)) labels.push_back(label);
    }
    if (figure.shared_legend || panel.legend == LegendPosition::below) {
      rows = std::max(rows, legend_rows(labels, width_mm));
    }
  }
  return row_mm * static_cast<double>(rows);
}

}  // namespace attnscope
