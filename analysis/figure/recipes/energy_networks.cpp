#include "analysis/figure/recipes/energy_networks.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "analysis/figure/caption.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

constexpr std::string_view own_mechanism = "own";

EnergyRequest request_of(const Subject& subject) {
  if (subject.model == nullptr) {
    throw Error(ErrorKind::usage, "the energy cannot be computed from a trace")
        .about(subject.label)
        .remedy("give the weight file");
  }
  EnergyRequest request = energy_request_of(*subject.model);
  request.mechanism = subject.mechanism;
  return request;
}

std::string join_names(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + ", " + second;
}

/// Sets labels that contain only what distinguishes the networks.
void label_all(std::vector<CountedNetwork>& networks) {
  const auto all_same = [&](auto part) {
    return std::all_of(networks.begin(), networks.end(), [&](const CountedNetwork& network) {
      return part(network) == part(networks.front());
    });
  };
  const auto title = [](const CountedNetwork& n) { return n.subject.architecture.title; };
  const auto whole = [](const CountedNetwork& n) { return to_string(n.subject.options.mechanism); };
  const auto arithmetic = [](const CountedNetwork& n) {
    return std::string(n.subject.options.arithmetic == Arithmetic::adder ? "adder layers" : "");
  };
  // The parameters of a mechanism are included if another mechanism has the same name.
  const auto mechanism = [&](const CountedNetwork& network) {
    const std::string& name = network.subject.options.mechanism.name;
    const bool ambiguous =
        std::any_of(networks.begin(), networks.end(), [&](const CountedNetwork& other) {
          return other.subject.options.mechanism.name == name && whole(other) != whole(network);
        });
    return ambiguous ? whole(network) : name;
  };
  const bool same_title = all_same(title), same_mechanism = all_same(whole);
  std::vector<std::string> labels;
  for (const CountedNetwork& network : networks) {
    std::string label = network.label;
    if (label.empty()) {
      if (!same_title || (same_mechanism && all_same(arithmetic))) label = title(network);
      if (!same_mechanism) label = join_names(label, mechanism(network));
      if (!all_same(arithmetic)) label = join_names(label, arithmetic(network));
    }
    labels.push_back(std::move(label));
  }
  for (std::size_t i = 0; i < networks.size(); ++i) networks[i].label = std::move(labels[i]);
}

/// Parses {"bits=8", "landmarks=64"}; one text may hold several, separated by spaces.
std::map<std::string, std::string> listed_parameters(const Texts& list) {
  std::istringstream words(name_list(list, std::identity(), " "));
  std::map<std::string, std::string> parameters;
  for (std::string word; words >> word;) {
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos || sign == 0) {
      throw Error(ErrorKind::usage, "a parameter is written name=value")
          .about("parameters")
          .found("'" + word + "'");
    }
    const std::string name = word.substr(0, sign);
    std::vector<std::string> known;
    for (const MechanismEntry& entry : counted_mechanisms()) {
      for (const ParameterDescription& p : entry.counted_parameters()) {
        if (std::ranges::find(known, p.name) == known.end()) known.push_back(p.name);
      }
    }
    if (std::ranges::find(known, name) == known.end()) {
      throw unknown_name("parameter", name, name_list(known));
    }
    parameters[name] = word.substr(sign + 1);
  }
  return parameters;
}

/// Parses a mechanism written as "hash bits=8", and adds those of `parameters` that it has and does
/// not specify itself. Throws Error(usage) for an unknown name or a value out of range.
MechanismChoice parse_mechanism(const std::string& text, const Texts& parameters = {}) {
  std::istringstream words(text);
  MechanismChoice choice;
  words >> choice.name;
  const auto known = find_counted_mechanism(choice.name).counted_parameters();
  const auto set = [&](const ParameterDescription& description, const std::string& value) {
    choice.parameters.insert_or_assign(description.name, parse_parameter(description, value));
  };
  for (const auto& [name, value] : listed_parameters(parameters)) {
    if (const ParameterDescription* description = find_description(known, name)) {
      set(*description, value);
    }
  }
  for (std::string word; words >> word;) {
    const std::size_t sign = word.find('=');
    set(description_of(choice.name, known, word.substr(0, sign)),
        sign == std::string::npos ? "" : word.substr(sign + 1));
  }
  return choice;
}

/// The request with another mechanism; parameters of the network's own mechanism are dropped.
EnergyRequest under(EnergyRequest request, const std::string& mechanism) {
  if (mechanism == own_mechanism) return request;
  request.mechanism = parse_mechanism(mechanism);
  return request;
}

}  // namespace

ParameterDescription networks_setting() {
  return setting::names("networks", {}, {},
                        "networks without weights: deit-small; deit-small mechanism=hash bits=8");
}

ParameterDescription network_mechanisms_setting() {
  return setting::names("mechanisms", {}, {std::string(own_mechanism)},
                        "under which each network is counted: own; adder; hash bits=8");
}

ParameterDescription layer_mechanisms_setting() {
  return setting::names("mechanisms", {}, {}, "with their parameters: softmax; hash bits=8")
      .or_word({"all"})
      .by_default("all");
}

ParameterDescription tokens_setting() {
  return setting::whole("tokens", 0, {0, 1e12}, "N of every network; 0: its own").in("tokens");
}

ParameterDescription parameters_setting() {
  return setting::names("parameters", {}, {},
                        "parameters of every mechanism that has them: bits=8, landmarks=64");
}

ParameterDescription convention_setting(CostConvention otherwise) {
  return setting::choice("convention", names_of(cost_convention_names), name_of(otherwise),
                         "whose accounting");
}

ParameterDescription constants_setting() {
  std::vector<std::string> tables;
  for (const EnergyConstants& table : energy_tables()) tables.push_back(table.name);
  const std::string first = tables.front();
  return setting::file("constants", "energy per operation: a table, or a JSON file")
      .or_word(std::move(tables))
      .by_default(first);
}

std::vector<MechanismChoice> chosen_mechanisms(const Settings& read,
                                               const std::vector<MechanismChoice>& all) {
  const Texts& parameters = read.names("parameters");
  std::vector<MechanismChoice> chosen;
  if (read.is("mechanisms", "all")) {
    for (const MechanismChoice& choice : all) {
      MechanismChoice set = parse_mechanism(choice.name, parameters);
      set.parameters.merge(ParameterValues(choice.parameters));
      chosen.push_back(std::move(set));
    }
    return chosen;
  }
  for (const std::string& item : read.names("mechanisms")) {
    chosen.push_back(parse_mechanism(item, parameters));
  }
  if (chosen.empty()) {
    throw Error(ErrorKind::usage, "no mechanism was given")
        .about("mechanisms")
        .expected("all, or mechanisms separated by semicolons");
  }
  return chosen;
}

std::vector<CountedNetwork> counted_networks(const FigureRequest& request, const Texts& otherwise) {
  const Settings read(request);
  std::vector<EnergyRequest> bases;
  for (const Subject& subject : request.subjects) bases.push_back(request_of(subject));
  const Texts& listed = read.names("networks");
  for (const std::string& item : listed.empty() && bases.empty() ? otherwise : listed) {
    bases.push_back(parse_energy_request(item));
  }

  const Texts& mechanisms = read.names("mechanisms");
  const bool as_they_are = mechanisms == Texts{std::string(own_mechanism)};
  const std::int64_t tokens = read.whole("tokens");
  const auto parameters = listed_parameters(read.names("parameters"));
  std::vector<CountedNetwork> networks;
  for (std::size_t i = 0; i < bases.size(); ++i) {
    for (const std::string& mechanism : mechanisms) {
      EnergyRequest wanted = under(bases[i], mechanism);
      const EnergyRequest unset;
      if (wanted.convention == unset.convention) {
        wanted.convention = read.choice("convention", cost_convention_names);
      }
      if (wanted.constants == unset.constants) wanted.constants = read.text("constants");
      if (wanted.tokens == 0) wanted.tokens = tokens;
      CountedNetwork network;
      network.subject = resolve(wanted);
      const MechanismEntry& mechanism_of =
          find_counted_mechanism(network.subject.options.mechanism.name);
      bool more = false;
      for (const ParameterDescription& parameter : mechanism_of.counted_parameters()) {
        const auto given = parameters.find(parameter.name);
        if (given == parameters.end()) continue;
        wanted.mechanism.parameters.insert_or_assign(parameter.name,
                                                     parse_parameter(parameter, given->second));
        more = true;
      }
      if (more) network.subject = resolve(wanted);
      if (as_they_are && i < request.subjects.size()) network.label = request.subjects[i].label;
      network.cost = count_operations(network.subject.architecture, network.subject.options);
      networks.push_back(std::move(network));
    }
  }
  if (networks.empty()) {
    throw Error(ErrorKind::usage, "no network or mechanism is selected")
        .about("mechanisms")
        .expected("own, or mechanisms separated by semicolons")
        .found("'" + read.written("mechanisms") + "'");
  }
  label_all(networks);
  const bool subjects_alone = networks.size() == request.subjects.size() && as_they_are;
  const std::vector<std::string> short_names =
      subjects_alone ? short_labels(request) : std::vector<std::string>{};
  for (std::size_t i = 0; i < networks.size(); ++i) {
    networks[i].short_label = subjects_alone ? short_names[i] : networks[i].label;
  }
  return networks;
}

double add_network_ticks(Axis& axis, const std::vector<CountedNetwork>& networks, double axis_mm) {
  constexpr double text_pt = 6.25, apart_mm = 1, line_mm = 2.6;
  double widest_mm = 0;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    axis.ticks.push_back({static_cast<double>(i), networks[i].short_label});
    widest_mm = std::max(widest_mm, text_mm(networks[i].short_label, text_pt));
  }
  axis.minimum = -0.5;
  axis.maximum = static_cast<double>(networks.size()) - 0.5;
  axis.turned_ticks = widest_mm + apart_mm > axis_mm / static_cast<double>(networks.size());
  return axis.turned_ticks ? std::max(0.0, widest_mm - line_mm) : 0;
}

const std::vector<std::string>& component_kinds() {
  static const std::vector<std::string> kinds = {
      "embedding",       "projections", "features and codes", "scores", "softmax", "values",
      "other attention", "FFN",         "normalisation",      "head"};
  return kinds;
}

std::size_t kind_of(const ComponentCost& component) {
  enum Kind : std::size_t {
    embedding,
    projections,
    features,
    scores,
    softmax,
    values,
    other,
    ffn,
    normalisation,
    head
  };
  switch (component.group) {
    case ComponentGroup::embedding:
      return embedding;
    case ComponentGroup::feed_forward:
      return ffn;
    case ComponentGroup::normalisation:
      return normalisation;
    case ComponentGroup::head:
      return head;
    case ComponentGroup::attention:
      break;
  }
  const std::string& name = component.count.component;
  if (name.starts_with("hash ") || name.ends_with("features") || name == "binarisation" ||
      name == "landmarks" || name == "position bias") {
    return features;
  }
  if (name.ends_with("projection")) return projections;
  if (name == "scores" || name == "token mixing" || name.ends_with("importances")) return scores;
  if (name == "softmax") return softmax;
  if (name == "values" || name.starts_with("global ")) return values;
  return other;
}

Colour kind_colour(std::size_t kind) {
  // Okabe & Ito's palette, with dark and light alternating, so that borders are visible in grey
  // prints.
  constexpr std::array<Colour, 10> colours = {{{60, 60, 60, 255},
                                               {86, 180, 233, 255},
                                               {0, 114, 178, 255},
                                               {240, 200, 60, 255},
                                               {213, 94, 0, 255},
                                               {245, 170, 120, 255},
                                               {150, 60, 20, 255},
                                               {0, 158, 115, 255},
                                               {204, 121, 167, 255},
                                               {170, 170, 170, 255}}};
  return colours[kind % colours.size()];
}

std::string networks_in_words(const std::vector<CountedNetwork>& networks) {
  std::string words;
  for (const CountedNetwork& network : networks) {
    if (!words.empty()) words += "; ";
    words += network.subject.label;
    const std::string& note = network.subject.architecture.note;
    if (!note.empty()) words += " (" + note + ")";
  }
  if (networks.empty()) return words;
  const EnergySubject& first = networks.front().subject;
  return words + ". Accounting: " + std::string(name_of(first.options.convention)) +
         "; energy per operation: " + first.constants.title + " (" + first.constants.source + ")";
}

EnergyUnit energy_unit(double largest_pj) {
  constexpr std::pair<const char*, double> units[] = {
      {"J", 1e12}, {"mJ", 1e9}, {"µJ", 1e6}, {"nJ", 1e3}};
  for (const auto& [name, pj] : units) {
    if (largest_pj >= pj) return {name, pj};
  }
  return {"pJ", 1};
}

}  // namespace attnscope
