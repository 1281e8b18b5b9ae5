// Groups of tokens: words, sentences, parts of a text, roles, and groups by hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/token_layout.h"
#include "core/parameters/enum_names.h"

namespace attnscope {

/// A name and token positions, ascending. A list of groups has each token at most once; tokens may
/// be in no group.
struct TokenGroup {
  std::string name;  ///< for words, sentences and parts the text itself, in one line
  std::vector<std::int64_t> tokens;
  bool special = false;  ///< tokens that stand for no text ([CLS], <s>), or class and registers

  bool operator==(const TokenGroup&) const = default;
};
using TokenGroups = std::vector<TokenGroup>;

/// Groups that follow from the layout of the tokens. Special tokens of a text and those of a
/// picture in it are groups of their own, the first.
enum class GroupKind {
  words,      ///< texts between white space, or WordPiece tokens with the ## that follow
  sentences,  ///< up to . ! ? … 。 ！ ？ before white space, a blank line, or a special token
  parts,      ///< runs of text between special tokens or a picture, such as the texts of a pair
  roles       ///< special tokens and text; or class token, registers and patches
};
inline constexpr EnumName<GroupKind> group_kind_names[] = {{GroupKind::words, "words"},
                                                           {GroupKind::sentences, "sentences"},
                                                           {GroupKind::parts, "parts"},
                                                           {GroupKind::roles, "roles"}};

/// The groups of `tokens` tokens. `written` is the name of a kind, or "auto" for sentences of texts
/// and roles of other tokens; or groups by hand, "subject=3-5+9,other=6-", with positions from 0,
/// "(2,0)-(4,13)" for rows 2 to 4 and columns 0 to 13 of the grid, and "others=rest" for the tokens
/// of no other group; or the name of a JSON file
/// (.json) {"subject": [3, 4, 5], "others": "rest"}. Throws Error(usage) for a kind that the layout
/// does not have (words of an image), for a token that does not exist or is in two groups, and for
/// names that repeat.
[[nodiscard]] TokenGroups token_groups(const TokenLayout& layout, std::int64_t tokens,
                                       std::string_view written);

/// Groups as token_groups reads them by hand: "subject=3-5+9,rest=6-8".
[[nodiscard]] std::string groups_as_text(const TokenGroups& groups);

/// True if each group is wholly before the next one, disregarding special groups.
[[nodiscard]] bool in_order(const TokenGroups& groups);

/// The group of each token, as an index; −1 for tokens of no group.
[[nodiscard]] std::vector<std::int64_t> group_of_tokens(const TokenGroups& groups,
                                                        std::int64_t tokens);

}  // namespace attnscope
