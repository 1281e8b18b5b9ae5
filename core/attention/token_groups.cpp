#include "core/attention/token_groups.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/file/read_file.h"
#include "core/text/json.h"
#include "core/text/lines.h"
#include "core/text/number_text.h"
#include "core/utf8.h"

namespace attnscope {

namespace {

constexpr std::string_view kRest = "rest";
constexpr std::string_view kWhiteSpace = " \t\n\r";

bool is_space(char c) { return kWhiteSpace.find(c) != std::string_view::npos; }

/// The text without white space at its ends, and with one space for any other.
std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char c : without_spaces(text)) {
    if (!is_space(c)) {
      line += c;
    } else if (line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

// Texts: words, sentences and parts.

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> marks) {
  return std::ranges::any_of(marks, [&](std::string_view mark) { return text.starts_with(mark); });
}

/// Length of the end mark of a sentence at the beginning of `text`; 0 if there is none.
std::size_t end_mark(std::string_view text) {
  if (text.empty()) return 0;
  if (begins_with_any(text, {".", "!", "?"})) return 1;
  return begins_with_any(text, {"…", "。", "！", "？"}) ? utf8_length(text, 0) : 0;
}

/// Length of a closing quote or bracket at the beginning of `text`; 0 if there is none.
std::size_t closing_mark(std::string_view text) {
  if (text.empty()) return 0;
  if (begins_with_any(text, {"\"", "'", ")", "]"})) return 1;
  return begins_with_any(text, {"”", "’", "»", "」", "』"}) ? utf8_length(text, 0) : 0;
}

/// Tokens without a special one between them: their text, and where each token begins in it.
struct Run {
  std::int64_t first = 0;
  std::string text = {};
  std::vector<std::size_t> starts = {};
  bool spaced =
      false;  ///< the white space was not in the tokens: it follows from WordPiece's marks
};

/// True if the tokens are those of WordPiece, which have no white space but ## where none was.
bool is_word_piece(const TokenLayout& layout) {
  const bool marked = std::ranges::any_of(layout.texts, [](const std::string& text) {
    return text.size() > 2 && text.starts_with("##");
  });
  const bool classed = std::ranges::any_of(layout.special, [&](std::int64_t token) {
    return layout.texts[static_cast<std::size_t>(token)] == "[CLS]";
  });
  return marked || classed;
}

void append_token(const std::string& token, Run& run) {
  run.starts.push_back(run.text.size());
  if (!run.spaced) {
    run.text += token;
    return;
  }
  const bool continues = token.size() > 2 && token.starts_with("##");
  const bool closes = end_mark(token) > 0 || closing_mark(token) > 0 ||
                      begins_with_any(token, {",", ";", ":", "}", "%"});
  if (!continues && !closes && !run.text.empty()) run.text += ' ';
  run.text += continues ? token.substr(2) : token;
}

bool stands_for_text(const TokenLayout& layout, std::int64_t token) {
  return !layout.is_of_picture(token) && !std::ranges::binary_search(layout.special, token);
}

/// The runs between special tokens and pictures. Throws Error(usage) if `layout` has no texts.
std::vector<Run> runs_of(const TokenLayout& layout, std::int64_t tokens, std::string_view kind) {
  if (std::ssize(layout.texts) != tokens) {
    throw Error(ErrorKind::usage, "only a text has " + std::string(kind))
        .about("groups")
        .found("tokens without texts")
        .remedy("choose roles, or name the groups by hand: left=(0,0)-(6,3),others=rest");
  }
  const auto has_space = [](const std::string& text) {
    return text.find_first_of(kWhiteSpace) != std::string::npos;
  };
  const bool spaced = !std::ranges::any_of(layout.texts, has_space);
  if (spaced && kind != "parts" && tokens > 1 && !is_word_piece(layout)) {
    throw Error(ErrorKind::usage, "the tokens' texts show no ends of words")
        .about("groups")
        .expected("white space, or ## before tokens that continue a word")
        .remedy("name the groups by hand: subject=3-5,others=rest");
  }
  std::vector<Run> runs;
  bool open = false;
  for (std::int64_t token = 0; token < tokens; ++token) {
    if (!stands_for_text(layout, token)) {
      open = false;
      continue;
    }
    if (!open) runs.push_back({.first = token, .spaced = spaced});
    open = true;
    append_token(layout.texts[static_cast<std::size_t>(token)], runs.back());
  }
  return runs;
}

/// The positions in a text where a word begins, white space included, after the first.
std::vector<std::size_t> word_starts(const Run& run) {
  std::vector<std::size_t> starts = {};
  for (std::size_t at = 1; at < run.text.size(); ++at) {
    if (is_space(run.text[at]) && !is_space(run.text[at - 1])) starts.push_back(at);
  }
  return starts;
}

/// True if a blank line begins at the line feed `at`.
bool is_blank_line(std::string_view text, std::size_t at) {
  const std::size_t next = text.find_first_not_of(" \t\r", at + 1);
  return text[at] == '\n' && next != std::string_view::npos && text[next] == '\n';
}

/// The end of the sentence that ends with the mark at `at`, or nothing if none ends there.
std::optional<std::size_t> sentence_end(const Run& run, std::size_t at) {
  const std::string_view text = run.text;
  std::size_t end = at;
  bool ideographic = false;
  while (const std::size_t length =
             std::max(end_mark(text.substr(end)), end > at ? closing_mark(text.substr(end)) : 0)) {
    ideographic = ideographic || begins_with_any(text.substr(end), {"。", "！", "？"});
    end += length;
  }
  if (end == at || end == text.size()) return {};
  // Between digits, WordPiece separates the point of a number.
  const bool decimal = run.spaced && at > 0 && end + 1 < text.size() &&
                       is_ascii_digit(text[at - 1]) && is_ascii_digit(text[end + 1]);
  if (!ideographic && (!is_space(text[end]) || decimal)) return {};
  return end;
}

std::vector<std::size_t> sentence_starts(const Run& run) {
  std::vector<std::size_t> starts = {};
  for (std::size_t at = 0; at < run.text.size(); ++at) {
    if (const auto end = sentence_end(run, at)) {
      starts.push_back(*end);
      at = *end - 1;
    } else if (is_blank_line(run.text, at)) {
      starts.push_back(at);
    }
  }
  return starts;
}

/// Divides the tokens of a run before the first token that begins at each of `starts` or after it.
void divide(const Run& run, std::vector<std::size_t> starts, TokenGroups& groups) {
  const std::size_t end = run.text.find_last_not_of(kWhiteSpace);
  std::erase_if(starts, [&](std::size_t start) {
    const bool any_before = run.text.find_first_not_of(kWhiteSpace) < start;
    return !any_before || end == std::string::npos || start > end;
  });
  auto next = starts.begin();
  std::size_t begin = 0;
  TokenGroup group;
  const auto finish = [&](std::size_t until) {
    if (group.tokens.empty()) return;
    const std::string text = run.text.substr(begin, until - begin);
    group.name = in_one_line(text);
    if (group.name.empty()) group.name = visible_text(text);
    groups.push_back(std::exchange(group, {}));
  };
  for (std::size_t i = 0; i < run.starts.size(); ++i) {
    if (next != starts.end() && *next <= run.starts[i]) {
      finish(run.starts[i]);
      begin = run.starts[i];
      while (next != starts.end() && *next <= begin) ++next;
    }
    group.tokens.push_back(run.first + static_cast<std::int64_t>(i));
  }
  finish(run.text.size());
}

std::vector<std::int64_t> all_from(std::int64_t first, std::int64_t end) {
  std::vector<std::int64_t> tokens;
  for (std::int64_t token = first; token < end; ++token) tokens.push_back(token);
  return tokens;
}

/// The groups of a text's tokens that stand for no text.
TokenGroups textless_groups(const TokenLayout& layout) {
  TokenGroups groups;
  if (!layout.special.empty()) groups.push_back({"special tokens", layout.special, true});
  for (std::size_t i = 0; i < layout.pictures.size(); ++i) {
    const std::string number = layout.pictures.size() > 1 ? " " + std::to_string(i + 1) : "";
    groups.push_back({"picture" + number, layout.pictures[i].tokens(), true});
  }
  return groups;
}

TokenGroups groups_of_text(const TokenLayout& layout, std::int64_t tokens, GroupKind kind) {
  TokenGroups groups = textless_groups(layout);
  for (const Run& run : runs_of(layout, tokens, name_of(group_kind_names, kind))) {
    divide(run,
           kind == GroupKind::words       ? word_starts(run)
           : kind == GroupKind::sentences ? sentence_starts(run)
                                          : std::vector<std::size_t>{},
           groups);
  }
  return groups;
}

// Roles, and groups by hand.

TokenGroups roles_of(const TokenLayout& layout, std::int64_t tokens) {
  TokenGroups groups;
  if (layout.is_text()) {
    TokenGroup text{"text", {}};
    for (std::int64_t token = 0; token < tokens; ++token) {
      if (stands_for_text(layout, token)) text.tokens.push_back(token);
    }
    groups = textless_groups(layout);
    if (!text.tokens.empty()) groups.push_back(std::move(text));
    return groups;
  }
  const std::int64_t prefix = std::min(layout.prefix, tokens);
  const std::int64_t registers = std::max<std::int64_t>(prefix - layout.registers, 0);
  for (std::int64_t token = 0; token < registers; ++token) {
    groups.push_back({layout.name(token) + " token", {token}, true});
  }
  if (registers < prefix) groups.push_back({"registers", all_from(registers, prefix), true});
  if (prefix < tokens) {
    groups.push_back(
        {layout.is_grid_of(tokens) ? "patches" : "tokens", all_from(prefix, tokens), false});
  }
  return groups;
}

Error not_groups(std::string_view found) {
  return Error(ErrorKind::usage, "groups are a name and positions each")
      .about("groups")
      .expected("subject=3-5+9,others=rest, patches as (2,0)-(4,13); or " +
                name_list(group_kind_names, &EnumName<GroupKind>::name) + ", FILE.json")
      .found(std::string(found));
}

/// Reads groups by hand from left to right.
class HandReader {
 public:
  HandReader(const TokenLayout& layout, std::int64_t tokens, std::string_view text)
      : layout_(layout), count_(tokens), text_(text) {}

  /// The groups, with `rest` as a group without tokens.
  TokenGroups groups() {
    TokenGroups all;
    do {
      TokenGroup group{name(), {}};
      expect('=');
      group.tokens = places();
      all.push_back(std::move(group));
    } while (take(','));
    if (at_ != text_.size()) throw not_groups(text_);
    return all;
  }
  /// "3-5+9", all of the text.
  std::vector<std::int64_t> only_places() {
    std::vector<std::int64_t> found = places();
    if (at_ != text_.size()) throw not_groups(text_);
    return found;
  }

 private:
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw not_groups(text_);
  }
  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  std::string name() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '"') return quoted();
    const std::size_t end = text_.find_first_of("=,", at_);
    if (end == std::string_view::npos) throw not_groups(text_);
    std::string found(without_spaces(text_.substr(at_, end - at_)));
    at_ = end;
    if (found.empty()) throw not_groups(text_);
    return found;
  }
  /// A name as a string of JSON.
  std::string quoted() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) throw not_groups(text_);
    auto found = parse_json(text_.substr(at_, end + 1 - at_)).get<std::string>();
    at_ = end + 1;
    return found;
  }

  std::vector<std::int64_t> places() {
    skip_space();
    if (text_.substr(at_).starts_with(kRest)) {
      at_ += kRest.size();
      return {};
    }
    std::vector<std::int64_t> found;
    do {
      if (take('(')) {
        add_rectangle(found, 1);
      } else {
        add_range(found);
      }
    } while (take('+'));
    return found;
  }
  void add_range(std::vector<std::int64_t>& found) {
    const std::int64_t first = number();
    if (take('(')) return add_rectangle(found, first);
    std::int64_t last = first;
    if (take('-')) {
      skip_space();
      last = at_ < text_.size() && is_ascii_digit(text_[at_]) ? number() : count_ - 1;
    }
    check(first, count_);
    check(last, count_);
    if (last < first) throw not_groups(text_);
    for (std::int64_t token = first; token <= last; ++token) found.push_back(token);
  }
  /// "2,0)-(4,13)", after the first bracket, of picture `number`, from 1; "2,0)" alone is one cell.
  void add_rectangle(std::vector<std::int64_t>& found, std::int64_t number) {
    const TokenCells cells = layout_.cells_of(count_, number - 1);
    if (cells.count() == 0) {
      throw Error(ErrorKind::usage, number == 1 ? "the tokens form no grid of patches"
                                                : "the text has no such picture")
          .about("groups")
          .found(std::string(text_))
          .remedy("give positions: subject=3-5");
    }
    const auto [row, column] = cell(cells);
    auto [last_row, last_column] = std::pair(row, column);
    if (take('-')) {
      expect('(');
      std::tie(last_row, last_column) = cell(cells);
    }
    if (last_row < row || last_column < column) throw not_groups(text_);
    for (std::int64_t y = row; y <= last_row; ++y) {
      for (std::int64_t x = column; x <= last_column; ++x) {
        found.push_back(cells.token_at(y, x));
      }
    }
  }
  /// "2,0)", checked.
  std::pair<std::int64_t, std::int64_t> cell(const TokenCells& cells) {
    const std::int64_t row = number();
    expect(',');
    const std::int64_t column = number();
    expect(')');
    check(row, cells.rows);
    check(column, cells.columns);
    return {row, column};
  }
  std::int64_t number() {
    skip_space();
    std::size_t end = at_;
    while (end < text_.size() && is_ascii_digit(text_[end])) ++end;
    const auto found = parse_whole(text_.substr(at_, end - at_));
    if (!found) throw not_groups(text_);
    at_ = end;
    return *found;
  }
  static void check(std::int64_t index, std::int64_t count) {
    if (index < count) return;
    throw Error(ErrorKind::usage, "a group's token does not exist")
        .about("groups")
        .expected("below " + std::to_string(count))
        .found(std::to_string(index));
  }

  const TokenLayout& layout_;
  std::int64_t count_;
  std::string_view text_;
  std::size_t at_ = 0;
};

/// The group of a member of a JSON file.
TokenGroup group_of_json(const TokenLayout& layout, std::int64_t tokens, const std::string& name,
                         const nlohmann::ordered_json& value) {
  if (value.is_string()) {
    const auto& places = value.get_ref<const std::string&>();
    return {name, HandReader(layout, tokens, places).only_places()};
  }
  if (!value.is_array() || value.empty()) throw not_groups(value.dump());
  TokenGroup group{name, {}};
  for (const nlohmann::ordered_json& token : value) {
    if (!token.is_number_unsigned() ||
        token.get<std::uint64_t>() >= static_cast<std::uint64_t>(tokens)) {
      throw Error(ErrorKind::usage, "a group's token does not exist")
          .about(name)
          .expected("positions below " + std::to_string(tokens))
          .found(token.dump());
    }
    group.tokens.push_back(token.get<std::int64_t>());
  }
  return group;
}

TokenGroups groups_of_file(const TokenLayout& layout, std::int64_t tokens,
                           const std::filesystem::path& file) {
  constexpr std::size_t most = std::size_t{16} << 20;
  return with_file(file, [&] {
    const nlohmann::ordered_json object = parse_ordered_json(read_file(file, most));
    if (!object.is_object()) throw not_groups("a file without an object of groups");
    TokenGroups groups;
    for (const auto& [name, value] : object.items()) {
      groups.push_back(group_of_json(layout, tokens, name, value));
    }
    return groups;
  });
}

/// Sorts the tokens of each group, gives the one without tokens the rest, and checks that names and
/// tokens are there once.
TokenGroups checked(TokenGroups groups, std::int64_t tokens) {
  TokenGroup* rest = nullptr;
  std::vector<const TokenGroup*> owner(static_cast<std::size_t>(tokens), nullptr);
  for (TokenGroup& group : groups) {
    const auto same = std::ranges::count(groups, group.name, &TokenGroup::name);
    if (same > 1 || (group.tokens.empty() && rest != nullptr)) {
      throw Error(ErrorKind::usage, "a group is given once").about(group.name);
    }
    if (group.tokens.empty()) rest = &group;
    std::ranges::sort(group.tokens);
    for (const std::int64_t token : group.tokens) {
      const TokenGroup*& own = owner[static_cast<std::size_t>(token)];
      if (own != nullptr) {
        throw Error(ErrorKind::usage, "a token is in one group at most")
            .about("token " + std::to_string(token))
            .found("in " + own->name + " and " + group.name);
      }
      own = &group;
    }
  }
  if (rest == nullptr) return groups;
  for (std::int64_t token = 0; token < tokens; ++token) {
    if (owner[static_cast<std::size_t>(token)] == nullptr) rest->tokens.push_back(token);
  }
  if (rest->tokens.empty()) {
    throw Error(ErrorKind::usage, "no token is left for the rest").about(rest->name);
  }
  return groups;
}

}  // namespace

TokenGroups token_groups(const TokenLayout& layout, std::int64_t tokens, std::string_view written) {
  if (written.ends_with(".json")) {
    return checked(groups_of_file(layout, tokens, std::string(written)), tokens);
  }
  if (written.find('=') != std::string_view::npos) {
    return checked(HandReader(layout, tokens, written).groups(), tokens);
  }
  const bool is_auto = written == "auto";
  const GroupKind automatic = layout.is_text() ? GroupKind::sentences : GroupKind::roles;
  const GroupKind kind =
      is_auto ? automatic : value_of(group_kind_names, written, "kind of groups");
  return kind == GroupKind::roles ? roles_of(layout, tokens) : groups_of_text(layout, tokens, kind);
}

std::string groups_as_text(const TokenGroups& groups) {
  std::string text = {};
  for (const TokenGroup& group : groups) {
    const bool plain = group.name.find_first_of("=,\"\\") == std::string::npos &&
                       without_spaces(group.name) == group.name && !group.name.empty();
    text += (text.empty() ? "" : ",") +
            (plain ? group.name
                   : nlohmann::json(group.name)
                         .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) +
            '=';
    for (std::size_t first = 0, next = 0; first < group.tokens.size(); first = next) {
      next = first + 1;
      while (next < group.tokens.size() && group.tokens[next] == group.tokens[next - 1] + 1) ++next;
      text += (first > 0 ? "+" : "") + std::to_string(group.tokens[first]);
      if (next > first + 1) text += "-" + std::to_string(group.tokens[next - 1]);
    }
  }
  return text;
}

bool in_order(const TokenGroups& groups) {
  std::int64_t after = -1;
  return std::ranges::all_of(groups, [&](const TokenGroup& group) {
    if (group.special || group.tokens.empty()) return true;
    const bool follows = group.tokens.front() > after;
    after = group.tokens.back();
    return follows;
  });
}

std::vector<std::int64_t> group_of_tokens(const TokenGroups& groups, std::int64_t tokens) {
  std::vector<std::int64_t> found(static_cast<std::size_t>(tokens), -1);
  for (std::size_t index = 0; index < groups.size(); ++index) {
    for (const std::int64_t token : groups[index].tokens) {
      found[static_cast<std::size_t>(token)] = static_cast<std::int64_t>(index);
    }
  }
  return found;
}

}  // namespace attnscope
