#include "analysis/figure/page.h"

#include <charconv>

#include "analysis/figure/recipe.h"
#include "core/error.h"
#include "core/text/lines.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr std::string_view blanks = " \t\n";

class PageReader {
 public:
  explicit PageReader(std::string_view text) : text_(text) {}

  Page read() {
    Page page;
    page.rows.emplace_back();
    while (true) {
      page.rows.back().push_back(read_cell());
      skip_blanks();
      if (at_ == text_.size()) return page;
      const char separator = text_[at_++];
      if (separator == '/') {
        page.rows.emplace_back();
      } else if (separator != '|') {
        throw wrong("| before the next figure of a row, or / before the next row", at_ - 1);
      }
    }
  }

 private:
  [[nodiscard]] Error wrong(const std::string& expected, std::size_t where) const {
    const std::string rest = std::string(text_.substr(std::min(where, text_.size()), 20));
    return Error(ErrorKind::usage, "the page cannot be read")
        .about("page")
        .expected(expected)
        .found(rest.empty() ? "its end" : "'" + rest + "'")
        .remedy("write it as 'cumulative-spectrum | rank-by-layer / attention-maps[heads=0,1]'");
  }

  void skip_blanks() {
    while (at_ < text_.size() && blanks.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  PageCell read_cell() {
    skip_blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && std::string_view("[|/").find(text_[at_]) == std::string::npos) {
      ++at_;
    }
    PageCell cell;
    cell.figure = without_spaces(text_.substr(start, at_ - start));
    if (cell.figure.empty()) throw wrong("the name of a figure", start);
    (void)find_figure(cell.figure);
    if (at_ < text_.size() && text_[at_] == '[') {
      ++at_;
      read_settings(cell);
    }
    return cell;
  }

  void read_settings(PageCell& cell) {
    while (true) {
      skip_blanks();
      if (at_ < text_.size() && text_[at_] == ']') break;
      const std::size_t start = at_;
      const std::size_t equals = text_.find('=', at_);
      if (equals == std::string_view::npos) throw wrong("key=value", start);
      const std::string key(without_spaces(text_.substr(start, equals - start)));
      if (key.empty() || key.find_first_of(";]\"") != std::string::npos) {
        throw wrong("key=value", start);
      }
      at_ = equals + 1;
      take(cell, key, read_value(), start);
      if (at_ < text_.size() && text_[at_] == ';') ++at_;
    }
    ++at_;  // skips the ]
  }

  std::string read_value() {
    skip_blanks();
    std::string value;
    if (at_ < text_.size() && text_[at_] == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        value += text_[at_];
      }
      if (at_ == text_.size()) throw wrong("a closing quote", at_);
      ++at_;
      skip_blanks();
    } else {
      const std::size_t end = std::min(text_.find_first_of(";]", at_), text_.size());
      value = without_spaces(text_.substr(at_, end - at_));
      at_ = end;
    }
    if (at_ == text_.size()) throw wrong("a closing ]", at_);
    if (text_[at_] != ';' && text_[at_] != ']') throw wrong("; or ]", at_);
    return value;
  }

  void take(PageCell& cell, const std::string& key, const std::string& value, std::size_t where) {
    if (key == "title") {
      cell.title = value;
    } else if (key == "share") {
      const auto [end, failure] =
          std::from_chars(value.data(), value.data() + value.size(), cell.share);
      if (failure != std::errc() || end != value.data() + value.size() ||
          !(cell.share > 0 && cell.share <= 1000)) {
        throw wrong("a share above 0", where);
      }
    } else if (key == "subjects") {
      for (std::size_t first = 0; first <= value.size();) {
        const std::size_t comma = std::min(value.find(',', first), value.size());
        const std::string item(
            without_spaces(std::string_view(value).substr(first, comma - first)));
        std::size_t index = 0;
        const auto [end, failure] = std::from_chars(item.data(), item.data() + item.size(), index);
        if (failure != std::errc() || end != item.data() + item.size()) {
          throw wrong("subjects=0,1: indices of the models from 0", where);
        }
        cell.subjects.push_back(index);
        first = comma + 1;
      }
    } else {
      const ParameterDescription& setting = find_setting(cell.figure, key);
      cell.settings[setting.name] = parse_parameter(setting, value);
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string quoted(const std::string& value) {
  if (value.find_first_of(";]\"\\") == std::string::npos && without_spaces(value) == value)
    return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

}  // namespace

Page parse_page(std::string_view text) { return PageReader(text).read(); }

std::string to_string(const Page& page) {
  std::string text;
  for (const std::vector<PageCell>& row : page.rows) {
    if (!text.empty()) text += " / ";
    bool first_cell = true;
    for (const PageCell& cell : row) {
      if (!first_cell) text += " | ";
      first_cell = false;
      text += cell.figure;
      std::string inside;
      const auto add = [&inside](const std::string& key, const std::string& value) {
        inside += (inside.empty() ? "" : "; ") + key + "=" + quoted(value);
      };
      for (const auto& [key, value] : cell.settings) add(key, to_string(value));
      std::string list;
      for (const std::size_t subject : cell.subjects) {
        list += (list.empty() ? "" : ",") + std::to_string(subject);
      }
      if (!list.empty()) add("subjects", list);
      if (cell.share != 1) add("share", rounded_text(cell.share, 6));
      if (!cell.title.empty()) add("title", cell.title);
      if (!inside.empty()) text += "[" + inside + "]";
    }
  }
  return text;
}

}  // namespace attnscope
