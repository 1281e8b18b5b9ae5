// Data sets of texts and labels in a table: .tsv, .csv.
#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/file/read_file.h"
#include "core/input/data_set_kinds.h"
#include "core/input/text.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr std::size_t kLongestTable = std::size_t{1} << 30;  // bytes

/// A row of the table, which may span several lines of a .csv file.
struct TableLine {
  std::vector<std::string> fields;
  std::int64_t number = 1;  ///< number of its first line in the file
};

class TableReader {
 public:
  TableReader(std::string_view text, bool commas)
      : text_(text), separator_(commas ? ',' : '\t'), quotes_(commas) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);  // byte order mark
  }

  /// The next row; empty at the end. Empty lines are skipped.
  TableLine next() {
    while (at_ < text_.size() && ends_line()) end_line();
    TableLine line{{}, line_};
    while (at_ < text_.size()) {
      line.fields.push_back(quotes_ && text_[at_] == '"' ? quoted() : plain());
      if (at_ < text_.size() && text_[at_] == separator_) {
        if (++at_ < text_.size()) continue;
        line.fields.emplace_back();
      }
      end_line();
      break;
    }
    return line;
  }

 private:
  [[nodiscard]] bool ends_line() const { return text_[at_] == '\n' || text_[at_] == '\r'; }

  void end_line() {
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
  }

  std::string plain() {
    const std::size_t first = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && !ends_line()) ++at_;
    return std::string(text_.substr(first, at_ - first));
  }

  std::string quoted() {
    const std::int64_t first = line_;
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        field += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += text_[at_++];
      } else {
        ++at_;
        if (at_ < text_.size() && text_[at_] != separator_ && !ends_line()) break;
        return field;
      }
    }
    throw Error(ErrorKind::damaged, "a quoted field has no end")
        .about("line " + std::to_string(first))
        .expected("a quote before a comma or the end of the line; quotes inside are doubled");
  }

  std::string_view text_;
  char separator_;
  bool quotes_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

struct LabelledText {
  std::string text;
  int class_index = 0;
};

class TextTable final : public DataSet {
 public:
  TextTable(std::filesystem::path file, std::vector<LabelledText> items,
            std::vector<std::string> class_names)
      : file_(std::move(file)), items_(std::move(items)), class_names_(std::move(class_names)) {}

  [[nodiscard]] std::int64_t size() const override { return std::ssize(items_); }

  [[nodiscard]] Input item(std::int64_t index) const override {
    check_index(file_, index, size());
    const LabelledText& item = items_[static_cast<std::size_t>(index)];
    return {Text{item.text, {}}, item_label(file_, index), item_locator(file_, index),
            item.class_index};
  }

  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return class_names_;
  }
  [[nodiscard]] std::vector<std::filesystem::path> files() const override { return {file_}; }

 private:
  std::filesystem::path file_;
  std::vector<LabelledText> items_;
  std::vector<std::string> class_names_;
};

std::size_t column_of(const TableLine& names, std::string_view name) {
  const auto found = std::ranges::find(names.fields, name);
  if (found != names.fields.end() && std::ranges::count(names.fields, name) == 1) {
    return static_cast<std::size_t>(found - names.fields.begin());
  }
  throw Error(ErrorKind::not_this_format, "is not a table of texts and labels")
      .about("line " + std::to_string(names.number))
      .expected("names of columns, 'text' and 'label' once among them")
      .found(std::to_string(std::ranges::count(names.fields, name)) + " named '" +
             std::string(name) + "'");
}

/// Class names, sorted numerically if all are integers, else by name.
std::vector<std::string> ordered_classes(const std::set<std::string>& labels) {
  std::vector<std::string> names(labels.begin(), labels.end());
  const bool numbers = std::ranges::all_of(
      names, [](const std::string& one) { return parse_whole(one).has_value(); });
  if (numbers)
    std::ranges::sort(names, {}, [](const std::string& one) { return *parse_whole(one); });
  return names;
}

/// Text and label of each row.
std::vector<std::pair<std::string, std::string>> rows_in(std::string_view content, bool commas) {
  TableReader reader(content, commas);
  const TableLine names = reader.next();
  const std::size_t text = column_of(names, "text"), label = column_of(names, "label");
  std::vector<std::pair<std::string, std::string>> rows;
  for (TableLine line = reader.next(); !line.fields.empty(); line = reader.next()) {
    const auto refuse = [&](const char* what) {
      return Error(ErrorKind::damaged, what).about("line " + std::to_string(line.number));
    };
    if (line.fields.size() != names.fields.size()) {
      throw refuse("the line's number of fields differs from the first line's")
          .expected(std::to_string(names.fields.size()))
          .found(std::to_string(line.fields.size()));
    }
    if (line.fields[text].empty()) throw refuse("the text is empty");
    if (first_invalid_utf8(line.fields[text]) != std::string::npos) {
      throw refuse("the text is not UTF-8");
    }
    if (line.fields[label].empty()) throw refuse("the label is empty");
    rows.emplace_back(std::move(line.fields[text]), std::move(line.fields[label]));
  }
  return rows;
}

/// The file's extension in lower case.
std::string ending_of(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return ending;
}

}  // namespace

bool is_text_table(const std::filesystem::path& file) {
  return ending_of(file) == ".tsv" || ending_of(file) == ".csv";
}

std::shared_ptr<const DataSet> open_text_table(const std::filesystem::path& file) {
  const std::string content = read_file(file, kLongestTable);
  const auto rows = with_file(file, [&] { return rows_in(content, ending_of(file) == ".csv"); });
  std::set<std::string> labels;
  for (const auto& [text, label] : rows) labels.insert(label);
  std::vector<std::string> names = ordered_classes(labels);
  std::vector<LabelledText> items;
  for (const auto& [text, label] : rows) {
    items.push_back({text, static_cast<int>(std::ranges::find(names, label) - names.begin())});
  }
  for (std::string& name : names) name = shown_text(name);
  return std::make_shared<TextTable>(file, std::move(items), std::move(names));
}

}  // namespace attnscope
