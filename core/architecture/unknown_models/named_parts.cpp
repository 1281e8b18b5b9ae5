#include "core/architecture/unknown_models/named_parts.h"

#include <algorithm>
#include <set>
#include <utility>

namespace attnscope {

namespace {

// ---- the roles in a block ----

/// Shapes by tensor name within the block.
using NamedBlock = std::map<std::string, Shape>;

std::string joined(const std::vector<std::string>& segments, std::size_t end) {
  std::string name;
  for (std::size_t i = 0; i < end; ++i) name += (i ? "." : "") + segments[i];
  return name;
}

/// Name of a tensor within its block.
struct Inside {
  std::vector<std::string> module;  ///< segments of the module's name
  std::string part;                 ///< "weight", "bias"; empty if the tensor belongs to no module
};

Inside split_inside(const std::string& name) {
  Inside inside{segments_of(name), {}};
  std::string& last = inside.module.back();
  for (const char* part : {"weight", "bias"}) {
    if (last == std::string("in_proj_") + part) {
      last = "in_proj";
      inside.part = part;
      return inside;
    }
  }
  if (inside.module.size() > 1 && (last == "weight" || last == "gamma")) inside.part = "weight";
  if (inside.module.size() > 1 && (last == "bias" || last == "beta")) inside.part = "bias";
  if (!inside.part.empty()) inside.module.pop_back();
  return inside;
}

bool is_square_mask(Shape shape) {
  while (shape.size() > 2 && shape.front() == 1) shape.erase(shape.begin());
  return shape.size() == 2 && shape[0] == shape[1] && shape[0] > 1;
}

/// Reads the first block; the others must have the same tensors.
class BlockReader {
 public:
  BlockReader(BlockNames& names, bool decoder)
      : names_(names), decoder_(decoder), own_(decoder ? "decoder." : "layer.") {}

  /// Reads tensor `name` of the block. Returns false if the meaning of the name is unknown.
  bool read(const std::string& name, const Shape& shape) {
    const Inside inside = split_inside(name);
    std::vector<std::string> words;
    for (const std::string& segment : inside.module) words.push_back(plain_word(segment));
    const BlockName said = read_block_name(words, decoder_);
    if (said.cross && !decoder_) return false;
    const std::string of = said.cross ? "cross." : own_;
    const bool is_mask = is_square_mask(shape);
    if (said.part == BlockPart::mask || (said.word == PartWord::attention && is_mask)) {
      return is_mask && take_mask(of + "mask", name);
    }
    if (said.mlp) return take_mlp(inside, name, shape);
    switch (said.part) {
      case BlockPart::query:
        return take(name, of + "query.", inside.part, shape, true);
      case BlockPart::key:
        return take(name, of + "key.", inside.part, shape, true);
      case BlockPart::value:
        return take(name, of + "value.", inside.part, shape, true);
      case BlockPart::qkv:
        names_.of_torch = said.last == "inproj" && inside.module.back() == "in_proj";
        return said.attention && take(name, of + "qkv.", inside.part, shape);
      case BlockPart::norm:
        if (!said.attention) return take_norm(name, said.last, inside.part, shape, said.cross);
        names_.why =
            "a norm within the attention: its name says neither what it normalises with nor "
            "whether rotary positions come before it";
        return false;
      case BlockPart::out:
        return take(name, of + "out.", inside.part, shape);
      case BlockPart::mlp:  // a layer directly in the block
        return !said.attention && said.word != PartWord::mlp && take_mlp(inside, name, shape);
      case BlockPart::mask:
      case BlockPart::none:
        break;
    }
    return false;
  }

  /// Checks the shapes and orders the layers of the MLP. Returns false if they do not fit.
  bool finish() {
    names_.heads = static_cast<std::int64_t>(heads_.size());
    if (!has_attention(own_) || (decoder_ && !has_attention("cross."))) return false;
    for (const auto& [role, shape] : shapes_) {
      if (role.find(".norm") != std::string::npos && shape != Shape{names_.width}) return false;
      if (role.ends_with(".out.weight") && shape != Shape{names_.width, names_.inner}) return false;
      if (role.ends_with(".bias") && !names_.has(role.substr(0, role.size() - 4) + "weight")) {
        return false;
      }
    }
    const std::string second = decoder_ ? "cross.norm2.weight" : "layer.norm2.weight";
    const bool first = names_.has(own_ + "norm1.weight");
    if (decoder_ && first != names_.has("cross.norm1.weight")) return false;
    if (first != names_.has(second)) return mlp_.empty();
    return order_mlp();
  }

 private:
  /// True if there are queries, keys and values with the width of those read before.
  bool has_attention(const std::string& of) {
    const bool separate = names_.has(of + "query.weight") && names_.has(of + "key.weight") &&
                          names_.has(of + "value.weight");
    if (separate == names_.has(of + "qkv.weight")) return false;
    const Shape& first = shapes_[of + (separate ? "query.weight" : "qkv.weight")];
    if (first.size() != 2 || (!separate && first[0] != 3 * first[1])) return false;
    const std::int64_t inner =
        separate ? first[0] * std::max<std::int64_t>(names_.heads, 1) : first[0] / 3;
    const bool alike = names_.width == 0 || (names_.width == first[1] && names_.inner == inner);
    names_.width = first[1];
    names_.inner = inner;
    return alike && names_.width > 0;
  }

  bool add(const std::string& role, const std::string& name, const Shape& shape) {
    shapes_[role] = shape;
    const std::string pattern = names_.container + "{layer}." + name;
    return names_.roles.emplace(role, pattern).first->second == pattern;
  }

  /// Name with {head} in place of the number that a name of queries, keys or values may have.
  std::string with_head(const std::string& name) {
    std::vector<std::string> segments = segments_of(name);
    const auto number = std::find_if(segments.begin(), segments.end(), is_number);
    if (number == segments.end()) return name;
    heads_.insert(*number);
    *number = "{head}";
    return joined(segments, segments.size());
  }

  bool take(const std::string& name, const std::string& role, const std::string& part,
            const Shape& shape, bool of_heads = false) {
    if (part.empty()) return false;
    return add(role + part, of_heads ? with_head(name) : name, shape);
  }

  bool take_mask(const std::string& role, const std::string& name) {
    if (names_.mask.empty()) names_.mask = names_.container + "0." + name;
    std::vector<std::string> segments = segments_of(name);
    const auto number = std::find_if(segments.begin(), segments.end(), is_number);
    if (number != segments.end()) *number = "{head}";
    return add(role, joined(segments, segments.size()), {});
  }

  bool take_norm(const std::string& name, const std::string& word, const std::string& part,
                 const Shape& shape, bool cross) {
    constexpr const char* roles[] = {"layer.norm1.", "layer.norm2."};
    constexpr const char* of_decoder[] = {"decoder.norm1.", "cross.norm1.", "cross.norm2."};
    int number = cross ? 2 : norm_number(word);
    if (number < 1 || number > (decoder_ ? 3 : 2)) return false;
    // "ffn_norm" is the third norm of a decoder.
    if (decoder_ && !cross && number == 2 && word.back() != '2') number = 3;
    return take(name, decoder_ ? of_decoder[number - 1] : roles[number - 1], part, shape);
  }

  bool take_mlp(const Inside& inside, const std::string& name, const Shape& shape) {
    if (inside.part.empty() || shape.size() != (inside.part == "weight" ? 2U : 1U)) return false;
    MlpLayer& layer = mlp_[joined(inside.module, inside.module.size())];
    layer.number = mlp_number(plain_word(inside.module.back()));
    (inside.part == "weight" ? layer.weight : layer.bias) = name;
    if (inside.part == "weight") layer.shape = shape;
    return true;
  }

  /// Orders the layers of an MLP by shape: [M, D], then [D, M]. Square layers are ordered by name.
  bool order_mlp() {
    if (mlp_.empty()) return true;
    if (mlp_.size() != 2) return gated_mlp();
    MlpLayer &a = mlp_.begin()->second, &b = std::next(mlp_.begin())->second;
    if (a.shape.size() != 2 || b.shape != Shape{a.shape[1], a.shape[0]}) return false;
    bool in_order = a.shape[1] == names_.width;
    if (a.shape[0] == a.shape[1]) {
      const std::string last_of_a = segments_of(mlp_.begin()->first).back();
      const std::string last_of_b = segments_of(std::next(mlp_.begin())->first).back();
      const bool counted = is_number(last_of_a) && is_number(last_of_b);
      if (!counted && (a.number == 0 || b.number == 0 || a.number == b.number)) return false;
      in_order =
          counted ? std::pair(last_of_a.size(), last_of_a) < std::pair(last_of_b.size(), last_of_b)
                  : a.number < b.number;
    }
    MlpLayer &first = in_order ? a : b, &second = in_order ? b : a;
    if (first.shape[1] != names_.width) return false;
    // The numbers in the names contradict the shapes.
    if (first.number == 2 || second.number == 1 || first.number == 3 || second.number == 3) {
      return false;
    }
    return add_layer("mlp1.", first) && add_layer("mlp2.", second);
  }

  bool gated_mlp() {
    if (mlp_.size() != 3) return false;
    for (const auto& [module, layer] : mlp_) {
      constexpr const char* roles[] = {"", "mlp1.", "mlp2.", "mlp_gate."};
      if (layer.number == 0 || !add_layer(roles[layer.number], layer)) return false;
    }
    const std::string of = of_mlp();
    return names_.has(of + "mlp1.weight") && names_.has(of + "mlp2.weight") &&
           names_.has(of + "mlp_gate.weight");
  }

  struct MlpLayer {
    int number = 0;
    std::string weight, bias;
    Shape shape;
  };

  /// Role prefix of the MLP: in a decoder, that of the second layer of each block.
  [[nodiscard]] std::string of_mlp() const { return decoder_ ? "cross." : own_; }

  bool add_layer(const std::string& part, const MlpLayer& layer) {
    const std::string role = of_mlp() + part;
    if (layer.weight.empty() || !add(role + "weight", layer.weight, layer.shape)) return false;
    return layer.bias.empty() || add(role + "bias", layer.bias, {});
  }

  BlockNames& names_;
  bool decoder_ = false;
  std::string own_;  ///< role prefix of the block's self-attention
  std::map<std::string, Shape> shapes_;
  std::map<std::string, MlpLayer> mlp_;  ///< layers by module name
  std::set<std::string> heads_;          ///< numbers found in names
};

/// Adds the roles of the first block to `names`, whose container and layers are set. A decoder's
/// blocks have a second attention, to another text: roles "decoder." and "cross.".
void read_first_block(const NamedBlock& block, bool decoder, BlockNames& names) {
  BlockReader reader(names, decoder);
  for (const auto& [name, shape] : block) {
    if (reader.read(name, shape)) continue;
    names.unexplained = names.container + "0." + name;
    return;
  }
  if (reader.finish()) return;
  names.unexplained = names.container + "0";
  names.why = "the names in the block do not give an attention and an MLP";
}

// ---- the stacks ----

constexpr std::int64_t kMostBlocks = 4096;

/// First number in a name, with the text before and after it.
struct Numbered {
  std::string container, rest;
  std::int64_t number = -1;  ///< −1 if there is none
};

Numbered numbered(const std::string& name) {
  std::string container;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    const std::string segment = name.substr(at, dot - at);
    if (is_number(segment) && segment.size() < 5 && dot < name.size()) {
      return {container, name.substr(dot + 1), std::stoi(segment)};
    }
    container = name.substr(0, std::min(dot + 1, name.size()));
    at = dot + 1;
  }
  return {};
}

bool says_attention(const std::string& rest) {
  const std::vector<std::string> segments = segments_of(rest);
  return std::any_of(segments.begin(), segments.end(), [](const std::string& segment) {
    const PartWord word = part_word(plain_word(segment));
    return word == PartWord::query || word == PartWord::qkv || segment == "in_proj_weight";
  });
}

/// Detects attention to another text by the names in a block. PyTorch's decoder has a
/// "multihead_attn" next to its "self_attn".
struct AsksAnother {
  bool cross = false, own = false, multihead = false;

  void see(const std::string& rest) {
    for (const std::string& segment : segments_of(rest)) {
      const std::string word = plain_word(segment);
      cross = cross || part_word(word) == PartWord::other_attention;
      own = own || word == "selfattn";
      multihead = multihead || word == kTorchCross;
    }
  }
  [[nodiscard]] bool says() const { return cross || (own && multihead); }
};

/// Blocks of one container, in order. Records the norm that may follow them there.
std::map<std::int64_t, NamedBlock> blocks_of(const std::vector<const StoredTensor*>& tensors,
                                             BlockNames& names) {
  std::map<std::int64_t, NamedBlock> blocks;
  for (const StoredTensor* tensor : tensors) {
    const Numbered place = numbered(tensor->name);
    if (place.number < 0 || place.container != names.container) continue;
    if (place.number < names.layers) {
      blocks[place.number][place.rest] = tensor->shape;
      continue;
    }
    const bool norm = place.number == names.layers && tensor->shape.size() == 1 &&
                      (place.rest == "weight" || place.rest == "bias");
    if (norm) names.final_norm = names.container + std::to_string(place.number);
    if (!norm && names.unexplained.empty()) names.unexplained = tensor->name;
  }
  return blocks;
}

/// Reads the blocks of a stack; all must have the tensors of the first one.
void read_blocks(const std::vector<const StoredTensor*>& tensors, bool decoder, BlockNames& names) {
  std::map<std::int64_t, NamedBlock> blocks = blocks_of(tensors, names);
  const NamedBlock& first = blocks[0];
  if (names.unexplained.empty()) read_first_block(first, decoder, names);
  for (std::int64_t layer = 1; layer < names.layers && names.unexplained.empty(); ++layer) {
    const std::string prefix = names.container + std::to_string(layer) + ".";
    for (const auto& [name, shape] : blocks[layer]) {
      const auto same = first.find(name);
      if (same == first.end() || same->second != shape) names.unexplained = prefix + name;
    }
    if (blocks[layer].size() < first.size() && names.unexplained.empty()) {
      names.unexplained = prefix + first.begin()->first;
      names.why = "the block lacks tensors that the first one has";
    }
  }
  for (const auto& [role, pattern] : names.roles) {
    if (role.find(".norm") != std::string::npos && role.ends_with(".weight") &&
        !names.has(role.substr(0, role.size() - 6) + "bias")) {
      names.biased_norms = false;
    }
  }
}

// ---- the tensors around the blocks ----

std::string plain_name(const std::string& name) {
  std::string plain;
  for (const std::string& segment : segments_of(name)) {
    plain += (plain.empty() ? "" : ".") + plain_word(segment);
  }
  return plain;
}

/// True for a table [rows, columns], which may have additional axes of length 1.
bool is_embedding_table(const Shape& shape, std::int64_t columns) {
  const auto ones = std::count(shape.begin(), shape.end(), 1);
  const auto others = static_cast<std::int64_t>(shape.size()) - ones;
  return shape.size() > 1 && shape.size() < 4 && shape.back() == columns && others <= 2 &&
         element_count(shape) > 0;
}

class OuterReader {
 public:
  explicit OuterReader(const StackNames& stacks) : blocks_(stacks.body), decoder_(stacks.decoder) {}

  OuterNames read(const std::vector<const StoredTensor*>& tensors) {
    collect(tensors);
    for (const OuterModule& module : modules_) {
      if (take(module)) continue;
      names_.unexplained = (module.weight ? module.weight : module.bias)->name;
      break;
    }
    // A single table of positions serves both texts.
    const auto positions = names_.roles.find("positions");
    if (decoder_ && positions != names_.roles.end()) {
      names_.roles.emplace("decoder_positions", positions->second);
    }
    return std::move(names_);
  }

 private:
  void collect(const std::vector<const StoredTensor*>& tensors) {
    bool after = false;
    for (const StoredTensor* tensor : tensors) {
      if (is_of_block(tensor->name, blocks_) ||
          (decoder_ && is_of_block(tensor->name, *decoder_))) {
        after = true;
        continue;
      }
      const bool bias = tensor->name.ends_with(".bias") || tensor->name.ends_with(".beta");
      const bool weight = tensor->name.ends_with(".weight") || tensor->name.ends_with(".gamma");
      const std::string name =
          bias || weight ? tensor->name.substr(0, tensor->name.rfind('.') + 1) : tensor->name;
      auto module = std::find_if(modules_.begin(), modules_.end(),
                                 [&](const OuterModule& each) { return each.name == name; });
      if (module == modules_.end()) {
        modules_.push_back(
            {name, nullptr, nullptr, outer_word(plain_name(local(tensor->name))), after});
        module = modules_.end() - 1;
      }
      (bias ? module->bias : module->weight) = tensor;
    }
  }

  /// Name without the prefix around a stack: "transformer." for "transformer.h.".
  [[nodiscard]] std::string local(const std::string& name) const {
    for (const BlockNames* stack : {&blocks_, decoder_ ? &*decoder_ : nullptr}) {
      const std::string wrapper = stack ? wrapper_of(stack->container) : "";
      if (!wrapper.empty() && name.starts_with(wrapper)) return name.substr(wrapper.size());
    }
    return name;
  }

  /// "decoder_" for tensors within the decoder or with a name of the target, otherwise empty.
  [[nodiscard]] std::string side_of(const std::string& name) const {
    if (!decoder_) return "";
    const std::string wrapper = wrapper_of(decoder_->container);
    const bool within = wrapper != wrapper_of(blocks_.container) && name.starts_with(wrapper);
    const std::string plain = plain_name(name);
    const bool of_target = plain.starts_with("tgt") || plain.starts_with("trg") ||
                           plain.starts_with("target") || plain.starts_with("dec");
    return within || of_target ? "decoder_" : "";
  }

  bool add(const std::string& role, const StoredTensor* tensor) {
    return !tensor || names_.roles.emplace(role, tensor->name).second;
  }

  bool take(const OuterModule& module) {
    if (!module.weight) return false;
    const Shape& shape = module.weight->shape;
    const std::string name = plain_name(local(module.name));
    std::vector<std::string> words = segments_of(name);
    if (words.back().empty()) words.pop_back();
    if (words.empty()) return false;
    const bool vector = shape.size() == 1 && shape[0] == blocks_.width;
    const std::string side = side_of(module.name);
    if (part_word(words.back()) == PartWord::mask) {
      names_.mask = module.weight->name;
      return true;
    }
    if (vector && module.word != OuterWord::head && says_norm(words.back())) {
      const bool first_norm = !names_.roles.contains(side + "final_norm.weight");
      const bool last = module.after_blocks || says_final(words.back());
      const bool of_embedding = module.word != OuterWord::none;
      return first_norm && last && !of_embedding &&
             add(side + "final_norm.weight", module.weight) &&
             add(side + "final_norm.bias", module.bias);
    }
    const bool behind = module.name == blocks_.final_norm + "." ||
                        (decoder_ && module.name == decoder_->final_norm + ".");
    if (vector && behind) {
      return add(side + "final_norm.weight", module.weight) &&
             add(side + "final_norm.bias", module.bias);
    }
    switch (module.word) {
      case OuterWord::class_token:
        return element_count(shape) == blocks_.width && add("class_token", module.weight);
      case OuterWord::positions:
        return !module.bias && is_embedding_table(shape, blocks_.width) &&
               add(side + "positions", module.weight);
      case OuterWord::patch:
        return shape.front() == blocks_.width && (shape.size() == 4 || shape.size() == 2) &&
               add("patch.weight", module.weight) && add("patch.bias", module.bias);
      case OuterWord::head:
        names_.heads.push_back(module);
        return true;
      case OuterWord::tokens:
      case OuterWord::input:
        return take_input(module, side);
      case OuterWord::none:
        return false;
    }
    return false;
  }

  /// Takes a table [V, D], or a projection [D, F] of given embeddings.
  bool take_input(const OuterModule& module, const std::string& side) {
    const Shape& shape = module.weight->shape;
    if (shape.size() != 2) return false;
    const bool table = !module.bias && shape[1] == blocks_.width;
    if (table && (shape[0] != blocks_.width || module.word == OuterWord::tokens)) {
      return add(side + "token_embedding.weight", module.weight);
    }
    if (module.word == OuterWord::tokens || table || shape[0] != blocks_.width) return false;
    return add("input_projection.weight", module.weight) &&
           add("input_projection.bias", module.bias);
  }

  const BlockNames& blocks_;
  const std::optional<BlockNames>& decoder_;
  OuterNames names_;
  std::vector<OuterModule> modules_;
};

}  // namespace

StackNames read_stack_names(const std::vector<const StoredTensor*>& tensors) {
  std::vector<BlockNames> stacks;
  std::vector<AsksAnother> asks;
  for (const StoredTensor* tensor : tensors) {
    const Numbered place = numbered(tensor->name);
    if (place.number < 0 || place.number >= kMostBlocks || !says_attention(place.rest)) continue;
    auto stack = std::ranges::find(stacks, place.container, &BlockNames::container);
    if (stack == stacks.end()) {
      stacks.emplace_back();
      stacks.back().container = place.container;
      asks.emplace_back();
      stack = stacks.end() - 1;
    }
    stack->layers = std::max(stack->layers, place.number + 1);
    asks[static_cast<std::size_t>(stack - stacks.begin())].see(place.rest);
  }
  if (stacks.empty()) return {};
  if (stacks.size() == 2 && asks[0].says() != asks[1].says()) {
    const std::size_t decoder = asks[0].says() ? 0 : 1;
    StackNames names{stacks[1 - decoder], stacks[decoder]};
    read_blocks(tensors, false, names.body);
    read_blocks(tensors, true, *names.decoder);
    return names;
  }
  StackNames names{stacks[0], std::nullopt};
  if (stacks.size() > 1) {
    names.body.unexplained = stacks[1].container + "0";
    names.body.why =
        "there are several stacks of blocks, and names do not show how they are connected";
  } else {
    read_blocks(tensors, false, names.body);
  }
  return names;
}

std::string wrapper_of(const std::string& container) {
  const std::size_t dot =
      container.size() > 1 ? container.rfind('.', container.size() - 2) : std::string::npos;
  return dot == std::string::npos ? "" : container.substr(0, dot + 1);
}

bool is_of_block(const std::string& name, const BlockNames& blocks) {
  if (!name.starts_with(blocks.container)) return false;
  if (!blocks.final_norm.empty() && name.starts_with(blocks.final_norm + ".")) return false;
  return is_number(segments_of(name.substr(blocks.container.size())).front());
}

OuterNames read_outer_names(const std::vector<const StoredTensor*>& tensors,
                            const StackNames& stacks) {
  return OuterReader(stacks).read(tensors);
}

}  // namespace attnscope
