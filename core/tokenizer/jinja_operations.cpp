#include "core/tokenizer/jinja_operations.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <string_view>

#include "core/input/text.h"

namespace attnscope::jinja {

namespace {

using std::string;

constexpr std::string_view kBlanks = " \t\n\r\f\v";

string text_of(const Value& value, const char* what) {
  if (value.is_string()) return value.get<string>();
  throw not_understood(string(what) + " of a value that is no text");
}

std::vector<string> single_characters(const string& text) {
  const std::vector<std::size_t> starts = character_starts(text);
  std::vector<string> all;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    all.push_back(text.substr(starts[i], starts[i + 1] - starts[i]));
  }
  return all;
}

string stripped(const string& text, const Value& what, bool left, bool right) {
  const string signs = what.is_string() ? what.get<string>() : string(kBlanks);
  const std::size_t begin = left ? text.find_first_not_of(signs) : 0;
  if (begin == string::npos) return {};
  const std::size_t last = right ? text.find_last_not_of(signs) : text.size() - 1;
  if (last == string::npos || text.empty()) return {};
  return text.substr(begin, last + 1 - begin);
}

string with_case(string text, int (*change)(int)) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 128) c = static_cast<char>(change(c));
  }
  return text;
}

string capitalised(const string& text) {
  string result = with_case(text, std::tolower);
  if (!result.empty()) result[0] = with_case(result.substr(0, 1), std::toupper)[0];
  return result;
}

string titled(const string& text) {
  string result = with_case(text, std::tolower);
  bool begins = true;
  for (char& c : result) {
    const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (letter && begins) c = static_cast<char>(std::toupper(c));
    begins = !letter;
  }
  return result;
}

string with_replaced(const string& text, const string& from, const string& to) {
  if (from.empty()) throw not_understood("replace of an empty text");
  string result;
  std::size_t at = 0;
  for (std::size_t found = text.find(from); found != string::npos; found = text.find(from, at)) {
    result += text.substr(at, found - at) + to;
    at = found + from.size();
  }
  return result + text.substr(at);
}

Value split(const string& text, const Value& by, const Value& most) {
  Value parts = Value::array();
  const std::int64_t limit = most.is_number_integer() ? most.get<std::int64_t>() : -1;
  std::size_t at = 0;
  if (!by.is_string()) {  // runs of white space
    if (limit >= 0) throw not_understood("split at white space with a limit");
    while ((at = text.find_first_not_of(kBlanks, at)) != string::npos) {
      const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
      parts.push_back(text.substr(at, end - at));
      at = end;
    }
    return parts;
  }
  const auto separator = by.get<string>();
  if (separator.empty()) throw not_understood("split at an empty text");
  for (std::size_t found = text.find(separator);
       found != string::npos && (limit < 0 || std::ssize(parts) < limit);
       found = text.find(separator, at)) {
    parts.push_back(text.substr(at, found - at));
    at = found + separator.size();
  }
  parts.push_back(text.substr(at));
  return parts;
}

Value items_of(const Value& value) {
  if (!value.is_object()) throw not_understood("items of a value that is no mapping");
  Value list = Value::array();
  for (const auto& [key, member] : value.items()) list.push_back(Value::array({key, member}));
  return list;
}

Value length_of(const Value& value) {
  if (value.is_string()) return std::ssize(single_characters(value.get<string>()));
  if (value.is_array() || value.is_object()) return static_cast<std::int64_t>(value.size());
  if (is_undefined(value)) return 0;
  throw not_understood("the length of a number");
}

Value joined(const Value& value, const Value& by) {
  const string between = by.is_string() ? by.get<string>() : "";
  string text;
  bool first = true;
  for (const Value& one : elements(value)) {
    text += (first ? "" : between) + printed(one);
    first = false;
  }
  return text;
}

/// selectattr and rejectattr: the elements whose attribute passes a test, or is true.
Value selected(const Value& value, const Arguments& arguments, bool wanted) {
  const string name = text_of(arguments.at(0), "an attribute");
  Value kept = Value::array();
  for (const Value& one : elements(value)) {
    const Value attribute = element(one, name);
    const Value test = arguments.at(1);
    const bool passes =
        test.is_string()
            ? apply_test(test.get<string>(), attribute,
                         arguments.list.size() > 2 ? Arguments{{arguments.list[2]}} : Arguments{})
            : truth(attribute);
    if (passes == wanted) kept.push_back(one);
  }
  return kept;
}

Value mapped(const Value& value, const Arguments& arguments) {
  Value results = Value::array();
  const Value attribute = arguments.at(99, "attribute");
  for (const Value& one : elements(value)) {
    results.push_back(attribute.is_string()
                          ? element(one, attribute)
                          : apply_filter(text_of(arguments.at(0), "a filter"), one, {}));
  }
  return results;
}

Value whole_number(const Value& value) {
  if (value.is_number()) return static_cast<std::int64_t>(value.get<double>());
  if (value.is_boolean()) return std::int64_t{value.get<bool>()};
  const string text = text_of(value, "a number");
  const bool digits = !text.empty() && text.size() < 18 &&
                      text.find_first_not_of("0123456789", text[0] == '-' ? 1 : 0) == string::npos;
  return digits && text != "-" ? std::stoll(text) : 0;
}

Value json_text_of(const Value& value, const Arguments& arguments) {
  const Value indent = arguments.at(0, "indent");
  return json_of(value, indent.is_number_integer() ? std::clamp(indent.get<int>(), 0, 16) : -1);
}

Value end_of(const Value& value, bool last) {
  const std::vector<Value> all = elements(value);
  return all.empty() ? undefined() : last ? all.back() : all.front();
}

Value reversed(const Value& value) {
  std::vector<Value> all = elements(value);
  std::ranges::reverse(all);
  return all;
}

using Filter = std::function<Value(const Value& value, const Arguments& arguments)>;

const std::map<string, Filter>& filters() {
  const auto text = [](const char* name, auto change) {
    return [name, change](const Value& value, const Arguments&) -> Value {
      return change(is_undefined(value) ? string() : text_of(value, name));
    };
  };
  static const std::map<string, Filter> table = {
      {"trim", text("trim", [](const string& s) { return stripped(s, {}, true, true); })},
      {"upper", text("upper", [](const string& s) { return with_case(s, std::toupper); })},
      {"lower", text("lower", [](const string& s) { return with_case(s, std::tolower); })},
      {"capitalize", text("capitalize", capitalised)},
      {"title", text("title", titled)},
      {"string", [](const Value& value, const Arguments&) -> Value { return printed(value); }},
      {"safe", [](const Value& value, const Arguments&) { return value; }},
      {"length", [](const Value& value, const Arguments&) { return length_of(value); }},
      {"count", [](const Value& value, const Arguments&) { return length_of(value); }},
      {"list", [](const Value& value, const Arguments&) -> Value { return elements(value); }},
      {"first", [](const Value& value, const Arguments&) { return end_of(value, false); }},
      {"last", [](const Value& value, const Arguments&) { return end_of(value, true); }},
      {"reverse", [](const Value& value, const Arguments&) { return reversed(value); }},
      {"items", [](const Value& value, const Arguments&) { return items_of(value); }},
      {"int", [](const Value& value, const Arguments&) { return whole_number(value); }},
      {"tojson", json_text_of},
      {"map", mapped},
      {"join", [](const Value& value, const Arguments& a) { return joined(value, a.at(0, "d")); }},
      {"selectattr",
       [](const Value& value, const Arguments& a) { return selected(value, a, true); }},
      {"rejectattr",
       [](const Value& value, const Arguments& a) { return selected(value, a, false); }},
      {"replace",
       [](const Value& value, const Arguments& a) -> Value {
         return with_replaced(text_of(value, "replace"), text_of(a.at(0), "replace"),
                              text_of(a.at(1), "replace"));
       }},
      {"default",
       [](const Value& value, const Arguments& a) -> Value {
         const bool otherwise = is_undefined(value) || (truth(a.at(1, "boolean")) && !truth(value));
         if (!otherwise) return value;
         const Value other = a.at(0, "default_value");
         return is_undefined(other) ? Value("") : other;
       }},
  };
  return table;
}

using Test = std::function<bool(const Value& value, const Arguments& arguments)>;

const std::map<string, Test>& tests() {
  const auto equal = [](const Value& value, const Arguments& a) {
    return truth(binary("==", value, a.at(0)));
  };
  static const std::map<string, Test> table = {
      {"defined", [](const Value& value, const Arguments&) { return !is_undefined(value); }},
      {"undefined", [](const Value& value, const Arguments&) { return is_undefined(value); }},
      {"none", [](const Value& value, const Arguments&) { return value.is_null(); }},
      {"string", [](const Value& value, const Arguments&) { return value.is_string(); }},
      {"mapping", [](const Value& value, const Arguments&) { return value.is_object(); }},
      {"sequence",
       [](const Value& value, const Arguments&) {
         return value.is_array() || value.is_object() || value.is_string();
       }},
      {"iterable",
       [](const Value& value, const Arguments&) {
         return value.is_array() || value.is_object() || value.is_string() || is_undefined(value);
       }},
      {"number", [](const Value& value,
                    const Arguments&) { return value.is_number() || value.is_boolean(); }},
      {"integer", [](const Value& value, const Arguments&) { return value.is_number_integer(); }},
      {"boolean", [](const Value& value, const Arguments&) { return value.is_boolean(); }},
      {"true", [](const Value& value, const Arguments&) { return value == Value(true); }},
      {"false", [](const Value& value, const Arguments&) { return value == Value(false); }},
      {"odd", [](const Value& value, const Arguments&) { return truth(binary("%", value, 2)); }},
      {"even", [](const Value& value, const Arguments&) { return !truth(binary("%", value, 2)); }},
      {"in",
       [](const Value& value, const Arguments& a) { return truth(binary("in", value, a.at(0))); }},
      {"equalto", equal},
      {"eq", equal},
      {"ne", [equal](const Value& value, const Arguments& a) { return !equal(value, a); }},
  };
  return table;
}

using Method = std::function<Value(const Value& value, const Arguments& arguments)>;

const std::map<string, Method>& text_methods() {
  const auto text = [](auto change) {
    return [change](const Value& value, const Arguments& a) -> Value {
      return change(value.get<string>(), a);
    };
  };
  static const std::map<string, Method> table = {
      {"strip",
       text([](const string& s, const Arguments& a) { return stripped(s, a.at(0), true, true); })},
      {"lstrip",
       text([](const string& s, const Arguments& a) { return stripped(s, a.at(0), true, false); })},
      {"rstrip",
       text([](const string& s, const Arguments& a) { return stripped(s, a.at(0), false, true); })},
      {"upper", text([](const string& s, const Arguments&) { return with_case(s, std::toupper); })},
      {"lower", text([](const string& s, const Arguments&) { return with_case(s, std::tolower); })},
      {"title", text([](const string& s, const Arguments&) { return titled(s); })},
      {"capitalize", text([](const string& s, const Arguments&) { return capitalised(s); })},
      {"startswith", text([](const string& s, const Arguments& a) {
         return s.starts_with(text_of(a.at(0), "startswith"));
       })},
      {"endswith", text([](const string& s, const Arguments& a) {
         return s.ends_with(text_of(a.at(0), "endswith"));
       })},
      {"replace", text([](const string& s, const Arguments& a) {
         return with_replaced(s, text_of(a.at(0), "replace"), text_of(a.at(1), "replace"));
       })},
      {"split",
       text([](const string& s, const Arguments& a) { return split(s, a.at(0), a.at(1)); })},
      {"join", text([](const string& s, const Arguments& a) { return joined(a.at(0), s); })},
  };
  return table;
}

const std::map<string, Method>& mapping_methods() {
  static const std::map<string, Method> table = {
      {"items", [](const Value& value, const Arguments&) { return items_of(value); }},
      {"keys", [](const Value& value, const Arguments&) -> Value { return elements(value); }},
      {"values",
       [](const Value& value, const Arguments&) {
         Value all = Value::array();
         for (const Value& one : value) all.push_back(one);
         return all;
       }},
      {"get",
       [](const Value& value, const Arguments& a) {
         Value found = element(value, a.at(0));
         if (!is_undefined(found)) return found;
         const Value other = a.at(1);
         return is_undefined(other) ? Value() : other;
       }},
  };
  return table;
}

template <typename Entry>
const Entry& find_in(const std::map<string, Entry>& table, const string& name, const char* what) {
  const auto found = table.find(name);
  if (found != table.end()) return found->second;
  throw not_understood(string(what) + " “" + name + "”");
}

double number_of(const Value& value, const string& operation) {
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  throw not_understood("“" + operation + "” of a value that is no number");
}

bool is_whole(const Value& value) { return value.is_number_integer() || value.is_boolean(); }

Value arithmetic(const string& operation, const Value& a, const Value& b) {
  const double x = number_of(a, operation), y = number_of(b, operation);
  const bool by_zero = (operation == "/" || operation == "//" || operation == "%") && y == 0;
  if (by_zero) throw not_understood("a division by 0");
  const double result = operation == "+"    ? x + y
                        : operation == "-"  ? x - y
                        : operation == "*"  ? x * y
                        : operation == "/"  ? x / y
                        : operation == "//" ? std::floor(x / y)
                                            : x - std::floor(x / y) * y;
  const bool whole = is_whole(a) && is_whole(b) && operation != "/" && std::abs(result) < 9e15;
  if (whole) return static_cast<std::int64_t>(result);
  return result;
}

bool equals(const Value& a, const Value& b) {
  if (is_undefined(a) || is_undefined(b)) return is_undefined(a) && is_undefined(b);
  return a == b;
}

bool contains(const Value& all, const Value& one) {
  if (all.is_string()) return all.get<string>().find(text_of(one, "in")) != string::npos;
  const std::vector<Value> list = elements(all);
  return std::ranges::any_of(list, [&](const Value& each) { return equals(each, one); });
}

bool less(const Value& a, const Value& b) {
  if (a.is_string() && b.is_string()) return a.get<string>() < b.get<string>();
  return number_of(a, "<") < number_of(b, "<");
}

std::int64_t index_of(const Value& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  throw not_understood("an index that is no whole number");
}

}  // namespace

Value Arguments::at(std::size_t index, const string& name) const {
  if (index < list.size()) return list[index];
  const auto found = named.find(name);
  return found == named.end() ? undefined() : found->second;
}

Error not_understood(const string& what) {
  return Error(ErrorKind::unsupported, "the chat template uses what is not understood")
      .found(what)
      .remedy("give the whole text: text:WORDS");
}

bool truth(const Value& value) {
  if (is_undefined(value) || value.is_null()) return false;
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>() != 0;
  return value.is_string() ? !value.get<string>().empty() : !value.empty();
}

string printed(const Value& value) {
  if (is_undefined(value)) return {};
  if (value.is_string()) return value.get<string>();
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_number()) return value.dump();
  throw not_understood("the text of a list or mapping");
}

string json_of(const Value& value, int indent, int level) {
  if (is_undefined(value)) throw not_understood("JSON of an unknown variable");
  const bool list = value.is_array();
  if ((!list && !value.is_object()) || value.empty()) {
    return value.dump(-1, ' ', false, Value::error_handler_t::replace);
  }
  const auto line = [&](int depth) {
    return indent < 0 ? string() : "\n" + string(static_cast<std::size_t>(indent * depth), ' ');
  };
  string text;
  for (const auto& [key, member] : value.items()) {
    text += text.empty() ? line(level + 1) : (indent < 0 ? ", " : ",") + line(level + 1);
    if (!list) text += Value(key).dump(-1, ' ', false, Value::error_handler_t::replace) + ": ";
    text += json_of(member, indent, level + 1);
  }
  return (list ? "[" : "{") + text + line(level) + (list ? "]" : "}");
}

std::vector<Value> elements(const Value& value) {
  std::vector<Value> all;
  if (is_undefined(value)) return all;
  if (value.is_array()) {
    all.assign(value.begin(), value.end());
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) all.emplace_back(key);
  } else {
    for (const string& one : single_characters(text_of(value, "a loop"))) all.emplace_back(one);
  }
  return all;
}

Value apply_filter(const string& name, const Value& value, const Arguments& arguments) {
  return find_in(filters(), name == "d" ? "default" : name, "the filter")(value, arguments);
}

bool apply_test(const string& name, const Value& value, const Arguments& arguments) {
  return find_in(tests(), name == "==" ? "eq" : name, "the test")(value, arguments);
}

Value call_method(const Value& value, const string& name, const Arguments& arguments) {
  if (value.is_string()) return find_in(text_methods(), name, "the method")(value, arguments);
  if (value.is_object()) return find_in(mapping_methods(), name, "the method")(value, arguments);
  throw not_understood("the method “" + name + "”");
}

Value binary(const string& operation, const Value& a, const Value& b) {
  if (operation == "==") return equals(a, b);
  if (operation == "!=") return !equals(a, b);
  if (operation == "in") return contains(b, a);
  if (operation == "not in") return !contains(b, a);
  if (operation == "<") return less(a, b);
  if (operation == ">") return less(b, a);
  if (operation == "<=") return !less(b, a);
  if (operation == ">=") return !less(a, b);
  constexpr std::size_t most = std::size_t{4} << 20;  // bytes
  if (operation == "~") return printed(a) + printed(b);
  if (operation == "+" && a.is_string() && b.is_string()) return a.get<string>() + b.get<string>();
  if (operation == "+" && a.is_array() && b.is_array()) {
    Value both = a;
    both.insert(both.end(), b.begin(), b.end());
    return both;
  }
  if (operation == "*" && a.is_string() && b.is_number_integer()) {
    string text;
    for (std::int64_t i = 0; i < b.get<std::int64_t>(); ++i) {
      text += a.get<string>();
      if (text.empty() || text.size() > most) break;
    }
    if (text.size() > most) throw not_understood("a text of more than 4 MiB");
    return text;
  }
  return arithmetic(operation, a, b);
}

Value element(const Value& value, const Value& index) {
  if (is_undefined(value)) throw not_understood("a member of an unknown variable");
  if (value.is_object()) {
    if (!index.is_string()) return undefined();
    const auto found = value.find(index.get<string>());
    return found == value.end() ? undefined() : Value(*found);
  }
  if (index.is_string() || value.is_null()) return undefined();
  const std::vector<Value> all = elements(value);
  std::int64_t at = index_of(index);
  if (at < 0) at += std::ssize(all);
  return at >= 0 && at < std::ssize(all) ? all[static_cast<std::size_t>(at)] : undefined();
}

Value slice(const Value& value, const Value& first, const Value& end, const Value& step) {
  const std::vector<Value> all = elements(value);
  const std::int64_t count = std::ssize(all);
  const std::int64_t by = is_undefined(step) ? 1 : index_of(step);
  if (by == 0) throw not_understood("a slice of step 0");
  const auto bound = [&](const Value& given, std::int64_t usual) {
    if (is_undefined(given) || given.is_null()) return usual;
    std::int64_t at = index_of(given);
    if (at < 0) at += count;
    return std::clamp<std::int64_t>(at, by > 0 ? 0 : -1, by > 0 ? count : count - 1);
  };
  const std::int64_t from = bound(first, by > 0 ? 0 : count - 1);
  const std::int64_t to = bound(end, by > 0 ? count : -1);
  Value part = Value::array();
  for (std::int64_t i = from; by > 0 ? i < to : i > to; i += by) {
    part.push_back(all[static_cast<std::size_t>(i)]);
  }
  return value.is_string() ? joined(part, "") : part;
}

}  // namespace attnscope::jinja
