#include "core/tokenizer/aligned_text.h"

#include <algorithm>

#include "core/budget.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// Call before `added` bytes increase the text to `bytes`. The limit is far above the longest input
/// text; only a hostile tokenizer reaches it.
void check_size(std::size_t bytes, std::size_t added) {
  spend_work(added);
  constexpr std::size_t most = std::size_t{64} << 20;
  if (bytes > most) {
    throw Error(ErrorKind::unsupported, "the tokenizer expands the text too much")
        .expected("at most " + std::to_string(most) + " bytes");
  }
}

}  // namespace

AlignedText::AlignedText(std::string_view text) {
  check_size(text.size(), text.size());
  text_ = text;
  origins_.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      throw Error(ErrorKind::usage, "the text is not UTF-8")
          .found("byte " + std::to_string(at) + " belongs to no character");
    }
    const auto begin = static_cast<std::uint32_t>(at);
    origins_.insert(origins_.end(), length, {begin, begin + static_cast<std::uint32_t>(length)});
    at += length;
  }
}

TokenPlace AlignedText::place(std::size_t begin, std::size_t end) const {
  if (begin >= end) return {};
  Origin whole = origins_[begin];
  for (std::size_t i = begin + 1; i < end; ++i) {
    whole = {std::min(whole.begin, origins_[i].begin), std::max(whole.end, origins_[i].end)};
  }
  return {whole.begin, whole.end};
}

void AlignedText::append(std::string_view written, TokenPlace from) {
  check_size(text_.size() + written.size(), written.size());
  text_ += written;
  origins_.insert(origins_.end(), written.size(),
                  {static_cast<std::uint32_t>(from.begin), static_cast<std::uint32_t>(from.end)});
}

void AlignedText::append(const AlignedText& other, std::size_t begin, std::size_t end) {
  check_size(text_.size() + (end - begin), end - begin);
  text_.append(other.text_, begin, end - begin);
  origins_.insert(origins_.end(), other.origins_.begin() + static_cast<std::ptrdiff_t>(begin),
                  other.origins_.begin() + static_cast<std::ptrdiff_t>(end));
}

AlignedText AlignedText::with_prefix(std::string_view prefix) const {
  AlignedText result;
  const std::size_t begin = place(0, std::min<std::size_t>(1, text_.size())).begin;
  result.append(prefix, {begin, begin});
  result.append(*this, 0, text_.size());
  return result;
}

AlignedText AlignedText::part(std::size_t begin, std::size_t end) const {
  AlignedText result;
  result.append(*this, begin, end);
  return result;
}

}  // namespace attnscope
