#include "core/architecture/spec_from_tensors/family_deduction.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/architecture/spec_members.h"
#include "core/architecture/tensor_groups.h"
#include "core/attention/mechanism.h"
#include "core/text/json.h"
#include "core/text/name_list.h"
#include "core/text/number_text.h"

namespace attnscope {

FamilyDeduction::FamilyDeduction(const DeductionInput& input)
    : checkpoint_(input.checkpoint),
      options_(input.options),
      config_(input.config),
      description_(*input.match.description),
      layers_(input.match.layers),
      tail_blocks_(input.match.tail_blocks) {
  result_.name = description_.name;
  result_.qkv_rows = description_.qkv_rows;
  result_.sources = input.match.sources;
  spec_ = description_.spec;
  stated_ = description_.stated;
  leave_out_further_layers();
  const bool gated = !spec_.is_pyramid() && deduce_gates();
  for (const auto& [role, members] : description_.where) {
    const bool of_layer = role.starts_with("layer.");
    if (!has(of_layer ? "layer.0." + role.substr(6) : role)) continue;
    const ModelSpec before = std::exchange(spec_, model_spec_from_json(members, spec_, false));
    for (const std::string& member : stated_) {
      apply_override(spec_, member, option_text(before, member));
    }
  }
  if (!spec_.is_pyramid()) {
    const MlpForm form = !has(mlp_roles() + "mlp2.weight") ? MlpForm::none
                         : gated                           ? MlpForm::gated
                                                           : MlpForm::plain;
    fact("mlp_form", spec_.layer.mlp.form, form, "the MLPs");
  }
}

void FamilyDeduction::leave_out_further_layers() {
  const auto stated_layers = config_.values.find("layers");
  if (config_.further_layers == 0 || stated_layers == config_.values.end()) return;
  const std::int64_t rest = layers_ - config_.further_layers;
  if (stated_layers->second != std::to_string(rest)) return;  // the file does not have them
  for (; layers_ > rest; --layers_) {
    const std::string beginning = "layer." + std::to_string(layers_ - 1) + ".";
    std::erase_if(result_.sources,
                  [&](const auto& source) { return source.first.starts_with(beginning); });
  }
}

void FamilyDeduction::take_config(bool with_labels) {
  if (!config_.own_code.empty()) {
    result_.assumptions.push_back({"config.auto_map", config_.own_code,
                                   "the configuration names the model's own code, which is not "
                                   "run: the results are those of transformers for " +
                                       (config_.kind.empty() ? description_.name : config_.kind),
                                   true});
  }
  if (!config_.unread.empty()) {
    result_.assumptions.push_back(
        {"config", name_list(config_.unread),
         "not read: the configuration does not give the type of the model (model_type)"});
  }
  for (const auto& [option, text] : config_.values) {
    if (option == "labels" && !with_labels) continue;
    if (options_.overrides.contains(option)) continue;
    if (stated(option) && !config_.overruling.contains(option)) continue;
    try {
      apply_override(spec_, option, text);
    } catch (const Error& error) {
      throw Error(ErrorKind::damaged, error.message())
          .in_file(config_.file)
          .about(option)
          .expected(error.expected_text())
          .found(error.found_text());
    }
    stated_.insert(option);
    if (option == "labels" || config_.facts.contains(option)) continue;
    result_.assumptions.push_back(
        {option, option_text(spec_, option), reason_of(option), !is_usual(option)});
  }
}

bool FamilyDeduction::is_usual(const std::string& option) const {
  return config_.kind.empty() && config_.defaults.contains(option);
}

std::string FamilyDeduction::reason_of(const std::string& option) const {
  if (is_usual(option)) return "the family's usual one";
  if (config_.defaults.contains(option)) {
    return "the default of transformers for " + config_.kind +
           ", since the configuration next to the file leaves it out";
  }
  return config_.file == checkpoint_.path() ? "as the settings in the file say"
                                            : "as the configuration next to the file says";
}

bool FamilyDeduction::deduce_gates() {
  const auto rows_and_columns = [&](const std::string& role) {
    const auto source = result_.sources.find(role);
    if (source == result_.sources.end()) return Shape{};
    return used_shape(checkpoint_, source->second);
  };
  const std::string roles = mlp_roles();
  if (has(roles + "mlp_gate.weight") || has(roles + "mlp_gate_and_mlp1.weight")) return true;
  const Shape first = rows_and_columns("layer.0.mlp1.weight");
  const Shape second = rows_and_columns("layer.0.mlp2.weight");
  const bool both =
      first.size() == 2 && second.size() == 2 && second[1] > 0 && first[0] == 2 * second[1];
  for (std::int64_t layer = 0; both && layer < layers_; ++layer) {
    const std::string prefix = "layer." + std::to_string(layer) + ".";
    for (const char* part : {".weight", ".bias"}) {
      auto node = result_.sources.extract(prefix + "mlp1" + part);
      if (node.empty()) continue;
      node.key() = prefix + "mlp_gate_and_mlp1" + part;
      result_.sources.insert(std::move(node));
    }
  }
  return both;
}

void FamilyDeduction::check_parts() {
  check_mlps();
  check_experts();
  check_head_split();
  check_norms();
  check_biases();
  check_masks();
  check_mechanism(spec_.mechanism);
  for (const MechanismChoice& choice : spec_.layer_mechanisms) check_mechanism(choice);
  if (description_.reasons.contains("scale") || !options_.description.empty()) {
    if (find_mechanism(spec_.mechanism.name).scaled) {
      assume("scale", "the file does not say; 1/√d is usual");
    }
  }
}

namespace {

/// Number of the layer that a role belongs to; −1 outside of layers.
std::int64_t layer_of_role(std::string_view role) {
  constexpr std::string_view beginning = "layer.";
  std::int64_t layer = -1;
  if (role.starts_with(beginning)) {
    std::from_chars(role.data() + beginning.size(), role.data() + role.size(), layer);
  }
  return layer;
}

}  // namespace

/// True if a difference between layers gives `member` for the layer that the role belongs to.
bool FamilyDeduction::differs_in(const std::string& member, std::string_view role) const {
  const std::int64_t layer = layer_of_role(role);
  return std::ranges::any_of(spec_.differences, [&](const LayerDifference& difference) {
    return layer >= 0 && difference.holds(layer) && difference.members.contains(member);
  });
}

/// Throws if a layer that is not stated to differ has an MLP and the first layer has none, or the
/// reverse: a single MLP would be ignored. Blocks of a decoder are two layers, one of them without
/// an MLP.
void FamilyDeduction::check_mlps() const {
  if (spec_.is_pyramid() || tail_blocks_ > 0 || may_have_experts()) return;
  for (const char* part : {"mlp1.weight", "mlp2.weight"}) {
    const bool expected = has("layer.0." + std::string(part));
    for (std::int64_t layer = 1; layer < layers_; ++layer) {
      const std::string role = "layer." + std::to_string(layer) + "." + part;
      if (has(role) == expected || differs_in("mlp.form", role)) continue;
      throw Error(ErrorKind::unsupported, "a layer's MLP differs from the first layer's")
          .in_file(checkpoint_.path())
          .about(role)
          .expected(expected ? "a tensor for this role, as in the first layer"
                             : "none, as in the first layer");
    }
  }
}

/// Throws for a norm without a bias, which may be an RMS norm, unless `norm` is stated. With a
/// user's description, the kind of norm is assumed instead.
void FamilyDeduction::check_norms() {
  if (stated("norm")) return;
  constexpr std::string_view weight = ".weight";
  for (const auto& [role, source] : result_.sources) {
    if (!role.ends_with(weight) || role.find("norm") == std::string::npos) continue;
    if (has(role.substr(0, role.size() - weight.size()) + ".bias")) continue;
    if (differs_in("norm.kind", role)) continue;
    if (!options_.description.empty()) {
      assume("norm", "LayerNorm is usual; without a bias it may be an RMS norm");
      return;
    }
    throw Error(ErrorKind::unsupported,
                "a norm without a bias: it may be a LayerNorm or an RMS norm")
        .in_file(checkpoint_.path())
        .about(source.tensor)
        .expected("a bias next to it in " + description_.name)
        .remedy("--option norm=layer or norm=rms, if you know");
  }
}

/// Throws for a bias without its weight in a norm or outside the blocks: the module would be
/// ignored silently. Heads may be tied to the embedding.
void FamilyDeduction::check_biases() const {
  constexpr std::string_view bias = ".bias";
  for (const auto& [role, source] : result_.sources) {
    if (!role.ends_with(bias) || role == "head.0.bias") continue;
    const std::string module = role.substr(0, role.size() - bias.size());
    const bool alone = module.find("norm") != std::string::npos || !module.starts_with("layer.");
    if (!alone || has(module + ".weight")) continue;
    throw Error(ErrorKind::unsupported, "a bias without its weight")
        .in_file(checkpoint_.path())
        .about(source.tensor)
        .expected("a tensor for the role " + module + ".weight");
  }
}

/// Throws unless masks cover every pair of tokens for all heads and, in a causal model, hide later
/// tokens and those before the layer's window: a bias of that name, or a window, would be ignored.
void FamilyDeduction::check_masks() const {
  for (const auto& [role, source] : result_.sources) {
    if (!role.starts_with("layer.") || !role.ends_with(".mask")) continue;
    Shape shape = checkpoint_.at(source.tensor).shape;
    while (shape.size() > 2 && shape.front() == 1) shape.erase(shape.begin());
    const bool square = shape.size() == 2 && shape[0] == shape[1];
    if (square && (!spec_.layer.scores.causal || shape[0] < 2)) continue;
    const std::int64_t window = layer_of(spec_, layer_of_role(role)).scores.window;
    if (square && is_causal_mask(checkpoint_.at(source.tensor), window)) continue;
    if (square) {
      const std::string last =
          window > 0 ? "the last " + std::to_string(window - 1) : std::string("those");
      throw Error(ErrorKind::unsupported, "the stored mask is not the causal one of its layer")
          .in_file(checkpoint_.path())
          .about(source.tensor)
          .expected("one number for a token and " + last + " before it, another for all others")
          .remedy("describe the model (docs/architecture-descriptions.md): a window, or no mask");
    }
    throw Error(ErrorKind::unsupported, "the tensor with the name of a causal mask is not one")
        .in_file(checkpoint_.path())
        .about(source.tensor)
        .expected("[1, 1, context, context]")
        .found(to_string(checkpoint_.at(source.tensor).shape));
  }
}

void FamilyDeduction::check_mechanism(const MechanismChoice& choice) const {
  const MechanismEntry& entry = find_mechanism(choice.name);
  const bool usual = spec_.layer.scores.scale == ScoreScale{} && !spec_.layer.scores.scale_by_layer;
  if (choice.parameters.contains("scale")) {
    throw Error(fault_of("mechanism"),
                "the scale of the scores is not a parameter of the attention")
        .in_file(checkpoint_.path())
        .about("mechanism")
        .found(to_string(choice))
        .remedy(
            "set it for the model: \"scale\": 0.125 next to \"mechanism\", or --option "
            "scale=0.125");
  }
  if (!usual && !entry.scaled) {
    throw Error(fault_of("scale"), "this attention does not scale products of queries and keys")
        .in_file(checkpoint_.path())
        .about("scale")
        .expected("head_width^-1/2 with " + choice.name)
        .found(option_text(spec_, "scale"));
  }
  if (spec_.layer.attention.cosine && !entry.scaled) {
    throw Error(fault_of("layer.attention.cosine"),
                "this attention does not multiply queries and keys")
        .in_file(checkpoint_.path())
        .about("layer.attention.cosine")
        .expected("false with " + choice.name)
        .found("true");
  }
  (void)make_mechanism(choice);
}

/// Throws if the user requests a number of heads that differs from the file's: the maps would look
/// right but be those of a different model.
void FamilyDeduction::check_asked_heads(const std::string& asked) const {
  if (!options_.description.empty()) return;
  constexpr const char* member = "heads";
  const bool left_out = config_.defaults.contains(member);
  const auto configured = left_out ? config_.values.end() : config_.values.find(member);
  const bool in_file = stated(member) && !description_.stated.contains(member);
  if (!in_file && configured == config_.values.end()) return;
  ModelSpec said = spec_, wanted = spec_;
  if (!in_file) apply_override(said, member, configured->second);
  apply_override(wanted, member, asked);
  if (said.layer.attention.heads == wanted.layer.attention.heads) return;
  throw Error(ErrorKind::usage, in_file ? "the file says how many heads the model has"
                                        : "the configuration says how many heads the model has")
      .in_file(in_file ? checkpoint_.path() : config_.file)
      .about("--model-heads")
      .expected(std::to_string(said.layer.attention.heads))
      .found(asked)
      .remedy("leave it out; --heads, where a command has it, selects heads");
}

void FamilyDeduction::apply_overrides(const ModelOptions& options) {
  for (const auto& [option, text] : options.overrides) {
    if (option == kQkvRowsOption) take_qkv_rows(text);
    if (is_file_option(option)) continue;
    if (option == "heads") check_asked_heads(text);
    apply_override(spec_, option, text);
    stated_.insert(option);
    overridden_.insert(option);
  }
  for (const std::string& option : overridden_) check_differences(option);
}

/// Throws if the user sets a member for all layers that some layers set differently.
void FamilyDeduction::check_differences(const std::string& option) const {
  const SpecMember* const member = find_spec_member(option);
  constexpr std::string_view of_layer = "layer.";
  if (!member || !member->path.starts_with(of_layer) || overridden_.contains("differences")) return;
  const std::string path(member->path.substr(of_layer.size()));
  for (const LayerDifference& difference : spec_.differences) {
    if (!difference.members.contains(path)) continue;
    throw Error(ErrorKind::usage,
                "the option sets all layers alike, but the layers of the model differ")
        .in_file(checkpoint_.path())
        .about(option)
        .found("differences " + option_text(spec_, "differences"))
        .remedy("add --option differences=[] to make all layers alike");
  }
}

void FamilyDeduction::take_qkv_rows(const std::string& text) {
  const std::optional<QkvRows> rows = enum_named<QkvRows>(text);
  const bool fused = has("layer.0.qkv.weight") || has("layer.0.windowed_qkv.weight");
  if (rows && fused) {
    result_.qkv_rows = *rows;
    return;
  }
  throw Error(ErrorKind::usage, rows ? "queries, keys and values are not in one weight"
                                     : "the model option has a wrong value")
      .in_file(checkpoint_.path())
      .about(kQkvRowsOption)
      .expected(rows ? "a tensor for the role layer.qkv" : name_list(kEnumNames<QkvRows>))
      .found(rows ? "separate weights" : "'" + text + "'");
}

void FamilyDeduction::deduce_final_norm(std::string_view role) {
  const bool stored = has(role), used = spec_.readout.final_norm;
  if (stated("final_norm") && used && !stored) {
    throw Error(fault_of("final_norm"), "the norm after the last layer is missing")
        .in_file(checkpoint_.path())
        .about("final_norm")
        .expected("a norm, as stated")
        .found("none");
  }
  spec_.readout.final_norm = stored && (used || !stated("final_norm"));
}

/// Throws if heads are split by channels and a tensor cannot be reordered, such as one tensor per
/// head.
void FamilyDeduction::check_head_split() const {
  const HeadSplit split = spec_.layer.attention.head_split;
  if (split == HeadSplit::heads_first) return;
  const auto refuse = [&](const std::string& why) {
    throw Error(fault_of("layer.attention.head_split"), why)
        .in_file(checkpoint_.path())
        .about("layer.attention.head_split")
        .expected("heads_first")
        .found(std::string(enum_name(split)));
  };
  if (result_.qkv_rows == QkvRows::heads_first) {
    refuse("rows of a fused weight cannot be ordered by heads and by channels");
  }
  for (const auto& [role, source] : result_.sources) {
    if (!role.starts_with("layer.0.")) continue;
    const std::string part = role.substr(8);
    if ((part == "query.weight" || part == "qkv.weight") && stored_parts(checkpoint_, source) > 0) {
      refuse("each head has a tensor of its own");
    }
    const bool apart = part == "query.bias" && has("layer.0.qkv.weight");
    if (apart || part.starts_with("mechanism.") || part.starts_with("heads_norm.")) {
      refuse("reordering the heads' channels is not supported for " + source.tensor);
    }
  }
}

void FamilyDeduction::read_own_labels() {
  const auto labels = checkpoint_.metadata().find("labels");
  if (labels == checkpoint_.metadata().end() || !spec_.labels.empty()) return;
  const auto list = parse_json_or_null(labels->second);
  if (!list.is_array()) return;
  for (const auto& label : list) {
    spec_.labels.push_back(label.is_string() ? label.get<std::string>() : label.dump());
  }
}

Error FamilyDeduction::contradiction(const std::string& member, const std::string& tensors,
                                     std::string expected, std::string found) const {
  const ErrorKind kind = fault_of(member);
  return Error(kind, std::string(kind == ErrorKind::usage ? "the option" : "the architecture") +
                         " contradicts the shape of " + tensors)
      .in_file(checkpoint_.path())
      .about(member)
      .expected(std::move(expected))
      .found(std::move(found));
}

ErrorKind FamilyDeduction::fault_of(const std::string& member) const {
  return overridden_.contains(member) ? ErrorKind::usage : ErrorKind::damaged;
}

void FamilyDeduction::assume(const char* member, std::string reason) {
  if (stated(member)) return;
  const auto given = description_.reasons.find(member);
  if (given != description_.reasons.end()) reason = given->second;
  result_.assumptions.push_back({member, option_text(spec_, member), std::move(reason)});
}

std::int64_t FamilyDeduction::usual_number_of_heads(std::int64_t inner) {
  if (!description_.gives_heads) {
    if (!spec_.mechanism.name.starts_with("daft")) ask_for_heads(inner);
    stated_.insert("heads");
    return 1;
  }
  const std::int64_t usual = spec_.layer.attention.heads;
  if (usual < 1 || inner % usual != 0) ask_for_heads(inner);
  return usual;
}

void FamilyDeduction::ask_for_heads(std::int64_t inner) const {
  const std::filesystem::path& described = options_.description;
  throw Error(ErrorKind::unsupported, "the file does not say how many heads there are")
      .in_file(checkpoint_.path())
      .about("heads")
      .expected("a divisor of " + std::to_string(inner) + ", the rows of the queries")
      .remedy("set it: --model-heads N" +
              (described.empty()
                   ? std::string()
                   : ", or \"heads\": N in \"model\" of " + described.filename().string()));
}

void FamilyDeduction::check_labels(std::int64_t classes) const {
  if (config_.classes >= 0 && config_.classes != classes) {
    throw Error(ErrorKind::damaged, "the head's number of classes differs from the configuration's")
        .in_file(checkpoint_.path())
        .about("classes")
        .expected(std::to_string(config_.classes))
        .found(std::to_string(classes));
  }
  if (spec_.labels.empty() || std::ssize(spec_.labels) == classes) return;
  throw Error(fault_of("labels"), "the number of labels differs from the number of classes")
      .in_file(checkpoint_.path())
      .about("labels")
      .expected(std::to_string(classes))
      .found(std::to_string(spec_.labels.size()));
}

/// Throws if the tensors override a user's option. "0" often means the value of the tensors, and
/// lists are completed from them.
void FamilyDeduction::check_obeyed() const {
  for (const std::string& option : overridden_) {
    const std::string& said = options_.overrides.find(option)->second;
    ModelSpec asked = spec_;
    apply_override(asked, option, said);
    // Patches without a size are read as embeddings.
    std::string expected = option == "input.kind" ? said : option_text(asked, option);
    std::string found = option_text(spec_, option);
    // The windows of a pyramid are those of its stages.
    const bool of_stages = spec_.is_pyramid() && option == "layer.scores.window";
    if (of_stages || said.starts_with('[') || parse_number(said) == 0.0 || expected == found)
      continue;
    throw Error(ErrorKind::usage, "the option contradicts the file's tensors")
        .in_file(checkpoint_.path())
        .about(option)
        .expected(std::move(found))
        .found(std::move(expected));
  }
}

Architecture FamilyDeduction::finish() {
  check_parts();
  check_obeyed();
  result_.spec = std::move(spec_);
  std::set<std::string_view> used;
  for (const auto& [role, source] : result_.sources) {
    used.insert(source.tensor);
    used.insert(source.pieces.begin(), source.pieces.end());
  }
  for (const StoredTensor& tensor : checkpoint_.tensors()) {
    if (!used.contains(tensor.name)) result_.unused.push_back(tensor.name);
  }
  return std::move(result_);
}

void check_position_biases(const Architecture& architecture, const Checkpoint& checkpoint,
                           std::int64_t layers, std::int64_t tokens, const std::string& remedy) {
  const Shape expected = {tokens, tokens};
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    for (const char* name : {"w", "local_mask"}) {
      const auto source =
          architecture.sources.find("layer." + std::to_string(layer) + ".mechanism." + name);
      if (source == architecture.sources.end()) continue;
      const StoredTensor& tensor = checkpoint.at(source->second.tensor);
      if (tensor.shape == expected) continue;
      throw Error(ErrorKind::damaged, "the position biases do not fit the tokens")
          .in_file(checkpoint.path())
          .about(tensor.name)
          .expected(to_string(expected))
          .found(to_string(tensor.shape))
          .remedy(remedy);
    }
  }
}

}  // namespace attnscope
