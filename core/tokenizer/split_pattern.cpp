#define PCRE2_CODE_UNIT_WIDTH 8
#include "core/tokenizer/split_pattern.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <pcre2.h>
#include <utility>

#include "core/budget.h"
#include "core/error.h"
#include "core/utf8.h"

namespace attnscope {

namespace {

constexpr char kWord[] = R"(\p{L}\p{M}\p{N}\p{Pc})";

/// Translates Oniguruma's dialect to PCRE2's. Common constructs are copied.
class Translation {
 public:
  explicit Translation(std::string_view pattern) : from_(pattern) {}

  std::string take() {
    while (at_ < from_.size()) {
      const char c = from_[at_];
      if (c == '\\') {
        escape();
      } else if (in_set_) {
        set_member(c);
      } else if (c == '[') {
        open_set();
      } else if (c == '(') {
        group();
      } else if (c == '{') {
        repetition();
      } else {
        copy(1);
      }
    }
    return std::move(to_);
  }

 private:
  void copy(std::size_t count) {
    to_ += from_.substr(at_, count);
    at_ += count;
  }

  [[nodiscard]] std::string_view rest() const { return from_.substr(at_); }

  [[noreturn]] void refuse(std::string_view what) const {
    throw Error(ErrorKind::unsupported, "the tokenizer's regular expression is not supported")
        .about(std::string(from_))
        .found(std::string(what));
  }

  void open_set() {
    in_set_ = true;
    copy(1);
    if (rest().starts_with("^")) copy(1);
    if (rest().starts_with("]")) refuse("a set that begins with ]");
  }

  void set_member(char c) {
    if (rest().starts_with("[:")) {
      const std::size_t end = from_.find(":]", at_);
      if (end == std::string_view::npos) refuse("[: without :]");
      copy(end + 2 - at_);
      return;
    }
    if (c == '[') refuse("a set in a set");
    if (rest().starts_with("&&")) refuse("an intersection of sets");
    if (c == ']') in_set_ = false;
    copy(1);
  }

  void group() {
    if (rest().starts_with("(*")) refuse("(*");
    if (!rest().starts_with("(?")) return copy(1);
    for (const std::string_view known :
         {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?i)", "(?-i:"}) {
      if (rest().starts_with(known)) return copy(known.size());
    }
    refuse(rest().substr(0, 4));
  }

  /// Translates {n}, {n,}, {,m} and {n,m}; other braces are literal.
  void repetition() {
    const std::size_t end = from_.find('}', at_);
    const std::string_view inside = end == std::string_view::npos
                                        ? std::string_view("x")
                                        : from_.substr(at_ + 1, end - at_ - 1);
    if (inside.empty() || inside == "," ||
        inside.find_first_not_of("0123456789,") != std::string_view::npos) {
      return copy(1);
    }
    const bool from_nothing = inside.starts_with(",");
    copy(1);
    if (from_nothing) to_ += '0';
    copy(inside.size() + 1);
    if (rest().starts_with("+")) refuse("a repetition of {n,m}");
  }

  void escape() {
    if (at_ + 1 >= from_.size()) refuse("\\ at the end");
    const char c = from_[at_ + 1];
    switch (c) {
      case 's':
        return put(R"(\p{White_Space})");
      case 'S':
        return put(R"(\P{White_Space})");
      case 'd':
        return put(R"(\p{Nd})");
      case 'D':
        return put(R"(\P{Nd})");
      case 'w':
        return put(in_set_ ? std::string(kWord) : "[" + std::string(kWord) + "]");
      case 'W':
        if (in_set_) refuse("\\W in a set");
        return put("[^" + std::string(kWord) + "]");
      case 'v':
        return put(R"(\x0B)");
      case 'u':
        return code_point();
      case 'p':
      case 'P':
      case 'n':
      case 'r':
      case 't':
      case 'f':
        return copy(2);
      case 'x':
        return hexadecimal();
      case 'A':
      case 'z':
        if (!in_set_) return copy(2);
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x80 &&
            std::isalnum(static_cast<unsigned char>(c)) == 0) {
          return copy(2);
        }
    }
    refuse(from_.substr(at_, 2));
  }

  void put(const std::string& instead) {
    to_ += instead;
    at_ += 2;
  }

  [[nodiscard]] bool has_hexadecimal(std::size_t begin, std::size_t count) const {
    if (begin + count > from_.size()) return false;
    for (std::size_t i = begin; i < begin + count; ++i) {
      if (std::isxdigit(static_cast<unsigned char>(from_[i])) == 0) return false;
    }
    return true;
  }

  void code_point() {
    if (!has_hexadecimal(at_ + 2, 4)) refuse("\\u");
    to_ += "\\x{" + std::string(from_.substr(at_ + 2, 4)) + "}";
    at_ += 6;
  }

  void hexadecimal() {
    if (rest().starts_with("\\x{")) return copy(3);
    // Two digits are a byte, and a byte above 7F is not a whole character.
    if (!has_hexadecimal(at_ + 2, 2) || from_[at_ + 2] > '7') refuse("\\x");
    copy(4);
  }

  std::string_view from_;
  std::size_t at_ = 0;
  bool in_set_ = false;
  std::string to_;
};

struct FreeContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

}  // namespace

struct SplitPattern::Program {
  explicit Program(pcre2_code* compiled)
      : code(compiled), limits(pcre2_match_context_create(nullptr)) {
    constexpr std::uint32_t depth = 100'000, kibibytes = 64 << 10;
    pcre2_set_depth_limit(limits, depth);
    pcre2_set_heap_limit(limits, kibibytes);
  }
  ~Program() {
    pcre2_match_context_free(limits);
    pcre2_code_free(code);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pcre2_code* code;
  pcre2_match_context* limits;
};

SplitPattern SplitPattern::regular_expression(std::string_view pattern) {
  const std::string translated = Translation(pattern).take();
  int problem = 0;
  PCRE2_SIZE where = 0;
  pcre2_code* const code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &problem, &where, nullptr);
  if (!code) {
    PCRE2_UCHAR message[256];
    pcre2_get_error_message(problem, message, sizeof message);
    throw Error(ErrorKind::unsupported, "the tokenizer's regular expression is not understood")
        .about(std::string(pattern))
        .found(reinterpret_cast<const char*>(message));
  }
  SplitPattern result;
  std::size_t bytes = 0;
  pcre2_pattern_info(code, PCRE2_INFO_SIZE, &bytes);
  result.program_ = std::make_shared<const Program>(code);
  spend_work(bytes);
  return result;
}

SplitPattern SplitPattern::literal(std::string text) {
  SplitPattern result;
  result.literal_ = std::move(text);
  return result;
}

namespace {

using Match = std::optional<std::pair<std::size_t, std::size_t>>;

/// Matches of an expression in a text. PCRE2 limits the steps per start position and does not
/// report their number. So few steps are allowed at first; a position that needs more is tried
/// again with a higher limit, which is charged to the budget.
class Matches {
 public:
  Matches(const SplitPattern::Program& program, std::string_view text)
      : program_(program),
        text_(text),
        limits_(pcre2_match_context_copy(program.limits)),
        data_(pcre2_match_data_create_from_pattern(program.code, nullptr)) {}

  /// The first match that begins at or after `at`.
  [[nodiscard]] Match next(std::size_t at) {
    while (at <= text_.size()) {
      const int found = run(at, kFewSteps, 0);
      if (found != PCRE2_ERROR_MATCHLIMIT) return match_of(found, at);
      // The limit was reached at some position from `at` on. Searches one position at a time from
      // here.
      int here = PCRE2_ERROR_NOMATCH;
      for (bool long_one = false; !long_one && at <= text_.size();) {
        here = run(at, kFewSteps, PCRE2_ANCHORED);
        long_one = here == PCRE2_ERROR_MATCHLIMIT;
        if (long_one) here = with_more_steps(at);
        if (here != PCRE2_ERROR_NOMATCH) return match_of(here, at);
        spend_work(1);
        at += at < text_.size() ? utf8_length(text_, at) : 1;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t kFewSteps = 64, kMostSteps = 2'000'000;

  int run(std::size_t at, std::uint32_t steps, std::uint32_t options) {
    pcre2_set_match_limit(limits_.get(), steps);
    return pcre2_match(program_.code, reinterpret_cast<PCRE2_SPTR>(text_.data()), text_.size(), at,
                       PCRE2_NO_UTF_CHECK | options, data_.get(), limits_.get());
  }

  int with_more_steps(std::size_t at) {
    int found = PCRE2_ERROR_MATCHLIMIT;
    for (std::uint32_t steps = kFewSteps; found == PCRE2_ERROR_MATCHLIMIT && steps < kMostSteps;) {
      steps = std::min(8 * steps, kMostSteps);
      spend_work(steps);
      found = run(at, steps, PCRE2_ANCHORED);
    }
    return found;
  }

  [[nodiscard]] Match match_of(int found, std::size_t at) const {
    if (found == PCRE2_ERROR_NOMATCH) {
      spend_work(text_.size() - at + 1);
      return std::nullopt;
    }
    if (found < 0) {
      throw Error(ErrorKind::unsupported,
                  "the tokenizer's regular expression takes too many steps on this text");
    }
    const PCRE2_SIZE* const place = pcre2_get_ovector_pointer(data_.get());
    spend_work(place[1] - at + 1);
    return Match({place[0], place[1]});
  }

  const SplitPattern::Program& program_;
  std::string_view text_;
  std::unique_ptr<pcre2_match_context, FreeContext> limits_;
  std::unique_ptr<pcre2_match_data, FreeContext> data_;
};

}  // namespace

std::vector<SplitPattern::Part> SplitPattern::parts(std::string_view text) const {
  std::optional<Matches> matches;
  if (program_) matches.emplace(*program_, text);
  const auto next = [&](std::size_t at) -> Match {
    if (matches) return matches->next(at);
    const std::size_t found = text.find(literal_, at);
    if (found == std::string_view::npos) return std::nullopt;
    return Match({found, found + literal_.size()});
  };
  std::vector<Part> parts;
  if (text.empty()) return parts;
  std::optional<std::size_t> last;  // end of the previous match
  std::size_t covered = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const Match match = next(at);
    if (!match) break;
    const auto [begin, end] = *match;
    // Skips an empty match right after another match, which would never end.
    if (begin == end && last == end) {
      at += at < text.size() ? utf8_length(text, at) : 1;
      continue;
    }
    if (covered < begin) parts.push_back({covered, begin, false});
    parts.push_back({begin, end, true});
    at = covered = end;
    last = end;
  }
  if (covered < text.size()) parts.push_back({covered, text.size(), false});
  return parts;
}

}  // namespace attnscope
