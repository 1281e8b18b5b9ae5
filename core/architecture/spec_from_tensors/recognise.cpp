#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "core/architecture/architecture.h"
#include "core/architecture/class_names.h"
#include "core/architecture/configuration/config_kind.h"
#include "core/architecture/configuration/neighbour_config.h"
#include "core/architecture/family_matching/architecture_match.h"
#include "core/architecture/family_matching/leftover_tensors.h"
#include "core/architecture/model_spec_json.h"
#include "core/architecture/spec_from_tensors/family_deduction.h"
#include "core/architecture/spec_from_tensors/vit_deduction.h"
#include "core/architecture/spec_members.h"
#include "core/architecture/unknown_models/named_model.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/shown_text.h"
#include "core/text/name_list.h"
#include "core/text/pattern.h"

namespace attnscope {

namespace {

/// Remedy for a missing tensor: the most similar names.
std::string nearest(const Checkpoint& checkpoint, const std::string& name) {
  const std::string names = name_list(checkpoint.nearest_names(name));
  return names.empty() ? "the file holds no tensors" : "nearest names: " + names;
}

/// Tensors of common models with parts that are not supported.
constexpr std::pair<std::string_view, const char*> kOtherModels[] = {
    {"*local_mp.conv1.weight",
     "XCiT's attention between channels, not between tokens, which is not supported"},
    {"*attn.cpb_mlp.0.weight", "Swin v2's cosines of queries and keys, which are not supported"},
    {"*continuous_position_bias_mlp.0.weight",
     "Swin v2's cosines of queries and keys, which are not supported"},
    {"*.A_log", "state-space layers (as Mamba's), which have no attention and so no maps"},
    {"*.receptance.weight", "RWKV's recurrence, which has no attention and so no maps"},
};

void refuse_other_models(const Checkpoint& checkpoint) {
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    for (const auto& [pattern, what] : kOtherModels) {
      if (!matches_pattern(pattern, tensor.name)) continue;
      throw Error(ErrorKind::unsupported, "the file has " + std::string(what))
          .in_file(checkpoint.path())
          .about(tensor.name);
    }
  }
}

/// Throws for a family that the user, the configuration or the file names and that does not match.
[[noreturn]] void matched_nothing(const ArchitectureMatch& match, const Checkpoint& checkpoint) {
  refuse_other_models(checkpoint);
  if (!match.refused.empty() && match.missing.empty()) {
    throw Error(ErrorKind::unsupported, "the file has " + match.refused + ", which " +
                                            match.description->name + " does not have")
        .in_file(checkpoint.path());
  }
  const MissingTensor& missing = match.missing.front();
  throw Error(ErrorKind::unsupported, "the pattern '" + missing.pattern + "' of " + missing.role +
                                          " in " + match.description->name + " matched nothing")
      .in_file(checkpoint.path())
      .expected("a tensor named " + missing.name)
      .remedy(nearest(checkpoint, missing.name));
}

/// Descriptions in a user's file: one, or the revisions of a family.
std::vector<ArchitectureDescription> read_descriptions(const std::filesystem::path& path) {
  constexpr std::size_t most = 4 << 20;  // bytes
  const std::string text = read_file(path, most);
  return with_file(path, [&] {
    std::vector<ArchitectureDescription> descriptions;
    for (const std::string& one : revisions_in(text)) {
      descriptions.push_back(parse_architecture_description(one));
    }
    return descriptions;
  });
}

/// Assumption about the state dict that was chosen from several in the file.
std::vector<Assumption> chosen_state_dict(const ArchitectureMatch& match,
                                          const Checkpoint& checkpoint,
                                          const ModelOptions& options) {
  std::vector<std::string> others = checkpoint.other_state_dicts();
  std::string chosen = checkpoint.state_dict();
  if (!match.alternatives.empty()) {
    chosen =
        match.prefix.substr(0, match.prefix.size() - std::min<std::size_t>(match.prefix.size(), 1));
    others.insert(others.end(), match.alternatives.begin(), match.alternatives.end());
  }
  const std::string asked = options.state_dict();
  if (!asked.empty() && asked != checkpoint.state_dict() &&
      !match.prefix.starts_with(asked + ".")) {
    others.insert(others.begin(), chosen);
    throw Error(ErrorKind::usage, "the file has no such state dict")
        .in_file(checkpoint.path())
        .about(kStateDictOption)
        .expected(chosen.empty() ? "none: it holds one model" : name_list(others))
        .found(asked);
  }
  if (others.empty()) return {};
  return {{kStateDictOption, asked.empty() ? chosen : asked,
           (asked.empty() ? "the file also holds " : "set by the user; the file also holds ") +
               name_list(others),
           !asked.empty()}};
}

bool share_tensors(const ArchitectureMatch& a, const ArchitectureMatch& b) {
  std::set<std::string_view> of_a;
  for (const auto& [role, source] : a.sources) of_a.insert(source.tensor);
  return std::any_of(b.sources.begin(), b.sources.end(),
                     [&](const auto& entry) { return of_a.contains(entry.second.tensor); });
}

/// Share of the required patterns that matched.
double nearness(const ArchitectureMatch& match) {
  const double required = static_cast<double>(std::max<std::size_t>(match.required, 1));
  return 1.0 - static_cast<double>(match.missing.size()) / required;
}

/// The complete match with most tensors; without one, that with the largest share of required
/// tensors.
const ArchitectureMatch& best_of(const std::vector<ArchitectureMatch>& matches) {
  return *std::ranges::max_element(matches,
                                   [](const ArchitectureMatch& a, const ArchitectureMatch& b) {
                                     if (a.complete() != b.complete()) return b.complete();
                                     if (a.complete()) return a.sources.size() < b.sources.size();
                                     return nearness(a) < nearness(b);
                                   });
}

/// Least share that makes a family worth naming.
constexpr double kNear = 0.7;

std::string first_names(const Checkpoint& checkpoint) {
  const auto& tensors = checkpoint.tensors();
  constexpr std::size_t most = 3;
  const std::size_t count = std::min(tensors.size(), most);
  const std::span<const StoredTensor> first(tensors.data(), count);
  return count == 0 ? "no tensors"
                    : name_list(first, &StoredTensor::name) + (tensors.size() > most ? ", …" : "");
}

/// Throws for names of unknown family, with the missing tensor of the nearest families, or with the
/// kind of names that are required.
[[noreturn]] void refuse_names(std::vector<ArchitectureMatch> matches,
                               const Checkpoint& checkpoint) {
  std::erase_if(matches, [](const auto& match) { return nearness(match) <= kNear; });
  std::ranges::stable_sort(matches, std::greater(), nearness);
  constexpr std::size_t most = 3;
  matches.resize(std::min(matches.size(), most));
  const std::string unknown = "the tensors' names belong to no known architecture";
  const std::string describe =
      "describe the model in a JSON file: docs/architecture-descriptions.md";
  if (matches.empty()) {
    throw Error(ErrorKind::unsupported, unknown)
        .in_file(checkpoint.path())
        .expected(
            "numbered blocks with names for queries, keys and values, such as "
            "blocks.0.attn.query.weight, or the names of a family that attnscope list "
            "architectures shows")
        .found(first_names(checkpoint))
        .remedy(describe);
  }
  const ArchitectureMatch& first = matches.front();
  if (first.missing.empty()) matched_nothing(first, checkpoint);
  const auto how_near = [](const ArchitectureMatch& match) {
    return match.description->name + " (" +
           std::to_string(match.required - std::min(match.required, match.missing.size())) +
           " of " + std::to_string(match.required) + " roles)";
  };
  const MissingTensor& missing = first.missing.front();
  throw Error(ErrorKind::unsupported, unknown + ", nearest to " + name_list(matches, how_near))
      .in_file(checkpoint.path())
      .expected(missing.name + " ('" + missing.pattern + "' of " + missing.role + ") as in " +
                first.description->name)
      .remedy(nearest(checkpoint, missing.name) + "; or " + describe);
}

/// Other model of a file with an image and a text model: the match with most tensors of the other
/// kind that shares none with `best`, complete matches first. Null if there is none.
const ArchitectureMatch* other_tower(const ArchitectureMatch& best,
                                     const std::vector<ArchitectureMatch>& matches) {
  const bool texts = best.description->spec.reads_texts();
  const ArchitectureMatch* other = nullptr;
  for (const ArchitectureMatch& match : matches) {
    if (match.description->spec.reads_texts() == texts || nearness(match) < kNear) continue;
    if (!match.refused.empty() || share_tensors(match, best)) continue;
    const auto rank = [](const ArchitectureMatch& each) {
      return std::pair(each.complete(), each.sources.size());
    };
    if (!other || rank(match) > rank(*other)) other = &match;
  }
  return other;
}

/// Match that input.kind selects in a file with an image and a text model (CLIP); by default the
/// image model. Adds the choice to `said`. Throws Error(unsupported) if the selected model lacks
/// tensors.
const ArchitectureMatch& choose_tower(const ArchitectureMatch& best,
                                      const std::vector<ArchitectureMatch>& matches,
                                      const Checkpoint& checkpoint, const ModelOptions& options,
                                      std::vector<Assumption>& said) {
  constexpr const char* option = "input.kind";
  const auto asked = options.overrides.find(option);
  const bool by_user = asked != options.overrides.end();
  const bool asks_texts = by_user && asked->second == "tokens";
  const bool takes_best = best.description->spec.reads_texts() == asks_texts;
  const ArchitectureMatch* const other = other_tower(best, matches);
  if (!other || (takes_best && !other->complete())) return best;
  if (!other->complete()) matched_nothing(*other, checkpoint);
  said.push_back({option, asks_texts ? "tokens" : "patches",
                  std::string(by_user ? "set by the user; " : "") + "the file also holds " +
                      (takes_best ? *other : best).description->name +
                      ", input.kind=" + (asks_texts ? "patches" : "tokens")});
  return takes_best ? best : *other;
}

Architecture deduce_architecture(const DeductionInput& input) {
  const ModelSpec& described = input.match.description->spec;
  if (described.reads_texts()) return deduce_text_model(input);
  if (described.is_audio()) return deduce_sound_model(input);
  if (described.is_pyramid()) return deduce_pyramid(input);
  return ViTDeduction(input).deduce();
}

/// Deduces the architecture of a match. Leftover tensors are reported before contradictions, and
/// the choice of a model is the first assumption.
Architecture deduce(const ArchitectureMatch& match, const Checkpoint& checkpoint,
                    const ModelOptions& options, const NeighbourConfig& config) {
  return with_file(checkpoint.path(), [&] {
    std::vector<Assumption> said = chosen_state_dict(match, checkpoint, options);
    for (Assumption& ignored : check_leftover_tensors(match, checkpoint, options, config.unused)) {
      said.push_back(std::move(ignored));
    }
    Architecture architecture = deduce_architecture({match, checkpoint, options, config});
    architecture.assumptions.insert(architecture.assumptions.begin(), said.begin(), said.end());
    // Views show class names without further processing, so shown_text is applied here. Texts of
    // tokens must stay exact for matching, and views apply visible_text.
    if (!architecture.spec.is_language_model()) {
      for (std::string& label : architecture.spec.labels) label = shown_text(label);
    }
    return architecture;
  });
}

/// Spec that our own file states. Throws for a mechanism that is not available, since this explains
/// more than the tensors that would match nothing.
ModelSpec own_spec(const Checkpoint& checkpoint) {
  const auto architecture = checkpoint.metadata().find("architecture");
  if (architecture == checkpoint.metadata().end()) return {};
  ModelSpec spec = model_spec_from_json(architecture->second, {}, false);
  for (const MechanismEntry& entry : mechanisms()) {
    if (entry.name == spec.mechanism.name) return spec;
  }
  throw Error(ErrorKind::unsupported, "the model was trained with an unknown mechanism")
      .in_file(checkpoint.path())
      .about("mechanism")
      .expected(name_list(mechanisms(), &MechanismEntry::name))
      .found(spec.mechanism.name);
}

const std::vector<ArchitectureDescription>& built_in_descriptions() {
  static const std::vector<ArchitectureDescription> list = [] {
    std::vector<ArchitectureDescription> descriptions;
    for (const ArchitectureFamily& family : architecture_families()) {
      descriptions.push_back(parse_architecture_description(family.description));
      descriptions.back().family = family.id;
    }
    return descriptions;
  }();
  return list;
}

/// Architecture from the names' description. Throws if a setting is not specified.
Architecture deduce_named(const NamedModel& model, const Checkpoint& checkpoint,
                          const ModelOptions& options, const NeighbourConfig& config) {
  check_said(model, checkpoint);
  const ArchitectureDescription description = parse_architecture_description(model.description);
  const ArchitectureMatch match = match_architecture(description, checkpoint);
  if (!match.complete()) matched_nothing(match, checkpoint);
  Architecture architecture = deduce(match, checkpoint, options, config);
  architecture.assumptions.insert(architecture.assumptions.end(), model.assumptions.begin(),
                                  model.assumptions.end());
  return architecture;
}

/// True for PyTorch's bare encoder, which matches whatever else the file holds.
bool is_bare_encoder(const ArchitectureMatch& match) {
  return match.description->spec.input.kind == InputKind::embeddings &&
         match.description->stated.contains("readout");
}

/// Throws if the tensors that make tokens are unexplained and the user does not exclude them.
void check_alone(const NamedModel& named, const Checkpoint& checkpoint,
                 const ModelOptions& options) {
  const auto kind = options.overrides.find("input.kind");
  const bool asked = kind != options.overrides.end() && kind->second == "embeddings";
  if (!asked && !named.unexplained.empty()) throw_unexplained(named, checkpoint);
}

/// Options with overrides under the names of their members instead of their paths, and with the
/// names of the classes themselves.
ModelOptions by_name(ModelOptions options) {
  std::map<std::string, std::string> named;
  for (auto& [option, text] : options.overrides) {
    const SpecMember* const member = find_spec_member(option);
    named.insert_or_assign(member ? std::string(member->name) : option, std::move(text));
  }
  if (const auto labels = named.find("labels"); labels != named.end()) {
    const std::vector<std::string> names = names_referred_to(labels->second);
    using nlohmann::json;
    if (!names.empty()) {
      labels->second = json(names).dump(-1, ' ', false, json::error_handler_t::replace);
    }
  }
  options.overrides = std::move(named);
  return options;
}

/// Configuration next to the file or inside it.
NeighbourConfig configuration_of(const Checkpoint& checkpoint, std::span<const std::string> ignored,
                                 std::span<const ConfigKind> own = {}) {
  return checkpoint.key_values() ? gguf_config(checkpoint, ignored)
                                 : neighbour_config(checkpoint.path(), ignored, own);
}

}  // namespace

Checkpoint open_model_file(const std::filesystem::path& path, const ModelOptions& options) {
  Checkpoint checkpoint = open_checkpoint(path);
  const std::string asked = options.state_dict();
  // A name that matches no state dict may be a prefix of the tensors' names.
  for (const std::string& other : checkpoint.other_state_dicts()) {
    if (other == asked) return checkpoint.with_state_dict(asked);
  }
  return checkpoint;
}

Architecture architecture_described(const ArchitectureDescription& description,
                                    const Checkpoint& checkpoint, const ModelOptions& options) {
  const std::vector<std::string> ignored = options.ignored();
  const ArchitectureMatch match = match_architecture(description, checkpoint, options.state_dict());
  if (!match.complete()) matched_nothing(match, checkpoint);
  std::vector<ConfigKind> own;
  if (!description.configuration.empty()) own = parse_config_kinds(description.configuration, "");
  // A description overrides the keys of the file, which belong to a different family.
  const bool asks = (description.spec.reads_texts() || !own.empty()) && !checkpoint.key_values();
  NeighbourConfig config;
  if (asks) config = configuration_of(checkpoint, ignored, own);
  if (!own.empty()) check_known(config);
  return deduce(match, checkpoint, options, config);
}

Architecture recognise_architecture(const Checkpoint& checkpoint, const ModelOptions& given) {
  const ModelOptions options = by_name(given);
  const std::vector<std::string> ignored = options.ignored();
  const std::string state_dict = options.state_dict();
  if (!options.description.empty()) {
    const std::vector<ArchitectureDescription> given = read_descriptions(options.description);
    std::vector<ArchitectureMatch> matches;
    for (const ArchitectureDescription& one : given) {
      matches.push_back(match_architecture(one, checkpoint, state_dict));
    }
    return architecture_described(*best_of(matches).description, checkpoint, options);
  }
  const auto& descriptions = built_in_descriptions();
  const auto format = checkpoint.metadata().find("format");
  if (format != checkpoint.metadata().end() && format->second == "attnscope-model") {
    const ModelSpec spec = own_spec(checkpoint);
    if (!spec.reads_texts()) {
      const std::string& own = built_in_family(spec.is_pyramid() ? kOwnPyramid : kOwnModel).id;
      const auto description =
          std::ranges::find(descriptions, own, &ArchitectureDescription::family);
      const ArchitectureMatch match = match_architecture(*description, checkpoint, state_dict);
      if (!match.complete()) matched_nothing(match, checkpoint);
      return deduce(match, checkpoint, options, {});
    }
    // Our own text models have the names of a known family.
  }
  const NeighbourConfig config = configuration_of(checkpoint, ignored);
  for (const std::string& family : config.families) (void)built_in_family(family);
  std::vector<ArchitectureMatch> matches;
  for (const ArchitectureDescription& each : descriptions) {
    const bool own =
        each.family == kOwnModel || each.family == kOwnPyramid;  // named by their files
    if (own || !config.allows(each.family)) continue;
    matches.push_back(match_architecture(each, checkpoint, state_dict, !config.families.empty()));
  }
  const ArchitectureMatch* const best = &best_of(matches);
  // The file may also hold an embedding, which makes a bare encoder an image or text model.
  NamedModel named;
  if (config.kind.empty() && (!best->complete() || is_bare_encoder(*best))) {
    NeighbourConfig own = config;
    add_own_settings(checkpoint, own);
    named = with_file(checkpoint.path(),
                      [&] { return read_named_model(checkpoint, options, own.values); });
    if (!named.description.empty()) return deduce_named(named, checkpoint, options, own);
    if (best->complete()) check_alone(named, checkpoint, options);
  }
  if (best->complete()) {
    std::vector<Assumption> said;
    const ArchitectureMatch& chosen = choose_tower(*best, matches, checkpoint, options, said);
    NeighbourConfig own = as_of_family(config, chosen.description->family);
    check_known(config);
    check_known(own);
    // Heads of a pyramid differ between stages.
    if (!chosen.description->spec.is_pyramid()) add_own_settings(checkpoint, own);
    Architecture architecture = deduce(chosen, checkpoint, options, own);
    architecture.assumptions.insert(architecture.assumptions.begin(), said.begin(), said.end());
    return architecture;
  }
  const double near = nearness(*best);
  if (!config.kind.empty()) {
    if (near > 0.3) matched_nothing(*best, checkpoint);
    throw Error(ErrorKind::unsupported, "the tensors' names are not those of " + config.kind +
                                            ", which the configuration says it is")
        .in_file(checkpoint.path())
        .found(first_names(checkpoint))
        .remedy("--option ignore=config if the configuration does not belong to this file");
  }
  refuse_other_models(checkpoint);
  // A nearly matching family is reported first, then names without a known meaning.
  if (near <= kNear && !named.unexplained.empty()) throw_unexplained(named, checkpoint);
  refuse_names(std::move(matches), checkpoint);
}

}  // namespace attnscope
