#include "analysis/figure/page_file.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/figure/recipe.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/text/failure.h"
#include "core/text/json.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

void check_page_keys(const json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw unknown_name("key of a page", key, name_list(known));
    }
  }
}

/// The value as text for `--set`; list items are separated by commas.
std::string setting_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  return name_list(value, setting_text, ",");
}

/// `text` below the page's folder if such a file exists there, otherwise `text` unchanged.
std::string from_folder(const std::filesystem::path& folder, const std::string& text) {
  const std::string file = text.substr(0, text.find_last_of("@#"));
  std::error_code ignored;
  for (const std::string& candidate : {text, file}) {
    if (std::filesystem::exists(folder / candidate, ignored)) return (folder / text).string();
  }
  return text;
}

PageSubjects subjects_of(const json& object, const PageSubjects& otherwise,
                         const std::filesystem::path& folder) {
  PageSubjects subjects = otherwise;
  const auto list = [&](const char* key, std::vector<std::string>& values, bool files) {
    if (!object.contains(key)) return;
    values = object.at(key).get<std::vector<std::string>>();
    if (!files) return;
    for (std::string& value : values) value = from_folder(folder, value);
  };
  // Inherited labels do not apply to another choice of models.
  if (object.contains("models")) subjects.labels.clear();
  list("models", subjects.models, true);
  list("inputs", subjects.inputs, true);
  list("labels", subjects.labels, false);
  return subjects;
}

PageCell cell_of(const json& object) {
  check_page_keys(object, {"figure", "settings", "share", "title", "models", "inputs", "labels"});
  PageCell cell;
  cell.figure = find_figure(object.at("figure").get<std::string>()).name;
  const json settings = object.value("settings", json::object());
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : settings.items()) texts[key] = setting_text(value);
  cell.settings = parse_settings(cell.figure, texts);
  cell.share = object.value("share", 1.0);
  if (!(cell.share > 0 && cell.share <= 1000)) {
    throw Error(ErrorKind::usage, "a figure's share of its row must be above 0").about(cell.figure);
  }
  cell.title = object.value("title", "");
  return cell;
}

/// A length of the page within make_figure's limits; 0 if the key is missing.
double length_of(const json& root, const char* key, double least, double most) {
  if (!root.contains(key)) return 0;
  const double length = root.at(key).get<double>();
  if (length >= least && length <= most) return length;
  throw Error(ErrorKind::usage, "a length of the page is out of range")
      .about(key)
      .expected(setting_text(least) + " to " + setting_text(most))
      .found(setting_text(length));
}

PageFile page_of(const json& root, const std::filesystem::path& folder) {
  check_page_keys(root, {"rows", "models", "inputs", "labels", "options", "architecture", "letters",
                         "shared_colours", "shared_legend", "width_mm", "font_size_pt"});
  PageFile file;
  file.look.letters = root.value("letters", true);
  file.look.shared_colours = root.value("shared_colours", false);
  file.look.shared_legend = root.value("shared_legend", false);
  file.look.width_mm = length_of(root, "width_mm", 20, 1000);
  file.look.font_size_pt = length_of(root, "font_size_pt", 3, 48);
  file.options = root.value("options", std::vector<std::string>());
  file.architecture = root.value("architecture", "");
  if (!file.architecture.empty()) file.architecture = from_folder(folder, file.architecture);
  const PageSubjects all = subjects_of(root, {}, folder);
  for (const json& row : root.at("rows")) {
    if (row.empty()) throw Error(ErrorKind::usage, "a row of the page is empty").about("rows");
    file.page.rows.emplace_back();
    file.subjects.emplace_back();
    for (const json& object : row) {
      file.page.rows.back().push_back(cell_of(object));
      file.subjects.back().push_back(subjects_of(object, all, folder));
    }
  }
  if (file.page.rows.empty()) {
    throw Error(ErrorKind::usage, "the page has no rows").about("rows");
  }
  return file;
}

/// Adds the lists of a figure that differ from those of the page.
void add_subjects(ordered_json& object, const PageSubjects& own, const PageSubjects& all) {
  if (own == all) return;
  const bool same_models = own.models == all.models;
  if (!same_models) object["models"] = own.models;
  if (own.inputs != all.inputs) object["inputs"] = own.inputs;
  const bool inherits_labels = same_models && own.labels == all.labels;
  if (!inherits_labels && !(own.labels.empty() && !same_models)) object["labels"] = own.labels;
}

}  // namespace

PageFile parse_page_file(std::string_view text, const std::filesystem::path& folder) {
  try {
    return page_of(parse_json(text), folder);
  } catch (const json::exception& error) {
    throw Error(ErrorKind::usage, "the page's description is not valid")
        .found(problem_of(error))
        .remedy(page_form);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::damaged) throw;
    // The page's description is user input, so invalid JSON is a usage error.
    throw Error(ErrorKind::usage, "the page's description is not JSON")
        .found(error.found_text())
        .remedy(page_form);
  }
}

PageFile read_page_file(const std::filesystem::path& file) {
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  return with_file(
      file, [&] { return parse_page_file(read_file(file, most_bytes), file.parent_path()); });
}

std::string page_as_json(const PageFile& file) {
  ordered_json root;
  PageSubjects all;
  for (const auto& row : file.subjects) {
    if (!row.empty() && all == PageSubjects{}) all = row.front();
  }
  if (!all.models.empty()) root["models"] = all.models;
  if (!all.inputs.empty()) root["inputs"] = all.inputs;
  if (!all.labels.empty()) root["labels"] = all.labels;
  if (!file.options.empty()) root["options"] = file.options;
  if (!file.architecture.empty()) root["architecture"] = file.architecture;
  if (file.look.width_mm > 0) root["width_mm"] = file.look.width_mm;
  if (file.look.font_size_pt > 0) root["font_size_pt"] = file.look.font_size_pt;
  root["letters"] = file.look.letters;
  root["shared_colours"] = file.look.shared_colours;
  root["shared_legend"] = file.look.shared_legend;
  ordered_json rows = ordered_json::array();
  for (std::size_t row = 0; row < file.page.rows.size(); ++row) {
    ordered_json cells = ordered_json::array();
    for (std::size_t place = 0; place < file.page.rows[row].size(); ++place) {
      const PageCell& cell = file.page.rows[row][place];
      ordered_json object = {{"figure", cell.figure}};
      for (const auto& [name, value] : cell.settings) {
        object["settings"][name] = to_string(value);
      }
      if (cell.share != 1) object["share"] = cell.share;
      if (!cell.title.empty()) object["title"] = cell.title;
      add_subjects(object, file.subjects.at(row).at(place), all);
      cells.push_back(std::move(object));
    }
    rows.push_back(std::move(cells));
  }
  root["rows"] = std::move(rows);
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace attnscope
