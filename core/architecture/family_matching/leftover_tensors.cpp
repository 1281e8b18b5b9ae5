#include "core/architecture/family_matching/leftover_tensors.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>

#include "core/architecture/family_matching/tail_roles.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/text/pattern.h"
#include "core/utf8.h"

namespace attnscope {

namespace {

/// Patterns of tensors within blocks that no computation uses.
constexpr std::string_view kHarmlessInBlocks[] = {"*num_batches_tracked",
                                                  "*relative_position_index", "*masked_bias"};

/// Patterns of tensors outside the blocks that only training uses, and of heads, without which
/// there are no logits.
constexpr std::string_view kHarmlessNames[] = {
    "*num_batches_tracked",
    "*position_ids",
    "*mask_token",
    "decoder*",
    "predictor*",
    "*projector*",
    "head.*",
    "heads.*",
    "classifier*",
    "*pooler.*",
    "*local_cls_norm.*",
    "contrastive_head*",
    "dino_head*",
    "ibot_head*",
    "lm_head*",
};

/// Prefixes, in lower case, of tensors that do not belong to the model.
constexpr std::string_view kForeignPrefixes[] = {
    "optim",      "ema",     "scheduler", "lr_sched",
    "scaler",     "teacher", "student",   "momentum_encoder",
    "target_enc", "state.",  "opt.",      "model_ema"};

/// Parts of names, in lower case, of tensors in the embedding or between it and the blocks.
constexpr std::string_view kOfEmbedding[] = {
    "token",        "pos",    "rope", "rotary", "regist", "storage", "relative",
    "embed",        "patch",  "stem", "cls",    "conv",   "adapt",   "lora",
    "prompt",       "norm",   "ln_",  "pool",   "freq",   "probe",   "vision_model.head",
    "running_mean", "emb_ln",
};

struct Hint {
  std::string_view part;
  std::string_view what;
};

constexpr std::string_view kExpertPart = "expert";

/// Tensors of mechanisms that the families of our own files may have, and that another program's
/// file may have under the same names for an attention that the file does not tell.
constexpr std::string_view kAmbiguous[] = {"scale",     "lambda_q1", "lambda_k1",
                                           "lambda_q2", "lambda_k2", "dwc"};

/// Parts of names with their probable meaning; the first match counts.
constexpr Hint kHints[] = {
    {"relative_position", "relative position biases"},
    {"rel_pos", "relative positions"},
    {"rpe", "relative positions"},
    {"lambda_q", "differential attention"},
    {"lambda_k", "differential attention"},
    {"sub_norm", "differential attention"},
    {"crossattention", "cross attention"},
    {"cross_attn", "cross attention"},
    {"encoder_attn", "cross attention"},
    {"multihead_attn", "cross attention"},
    {"encdecattention", "cross attention"},
    {"lora_", "an adapter (LoRA) that is not merged into the weights"},
    {"adapter", "an adapter"},
    {kExpertPart, "a mixture of experts"},
    {"bias_mask", "a mask of biases, as DINOv3's"},
    {"rope", "rotary positions"},
    {"rotary", "rotary positions"},
    {"freqs", "rotary positions"},
    {"storage", "register tokens, as DINOv3's"},
    {"regist", "register tokens"},
    {"reg_token", "register tokens"},
    {"sink", "sink logits of the softmax"},
    {"attn_pool", "a read-out by attention pooling"},
    {"probe", "a read-out by attention pooling"},
    {"q_bias", "biases of only the queries"},
    {"v_bias", "biases of only the values"},
    {"logit_scale", "a learned scale of the scores"},
    {"temperature", "a learned scale of the scores"},
    {"gate", "a gate of the attention or of the MLP"},
    {"gamma_", "a layer scale"},
    {"lambda", "a layer scale"},
    {"ls1", "a layer scale"},
    {"ls2", "a layer scale"},
    {"dwconv", "a convolution in the MLP"},
    {"dwc", "a convolution of the values"},
    {"conv", "a convolution"},
    {"norm", "a normalisation"},
    {"ln_", "a normalisation"},
    {"token_type", "embeddings of token types"},
    {"token", "a token added to the input"},
    {"pos", "position embeddings"},
    {"embed", "a part of the embedding"},
    {"pool", "a read-out"},
    {"scale", "a learned scale"},
    {"bias", "a bias"},
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Probable meaning of a tensor's name. A family with experts takes them up to a missing one.
std::string probably(std::string_view name, bool has_experts) {
  const std::string text = lower(name);
  for (const Hint& hint : kHints) {
    if (text.find(hint.part) == std::string::npos) continue;
    const bool follows = has_experts && hint.part == kExpertPart;
    return ", probably " + std::string(follows ? "an expert after a missing one" : hint.what);
  }
  return {};
}

/// True if `name` begins like the pattern up to its last placeholder, with numbers for the
/// placeholders: "blocks.3.attn.gate" for "blocks.{layer}".
bool begins_as(std::string_view name, std::string_view pattern) {
  while (!pattern.empty()) {
    if (pattern.front() == '{') {
      if (name.empty() || !is_ascii_digit(name.front())) return false;
      while (!name.empty() && is_ascii_digit(name.front())) name.remove_prefix(1);
      pattern.remove_prefix(std::min(pattern.find('}') + 1, pattern.size()));
      continue;
    }
    if (name.empty() || name.front() != pattern.front()) return false;
    name.remove_prefix(1);
    pattern.remove_prefix(1);
  }
  return name.empty() || !is_ascii_digit(name.front());
}

/// Prefix of the names of a block that `pattern` belongs to, up to the block's number.
std::string block_prefix(const std::string& text) {
  const std::size_t number = std::min(text.rfind("{layer}"), text.rfind("{block}"));
  return text.substr(0, text.find('}', number) + 1);
}

/// Folder of a name: "a/b/" for "a/b/c" and for "a/b.c".
std::string folder_of(std::string_view name) {
  return std::string(name.substr(0, name.find_last_of("./") + 1));
}

/// Deepest folder that contains `folder` and `name`.
std::string common_folder(std::string folder, std::string_view name) {
  while (!name.starts_with(folder)) folder = folder_of(folder.substr(0, folder.size() - 1));
  return folder;
}

class Leftovers {
 public:
  Leftovers(const ArchitectureMatch& match, const Checkpoint& checkpoint,
            const ModelOptions& options, std::span<const std::string> unused)
      : match_(match), checkpoint_(checkpoint), ignored_(options.ignored()), unused_(unused) {
    for (const auto& [role, source] : match.sources) {
      if (lacks_mechanism(role)) continue;
      used_.insert(source.tensor);
      used_.insert(source.pieces.begin(), source.pieces.end());
    }
    std::optional<std::string> stacked;  // folder of the tensors that stack all layers
    for (const auto& [role, patterns] : match.description->tensors) {
      for (const TensorPattern& pattern : patterns) {
        is_decoder_ = is_decoder_ || pattern.pattern.starts_with("decoder.");
        if (!is_layer_role(role)) continue;
        if (pattern.of_all_layers) {
          stacked = stacked ? common_folder(*stacked, pattern.pattern) : folder_of(pattern.pattern);
        } else {
          blocks_.insert(block_prefix(pattern.pattern));
          for (const std::string& joined : pattern.joined) blocks_.insert(block_prefix(joined));
        }
      }
    }
    if (stacked && !stacked->empty()) blocks_.insert(*stacked);
  }

  std::vector<Assumption> check() const {
    std::map<std::string, std::size_t> counts;
    check_rows();
    for (const StoredTensor& tensor : checkpoint_.tensors()) {
      if (used_.contains(tensor.name)) continue;
      const auto pattern = std::find_if(ignored_.begin(), ignored_.end(), [&](const auto& each) {
        return matches_pattern(each, tensor.name);
      });
      if (pattern != ignored_.end()) {
        ++counts[*pattern];
      } else {
        check_tensor(tensor);
      }
    }
    std::vector<Assumption> assumptions;
    for (const std::string& pattern : ignored_) {
      // Keys of the configuration are excluded when it is read.
      const bool of_config = pattern == "config" || pattern.starts_with("config.");
      if (!of_config && counts[pattern] == 0) {
        throw Error(ErrorKind::usage, "the pattern matches no tensor without a role")
            .in_file(checkpoint_.path())
            .about(kIgnoreOption)
            .found(pattern);
      }
      assumptions.push_back(
          {kIgnoreOption, pattern,
           of_config ? "left out of the configuration, as set by the user"
                     : std::to_string(counts[pattern]) + " tensors left out, as set by the user"});
    }
    return assumptions;
  }

 private:
  /// True for an ambiguous tensor of a mechanism that neither the family nor a file of our own
  /// states.
  [[nodiscard]] bool lacks_mechanism(std::string_view role) const {
    const std::size_t found = role.find(".mechanism.");
    if (found == std::string_view::npos) return false;
    const std::string_view name = role.substr(found + std::string_view(".mechanism.").size());
    if (std::ranges::find(kAmbiguous, name) == std::end(kAmbiguous)) return false;
    const auto format = checkpoint_.metadata().find("format");
    if (format != checkpoint_.metadata().end() && format->second == "attnscope-model") return false;
    const auto& tensors = find_mechanism(match_.description->spec.mechanism.name).tensors;
    return std::ranges::find(tensors, name, &TensorDescription::name) == tensors.end();
  }

  /// Throws if a role takes rows of a tensor and no other role takes the remaining rows.
  void check_rows() const {
    std::map<std::string_view, std::vector<RowRange>> taken;
    for (const auto& [role, source] : match_.sources) {
      if (source.rows) taken[source.tensor].push_back(used_rows(checkpoint_, source));
    }
    for (auto& [name, ranges] : taken) {
      std::ranges::sort(ranges, {}, &RowRange::first);
      std::int64_t end = 0;
      for (const RowRange& range : ranges) {
        if (range.first > end) break;
        end = std::max(end, range.first + range.count);
      }
      if (end == ranges.front().of) continue;
      throw Error(ErrorKind::unsupported,
                  "rows of the tensor have no role in " + match_.description->name)
          .in_file(checkpoint_.path())
          .about(std::string(name))
          .expected("roles for all " + std::to_string(ranges.front().of) + " rows")
          .found("none for row " + std::to_string(end));
    }
  }

  void check_tensor(const StoredTensor& tensor) const {
    if (!tensor.name.starts_with(match_.prefix)) {
      check_beside(tensor);
      return;
    }
    const std::string_view name = std::string_view(tensor.name).substr(match_.prefix.size());
    const bool of_block = std::any_of(blocks_.begin(), blocks_.end(),
                                      [&](const auto& block) { return begins_as(name, block); });
    if (is_harmless(name, of_block) || (!of_block && !is_of_embedding(name))) return;
    refuse(tensor, of_block ? "a block" : "the embedding or read-out");
  }

  /// Refuses a tensor outside the prefix in the same module as a tensor with a role: heads are
  /// outside it.
  void check_beside(const StoredTensor& tensor) const {
    const std::string_view module = module_of(tensor.name);
    const bool beside =
        !module.empty() && std::any_of(used_.begin(), used_.end(),
                                       [&](const auto& used) { return module_of(used) == module; });
    if (beside && !is_harmless(tensor.name, true)) refuse(tensor, "the read-out");
  }

  /// Module of a tensor; empty if it has none.
  static std::string_view module_of(std::string_view name) {
    const std::size_t dot = name.find_last_of('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
  }

  [[noreturn]] void refuse(const StoredTensor& tensor, const char* of) const {
    const bool has_experts = match_.description->tensors.contains("layer.router.weight");
    throw Error(ErrorKind::unsupported, std::string("a tensor of ") + of + " has no role in " +
                                            match_.description->name +
                                            probably(tensor.name, has_experts))
        .in_file(checkpoint_.path())
        .about(tensor.name)
        .found(to_string(tensor.shape))
        .remedy(
            "describe the model (docs/architecture-descriptions.md), or, if the tensor takes no "
            "part, --option ignore='" +
            suggestion(tensor.name) + "'");
  }

  /// Name of the tensor with * for numbers between dots.
  static std::string suggestion(const std::string& name) {
    std::string pattern;
    for (std::size_t at = 0; at < name.size();) {
      const std::size_t end = std::min(name.find('.', at), name.size());
      const std::string part = name.substr(at, end - at);
      const bool number = !part.empty() && std::all_of(part.begin(), part.end(), is_ascii_digit);
      pattern += (number ? "*" : part) + (end < name.size() ? "." : "");
      at = end + 1;
    }
    return pattern;
  }

  [[nodiscard]] bool is_harmless(std::string_view name, bool of_block) const {
    const auto matches = [&](std::string_view pattern) { return matches_pattern(pattern, name); };
    const auto& own = match_.description->harmless;
    if (std::any_of(own.begin(), own.end(), matches)) return true;
    if (std::any_of(unused_.begin(), unused_.end(), matches)) return true;
    const ModelSpec& spec = match_.description->spec;
    const bool turns = spec.reads_texts() && spec.layer.rotary.form != Rotary::none;
    if (turns && !frequencies_pattern(name).empty()) return true;
    // A decoder that belongs to the family is not a decoder used only in training.
    if (is_decoder_ && !of_block && name.starts_with("decoder.")) return false;
    return of_block
               ? std::any_of(std::begin(kHarmlessInBlocks), std::end(kHarmlessInBlocks), matches)
               : std::any_of(std::begin(kHarmlessNames), std::end(kHarmlessNames), matches);
  }

  [[nodiscard]] static bool is_of_embedding(std::string_view name) {
    const std::string text = lower(name);
    for (const std::string_view prefix : kForeignPrefixes) {
      if (text.starts_with(prefix)) return false;
    }
    return std::any_of(std::begin(kOfEmbedding), std::end(kOfEmbedding),
                       [&](auto part) { return text.find(part) != std::string::npos; });
  }

  const ArchitectureMatch& match_;
  const Checkpoint& checkpoint_;
  std::vector<std::string> ignored_;
  std::span<const std::string> unused_;
  std::set<std::string_view> used_;
  std::set<std::string, std::less<>> blocks_;  ///< block prefixes such as "blocks.{layer}"
  bool is_decoder_ = false;  ///< true if names of the family begin with "decoder."
};

}  // namespace

std::string_view frequencies_pattern(std::string_view name) {
  for (const std::string_view pattern : {kStoredFrequencies, kMetaFrequencies}) {
    if (matches_pattern(pattern, name)) return pattern;
  }
  return {};
}

std::vector<Assumption> check_leftover_tensors(const ArchitectureMatch& match,
                                               const Checkpoint& checkpoint,
                                               const ModelOptions& options,
                                               std::span<const std::string> unused) {
  return Leftovers(match, checkpoint, options, unused).check();
}

}  // namespace attnscope
