#include "analysis/figure/recipes/energy_networks.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "analysis/figure/settings.h"
#include "core/error.h"

namespace attnscope {

namespace {

EnergyRequest request_of(const Subject& subject) {
  if (subject.model == nullptr) {
    throw Error(ErrorKind::usage, "a trace does not say what its network costs")
        .about(subject.label)
        .remedy("give the weight file");
  }
  EnergyRequest request;
  request.spec = subject.model->spec();
  request.label = subject.model->file().string();
  request.mechanism = subject.mechanism.name;
  const AttentionCost& cost = find_attention_cost(subject.mechanism.name);
  for (const ParameterDescription& description : cost.parameters) {
    const auto value = subject.mechanism.parameters.find(description.name);
    if (value != subject.mechanism.parameters.end()) {
      request.settings[description.name] = to_string(value->second);
    }
  }
  return request;
}

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + ", " + second;
}

/// Each label says only what tells the networks apart.
void label_all(std::vector<CountedNetwork>& networks) {
  const auto all_same = [&](auto part) {
    return std::all_of(networks.begin(), networks.end(), [&](const CountedNetwork& network) {
      return part(network) == part(networks.front());
    });
  };
  const auto title = [](const CountedNetwork& n) { return n.subject.architecture.title; };
  const auto mechanism = [](const CountedNetwork& n) {
    return to_string(n.subject.options.mechanism);
  };
  const auto arithmetic = [](const CountedNetwork& n) {
    return std::string(n.subject.options.arithmetic == Arithmetic::adder ? "adder layers" : "");
  };
  const bool same_title = all_same(title), same_mechanism = all_same(mechanism);
  for (CountedNetwork& network : networks) {
    if (!network.label.empty()) continue;
    if (!same_title || (same_mechanism && all_same(arithmetic))) network.label = title(network);
    if (!same_mechanism) network.label = joined(network.label, mechanism(network));
    if (!all_same(arithmetic)) network.label = joined(network.label, arithmetic(network));
  }
}

}  // namespace

std::vector<CountedNetwork> counted_networks(const FigureRequest& request,
                                             const std::string& otherwise) {
  const Settings read(request);
  std::vector<EnergyRequest> requests;
  std::vector<CountedNetwork> networks;
  for (const Subject& subject : request.subjects) {
    requests.push_back(request_of(subject));
    networks.push_back({.label = subject.label, .subject = {}, .cost = {}});
  }
  std::string listed = read.text("networks");
  if (listed.empty() && requests.empty()) listed = otherwise;
  std::istringstream texts(listed);
  for (std::string text; std::getline(texts, text, ';');) {
    if (text.find_first_not_of(' ') == std::string::npos) continue;
    requests.push_back(parse_energy_request(text));
    networks.push_back({});
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const EnergyRequest unset;
    if (requests[i].convention == unset.convention)
      requests[i].convention = read.text("convention");
    if (requests[i].constants == unset.constants) requests[i].constants = read.text("constants");
    networks[i].subject = understand(requests[i]);
    networks[i].cost =
        count_operations(networks[i].subject.architecture, networks[i].subject.options);
  }
  label_all(networks);
  return networks;
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
  // Okabe & Ito's, dark and light in turn, so that grey prints keep the borders.
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
