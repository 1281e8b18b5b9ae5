#include "core/trace/linked_tokens.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "core/trace/trace.h"

namespace attnscope {

namespace {

/// The text of a token in lower case without white space. Tokenizers differ in whether they keep
/// spaces and case.
std::string token_characters(const std::string& token) {
  std::string characters;
  for (const char character : token) {
    const auto byte = static_cast<unsigned char>(character);
    if (std::isspace(byte) == 0) characters.push_back(static_cast<char>(std::tolower(byte)));
  }
  return characters;
}

/// Special tokens are skipped because they carry no text and differ between tokenizers, and so are
/// those of pictures.
bool is_special(const TokenLayout& layout, std::int64_t index) {
  return layout.is_of_picture(index) ||
         std::binary_search(layout.special.begin(), layout.special.end(), index);
}

/// The start of token `index`, counted in token_characters, and all characters up to its end.
struct TextPlace {
  std::size_t begin = 0;
  std::string until_end;
};

TextPlace place_in_text(const TokenLayout& layout, std::int64_t index) {
  TextPlace place;
  for (std::int64_t i = 0; i <= index; ++i) {
    place.begin = place.until_end.size();
    if (!is_special(layout, i)) {
      place.until_end += token_characters(layout.texts[static_cast<std::size_t>(i)]);
    }
  }
  return place;
}

std::optional<std::int64_t> token_of_text(const TokenLayout& from, std::int64_t index,
                                          const TokenLayout& to) {
  // Identical tokens are matched by index, because some may consist of spaces only.
  const auto same_up_to = [&](std::int64_t last) {
    return last < std::ssize(to.texts) &&
           std::equal(from.texts.begin(), from.texts.begin() + last + 1, to.texts.begin());
  };
  if (same_up_to(index)) return index;
  const TextPlace place = place_in_text(from, index);
  if (place.begin == place.until_end.size()) return std::nullopt;  // white space only
  std::string read;
  std::optional<std::int64_t> found;
  for (std::int64_t i = 0; i < std::ssize(to.texts) && read.size() < place.until_end.size(); ++i) {
    if (is_special(to, i)) continue;
    read += token_characters(to.texts[static_cast<std::size_t>(i)]);
    if (!found && read.size() > place.begin) found = i;
  }
  return read.starts_with(place.until_end) ? found : std::nullopt;
}

bool says_where(const TokenLayout& layout) { return layout.has_grid() || !layout.texts.empty(); }

}  // namespace

std::optional<std::int64_t> linked_token(const TokenLayout& from, std::int64_t index,
                                         std::int64_t from_count, const TokenLayout& to,
                                         std::int64_t to_count) {
  if (index < 0 || index >= from_count) return std::nullopt;
  const auto within = [to_count](std::int64_t token) {
    return token < to_count ? std::optional(token) : std::nullopt;
  };
  if (!says_where(from) || !says_where(to)) {
    return from_count == to_count ? std::optional(index) : std::nullopt;
  }
  if (const auto picture = from.picture_of(index)) {
    const TokenCells to_cells = to.cells(*picture);
    return to_cells.count() > 0 ? within(same_place(from, index, to, to_cells.end()))
                                : std::nullopt;
  }
  if (index < from.prefix) {
    for (std::int64_t token = 0; token < to.prefix; ++token) {
      if (to.name(token) == from.name(index)) return within(token);
    }
    return std::nullopt;
  }
  if (index >= std::ssize(from.texts)) return std::nullopt;
  const auto token = token_of_text(from, index, to);
  return token ? within(*token) : std::nullopt;
}

std::optional<std::int64_t> linked_query(const Trace& from, std::int64_t from_layer,
                                         std::int64_t query, const Trace& to,
                                         std::int64_t to_layer) {
  if (to_layer < 0 || to_layer >= std::ssize(to.layers)) return std::nullopt;
  return linked_token(query_layout(from, from_layer), query, from.queries(from_layer),
                      query_layout(to, to_layer), to.queries(to_layer));
}

std::optional<std::int64_t> linked_key(const Trace& from, std::int64_t from_layer, std::int64_t key,
                                       const Trace& to, std::int64_t to_layer) {
  if (to_layer < 0 || to_layer >= std::ssize(to.layers)) return std::nullopt;
  return linked_token(key_layout(from, from_layer), key, from.keys(from_layer),
                      key_layout(to, to_layer), to.keys(to_layer));
}

}  // namespace attnscope
