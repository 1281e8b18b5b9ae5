#include "analysis/papers/papers.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

using Json = nlohmann::ordered_json;

/// Reads a member if the object has it. A value of another type is an error of the file.
template <class Value>
void read_member(const Json& object, const char* key, Value& value) {
  if (object.contains(key)) object.at(key).get_to(value);
}

GalleryChoice gallery_choice_of(const Json& json) {
  GalleryChoice choice;
  read_member(json, "family", choice.family);
  read_member(json, "family_title", choice.family_title);
  read_member(json, "compares", choice.compares);
  read_member(json, "input", choice.input);
  read_member(json, "without_subjects", choice.without_subjects);
  read_member(json, "most_models", choice.most_models);
  read_member(json, "model", choice.model);
  read_member(json, "trained", choice.trained);
  read_member(json, "even_layers", choice.even_layers);
  return choice;
}

PaperItem paper_item_of(const Json& json) {
  PaperItem item;
  json.at("place").get_to(item.place);
  json.at("title").get_to(item.title);
  read_member(json, "commands", item.commands);
  read_member(json, "takes", item.takes);
  read_member(json, "differs", item.differs);
  read_member(json, "left_out", item.left_out);
  read_member(json, "found", item.found);
  item.in_gallery = json.contains("gallery");
  if (item.in_gallery) item.gallery = gallery_choice_of(json.at("gallery"));
  return item;
}

std::vector<Paper> read_papers() {
  std::vector<Paper> list;
  for (const PaperFile& file : paper_files()) {
    const Json json = Json::parse(file.text);
    Paper& paper = list.emplace_back();
    paper.name = file.name;
    json.at("place").get_to(paper.place);
    json.at("title").get_to(paper.title);
    for (const Json& item : json.at("items")) paper.items.push_back(paper_item_of(item));
  }
  return list;
}

/// The commands as one line of a shell.
std::string command_line_of(const PaperItem& item) { return name_list(item.commands, {}, " && "); }

}  // namespace

const std::vector<Paper>& papers() {
  static const std::vector<Paper> list = read_papers();
  return list;
}

const Paper& find_paper(std::string_view name) {
  const std::vector<Paper>& all = papers();
  const auto found = std::ranges::find(all, name, &Paper::name);
  if (found == all.end()) throw unknown_name("paper", name, name_list(all, &Paper::name));
  return *found;
}

std::vector<std::string> remarks_on(const PaperItem& item) {
  std::vector<std::string> remarks;
  const auto add = [&remarks](const char* subject, const std::string& remark) {
    if (!remark.empty()) remarks.push_back(subject + remark + ".");
  };
  add("Takes ", item.takes);
  add("Differs: ", item.differs);
  add("Measured here: ", item.found);
  add("Left out: ", item.left_out);
  return remarks;
}

Report paper_report(const Paper& paper) {
  using Column = ColumnOf<PaperItem>;
  std::vector<Column> columns = {
      {{.name = "place", .title = "place", .left = true}, &PaperItem::place},
      {{.name = "title", .title = "subject", .left = true}, &PaperItem::title},
      {{.name = "commands", .title = "command", .left = true, .json = false},
       command_line_of,
       [](const PaperItem& item) {
         return item.commands.empty() ? "" : "`" + command_line_of(item) + "`";
       }},
      {json_only("commands"), [](const PaperItem& item) { return json_cell(item.commands); }},
      {{.title = "remarks", .left = true}, nullptr, [](const PaperItem& item) {
         return name_list(remarks_on(item), {}, " ");
       }}};
  const auto add = [&columns](const char* name, std::string PaperItem::*text) {
    columns.push_back({{.name = name}, [text](const PaperItem& item) {
                         return known_if(!(item.*text).empty(), item.*text);
                       }});
  };
  add("takes", &PaperItem::takes);
  add("differs", &PaperItem::differs);
  add("found", &PaperItem::found);
  add("left_out", &PaperItem::left_out);
  return report_on(paper.items, std::move(columns));
}

std::string papers_as_markdown() {
  std::string text;
  for (const Paper& paper : papers()) {
    text += "## " + paper.name + "\n\n" + paper.title + "\n\n";
    for (const PaperItem& item : paper.items) {
      text += "**" + item.place + "**: " + item.title + "\n\n";
      for (const std::string& command : item.commands) text += "    " + command + "\n";
      if (!item.commands.empty()) text += "\n";
      for (const std::string& remark : remarks_on(item)) text += remark + "\n\n";
    }
  }
  return text;
}

}  // namespace attnscope
