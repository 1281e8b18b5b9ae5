#include "core/architecture/unknown_models/role_proposal.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/architecture/architecture.h"
#include "core/architecture/unknown_models/name_words.h"

namespace attnscope {

namespace {

constexpr double kSure = 0.85, kLikely = 0.55, kLeast = 0.4, kGuess = 0.2;

/// Name without the word for the parameter of its module.
struct SplitName {
  std::vector<std::string> words;  ///< plain words of the module
  bool is_bias = false;
  bool is_plain = false;  ///< true if the name says neither weight nor bias
};

SplitName split_name(std::string name) {
  std::ranges::replace(name, '/', '.');
  SplitName split;
  for (const std::string& segment : segments_of(name)) split.words.push_back(plain_word(segment));
  const std::string last = split.words.back();
  constexpr std::array<std::string_view, 4> biases = {"bias", "beta", "offset", "shift"};
  constexpr std::array<std::string_view, 7> weights = {"weight", "gamma",     "kernel", "scale",
                                                       "g",      "embedding", "w"};
  const bool in_module = split.words.size() > 1;
  split.is_bias = (in_module && last == "b") ||
                  std::ranges::any_of(biases, [&](auto word) { return last.ends_with(word); });
  const bool weight = std::ranges::find(weights, last) != weights.end();
  split.is_plain = !split.is_bias && !weight;
  const bool alone = weight || last == "b" || std::ranges::find(biases, last) != biases.end();
  if (alone && split.words.size() > 1) {
    split.words.pop_back();
  } else if (split.is_bias) {
    for (const std::string_view word : biases) {  // a joined word such as "up_offset"
      if (last.ends_with(word) && last.size() > word.size()) {
        split.words.back().resize(last.size() - word.size());
        break;
      }
    }
  }
  return split;
}

bool fits(const std::vector<std::string_view>& extents, const Shape& shape, std::int64_t width) {
  if (extents.size() != shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (extents[i] == "D" && width > 0 && shape[i] != width) return false;
    if (extents[i].starts_with("3·") && shape[i] % 3 != 0) return false;
  }
  return true;
}

std::int64_t most_common(const std::map<std::int64_t, int>& counts) {
  std::int64_t best = 0;
  int most = 0;
  for (const auto& [value, count] : counts) {
    if (count > most && value > 1) std::tie(best, most) = std::pair(value, count);
  }
  return best;
}

/// Similarity of two names by their shared words, 0 to 1.
double likeness(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a.empty() || b.empty() || a.back() != b.back()) return 0;
  std::size_t shared = 0;
  for (const std::string& word : a) shared += std::ranges::find(b, word) != b.end() ? 1U : 0U;
  return 2.0 * static_cast<double>(shared) / static_cast<double>(a.size() + b.size());
}

/// Names of known models by role, as words of the module after {layer}.
using KnownNames = std::multimap<std::string, std::vector<std::string>>;

const KnownNames& known_names() {
  static const KnownNames list = [] {
    KnownNames names;
    for (const ArchitectureFamily& family : architecture_families()) {
      const ArchitectureDescription description =
          parse_architecture_description(family.description);
      if (description.spec.is_pyramid()) continue;
      for (const auto& [role, patterns] : description.tensors) {
        const auto [module, part] = parts_of_role(role);
        if (part.starts_with(".running")) continue;
        for (const TensorPattern& pattern : patterns) {
          names.emplace(
              module,
              split_name(TensorGroup{.pattern = pattern.pattern, .shape = {}, .type = {}}.tail())
                  .words);
        }
      }
    }
    return names;
  }();
  return list;
}

/// Module of a role → score of a name's words for it.
using Scores = std::map<std::string, double>;

void raise(Scores& scores, const std::string& role, double score) {
  scores[role] = std::max(scores[role], score);
}

void score_block_words(const SplitName& split, Scores& scores) {
  const BlockName name = read_block_name(split.words);
  switch (name.part) {
    case BlockPart::query:
      return raise(scores, "layer.query", 0.95);
    case BlockPart::key:
      return raise(scores, "layer.key", 0.95);
    case BlockPart::value:
      return raise(scores, "layer.value", 0.95);
    case BlockPart::qkv:
      return raise(scores, "layer.qkv", 0.95);
    case BlockPart::mask:
      return raise(scores, "layer.mask", 0.95);
    case BlockPart::norm: {
      const int number = norm_number(name.last);
      if (number != 2) raise(scores, "layer.norm1", number == 1 ? 0.95 : 0.5);
      if (number != 1) raise(scores, "layer.norm2", number == 2 ? 0.95 : 0.49);
      return;
    }
    case BlockPart::out:
      return raise(scores, "layer.out", name.attention ? 0.9 : 0.6);
    case BlockPart::mlp: {
      const int number = mlp_number(name.last);
      if (number == 3) return raise(scores, "layer.mlp_gate", 0.9);
      if (number != 2) raise(scores, "layer.mlp1", number == 1 ? 0.9 : 0.6);
      if (number != 1) raise(scores, "layer.mlp2", number == 2 ? 0.9 : 0.59);
      return;
    }
    case BlockPart::none:
      return;
  }
}

void score_outer_words(const SplitName& name, Scores& scores) {
  std::string whole;
  for (const std::string& word : name.words) whole += (whole.empty() ? "" : ".") + word;
  if (says_final(name.words.back())) raise(scores, "final_norm", 0.9);
  switch (outer_word(whole)) {
    case OuterWord::tokens:
      return raise(scores, "token_embedding", 0.95);
    case OuterWord::positions:
      return raise(scores, "positions", 0.9);
    case OuterWord::class_token:
      return raise(scores, "class_token", 0.95);
    case OuterWord::patch:
      return raise(scores, "patch", 0.9);
    case OuterWord::head:
      return raise(scores, "head", 0.88);
    case OuterWord::input:
      raise(scores, "token_embedding", 0.6);
      return raise(scores, "input_projection", 0.58);
    case OuterWord::none:
      break;
  }
}

/// Roles of plain transformers in their common order in files, for tensors whose names tell
/// nothing.
constexpr std::array<std::string_view, 11> kPlainBlock = {
    "layer.norm1", "layer.qkv",  "layer.query", "layer.key",  "layer.value", "layer.out",
    "layer.norm2", "layer.mlp1", "layer.mlp2",  "layer.mask", "layer.scale1"};

class Proposer {
 public:
  explicit Proposer(const std::vector<TensorGroup>& groups)
      : groups_(groups), width_(width_of(groups)), transposed_(is_transposed()) {}

  std::vector<RoleProposal> run() {
    for (std::size_t i = 0; i < groups_.size(); ++i) rate(i);
    std::ranges::stable_sort(rated_, std::ranges::greater{},
                             [](const Rated& one) { return one.proposal.score; });
    for (const Rated& one : rated_) take(one);
    guess(false);
    follow_weights();
    guess(true);
    std::vector<RoleProposal> proposals;
    for (auto& [group, proposal] : taken_) proposals.push_back(std::move(proposal));
    return proposals;
  }

 private:
  struct Rated {
    std::size_t group;
    RoleProposal proposal;
  };

  /// True if matrices of blocks are stored as [in, out]: the fused query, key and value weight and
  /// the first weight of the MLP are then wider than tall.
  [[nodiscard]] bool is_transposed() const {
    int votes = 0;
    bool first = true;
    for (const TensorGroup& group : groups_) {
      const Shape& shape = group.shape;
      if (!group.of_layers() || shape.size() != 2 || shape[0] == shape[1]) continue;
      if (shape[0] != width_ && shape[1] != width_) continue;
      const std::int64_t other = shape[0] == width_ ? shape[1] : shape[0];
      const bool fused = other == 3 * width_;
      if (!fused && !std::exchange(first, false)) continue;
      votes += shape[0] == width_ ? 1 : -1;
    }
    return votes > 0;
  }

  /// Shape as a description reads it: positions and class tokens without leading axes of length 1.
  [[nodiscard]] static Shape read_shape(const Shape& stored, const std::string& module) {
    Shape shape = stored;
    if (module == "positions" || module == "class_token") {
      while (shape.size() > 1 && shape.front() == 1) shape.erase(shape.begin());
    }
    return shape;
  }

  [[nodiscard]] std::optional<RoleProposal> proposal(const TensorGroup& group,
                                                     const std::string& module, double score,
                                                     const SplitName& name) const {
    const TensorRole* const known = find_tensor_role(module);
    if (known == nullptr || !group.alike) return std::nullopt;
    std::string role = module;
    if (known->module) {
      // A vector is a bias if the weight is a matrix.
      const bool flat = group.shape.size() == 1 && known->shapes[0].names().size() > 1;
      const bool bias = name.is_bias || (name.is_plain && flat);
      role += bias ? ".bias" : ".weight";
    }
    bool transposed = false;
    const Shape shape = read_shape(group.shape, module);
    if (!shape_fits(role, shape, width_, &transposed)) return std::nullopt;
    if (shape.size() == 2 && role.ends_with(".weight") && module != "token_embedding") {
      // All matrices of a file are stored the same way.
      const bool both = shape[0] == shape[1];
      if (module.starts_with("layer.") && !both && transposed != transposed_) return std::nullopt;
      if (both) transposed = transposed_;
    }
    const Certainty certainty = score >= kSure     ? Certainty::sure
                                : score >= kLikely ? Certainty::likely
                                                   : Certainty::guess;
    return RoleProposal{role, group.pattern, transposed, certainty, score};
  }

  void rate(std::size_t index) {
    const TensorGroup& group = groups_[index];
    const SplitName name = split_name(group.tail());
    Scores scores;
    group.of_layers() ? score_block_words(name, scores) : score_outer_words(name, scores);
    for (const auto& [module, words] : known_names()) {
      if (module.starts_with("layer.") != group.of_layers()) continue;
      const double like = likeness(name.words, words);
      if (like > 0.5) raise(scores, module, 0.8 * like);
    }
    for (const auto& [module, score] : scores) {
      // If two scores are equal, the tensor that comes first in the file wins.
      if (auto made = proposal(group, module, score - 1e-6 * static_cast<double>(index), name)) {
        if (score >= kLeast) rated_.push_back({index, std::move(*made)});
      }
    }
  }

  bool take(const Rated& one) {
    if (taken_.contains(one.group) || roles_.contains(one.proposal.role)) return false;
    roles_.insert(one.proposal.role);
    taken_.emplace(one.group, one.proposal);
    return true;
  }

  /// Gives a bias the role of the weight with the same words.
  void follow_weights() {
    std::map<std::vector<std::string>, RoleProposal> weights;  // weights by the words in names
    const auto words_of = [&](std::size_t index) {
      std::vector<std::string> words = split_name(groups_[index].tail()).words;
      words.push_back(groups_[index].of_layers() ? "layer" : "");
      return words;
    };
    for (const auto& [index, proposal] : taken_) {
      if (proposal.role.ends_with(".weight")) weights.emplace(words_of(index), proposal);
    }
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const SplitName name = split_name(groups_[i].tail());
      const auto weight = weights.find(words_of(i));
      if (taken_.contains(i) || !name.is_bias || weight == weights.end()) continue;
      const std::string module = parts_of_role(weight->second.role).module;
      if (auto made = proposal(groups_[i], module, weight->second.score, name)) take({i, *made});
    }
  }

  /// Assigns roles by shape, in the order of the file: weights first, then possible biases.
  void guess(bool biases) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const TensorGroup& group = groups_[i];
      const SplitName name = split_name(group.tail());
      if (taken_.contains(i) || (name.is_bias && !biases)) continue;
      for (const std::string& module : plain_roles(i)) {
        // A fused query, key and value weight is larger than a query weight.
        if (module == "layer.qkv" && std::ranges::max(group.shape) <= width_) continue;
        const auto made = proposal(group, module, kGuess, name);
        if (!made || (made->role.ends_with(".bias") && !biases)) continue;
        if (possible(made->role) && take({i, *made})) break;
      }
    }
  }

  /// False if an alternative is taken, or if the role is a bias without its weight.
  [[nodiscard]] bool possible(const std::string& role) const {
    const bool bias = role.ends_with(".bias");
    return is_open(role, roles_) &&
           (!bias || roles_.contains(parts_of_role(role).module + ".weight"));
  }

  [[nodiscard]] std::vector<std::string> plain_roles(std::size_t index) const {
    const TensorGroup& group = groups_[index];
    if (group.of_layers()) return {kPlainBlock.begin(), kPlainBlock.end()};
    const auto blocks = std::ranges::find_if(groups_, &TensorGroup::of_layers);
    const bool after =
        blocks != groups_.end() && blocks - groups_.begin() < static_cast<std::ptrdiff_t>(index);
    if (after) return {"final_norm", "head"};
    if (group.shape.size() == 4) return {"patch"};
    if (group.shape.size() == 3) return {"class_token", "positions"};
    return {"token_embedding", "patch"};
  }

  const std::vector<TensorGroup>& groups_;
  std::int64_t width_;
  bool transposed_;
  std::vector<Rated> rated_;
  std::map<std::size_t, RoleProposal> taken_;
  std::set<std::string> roles_;
};

}  // namespace

std::int64_t width_of(const std::vector<TensorGroup>& groups) {
  std::map<std::int64_t, int> vectors, all;
  for (const TensorGroup& group : groups) {
    if (!group.of_layers()) continue;
    if (group.shape.size() == 1) ++vectors[group.shape[0]];
    if (group.shape.size() != 2) continue;
    ++all[group.shape[0]];
    if (group.shape[1] != group.shape[0]) ++all[group.shape[1]];
  }
  return all.empty() ? most_common(vectors) : most_common(all);
}

bool shape_fits(const std::string& role, const Shape& shape, std::int64_t width, bool* transposed) {
  const auto [module, part] = parts_of_role(role);
  const TensorRole* const known = find_tensor_role(module);
  if (known == nullptr) return false;
  if (transposed) *transposed = false;
  bool any = true;
  for (const RoleShape& one : known->shapes) {
    const std::vector<std::string_view> extents = one.names();
    if (extents.empty()) break;
    any = false;
    if (fits(part == ".bias" ? std::vector{extents.front()} : extents, shape, width)) return true;
  }
  if (any || shape.size() != 2 || part != ".weight") return any;
  for (const RoleShape& one : known->shapes) {
    if (!fits(one.names(), {shape[1], shape[0]}, width)) continue;
    if (transposed) *transposed = true;
    return true;
  }
  return false;
}

std::vector<RoleProposal> propose_roles(const std::vector<TensorGroup>& groups) {
  return Proposer(groups).run();
}

}  // namespace attnscope
