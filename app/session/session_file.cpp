// Session files: JSON that people can read and edit.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/read_file.h"
#include "core/input/input.h"
#include "core/parameters/parameters_json.h"
#include "core/text/failure.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

using nlohmann::json;

constexpr int kVersion = 2;

template <class Enum, std::size_t n>
void read_name(const json& object, const char* key, const EnumName<Enum> (&names)[n], Enum& value) {
  if (object.contains(key)) value = value_of(names, object.at(key).get<std::string>(), key);
}

json write_mechanism(const MechanismChoice& choice) {
  return {{"name", choice.name}, {"parameters", json::parse(to_json(choice.parameters))}};
}

MechanismChoice read_mechanism(const json& object) {
  MechanismChoice choice;
  choice.name = object.at("name").get<std::string>();
  choice.parameters = parameters_from_json(object.value("parameters", json::object()).dump());
  return choice;
}

// Both paths are stored, so a session can move with its models or without them.
json write_path(const std::filesystem::path& path, const std::filesystem::path& folder) {
  if (path.empty()) return nullptr;
  const std::filesystem::path absolute = std::filesystem::absolute(path).lexically_normal();
  return {{"absolute", absolute.string()},
          {"relative", absolute.lexically_relative(folder).generic_string()}};
}

std::filesystem::path read_path(const json& value, const std::filesystem::path& folder) {
  if (value.is_null()) return {};
  if (value.is_string()) return folder / value.get<std::string>();
  std::filesystem::path absolute = value.value("absolute", "");
  const std::filesystem::path relative = value.value("relative", "");
  std::error_code ignored;
  if (!relative.empty() && std::filesystem::exists(folder / relative, ignored)) {
    return (folder / relative).lexically_normal();
  }
  return absolute;
}

json write_view(const ViewSettings& view) {
  json object = {{"colour_map", view.colour_map},
                 {"reversed_colours", view.reversed_colours},
                 {"norm", name_of(scale_norm_names, view.norm)},
                 {"temperature", view.temperature},
                 {"identity", name_of(identity_view_names, view.identity)},
                 {"of", name_of(matrix_kind_names, view.matrix.of)},
                 {"centred", view.matrix.centred},
                 {"added", name_of(added_names, view.matrix.added)},
                 {"head_fusion", name_of(head_fusion_names, view.head_fusion)},
                 {"shown_rank", view.shown_rank},
                 {"shows_rest", view.shows_rest},
                 {"hide_prefix_tokens", view.hide_prefix_tokens},
                 {"rank_threshold", view.rank_threshold.level},
                 {"rank_share", name_of(rank_share_names, view.rank_threshold.of)},
                 {"map_number", name_of(map_number_names, view.map_number)},
                 {"sorted_by_number", view.sorted_by_number},
                 {"first_layer", view.first_layer},
                 {"comparison", name_of(comparison_view_names, view.comparison)},
                 {"wipe_position", view.wipe_position},
                 {"overlay_opacity", view.overlay_opacity},
                 {"layer_alignment", name_of(layer_alignment_names, view.layer_alignment)},
                 {"match_heads", view.match_heads},
                 {"range_scope", name_of(range_scope_names, view.range_scope)},
                 {"range_share", view.range_share}};
  if (view.range_minimum) object["range_minimum"] = *view.range_minimum;
  if (view.range_maximum) object["range_maximum"] = *view.range_maximum;
  return object;
}

ViewSettings read_view(const json& object) {
  ViewSettings view;
  view.colour_map = object.value("colour_map", view.colour_map);
  view.reversed_colours = object.value("reversed_colours", view.reversed_colours);
  read_name(object, "norm", scale_norm_names, view.norm);
  view.temperature = object.value("temperature", view.temperature);
  read_name(object, "identity", identity_view_names, view.identity);
  read_name(object, "of", matrix_kind_names, view.matrix.of);
  view.matrix.centred = object.value("centred", view.matrix.centred);
  read_name(object, "added", added_names, view.matrix.added);
  if (!goes_with(view.matrix.added, view.matrix.of)) view.matrix.added = Added::none;
  read_name(object, "head_fusion", head_fusion_names, view.head_fusion);
  view.shown_rank = std::max<std::int64_t>(object.value("shown_rank", view.shown_rank), 0);
  view.shows_rest = object.value("shows_rest", view.shows_rest);
  view.hide_prefix_tokens = object.value("hide_prefix_tokens", view.hide_prefix_tokens);
  view.rank_threshold.level = object.value("rank_threshold", view.rank_threshold.level);
  read_name(object, "rank_share", rank_share_names, view.rank_threshold.of);
  read_name(object, "map_number", map_number_names, view.map_number);
  view.sorted_by_number = object.value("sorted_by_number", view.sorted_by_number);
  view.first_layer = object.value("first_layer", view.first_layer) == 1 ? 1 : 0;
  read_name(object, "comparison", comparison_view_names, view.comparison);
  view.wipe_position = object.value("wipe_position", view.wipe_position);
  view.overlay_opacity = object.value("overlay_opacity", view.overlay_opacity);
  read_name(object, "layer_alignment", layer_alignment_names, view.layer_alignment);
  view.match_heads = object.value("match_heads", view.match_heads);
  read_name(object, "range_scope", range_scope_names, view.range_scope);
  view.range_share = object.value("range_share", view.range_share);
  if (object.contains("range_minimum")) view.range_minimum = object.at("range_minimum");
  if (object.contains("range_maximum")) view.range_maximum = object.at("range_maximum");
  return view;
}

// A locator is a path, "PATH#17" for an item of a data set, several of them with + between them, or
// the input itself: "text:To be".
json write_locator(const std::string& locator, const std::filesystem::path& folder) {
  if (locator.empty()) return nullptr;
  if (is_written_out(locator)) return {{"written_out", locator}};
  if (const auto question = parts_of_question(locator)) {
    return {{"about", write_locator(question->first, folder)}, {"question", question->second}};
  }
  if (const auto pictures = picture_locators(locator); pictures.size() > 1) {
    json list = json::array();
    for (const std::string& picture : pictures) list.push_back(write_locator(picture, folder));
    return {{"pictures", std::move(list)}};
  }
  const std::size_t hash = locator.rfind('#');
  json object = write_path(locator.substr(0, hash), folder);
  if (hash != std::string::npos) object["item"] = locator.substr(hash + 1);
  return object;
}

std::string read_locator(const json& value, const std::filesystem::path& folder) {
  if (value.is_null()) return {};
  if (value.is_object() && value.contains("written_out")) {
    return value.at("written_out").get<std::string>();
  }
  if (value.is_object() && value.contains("question")) {
    return question_locator(read_locator(value.value("about", json()), folder),
                            value.at("question").get<std::string>());
  }
  if (value.is_object() && value.contains("pictures")) {
    std::vector<std::string> pictures;
    for (const json& picture : value.at("pictures")) {
      pictures.push_back(read_locator(picture, folder));
    }
    return pictures_locator(pictures);
  }
  std::string locator = read_path(value, folder).string();
  if (value.is_object() && value.contains("item")) {
    locator += "#" + value.at("item").get<std::string>();
  }
  return locator;
}

json write_learning(const CodesToLearn& learning, const std::filesystem::path& folder) {
  const HashLearningOptions& options = learning.options;
  return {{"from", write_mechanism(learning.from)},
          {"input", write_locator(learning.input, folder)},
          {"bits", options.bits},
          {"supports", options.supports},
          {"pairs", options.pairs},
          {"steps", options.steps},
          {"rate", options.rate},
          {"momentum", options.momentum},
          {"seed", options.seed}};
}

CodesToLearn read_learning(const json& object, const std::filesystem::path& folder) {
  CodesToLearn learning{
      {}, read_mechanism(object.at("from")), read_locator(object.value("input", json()), folder)};
  HashLearningOptions& options = learning.options;
  options.bits = object.value("bits", options.bits);
  options.supports = object.value("supports", options.supports);
  options.pairs = object.value("pairs", options.pairs);
  options.steps = object.value("steps", options.steps);
  options.rate = object.value("rate", options.rate);
  options.momentum = object.value("momentum", options.momentum);
  options.seed = object.value("seed", options.seed);
  return learning;
}

/// The changes without the interpolation toward another subject, which is temporary.
json write_what_if(const WhatIf& what_if) {
  json object = json::object();
  if (what_if.identity) object["identity"] = *what_if.identity;
  if (what_if.temperature != 1) object["temperature"] = what_if.temperature;
  if (what_if.rank) object["rank"] = *what_if.rank;
  for (const ReplacedHead& one : what_if.heads) {
    json head = {
        {"layer", one.layer}, {"head", one.head}, {"by", name_of(head_replacement_names, one.by)}};
    if (one.by == HeadReplacement::other_head) head["other"] = one.other;
    if (one.by == HeadReplacement::other_attention) {
      head["mechanism"] = write_mechanism(one.mechanism);
    }
    if (one.by == HeadReplacement::mean_over_data) head["data_set"] = one.data_set;
    object["heads"].push_back(std::move(head));
  }
  return object;
}

WhatIf read_what_if(const json& object) {
  WhatIf what_if;
  if (object.contains("identity")) {
    what_if.identity = std::clamp(object.at("identity").get<double>(), 0.0, 1.0);
  }
  what_if.temperature = std::clamp(object.value("temperature", 1.0), 0.1, 10.0);
  if (object.contains("rank")) {
    what_if.rank = std::max<std::int64_t>(object.at("rank").get<std::int64_t>(), 1);
  }
  for (const json& one : object.value("heads", json::array())) {
    ReplacedHead head{one.at("layer").get<std::int64_t>(), one.at("head").get<std::int64_t>(),
                      HeadReplacement::zero, one.value("other", std::int64_t{0})};
    read_name(one, "by", head_replacement_names, head.by);
    if (one.contains("mechanism")) head.mechanism = read_mechanism(one.at("mechanism"));
    head.data_set = one.value("data_set", std::string());
    what_if = with_head(std::move(what_if), head);
  }
  return what_if;
}

struct SavedSession {
  std::vector<OpenSubject> subjects;
  std::string input;
  std::int64_t selected = 0, reference = -1;  // indices of subjects
  Selection selection;
  ViewSettings view;
  PanelSettings panels;
};

SavedSession read_session(const json& root, const std::filesystem::path& folder) {
  SavedSession saved;
  for (const json& object : root.at("subjects")) {
    OpenSubject open;
    open.file = read_path(object.at("file"), folder);
    open.is_of_file = !open.file.empty();
    open.subject.label = object.value("label", open.file.stem().string());
    open.own_name = object.value("name", "");
    open.options.overrides = object.value("overrides", std::map<std::string, std::string>());
    open.options.description = read_path(object.value("description", json()), folder);
    if (object.contains("overlay")) open.overlay = read_mechanism(object.at("overlay"));
    if (object.contains("learned_codes") && open.overlay) {
      open.learning = read_learning(object.at("learned_codes"), folder);
    }
    open.what_if = read_what_if(object.value("what_if", json::object()));
    if (object.contains("channel")) open.channel = object.at("channel").get<std::int64_t>();
    open.subject.own_input = read_locator(object.value("own_input", json()), folder);
    saved.subjects.push_back(std::move(open));
  }
  saved.input = read_locator(root.value("input", json()), folder);
  const json selection = root.value("selection", json::object());
  saved.selected = selection.value("subject", std::int64_t{0});
  saved.selection.layer = selection.value("layer", std::int64_t{0});
  saved.selection.head = selection.value("head", std::int64_t{0});
  saved.selection.query = selection.value("query", std::int64_t{0});
  saved.view = read_view(root.value("view", json::object()));
  saved.reference = root.value("reference", std::int64_t{-1});
  saved.panels = root.value("panels", PanelSettings());
  return saved;
}

}  // namespace

void Session::set_panel_settings_source(std::function<PanelSettings()> source) {
  panel_settings_source_ = std::move(source);
}

void Session::save(const std::filesystem::path& file) const {
  write_file(file, text(std::filesystem::absolute(file).parent_path()));
}

std::string Session::text(const std::filesystem::path& folder) const {
  json subjects = json::array();
  for (const OpenSubject& open : subjects_) {
    json object = {{"file", write_path(open.file, folder)},
                   {"label", open.subject.label},
                   {"overrides", open.options.overrides}};
    if (!open.options.description.empty()) {
      object["description"] = write_path(open.options.description, folder);
    }
    if (!open.own_name.empty()) object["name"] = open.own_name;
    if (open.channel) object["channel"] = *open.channel;
    if (json changed = write_what_if(open.what_if); !changed.empty()) {
      object["what_if"] = std::move(changed);
    }
    if (!open.subject.own_input.empty()) {
      object["own_input"] = write_locator(open.subject.own_input, folder);
    }
    if (open.overlay) object["overlay"] = write_mechanism(*open.overlay);
    // Learning is deterministic, so the codes are learned again instead of stored.
    if (open.learning) object["learned_codes"] = write_learning(*open.learning, folder);
    subjects.push_back(std::move(object));
  }
  json root = {{"attnscope_session", kVersion},
               {"input", write_locator(input_locator_, folder)},
               {"subjects", subjects},
               {"selection",
                {{"subject", std::max<std::int64_t>(place_of(selection_.subject), 0)},
                 {"layer", selection_.layer},
                 {"head", selection_.head},
                 {"query", selection_.query}}},
               {"view", write_view(view_)}};
  if (const std::int64_t place = place_of(reference_); place >= 0) root["reference"] = place;
  if (panel_settings_source_) root["panels"] = panel_settings_source_();

  return root.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

void Session::restore(const std::filesystem::path& file) {
  SavedSession saved;
  try {
    const json root = read_json_file(file);
    if (!root.is_object() || !root.contains("attnscope_session")) {
      throw Error(ErrorKind::not_this_format, "this is not an Attnscope session")
          .remedy("open model files with Open model");
    }
    if (const json& version = root.at("attnscope_session"); version != kVersion) {
      throw Error(ErrorKind::unsupported, "only session files of this program's version are read")
          .expected("version " + std::to_string(kVersion))
          .found("version " + version.dump());
    }
    saved = read_session(root, std::filesystem::absolute(file).parent_path());
  } catch (Error& error) {
    error.in_file(file);
    if (error.kind() == ErrorKind::damaged && error.remedy_text().empty()) {
      error.remedy("restore an earlier copy, or open the models again");
    }
    throw;
  } catch (const json::exception& error) {
    throw Error(ErrorKind::damaged, "the session file is broken")
        .in_file(file)
        .found(problem_of(error))
        .remedy("restore an earlier copy, or open the models again");
  }

  jobs_->cancel_all();
  subjects_.clear();
  input_ = nullptr;
  input_job_ = 0;
  input_locator_.clear();
  input_stopped_ = false;
  input_error_.clear();
  for (OpenSubject& open : saved.subjects) {
    open.id = static_cast<SubjectId>(++last_id_);
    subjects_.push_back(std::move(open));
  }
  const auto at = [this](std::int64_t place) {
    const bool exists = place >= 0 && place < std::ssize(subjects_);
    return exists ? subjects_[static_cast<std::size_t>(place)].id : SubjectId::none;
  };
  reference_ = at(saved.reference);
  // The selection is not clamped here, because its subject is not opened yet.
  selection_ = saved.selection;
  selection_.subject = at(saved.selected);
  if (selection_.subject == SubjectId::none) selection_.subject = at(0);
  view_ = saved.view;
  emit subjects_changed();
  emit view_changed();
  emit selection_changed();
  emit reference_changed();
  if (!saved.input.empty()) {
    set_input(saved.input);
  } else {
    emit input_changed();
  }
  std::vector<SubjectId> ids;
  for (const OpenSubject& open : subjects_) ids.push_back(open.id);
  for (const SubjectId id : ids) start(id);
  emit restored(saved.panels);
}

}  // namespace attnscope
