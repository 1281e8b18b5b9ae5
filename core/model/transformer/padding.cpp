#include "core/model/transformer/padding.h"

#include <algorithm>

#include "core/error.h"

namespace attnscope {

void leave_out_padding(std::int64_t id, const Input& input, TokenizedText& tokens) {
  if (id < 0) return;
  while (!tokens.ids.empty() && tokens.ids.back() == id) {
    tokens.ids.pop_back();
    tokens.texts.pop_back();
    tokens.types.pop_back();
  }
  std::erase_if(tokens.special, [&](std::int64_t i) { return i >= std::ssize(tokens.ids); });
  const auto padding = std::find(tokens.ids.begin(), tokens.ids.end(), id);
  if (padding == tokens.ids.end() && !tokens.ids.empty()) return;
  throw Error(ErrorKind::usage, tokens.ids.empty() ? "the text consists of padding only"
                                                   : "the text has padding before its end")
      .about(input.label)
      .expected("no token " + std::to_string(id) + " before the end")
      .found("token " + std::to_string(padding - tokens.ids.begin()))
      .remedy("leave it out; if it is an ordinary token of this model, set padding=-1");
}

void fill_up(const InputSpec& spec, const Vocabulary& vocabulary, TokenizedText& tokens) {
  const std::string shown = vocabulary.text_of(spec.padding);
  while (std::ssize(tokens.ids) < spec.context) {
    tokens.special.push_back(std::ssize(tokens.ids));
    tokens.ids.push_back(spec.padding);
    tokens.texts.push_back(shown);
    tokens.types.push_back(0);
  }
}

}  // namespace attnscope
