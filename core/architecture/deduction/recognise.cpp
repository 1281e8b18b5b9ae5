#include <algorithm>

#include "core/architecture/architecture.h"
#include "core/architecture/deduction/spec_deduction.h"
#include "core/architecture/description/architecture_match.h"
#include "core/architecture/model_spec_json.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

/// What to do about a missing tensor: the names most like it.
std::string nearest(const Checkpoint& checkpoint, const std::string& name) {
  const std::string names = name_list(checkpoint.nearest_names(name));
  return names.empty() ? "the file holds no tensors" : "nearest names: " + names;
}

[[noreturn]] void matched_nothing(const ArchitectureMatch& match, const Checkpoint& checkpoint) {
  if (!match.refused.empty() && match.missing.empty()) {
    throw Error(ErrorKind::unsupported,
                "the file has " + match.refused + ", which " + match.description->name + " has not")
        .in_file(checkpoint.path());
  }
  const MissingTensor& missing = match.missing.front();
  throw Error(ErrorKind::unsupported, "the pattern '" + missing.pattern + "' of " + missing.role +
                                          " in " + match.description->name + " matched nothing")
      .in_file(checkpoint.path())
      .expected("a tensor named " + missing.name)
      .remedy(nearest(checkpoint, missing.name));
}

ArchitectureDescription read_description(const std::filesystem::path& path) {
  constexpr std::size_t most = 4 << 20;  // bytes
  const std::string text = read_file(path, most);
  try {
    return parse_architecture_description(text);
  } catch (Error& error) {
    error.in_file(path);
    throw;
  }
}

Architecture deduce(const ArchitectureMatch& match, const Checkpoint& checkpoint,
                    const ModelOptions& options) {
  try {
    return deduce_architecture(match, checkpoint, options);
  } catch (Error& error) {
    if (error.file().empty()) error.in_file(checkpoint.path());
    throw;
  }
}

/// Our own files say what they are and what they were trained with. An attention that is not here
/// explains itself better than the tensors that go with it, which match nothing.
ModelSpec own_spec(const Checkpoint& checkpoint) {
  const auto architecture = checkpoint.metadata().find("architecture");
  if (architecture == checkpoint.metadata().end()) return {};
  ModelSpec spec = model_spec_from_json(architecture->second, {}, false);
  for (const MechanismEntry& entry : mechanisms()) {
    if (entry.name == spec.mechanism.name) return spec;
  }
  throw Error(ErrorKind::unsupported,
              "the model was trained with an attention that this version does not have")
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
    }
    return descriptions;
  }();
  return list;
}

}  // namespace

Architecture recognise_architecture(const Checkpoint& checkpoint, const ModelOptions& options) {
  if (!options.description.empty()) {
    const ArchitectureDescription description = read_description(options.description);
    const ArchitectureMatch match = match_architecture(description, checkpoint);
    if (!match.complete()) matched_nothing(match, checkpoint);
    return deduce(match, checkpoint, options);
  }
  const auto& descriptions = built_in_descriptions();
  const auto format = checkpoint.metadata().find("format");
  if (format != checkpoint.metadata().end() && format->second == "attnscope-model") {
    const ModelSpec spec = own_spec(checkpoint);
    if (!spec.reads_texts()) {
      const ArchitectureMatch match = match_architecture(descriptions.front(), checkpoint);
      if (!match.complete()) matched_nothing(match, checkpoint);
      return deduce(match, checkpoint, options);
    }
    // Models of texts of our own have the names of a known family.
  }
  std::vector<ArchitectureMatch> matches;
  for (std::size_t i = 1; i < descriptions.size(); ++i) {
    matches.push_back(match_architecture(descriptions[i], checkpoint));
  }
  // The most tensors with a role wins; the share of required tensors that are there says how near
  // an incomplete match came.
  const auto nearness = [](const ArchitectureMatch& match) {
    const double required = static_cast<double>(std::max<std::size_t>(match.required, 1));
    return 1.0 - static_cast<double>(match.missing.size()) / required;
  };
  const auto best = std::max_element(matches.begin(), matches.end(),
                                     [&](const ArchitectureMatch& a, const ArchitectureMatch& b) {
                                       if (a.complete() != b.complete()) return b.complete();
                                       if (a.complete()) return a.sources.size() < b.sources.size();
                                       return nearness(a) < nearness(b);
                                     });
  if (best->complete()) return deduce(*best, checkpoint, options);
  if (nearness(*best) > 0.3) matched_nothing(*best, checkpoint);
  std::string first_names;
  for (std::size_t i = 0; i < std::min<std::size_t>(checkpoint.tensors().size(), 3); ++i) {
    first_names += (i ? ", " : "") + checkpoint.tensors()[i].name;
  }
  throw Error(ErrorKind::unsupported, "the tensors' names are of no known architecture")
      .in_file(checkpoint.path())
      .expected(name_list(architecture_families(), &ArchitectureFamily::name))
      .found(first_names.empty() ? "no tensors" : first_names + ", …")
      .remedy("describe it in a JSON file: docs/architecture-descriptions.md");
}

}  // namespace attnscope
