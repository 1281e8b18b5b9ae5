#include "core/architecture/unknown_models/named_model.h"

#include <algorithm>

#include "core/architecture/family_matching/leftover_tensors.h"
#include "core/architecture/spec_members.h"
#include "core/architecture/tensor_groups.h"
#include "core/architecture/unknown_models/description_draft.h"
#include "core/architecture/unknown_models/name_words.h"
#include "core/architecture/unknown_models/named_parts.h"
#include "core/error.h"
#include "core/text/name_list.h"
#include "core/text/pattern.h"

namespace attnscope {

namespace {

class ModelReader {
 public:
  ModelReader(const Checkpoint& checkpoint, const ModelOptions& options,
              const std::map<std::string, std::string>& stated)
      : checkpoint_(checkpoint), options_(options), stated_(stated) {}

  NamedModel read() {
    std::vector<const StoredTensor*> tensors = taking_part();
    for (const StoredTensor* tensor : tensors) {
      // These characters have a meaning in a description.
      if (tensor->name.find_first_of("{}?*") != std::string::npos) return {};
    }
    stacks_ = read_stack_names(tensors);
    if (blocks_.layers == 0) return {};
    if (!takes(blocks_) || (stacks_.decoder && !takes(*stacks_.decoder))) {
      return std::move(result_);
    }
    set_template_aside(tensors);
    const bool whole = read_whole(tensors);
    const bool bare = !whole && result_.unexplained.empty();
    const bool asked = override_of("input.kind") == "embeddings" && !has("input_projection.weight");
    if (bare && !asked && harmless_.empty()) return {};
    if (!stacks_.decoder && (asked || !whole) && blocks_.has("layer.norm1.weight")) {
      take_blocks_alone(tensors);
      ask();
      say_what_would_tell();
      result_.alone_width = blocks_.width;
      if (!asked && !bare) return std::move(result_);
      result_.unexplained.clear();
      write();
    } else if (whole) {
      ask();
      say_what_would_tell();
      write();
    }
    return std::move(result_);
  }

 private:
  /// Reads the blocks and the tensors around them. Returns false if the names are not sufficient.
  bool read_whole(const std::vector<const StoredTensor*>& tensors) {
    outer_ = read_outer_names(tensors, stacks_);
    result_.why = NamedModel{}.why;
    result_.unexplained = outer_.unexplained;
    if (!result_.unexplained.empty()) return false;
    roles_.insert(outer_.roles.begin(), outer_.roles.end());
    const bool of_texts = has("token_embedding.weight") && !stacks_.decoder;
    if (!frequencies_.empty() && !of_texts) {
      result_.unexplained = frequencies_;
      return false;
    }
    return settle_kind() && has_norms() && take_head();
  }

  [[nodiscard]] std::string override_of(const std::string& member) const {
    const auto word = options_.overrides.find(member);
    return word == options_.overrides.end() ? "" : word->second;
  }

  /// Excludes the layer that nn.TransformerEncoder copies: code that keeps it in an attribute also
  /// stores it, outside the blocks and without a number.
  void set_template_aside(std::vector<const StoredTensor*>& tensors) {
    const std::string first = blocks_.container + "0.";
    std::map<std::string, Shape> block;
    for (const StoredTensor* tensor : tensors) {
      if (tensor->name.starts_with(first)) {
        block[tensor->name.substr(first.size())] = tensor->shape;
      }
    }
    if (block.empty()) return;
    for (const StoredTensor* candidate : tensors) {
      const std::string& inner = block.begin()->first;
      if (!candidate->name.ends_with("." + inner)) continue;
      const std::string prefix = candidate->name.substr(0, candidate->name.size() - inner.size());
      const std::vector<std::string> segments = segments_of(prefix.substr(0, prefix.size() - 1));
      if (std::ranges::any_of(segments, is_number)) continue;
      const auto is_of_it = [&](const StoredTensor* tensor) {
        return tensor->name.starts_with(prefix);
      };
      const auto is_as_in_block = [&](const StoredTensor* tensor) {
        const auto same = block.find(tensor->name.substr(prefix.size()));
        return same != block.end() && same->second == tensor->shape;
      };
      const bool alike = std::ranges::count_if(tensors, is_of_it) == std::ssize(block) &&
                         std::ranges::all_of(tensors, [&](const StoredTensor* tensor) {
                           return !is_of_it(tensor) || is_as_in_block(tensor);
                         });
      if (!alike) continue;
      harmless_.push_back(prefix + "*");
      result_.assumptions.push_back(
          {"ignore", prefix + "*", "the blocks are copies of this layer, which is not used"});
      std::erase_if(tensors, is_of_it);
      return;
    }
  }

  /// Reads only the blocks, for given tokens. Other tensors take no part, except for a norm in the
  /// same module.
  void take_blocks_alone(const std::vector<const StoredTensor*>& tensors) {
    alone_ = true;
    roles_.clear();
    roles_.insert(blocks_.roles.begin(), blocks_.roles.end());
    std::vector<std::string> beside;
    for (const StoredTensor* tensor : tensors) {
      if (is_of_block(tensor->name, blocks_)) continue;
      const std::string norm = final_norm_part(tensor->name);
      if (!norm.empty() && tensor->shape == Shape{blocks_.width}) {
        roles_.emplace("final_norm." + norm, tensor->name);
        continue;
      }
      harmless_.push_back(tensor->name);
      const std::string shown = module_beside(tensor->name);
      if (std::ranges::find(beside, shown) == beside.end()) beside.push_back(shown);
    }
    std::erase_if(result_.assumptions,
                  [](const Assumption& each) { return each.option == "readout"; });
    if (!beside.empty()) {
      result_.assumptions.push_back(
          {"input.kind", "embeddings",
           "only the blocks, for given tokens: the layers before and after them are not run (" +
               name_list(beside) + ")"});
    }
  }

  /// First module of a tensor's name that the blocks do not share: "model.embed.*" for blocks
  /// "model.encoder.0.".
  [[nodiscard]] std::string module_beside(const std::string& name) const {
    std::size_t begin = 0, dot = name.find('.');
    while (dot != std::string::npos && blocks_.container.starts_with(name.substr(0, dot + 1))) {
      begin = dot + 1;
      dot = name.find('.', begin);
    }
    return dot == std::string::npos ? name : name.substr(0, dot) + ".*";
  }

  /// "weight" or "bias" of the norm after the blocks, in their module or under their last number.
  [[nodiscard]] std::string final_norm_part(const std::string& name) const {
    for (const std::string part : {"weight", "bias"}) {
      if (!blocks_.final_norm.empty() && name == blocks_.final_norm + "." + part) return part;
      const std::string wrapper = wrapper_of(blocks_.container);
      if (!name.starts_with(wrapper) || !name.ends_with("." + part)) continue;
      const std::string module =
          name.substr(wrapper.size(), name.size() - wrapper.size() - part.size() - 1);
      const std::string word = plain_word(module);
      if (module.find('.') == std::string::npos && says_norm(word) && says_final(word)) {
        return part;
      }
    }
    return {};
  }

  /// Tensors that take part, without inverse frequencies of rotary positions; the first of these is
  /// recorded in frequencies_.
  std::vector<const StoredTensor*> taking_part() {
    const std::vector<std::string> ignored = options_.ignored();
    std::vector<const StoredTensor*> tensors;
    for (const StoredTensor& tensor : checkpoint_.tensors()) {
      const auto named = [&](std::string_view pattern) {
        return matches_pattern(pattern, tensor.name);
      };
      if (std::any_of(ignored.begin(), ignored.end(), named)) continue;
      if (named("optim*") || named("scheduler*") || tensor.shape.empty()) continue;
      if (named(kStoredFrequencies)) {
        if (frequencies_.empty()) frequencies_ = tensor.name;
        continue;
      }
      tensors.push_back(&tensor);
    }
    return tensors;
  }

  /// Takes the roles of a stack. Returns false if a tensor is unexplained.
  bool takes(const BlockNames& stack) {
    result_.unexplained = stack.unexplained;
    result_.why = stack.why;
    const bool alike = stack.width == blocks_.width && stack.heads == blocks_.heads;
    if (result_.unexplained.empty() && !alike) {
      result_.unexplained = stack.container + "0";
      result_.why = "the decoder's heads differ from the encoder's";
    }
    roles_.insert(stack.roles.begin(), stack.roles.end());
    return result_.unexplained.empty();
  }

  void add(const std::string& role, const OuterModule& module) {
    roles_.emplace(role + ".weight", module.weight->name);
    if (module.bias) roles_.emplace(role + ".bias", module.bias->name);
  }

  [[nodiscard]] bool has(const char* role) const { return roles_.contains(role); }

  bool settle_kind() {
    const int inputs = int{has("token_embedding.weight")} + int{has("patch.weight")} +
                       int{has("input_projection.weight")};
    const bool decodes = stacks_.decoder.has_value();
    if (inputs == 1 && !(decodes && !decoder_fits())) {
      return !has("class_token") || has("patch.weight");
    }
    if (decodes) {
      result_.unexplained = stacks_.decoder->container + "0";
      result_.why =
          "a decoder needs token embeddings and a head with as many tokens as the encoder's";
      return false;
    }
    if (inputs == 0 && !has("positions") && !has("class_token")) return false;  // a bare encoder
    result_.unexplained = blocks_.container + "0";
    result_.why = "names do not show which layer makes its tokens";
    return false;
  }

  /// True if both texts have one vocabulary and a single head predicts the next token.
  bool decoder_fits() {
    if (!has("token_embedding.weight") || outer_.heads.size() != 1) return false;
    const Shape& table = checkpoint_.at(roles_["token_embedding.weight"]).shape;
    const auto own = roles_.find("decoder_token_embedding.weight");
    return outer_.heads.front().weight->shape == table &&
           (own == roles_.end() || checkpoint_.at(own->second).shape == table);
  }

  /// Returns false for norms without weights, which would otherwise be ignored silently.
  bool has_norms() {
    if (has("layer.norm1.weight")) return true;
    result_.unexplained = blocks_.container + "0";
    result_.why = "the block has no norms, or norms without weights, which names do not show";
    return false;
  }

  /// Takes a head of one layer, optionally with a norm before it. With any other head there are no
  /// logits, which is added to the assumptions.
  bool take_head() {
    const OuterModule *norm = nullptr, *layer = nullptr;
    bool plain = true;
    for (const OuterModule& module : outer_.heads) {
      const Shape& shape = module.weight->shape;
      if (shape.size() == 1 && shape[0] == blocks_.width && !norm && !layer) {
        norm = &module;
      } else if (shape.size() == 2 && shape[1] == blocks_.width && !layer) {
        layer = &module;
      } else {
        plain = false;
      }
    }
    plain = plain && layer;
    if (plain && has("token_embedding.weight")) {
      const StoredTensor& table = checkpoint_.at(roles_["token_embedding.weight"]);
      plain =
          (is_causal() || stacks_.decoder) && !norm && layer->weight->shape[0] == table.shape[0];
    }
    plain = plain && !has("input_projection.weight");
    if (const std::string asked = override_of("readout");
        !plain && !asked.empty() && asked != "none") {
      result_.unexplained = outer_.heads.empty() ? "readout" : outer_.heads.front().name + "*";
      result_.why = "names do not say how it reads the tokens, and --option readout=" + asked +
                    " cannot be followed";
      return false;
    }
    if (plain) {
      add("head", *layer);
      if (norm) add("head_norm", *norm);
      return true;
    }
    for (const OuterModule& module : outer_.heads) {
      harmless_.push_back(module.name + (module.name.ends_with('.') ? "*" : ""));
    }
    if (!outer_.heads.empty()) {
      assume("readout", "none",
             "names do not say how " + outer_.heads.front().name +
                 "* reads the tokens: there are no logits");
    }
    return true;
  }

  [[nodiscard]] bool stored_mask_is_causal() const {
    const std::string& mask = blocks_.mask.empty() ? outer_.mask : blocks_.mask;
    return !mask.empty() && is_causal_mask(checkpoint_.at(mask));
  }

  [[nodiscard]] bool is_causal() const {
    // A decoder has causal layers of its own; the encoder's layers are not causal.
    if (stacks_.decoder) return false;
    const std::string word = override_of("layer.scores.causal");
    return word.empty() ? stored_mask_is_causal() : word == "true";
  }

  [[nodiscard]] bool said(const std::string& member) const {
    return options_.overrides.contains(member) || stated_.contains(member);
  }

  /// Requests a setting unless the user or the file gives it.
  void ask_for(const std::string& member, std::string values, const char* also = "") {
    if (said(member) || said(also)) return;
    result_.unspecified.push_back({member, std::move(values)});
  }

  void ask() {
    // PyTorch's own attention scales by 1/√d. Of the settings that no tensor shows, this changes
    // maps most.
    if (!blocks_.of_torch) {
      ask_for("scale",
              "head_width^-1/2, width^-1/2, none or a number, which q·k is multiplied with");
    }
    if (blocks_.heads == 0) {
      ask_for("heads", "a divisor of " + std::to_string(blocks_.inner), "head_width");
    }
    ask_for("norm_position", "pre or post");
    const bool biased = blocks_.biased_norms && (!stacks_.decoder || stacks_.decoder->biased_norms);
    if (!biased) ask_for("norm", "layer or rms");
    if (has("layer.mlp1.weight")) {
      ask_for("activation", "relu, gelu, gelu_tanh, silu, quick_gelu or relu2");
    }
    // Teaching code often unfolds overlapping patches; convolutions rarely overlap.
    if (has("patch.weight") && checkpoint_.at(roles_["patch.weight"]).shape.size() == 2) {
      ask_for("patch_stride", "the patches' side, or less where they overlap");
    }
    const bool tokens = has("token_embedding.weight");
    if ((tokens || alone_) && !stacks_.decoder && !stored_mask_is_causal())
      ask_for("layer.scores.causal", "true or false");
    if (alone_) {
      // nn.MultiheadAttention has no rotary positions.
      if (!blocks_.of_torch) {
        ask_for("layer.rotary.form", "none, half or pair", "layer.scores.bias");
      }
      return;
    }
    if (!frequencies_.empty()) {
      ask_for("layer.rotary.form", "half or pair, as the stored frequencies rotate heads");
    }
    const bool said_otherwise =
        !frequencies_.empty() || said("layer.rotary.form") || said("layer.scores.bias");
    if (!has("positions") && !said_otherwise) {
      ask_for("positions",
              has("patch.weight")
                  ? "none"
                  : "none or sinusoidal, or set layer.rotary.form, or layer.scores.bias");
      if (override_of("positions") == "sinusoidal") {
        ask_for("positions.sinusoid_order", name_list(kEnumNames<SinusoidOrder>));
      }
    } else if (!has("patch.weight") && has("positions") &&
               holds_sinusoids(checkpoint_.at(roles_["positions"]))) {
      // Models with sinusoidal positions often scale the embeddings.
      ask_for("embedding_scale", "1, or 0 for √width");
    }
  }

  void say_what_would_tell() {
    constexpr std::int64_t usual = 24;  // tokens
    const auto shape = [&](const char* role) { return checkpoint_.at(roles_[role]).shape; };
    const auto text = [](std::int64_t number) { return std::to_string(number); };
    if (has("token_embedding.weight")) {
      const std::int64_t context =
          has("positions") ? element_count(shape("positions")) / blocks_.width : usual;
      result_.inputs = "torch.randint(" + text(shape("token_embedding.weight").front()) + ", (2, " +
                       text(std::min(usual, context)) + "))";
    } else if (has("patch.weight")) {
      result_.inputs = "torch.randn(2, CHANNELS, HEIGHT, WIDTH)";
    } else {
      const bool projected = has("input_projection.weight");
      const std::int64_t width =
          projected ? shape("input_projection.weight").back() : blocks_.width;
      result_.inputs = "torch.randn(2, " + text(usual) + ", " + text(width) + ")";
    }
    result_.logits = has("head.weight");
  }

  /// Adds an assumption about a setting that no name and no shape shows, unless it is given.
  void assume(const std::string& member, std::string value, std::string reason) {
    if (!said(member)) result_.assumptions.push_back({member, std::move(value), std::move(reason)});
  }

  void assume_the_invisible() {
    if (!blocks_.of_torch) {
      if (blocks_.has("layer.qkv.weight")) {
        assume(kQkvRowsOption, "parts_first",
               "all queries, all keys, all values: the file does not say");
      }
      // Rows of a per-head tensor belong to a single head.
      if (blocks_.heads == 0) {
        assume("layer.attention.head_split", "heads_first",
               "rows of the projections are split head by head");
      }
      assume("layer.attention.cosine", "false", "queries and keys are multiplied as they are");
      if (has("positions")) {
        assume("layer.rotary.form", "none", "positions are stored; code may rotate heads as well");
      }
      assume("layer.scores.window", "0", "each token sees all others, or all before it");
      assume("layer.scores.soft_cap", "0", "scores are not bounded by a tanh");
    }
    const bool asked_for_scale = has("positions") && !has("patch.weight") &&
                                 holds_sinusoids(checkpoint_.at(roles_["positions"]));
    if (has("token_embedding.weight") && !asked_for_scale) {
      assume("embedding_scale", "1", "some code multiplies embeddings with √width");
    }
    assume("layer.residual", "sequential", "x + attention, then x + MLP: names do not say");
    assume("layer.residual_scale", "1", "x + f(x), and no α·x + f(x) as in DeepNorm");
    if (has("final_norm.weight")) assume("final_norm", "true", "it is stored: taken as applied");
  }

  void write() {
    DescriptionDraft draft;
    draft.name = kNamedModel;
    draft.assumed["norm_eps"] = {"1e-5", "PyTorch's default"};
    draft.harmless = harmless_;
    for (const auto& [role, name] : roles_) draft.roles[role] = {name, false};
    if (alone_) {
      draft.members = {{"patch_height", "0"}, {"patch_width", "0"}, {"class_tokens", "0"}};
    } else if (!has("positions")) {
      draft.assumed["positions"] = {"none", ""};
    }
    if (has("token_embedding.weight") || (alone_ && is_causal())) {
      draft.members["layer.scores.causal"] = is_causal() ? "true" : "false";
    }
    if (has("token_embedding.weight") && !frequencies_.empty()) {
      draft.members["layer.rotary.form"] = override_of("layer.rotary.form");
    }
    if (stacks_.decoder) draft.members["tail.kind"] = "decoder";
    if (blocks_.heads > 0) draft.members["layer.attention.heads"] = std::to_string(blocks_.heads);
    assume_the_invisible();
    result_.description = to_json(draft, checkpoint_);
  }

  const Checkpoint& checkpoint_;
  const ModelOptions& options_;
  const std::map<std::string, std::string>& stated_;
  NamedModel result_;
  StackNames stacks_;
  const BlockNames& blocks_ = stacks_.body;
  std::map<std::string, std::string> roles_;
  OuterNames outer_;
  std::vector<std::string> harmless_;
  bool alone_ = false;       ///< true if the blocks are read without the layer that makes tokens
  std::string frequencies_;  ///< tensor of inverse frequencies of rotary positions; empty: none
};

/// Options as text: "--option heads=… --option activation=…".
std::string said_by(const std::vector<UnspecifiedMember>& members) {
  const auto option = [](const UnspecifiedMember& each) {
    return "--option " + each.member + "=…";
  };
  return name_list(members, option, " ");
}

}  // namespace

NamedModel read_named_model(const Checkpoint& checkpoint, const ModelOptions& options,
                            const std::map<std::string, std::string>& stated) {
  return ModelReader(checkpoint, options, stated).read();
}

void throw_unexplained(const NamedModel& model, const Checkpoint& checkpoint) {
  std::string alone;
  if (model.alone_width > 0) {
    alone = "--option input.kind=embeddings" +
            std::string(model.unspecified.empty() ? "" : " " + said_by(model.unspecified)) +
            " reads only the blocks, for tokens given as an array [N, " +
            std::to_string(model.alone_width) + "] (.npy); or ";
  }
  throw Error(ErrorKind::unsupported, "the names belong to no known architecture; " + model.why)
      .in_file(checkpoint.path())
      .about(model.unexplained)
      .remedy(alone +
              "describe the model (docs/architecture-descriptions.md), or, if the tensor takes no "
              "part, --option ignore='" +
              model.unexplained + "'");
}

void check_said(const NamedModel& model, const Checkpoint& checkpoint) {
  if (model.unspecified.empty()) return;
  const auto choices = [](const UnspecifiedMember& each) {
    return each.member + ": " + each.values;
  };
  const std::filesystem::path& file = checkpoint.path();
  const bool tokens = model.inputs.starts_with("torch.randint");
  // Python code that writes the reference for --fit (docs/self-test.md).
  const std::string lines =
      "    maps, inputs = [], " + model.inputs +
      "  # the attention appends each layer's weights after softmax, [2, H, N, N], to maps\n"
      "    " +
      (model.logits ? "logits = " : "") + "model.eval()(inputs)" +
      (model.logits && tokens ? "[:, -1]" : "") + "\n    numpy.savez('" +
      (file.parent_path() / "reference.npz").string() +
      "', inputs=inputs, maps=torch.stack(maps, 1).detach()" +
      (model.logits ? ", logits=logits.detach()" : "") + ")\n";
  throw Error(ErrorKind::unsupported, "the tensors' names do not show these settings")
      .in_file(checkpoint.path())
      .about(name_list(model.unspecified, &UnspecifiedMember::member))
      .expected(name_list(model.unspecified, choices, "; "))
      .remedy("set it: " + said_by(model.unspecified) +
              "; or have it found from what the training code computes, in Python:\n" + lines +
              "and then: attnscope inspect " + file.string() + " --fit");
}

}  // namespace attnscope
