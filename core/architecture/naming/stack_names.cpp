#include "core/architecture/naming/stack_names.h"

#include <algorithm>

#include "core/architecture/naming/name_words.h"

namespace attnscope {

namespace {

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
std::map<std::int64_t, Block> blocks_of(const std::vector<const StoredTensor*>& tensors,
                                        BlockNames& names) {
  std::map<std::int64_t, Block> blocks;
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
  std::map<std::int64_t, Block> blocks = blocks_of(tensors, names);
  const Block& first = blocks[0];
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

}  // namespace attnscope
