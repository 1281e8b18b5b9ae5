// The list of all mechanisms.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

// Entry functions, one per mechanism, each defined in the mechanism's file.
MechanismEntry softmax_entry();
MechanismEntry adder_entry();
MechanismEntry additive_entry();
MechanismEntry hash_entry();
MechanismEntry linear_entry();
MechanismEntry daft_full_entry();
MechanismEntry daft_conv_entry();
MechanismEntry daft_local_entry();
MechanismEntry daft_one_hot_entry();
MechanismEntry linformer_entry();
MechanismEntry performer_entry();
MechanismEntry reformer_entry();
MechanismEntry synthesizer_entry();
MechanismEntry cosformer_entry();
MechanismEntry talking_heads_entry();
MechanismEntry softmax_sink_entry();
MechanismEntry sigmoid_entry();
MechanismEntry relu_entry();
MechanismEntry ssmax_entry();
MechanismEntry sparsemax_entry();
MechanismEntry entmax_entry();
MechanismEntry differential_entry();
MechanismEntry focused_entry();
MechanismEntry inline_entry();
MechanismEntry sima_entry();
MechanismEntry agent_entry();
MechanismEntry nystrom_entry();
MechanismEntry soft_entry();
MechanismEntry rala_entry();
MechanismEntry mlla_entry();
MechanismEntry forgetting_entry();
MechanismEntry retention_entry();
MechanismEntry gla_entry();
MechanismEntry mamba2_entry();
MechanismEntry gated_delta_entry();
MechanismEntry kda_entry();
MechanismEntry mixer_entry();

std::span<const MechanismEntry> counted_mechanisms() {
  // One mechanism per line.
  // clang-format off
  static const MechanismEntry list[] = {
      softmax_entry(),  // first: the default
      adder_entry(),
      additive_entry(),
      hash_entry(),
      linear_entry(),
      daft_full_entry(),
      daft_conv_entry(),
      daft_local_entry(),
      daft_one_hot_entry(),
      performer_entry(),
      linformer_entry(),
      reformer_entry(),
      synthesizer_entry(),
      cosformer_entry(),
      talking_heads_entry(),
      softmax_sink_entry(),
      sigmoid_entry(),
      relu_entry(),
      ssmax_entry(),
      sparsemax_entry(),
      entmax_entry(),
      differential_entry(),
      focused_entry(),
      inline_entry(),
      sima_entry(),
      agent_entry(),
      nystrom_entry(),
      soft_entry(),
      rala_entry(),
      mlla_entry(),
      forgetting_entry(),
      retention_entry(),
      gla_entry(),
      mamba2_entry(),
      gated_delta_entry(),
      kda_entry(),
      mixer_entry(),  // entries from here on are counted only
  };
  // clang-format on
  return list;
}

std::span<const MechanismEntry> mechanisms() {
  const std::span<const MechanismEntry> all = counted_mechanisms();
  const auto end =
      std::ranges::find_if(all, [](const MechanismEntry& entry) { return !entry.make; });
  return all.first(static_cast<std::size_t>(end - all.begin()));
}

AttentionShape AttentionInput::shape() const {
  const std::int64_t share = std::max<std::int64_t>(heads, 1);
  return {.queries = queries.rows(),
          .keys = keys.rows(),
          .heads = heads,
          .head_width = queries.cols() / share,
          .value_width = values.cols() / std::max<std::int64_t>(heads_of_keys(), 1)};
}

double AttentionInput::score_scale() const {
  const auto width = static_cast<double>(std::max<std::int64_t>(shape().head_width, 1));
  return scale.value_or(1 / std::sqrt(width));
}

std::vector<ParameterDescription> MechanismEntry::counted_parameters() const {
  std::vector<ParameterDescription> all = parameters;
  all.insert(all.end(), accounting.begin(), accounting.end());
  return all;
}

const MechanismEntry& find_counted_mechanism(std::string_view name) {
  const std::span<const MechanismEntry> all = counted_mechanisms();
  const auto found = std::ranges::find(all, name, &MechanismEntry::name);
  if (found != all.end()) return *found;
  throw unknown_name("mechanism", name, name_list(all, &MechanismEntry::name));
}

const MechanismEntry& find_mechanism(std::string_view name) {
  const std::span<const MechanismEntry> runnable = mechanisms();
  const auto found = std::ranges::find(runnable, name, &MechanismEntry::name);
  if (found != runnable.end()) return *found;
  throw unknown_name("mechanism", name, name_list(runnable, &MechanismEntry::name));
}

MechanismChoice choice_over_tokens(MechanismChoice choice, bool on_grid) {
  const std::span<const MechanismEntry> all = counted_mechanisms();
  const auto entry = std::ranges::find(all, choice.name, &MechanismEntry::name);
  if (entry == all.end() || !find_description(entry->parameters, "dimensions")) return choice;
  ParameterValue& dimensions =
      choice.parameters.try_emplace("dimensions", std::string("auto")).first->second;
  if (dimensions == ParameterValue(std::string("auto"))) {
    dimensions = std::int64_t{on_grid ? 2 : 1};
  }
  return choice;
}

std::string settings_in_words(const MechanismChoice& choice) {
  const std::span<const MechanismEntry> all = counted_mechanisms();
  const auto entry = std::ranges::find(all, choice.name, &MechanismEntry::name);
  std::string words;
  for (const auto& [name, value] : choice.parameters) {
    if (entry != all.end()) {
      const auto known = entry->counted_parameters();
      const ParameterDescription* const description = find_description(known, name);
      if (description != nullptr && description->default_value == value) continue;
    }
    std::string one = name;
    if (const bool* const flag = std::get_if<bool>(&value)) {
      if (name == "identity")
        one = *flag ? "+ identity" : "no identity";
      else if (!*flag)
        one = "not " + name;
    } else if (std::holds_alternative<std::string>(value) || name.ends_with('s')) {
      one = to_string(value) + " " + name;
    } else {
      one += " " + to_string(value);
    }
    words += (words.empty() ? "" : ", ") + one;
  }
  return words;
}

std::string in_words(const MechanismChoice& choice) {
  const std::string settings = settings_in_words(choice);
  const char* const joint = settings.empty() ? "" : settings.starts_with('+') ? " " : ", ";
  return choice.name + " attention" + joint + settings;
}

std::unique_ptr<const Mechanism> make_mechanism(const MechanismChoice& choice) {
  const MechanismEntry& entry = find_mechanism(choice.name);
  ParameterValues values = complete_values(entry.name, entry.parameters, choice.parameters);
  std::unique_ptr<Mechanism> made = entry.make(TypedValues(values));
  made->choice_ = {std::string(entry.name), std::move(values)};
  return made;
}

MechanismChoice choose_mechanism(const std::string& name,
                                 const std::map<std::string, std::string>& texts,
                                 const MechanismChoice& trained) {
  MechanismChoice choice = trained;
  if (!name.empty() && name != trained.name) choice = {name, {}};
  const MechanismEntry& entry = find_mechanism(choice.name);
  for (const auto& [key, value] : texts) {
    choice.parameters[key] =
        parse_parameter(description_of(choice.name, entry.parameters, key), value);
  }
  return make_mechanism(choice)->choice();
}

}  // namespace attnscope
