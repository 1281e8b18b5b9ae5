#include "core/tokenizer/jinja.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tokenizer/jinja_operations.h"

namespace attnscope {

namespace jinja {

namespace {

using std::size_t;
using std::string;
using std::string_view;

constexpr size_t kMostText = size_t{16} << 20;  // bytes
constexpr std::int64_t kMostSteps = 2'000'000;
constexpr int kMostDepth = 60;

// ---- Pieces ----

enum class ChunkKind { text, output, statement };

/// A word of an expression: a name, a number, a text in quotes, or a sign.
struct Word {
  enum class Kind { name, number, text, sign, end } kind = Kind::end;
  string text;
};

struct Piece {
  ChunkKind kind = ChunkKind::text;
  string text = {};              ///< for ChunkKind::text
  std::vector<Word> words = {};  ///< for the other kinds
  std::int64_t line = 1;         ///< in the template
};

bool is_name_sign(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

char escaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case '\\':
    case '\'':
    case '"':
      return c;
    default:
      throw not_understood(string("the escape \\") + c);
  }
}

/// The words of an expression or statement.
std::vector<Word> words_of(string_view text) {
  std::vector<Word> words;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at;
    } else if (is_name_sign(c)) {
      size_t end = at;
      const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      while (end < text.size() && (is_name_sign(text[end]) || (number && text[end] == '.'))) ++end;
      words.push_back(
          {number ? Word::Kind::number : Word::Kind::name, string(text.substr(at, end - at))});
      at = end;
    } else if (c == '\'' || c == '"') {
      string value;
      for (++at; at < text.size() && text[at] != c; ++at) {
        const bool escape = text[at] == '\\' && at + 1 < text.size();
        value += escape ? escaped(text[++at]) : text[at];
      }
      if (at >= text.size()) throw not_understood("a text without its closing quote");
      ++at;
      words.push_back({Word::Kind::text, std::move(value)});
    } else {
      constexpr string_view two[] = {"==", "!=", "<=", ">=", "//", "**"};
      const bool long_sign = std::ranges::find(two, text.substr(at, 2)) != std::end(two);
      words.push_back({Word::Kind::sign, string(text.substr(at, long_sign ? 2 : 1))});
      at += long_sign ? 2 : 1;
    }
  }
  return words;
}

/// The place after the tag's end, not counting ends within quotes.
size_t end_of_tag(string_view source, size_t at, string_view end) {
  char quote = 0;
  for (; at < source.size(); ++at) {
    const char c = source[at];
    if (quote != 0) {
      if (c == '\\') {
        ++at;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (source.substr(at).starts_with(end)) {
      return at + end.size();
    } else if ((c == '\'' || c == '"') && end != "#}") {
      quote = c;
    }
  }
  throw not_understood("a tag without its end " + string(end));
}

/// Cuts the template into pieces and takes away the white space that Jinja takes away.
class Cutter {
 public:
  explicit Cutter(const string& source) : source_(source) {
    if (source_.ends_with('\n')) source_.remove_suffix(1);
  }

  std::vector<Piece> pieces() {
    try {
      while (at_ < source_.size()) {
        const size_t tag = next_tag();
        add_text(tag);
        if (tag < source_.size()) add_tag(tag);
      }
    } catch (Error& error) {
      throw error.about("line " + std::to_string(line_));
    }
    return std::move(pieces_);
  }

 private:
  [[nodiscard]] size_t next_tag() const {
    for (size_t at = source_.find('{', at_); at != string_view::npos;
         at = source_.find('{', at + 1)) {
      const char next = at + 1 < source_.size() ? source_[at + 1] : ' ';
      if (next == '{' || next == '%' || next == '#') return at;
    }
    return source_.size();
  }

  void add_text(size_t end) {
    string_view text = source_.substr(at_, end - at_);
    const auto lines = std::ranges::count(text, '\n');
    if (strip_next_) text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (trim_next_ && text.starts_with('\n')) text.remove_prefix(1);
    if (end < source_.size()) {
      const char sign = end + 2 < source_.size() ? source_[end + 2] : ' ';
      const size_t last = text.find_last_not_of(" \t\r\n");
      if (sign == '-') {
        text = text.substr(0, last == string_view::npos ? 0 : last + 1);
      } else if (source_[end + 1] != '{' && sign != '+') {
        text = without_indent(text, end);
      }
    }
    if (!text.empty()) pieces_.push_back({ChunkKind::text, string(text), {}, line_});
    line_ += lines;
    at_ = end;
  }

  /// Without the spaces between the beginning of a line and the tag at `tag`.
  [[nodiscard]] string_view without_indent(string_view text, size_t tag) const {
    const size_t before = source_.substr(0, tag).find_last_not_of(" \t");
    const bool begins = before == string_view::npos || source_[before] == '\n';
    if (!begins) return text;
    const size_t last = text.find_last_not_of(" \t");
    return text.substr(0, last == string_view::npos ? 0 : last + 1);
  }

  void add_tag(size_t tag) {
    const char sign = source_[tag + 1];
    const string_view end = sign == '{' ? "}}" : sign == '%' ? "%}" : "#}";
    at_ = end_of_tag(source_, tag + 2, end);
    string_view inner = source_.substr(tag + 2, at_ - end.size() - tag - 2);
    const auto lines = std::ranges::count(inner, '\n');
    if (inner.starts_with('-') || inner.starts_with('+')) inner.remove_prefix(1);
    strip_next_ = inner.ends_with('-');
    trim_next_ = sign != '{' && !inner.ends_with('+');
    if (inner.ends_with('-') || inner.ends_with('+')) inner.remove_suffix(1);
    if (sign != '#') {
      pieces_.push_back(
          {sign == '{' ? ChunkKind::output : ChunkKind::statement, {}, words_of(inner), line_});
    }
    line_ += lines;
  }

  string_view source_;
  size_t at_ = 0;
  std::int64_t line_ = 1;
  bool strip_next_ = false, trim_next_ = false;
  std::vector<Piece> pieces_;
};

/// Name of the statement, or empty.
string_view statement_of(const Piece& piece) {
  const bool named = piece.kind == ChunkKind::statement && !piece.words.empty() &&
                     piece.words.front().kind == Word::Kind::name;
  return named ? string_view(piece.words.front().text) : string_view();
}

// ---- Running ----

struct Macro {
  std::vector<std::pair<string, Value>> parameters;  ///< with their defaults, or undefined
  size_t begin = 0, end = 0;                         ///< pieces
};

class Renderer {
 public:
  Renderer(std::vector<Piece> pieces, const Value& variables) : pieces_(std::move(pieces)) {
    scopes_.emplace_back();
    for (const auto& [name, value] : variables.items()) scopes_.front()[name] = value;
  }

  string all() {
    try {
      run(0, pieces_.size());
      return std::move(output_);
    } catch (Error& error) {
      if (error.kind() == ErrorKind::unsupported) error.about("line " + std::to_string(line_));
      throw;
    }
  }

  Value value_of(const string& name) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->find(name);
      if (found == scope->end()) continue;
      charge(found->second);
      return found->second;
    }
    return undefined();
  }

  Value call(const string& name, const Arguments& arguments);

 private:
  enum class Leave { no, loop, round };
  using Scope = std::map<string, Value>;

  /// The index of the piece with one of `names` that ends the block whose pieces begin at `at`.
  [[nodiscard]] size_t end_of_block(size_t at, size_t end,
                                    std::initializer_list<string_view> names) const;
  void take_steps(std::int64_t count) {
    steps_ += count;
    if (steps_ <= kMostSteps && output_.size() <= kMostText) return;
    throw not_understood("a template that takes too long");
  }
  /// Takes a step for each part of a value that is copied, and one for 64 bytes of text.
  void charge(const Value& value) {
    take_steps(1 + (value.is_string() ? std::ssize(value.get_ref<const string&>()) / 64 : 0));
    if (!value.is_structured()) return;
    for (const Value& part : value) charge(part);
  }
  void step(const Piece& piece) {
    line_ = piece.line;
    take_steps(1 + std::ssize(piece.words) / 8);
  }
  void run(size_t begin, size_t end);
  size_t run_statement(size_t at, size_t end);
  size_t run_if(size_t at, size_t end);
  size_t run_for(size_t at, size_t end);
  size_t run_set(size_t at, size_t end);
  size_t run_macro(size_t at, size_t end);
  void run_rounds(const std::vector<string>& names, const std::vector<Value>& list, size_t begin,
                  size_t end);
  void assign(const std::vector<string>& names, const Value& value);
  string rendered(size_t begin, size_t end);
  /// Checks the depth of nested blocks and calls.
  struct Deeper {
    explicit Deeper(int& depth) : depth(depth) {
      if (++depth > kMostDepth) throw not_understood("a template that is nested too deep");
    }
    ~Deeper() { --depth; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    int& depth;
  };

  std::vector<Piece> pieces_;
  std::vector<Scope> scopes_;
  std::map<string, Macro> macros_;
  string output_;
  Leave leave_ = Leave::no;
  std::int64_t steps_ = 0, line_ = 1;
  int depth_ = 0;
};

// ---- Expressions ----

/// Reads and computes an expression at once. Parts that are not reached (the other branch of a
/// condition, the rest of an `and`) are read with `live_` off, and give undefined.
class Expression {
 public:
  Expression(Renderer& renderer, const std::vector<Word>& words, size_t at = 0)
      : renderer_(renderer), words_(words), at_(at) {}

  /// The value of the whole expression up to the end of the words.
  Value whole() {
    Value value = conditional();
    expect_end();
    return value;
  }
  Value conditional() {
    if (++depth_ > kMostDepth) throw not_understood("an expression that is nested too deep");
    // The first branch is read before its condition, and computed after it.
    const size_t begin = at_;
    (void)with_live(false, [&] { return either(); });
    const bool chooses = take_name("if");
    const bool holds = !chooses || truth(either());
    const size_t after = at_;
    Value value = undefined();
    if (live_ && holds) {
      at_ = begin;
      value = either();
      at_ = after;
    }
    if (chooses && take_name("else")) {
      Value other = with_live(!holds, [&] { return conditional(); });
      if (!holds) value = std::move(other);
    }
    --depth_;
    return value;
  }
  [[nodiscard]] bool at_end() const { return at_ >= words_.size(); }
  void expect_end() const {
    if (!at_end()) throw not_understood("“" + words_[at_].text + "” after an expression");
  }
  bool take_name(string_view name) { return take(Word::Kind::name, name); }
  bool take_sign(string_view sign) { return take(Word::Kind::sign, sign); }
  [[nodiscard]] bool sees_sign(string_view sign) const {
    return !at_end() && words_[at_].kind == Word::Kind::sign && words_[at_].text == sign;
  }
  void expect_sign(string_view sign) {
    if (!take_sign(sign)) throw not_understood("an expression without “" + string(sign) + "”");
  }
  string name() {
    if (at_end() || words_[at_].kind != Word::Kind::name)
      throw not_understood("a statement without a name");
    return words_[at_++].text;
  }
  /// Arguments up to the closing bracket, whose opening one was read.
  Arguments arguments() {
    Arguments all;
    while (!take_sign(")")) {
      const bool named = at_ + 1 < words_.size() && words_[at_].kind == Word::Kind::name &&
                         words_[at_ + 1].kind == Word::Kind::sign && words_[at_ + 1].text == "=";
      if (named) {
        const string key = name();
        ++at_;
        all.named[key] = conditional();
      } else {
        all.list.push_back(conditional());
      }
      if (!sees_sign(")")) expect_sign(",");
    }
    return all;
  }

 private:
  bool take(Word::Kind kind, string_view text) {
    const bool is = !at_end() && words_[at_].kind == kind && words_[at_].text == text;
    if (is) ++at_;
    return is;
  }
  Value with_live(bool live, const auto& read) {
    const bool before = live_;
    live_ = live_ && live;
    Value value = read();
    live_ = before;
    return value;
  }
  /// `compute()` if this part is reached.
  Value reached(const auto& compute) { return live_ ? Value(compute()) : undefined(); }

  Value either() {
    Value value = both();
    while (take_name("or")) {
      const bool holds = truth(value);
      Value other = with_live(!holds, [&] { return both(); });
      if (!holds) value = std::move(other);
    }
    return value;
  }
  Value both() {
    Value value = negation();
    while (take_name("and")) {
      const bool holds = truth(value);
      Value other = with_live(holds, [&] { return negation(); });
      if (holds) value = std::move(other);
    }
    return value;
  }
  Value negation() {
    int times = 0;
    while (take_name("not")) ++times;
    Value value = comparison();
    if (times == 0) return value;
    return reached([&] { return truth(value) == (times % 2 == 0); });
  }
  Value comparison() {
    Value value = sum();
    for (string operation = comparison_sign(); !operation.empty(); operation = comparison_sign()) {
      const Value other = sum();
      value = reached([&] { return binary(operation, value, other); });
    }
    return value;
  }
  string comparison_sign() {
    for (const char* sign : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (take_sign(sign)) return sign;
    }
    if (take_name("in")) return "in";
    const bool not_in =
        at_ + 1 < words_.size() && words_[at_].text == "not" && words_[at_ + 1].text == "in";
    if (not_in) at_ += 2;
    return not_in ? "not in" : "";
  }
  Value sum() {
    return left_to_right({"+", "-"}, [&] { return concatenation(); });
  }
  Value concatenation() {
    return left_to_right({"~"}, [&] { return product(); });
  }
  Value product() {
    return left_to_right({"*", "//", "/", "%"}, [&] { return sign(); });
  }
  Value left_to_right(std::initializer_list<const char*> signs, const auto& operand) {
    Value value = operand();
    while (true) {
      const auto* const found =
          std::ranges::find_if(signs, [&](const char* one) { return take_sign(one); });
      if (found == signs.end()) return value;
      const Value other = operand();
      value = reached([&] { return binary(*found, value, other); });
    }
  }
  Value sign() {
    if (take_sign("-")) {
      if (sees_sign("-")) throw not_understood("“--”");
      const Value value = parts_of(primary());
      return reached([&] { return binary("-", 0, value); });
    }
    return filtered(parts_of(primary()));
  }
  Value filtered(Value value) {
    while (true) {
      if (take_sign("|")) {
        const string filter = name();
        const Arguments given = take_sign("(") ? arguments() : Arguments{};
        value = reached([&] { return apply_filter(filter, value, given); });
      } else if (take_name("is")) {
        const bool wanted = !take_name("not");
        value = test(value, wanted);
      } else {
        return value;
      }
    }
  }
  Value test(const Value& value, bool wanted) {
    string test = name();
    if (test == "not") throw not_understood("is not not");
    Arguments given;
    if (take_sign("(")) {
      given = arguments();
    } else if (begins_argument()) {
      given.list.push_back(parts_of(primary()));
    }
    return reached([&] { return apply_test(test, value, given) == wanted; });
  }
  /// True if a test has an argument without brackets here.
  [[nodiscard]] bool begins_argument() const {
    if (at_end()) return false;
    constexpr string_view after[] = {"else", "or", "and", "if", "is", "not", "in"};
    const Word& word = words_[at_];
    if (word.kind == Word::Kind::sign) return word.text == "[" || word.text == "{";
    return word.kind != Word::Kind::name || std::ranges::find(after, word.text) == std::end(after);
  }
  /// Members, indices and calls of methods.
  Value parts_of(Value value) {
    while (true) {
      if (take_sign(".")) {
        const string member = name();
        if (take_sign("(")) {
          const Arguments given = arguments();
          value = reached([&] { return call_method(value, member, given); });
        } else {
          value = reached([&] { return element(value, member); });
        }
      } else if (take_sign("[")) {
        value = index_into(value);
      } else {
        return value;
      }
    }
  }
  Value index_into(const Value& value) {
    Value bounds[3] = {undefined(), undefined(), undefined()};
    int part = 0;
    while (!take_sign("]")) {
      if (take_sign(":")) {
        if (++part > 2) throw not_understood("a slice of more than three parts");
      } else {
        bounds[part] = conditional();
      }
    }
    return reached([&] {
      return part == 0 ? element(value, bounds[0]) : slice(value, bounds[0], bounds[1], bounds[2]);
    });
  }
  Value primary() {
    if (at_end()) throw not_understood("an expression that ends early");
    const Word word = words_[at_++];
    switch (word.kind) {
      case Word::Kind::text: {
        string text = word.text;
        while (!at_end() && words_[at_].kind == Word::Kind::text) text += words_[at_++].text;
        return text;
      }
      case Word::Kind::number:
        return number(word.text);
      case Word::Kind::name:
        return named(word.text);
      default:
        return literal(word.text);
    }
  }
  static Value number(const string& text) {
    const bool whole = text.find_first_not_of("0123456789") == string::npos;
    if (whole && text.size() < 18) return static_cast<std::int64_t>(std::stoll(text));
    const Value value = Value::parse(text, nullptr, false);
    if (!value.is_number()) throw not_understood("the number " + text);
    return value;
  }
  Value named(const string& name) {
    if (name == "true" || name == "True") return true;
    if (name == "false" || name == "False") return false;
    if (name == "none" || name == "None") return Value();
    if (!take_sign("(")) return reached([&] { return renderer_.value_of(name); });
    const Arguments given = arguments();
    return reached([&] { return renderer_.call(name, given); });
  }
  Value literal(const string& sign) {
    if (sign == "(" || sign == "[") {
      const char* const close = sign == "(" ? ")" : "]";
      Value list = Value::array();
      bool single = sign == "(";
      while (!take_sign(close)) {
        Value one = conditional();
        list.push_back(is_undefined(one) ? Value() : one);
        if (take_sign(",")) {
          single = false;
        } else if (!sees_sign(close)) {
          throw not_understood("a list without its end");
        } else if (single) {
          expect_sign(close);
          return one;
        }
      }
      return list;
    }
    if (sign != "{") throw not_understood("“" + sign + "”");
    Value mapping = Value::object();
    while (!take_sign("}")) {
      const Value key = conditional();
      expect_sign(":");
      const Value member = conditional();
      if (live_) mapping[printed(key)] = is_undefined(member) ? Value() : member;
      if (!sees_sign("}")) expect_sign(",");
    }
    return mapping;
  }

  Renderer& renderer_;
  const std::vector<Word>& words_;
  size_t at_;
  bool live_ = true;
  int depth_ = 0;
};

// ---- Statements ----

Value range(const Arguments& given) {
  const auto number = [&](size_t index, std::int64_t usual) {
    const Value value = given.at(index);
    return value.is_number_integer() ? value.get<std::int64_t>() : usual;
  };
  const bool one = given.list.size() == 1;
  const std::int64_t first = one ? 0 : number(0, 0), end = number(one ? 0 : 1, 0),
                     by = number(2, 1);
  Value list = Value::array();
  if (by == 0) throw not_understood("a range of step 0");
  for (std::int64_t i = first; by > 0 ? i < end : i > end; i += by) {
    list.push_back(i);
    if (std::ssize(list) > 10'000) throw not_understood("a range of more than 10,000 numbers");
  }
  return list;
}

Value Renderer::call(const string& name, const Arguments& given) {
  if (name == "raise_exception") {
    throw Error(ErrorKind::usage, "the model's chat template refuses the message")
        .found(printed(given.at(0)));
  }
  if (name == "range") return range(given);
  if (name == "namespace" || name == "dict") {
    Value mapping = Value::object();
    for (const auto& [key, value] : given.named)
      mapping[key] = is_undefined(value) ? Value() : value;
    return mapping;
  }
  const auto found = macros_.find(name);
  if (found == macros_.end()) throw not_understood("the function “" + name + "”");
  const Deeper deeper(depth_);
  const Macro& macro = found->second;
  Scope own;
  for (size_t i = 0; i < macro.parameters.size(); ++i) {
    const auto& [parameter, usual] = macro.parameters[i];
    const Value value = given.at(i, parameter);
    own[parameter] = is_undefined(value) ? usual : value;
  }
  std::vector<Scope> outside = std::exchange(scopes_, {scopes_.front(), std::move(own)});
  string text = rendered(macro.begin, macro.end);
  scopes_ = std::move(outside);
  return text;
}

string Renderer::rendered(size_t begin, size_t end) {
  string before = std::exchange(output_, {});
  run(begin, end);
  return std::exchange(output_, std::move(before));
}

size_t Renderer::end_of_block(size_t at, size_t end,
                              std::initializer_list<string_view> names) const {
  int depth = 0;
  for (; at < end; ++at) {
    const string_view name = statement_of(pieces_[at]);
    if (depth == 0 && std::ranges::find(names, name) != names.end()) return at;
    const auto& words = pieces_[at].words;
    const bool block_set = name == "set" && std::ranges::none_of(words, [](const Word& word) {
                             return word.kind == Word::Kind::sign && word.text == "=";
                           });
    if (name == "if" || name == "for" || name == "macro" || block_set) ++depth;
    if (name == "endif" || name == "endfor" || name == "endmacro" || name == "endset") --depth;
  }
  throw not_understood("a block without its end");
}

void Renderer::run(size_t begin, size_t end) {
  const Deeper deeper(depth_);
  for (size_t at = begin; at < end && leave_ == Leave::no;) {
    const Piece& piece = pieces_[at];
    step(piece);
    if (piece.kind == ChunkKind::text) {
      output_ += piece.text;
      ++at;
    } else if (piece.kind == ChunkKind::output) {
      output_ += printed(Expression(*this, piece.words).whole());
      ++at;
    } else {
      at = run_statement(at, end);
    }
  }
}

size_t Renderer::run_statement(size_t at, size_t end) {
  const string name(statement_of(pieces_[at]));
  if (name == "if") return run_if(at, end);
  if (name == "for") return run_for(at, end);
  if (name == "set") return run_set(at, end);
  if (name == "macro") return run_macro(at, end);
  if (name == "generation" || name == "endgeneration") return at + 1;  // marks of the training
  if (name == "break" || name == "continue") {
    leave_ = name == "break" ? Leave::loop : Leave::round;
    return at + 1;
  }
  throw not_understood("the statement “" + name + "”");
}

size_t Renderer::run_if(size_t at, size_t end) {
  const size_t after = end_of_block(at + 1, end, {"endif"});
  take_steps(static_cast<std::int64_t>(after - at) / 8);
  bool done = false;
  for (size_t branch = at; branch < after;) {
    const size_t next = end_of_block(branch + 1, after + 1, {"elif", "else", "endif"});
    const Piece& piece = pieces_[branch];
    const bool other = statement_of(piece) == "else";
    if (!done && (other || truth(Expression(*this, piece.words, 1).whole()))) {
      run(branch + 1, next);
      done = true;
    }
    branch = next;
  }
  return after + 1;
}

void Renderer::assign(const std::vector<string>& names, const Value& value) {
  charge(value);
  if (names.size() == 1) {
    scopes_.back()[names.front()] = value;
    return;
  }
  const std::vector<Value> parts = elements(value);
  if (parts.size() != names.size()) throw not_understood("a value of another number of parts");
  for (size_t i = 0; i < names.size(); ++i) scopes_.back()[names[i]] = parts[i];
}

size_t Renderer::run_for(size_t at, size_t end) {
  const size_t after = end_of_block(at + 1, end, {"endfor"});
  take_steps(static_cast<std::int64_t>(after - at) / 8);
  const size_t other = std::min(end_of_block(at + 1, after + 1, {"else", "endfor"}), after);
  Expression head(*this, pieces_[at].words, 1);
  const bool bracket = head.take_sign("(");
  std::vector<string> names = {head.name()};
  while (head.take_sign(",")) names.push_back(head.name());
  if (bracket) head.expect_sign(")");
  if (!head.take_name("in")) throw not_understood("a loop without “in”");
  // The condition after `if` belongs to the loop and is computed for each element.
  std::vector<Word> source = pieces_[at].words;
  int depth = 0;
  size_t condition = 0, first = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    const bool sign = source[i].kind == Word::Kind::sign;
    if (sign && (source[i].text == "(" || source[i].text == "[" || source[i].text == "{")) ++depth;
    if (sign && (source[i].text == ")" || source[i].text == "]" || source[i].text == "}")) --depth;
    const bool name = source[i].kind == Word::Kind::name && depth == 0;
    if (name && first == 0 && source[i].text == "in") first = i + 1;
    if (name && first > 0 && source[i].text == "recursive")
      throw not_understood("a recursive loop");
    if (name && first > 0 && condition == 0 && source[i].text == "if") condition = i;
  }
  const std::vector<Word> wanted(
      condition ? source.begin() + static_cast<std::ptrdiff_t>(condition) + 1 : source.end(),
      source.end());
  if (condition) source.resize(condition);
  std::vector<Value> list = elements(Expression(*this, source, first).whole());
  scopes_.emplace_back();
  if (!wanted.empty()) {
    std::erase_if(list, [&](const Value& one) {
      assign(names, one);
      return !truth(Expression(*this, wanted).whole());
    });
  }
  run_rounds(names, list, at + 1, other);
  scopes_.pop_back();
  if (list.empty() && other < after) run(other + 1, after);
  return after + 1;
}

void Renderer::run_rounds(const std::vector<string>& names, const std::vector<Value>& list,
                          size_t begin, size_t end) {
  const std::int64_t count = std::ssize(list);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<size_t>(i);
    scopes_.back().clear();
    assign(names, list[index]);
    Value loop = {{"index0", i}, {"index", i + 1}, {"first", i == 0}, {"last", i + 1 == count}};
    loop["length"] = count;
    loop["revindex"] = count - i;
    loop["revindex0"] = count - i - 1;
    if (i > 0) loop["previtem"] = list[index - 1];
    if (i + 1 < count) loop["nextitem"] = list[index + 1];
    scopes_.back()["loop"] = std::move(loop);
    run(begin, end);
    const Leave left = std::exchange(leave_, Leave::no);
    if (left == Leave::loop) return;
  }
}

size_t Renderer::run_set(size_t at, size_t end) {
  Expression head(*this, pieces_[at].words, 1);
  std::vector<string> names = {head.name()};
  if (head.take_sign(".")) {
    const string member = head.name();
    head.expect_sign("=");
    const Value value = head.whole();
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->find(names.front());
      if (found == scope->end()) continue;
      if (!found->second.is_object()) break;
      found->second[member] = is_undefined(value) ? Value() : value;
      return at + 1;
    }
    throw not_understood("a member of what is no namespace");
  }
  while (head.take_sign(",")) names.push_back(head.name());
  if (head.take_sign("=")) {
    assign(names, head.whole());
    return at + 1;
  }
  head.expect_end();
  const size_t after = end_of_block(at + 1, end, {"endset"});
  assign(names, rendered(at + 1, after));
  return after + 1;
}

size_t Renderer::run_macro(size_t at, size_t end) {
  const size_t after = end_of_block(at + 1, end, {"endmacro"});
  Expression head(*this, pieces_[at].words, 1);
  const string name = head.name();
  Macro macro{{}, at + 1, after};
  head.expect_sign("(");
  while (!head.take_sign(")")) {
    const string parameter = head.name();
    macro.parameters.emplace_back(parameter,
                                  head.take_sign("=") ? head.conditional() : undefined());
    if (!head.sees_sign(")")) head.expect_sign(",");
  }
  macros_[name] = std::move(macro);
  return after + 1;
}

}  // namespace

}  // namespace jinja

std::string render_jinja(const std::string& source, const nlohmann::ordered_json& variables) {
  return jinja::Renderer(jinja::Cutter(source).pieces(), variables).all();
}

}  // namespace attnscope
