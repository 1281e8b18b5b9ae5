#include "core/architecture/naming/outer_names.h"

#include <algorithm>

namespace attnscope {

namespace {

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
