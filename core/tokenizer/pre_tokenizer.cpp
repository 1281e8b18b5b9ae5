#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/parameters/enum_names.h"
#include "core/tokenizer/byte_signs.h"
#include "core/tokenizer/stage_fields.h"
#include "core/tokenizer/stages.h"
#include "core/tokenizer/unicode.h"

namespace attnscope {

namespace {

/// Regular expression of GPT-2's words: contractions, words, numbers and other characters, each
/// with at most one space before it, and the remaining white space.
constexpr std::string_view gpt2_words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

using Parts = std::vector<SplitPattern::Part>;

enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
constexpr EnumName<Behavior> behavior_names[] = {
    {Behavior::removed, "Removed"},
    {Behavior::isolated, "Isolated"},
    {Behavior::merged_with_previous, "MergedWithPrevious"},
    {Behavior::merged_with_next, "MergedWithNext"},
    {Behavior::contiguous, "Contiguous"},
};

/// Drops matches or joins neighbouring parts according to `behavior`.
Parts joined(const Parts& parts, Behavior behavior) {
  Parts result;
  if (behavior == Behavior::removed) {
    std::copy_if(parts.begin(), parts.end(), std::back_inserter(result),
                 [](const SplitPattern::Part& part) { return !part.matches; });
    return result;
  }
  if (behavior == Behavior::merged_with_next) {  // mirror image of merged_with_previous
    bool previous = false;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      const bool joins = part->matches && !previous && !result.empty();
      if (joins) {
        result.back().begin = part->begin;
      } else {
        result.push_back(*part);
      }
      previous = part->matches;
    }
    std::reverse(result.begin(), result.end());
    return result;
  }
  bool previous = false;
  for (const SplitPattern::Part& part : parts) {
    const bool joins = (behavior == Behavior::contiguous && part.matches == previous) ||
                       (behavior == Behavior::merged_with_previous && part.matches && !previous);
    if (joins && !result.empty()) {
      result.back().end = part.end;
    } else {
      result.push_back(part);
    }
    previous = part.matches;
  }
  return result;
}

/// Splits each piece that is not a token into `parts_of(piece)`, which may rewrite the piece.
void cut(std::vector<TextPiece>& pieces, const auto& parts_of) {
  std::vector<TextPiece> result;
  for (TextPiece& piece : pieces) {
    if (piece.token) {
      result.push_back(std::move(piece));
      continue;
    }
    for (const SplitPattern::Part& part : parts_of(piece.text)) {
      if (part.begin < part.end) result.push_back({piece.text.part(part.begin, part.end), {}});
    }
  }
  pieces = std::move(result);
}

/// Parts in which each character with `match(c)` is a match of its own.
Parts characters_that(std::string_view text, const auto& match) {
  Parts parts;
  for_each_character(text, [&](char32_t c, std::size_t begin, std::size_t end) {
    const bool matches = match(c);
    if (!matches && !parts.empty() && !parts.back().matches) {
      parts.back().end = end;
    } else {
      parts.push_back({begin, end, matches});
    }
  });
  return parts;
}

PreTokenizer cut_where(auto match, Behavior behavior) {
  return [match, behavior](std::vector<TextPiece>& pieces) {
    cut(pieces,
        [&](AlignedText& text) { return joined(characters_that(text.text(), match), behavior); });
  };
}

PreTokenizer cut_by(SplitPattern pattern, Behavior behavior, bool invert) {
  return [pattern = std::move(pattern), behavior, invert](std::vector<TextPiece>& pieces) {
    cut(pieces, [&](AlignedText& text) {
      Parts parts = pattern.parts(text.text());
      for (SplitPattern::Part& part : parts) part.matches = part.matches != invert;
      return joined(parts, behavior);
    });
  };
}

PreTokenizer bert_splitter(StageFields&) {
  return [words = cut_where(is_white_space, Behavior::removed),
          marks = cut_where(is_punctuation, Behavior::isolated)](std::vector<TextPiece>& pieces) {
    words(pieces);
    marks(pieces);
  };
}

PreTokenizer byte_level_splitter(StageFields& fields) {
  const bool prefix = fields.flag("add_prefix_space");
  const bool words = fields.flag("use_regex", true);
  (void)fields.flag("trim_offsets", true);  // affects no ids; byte ranges are not trimmed
  return [prefix, words,
          pattern = SplitPattern::regular_expression(gpt2_words)](std::vector<TextPiece>& pieces) {
    cut(pieces, [&](AlignedText& text) {
      if (prefix && !text.text().starts_with(' ')) text = text.with_prefix(" ");
      return words ? pattern.parts(text.text()) : Parts{{0, text.text().size(), false}};
    });
    for (TextPiece& piece : pieces) {
      if (!piece.token) piece.text = as_byte_signs(piece.text);
    }
  };
}

Behavior behavior_in(StageFields& fields) {
  const std::string name = fields.text("behavior");
  for (const auto& [value, known] : behavior_names) {
    if (known == name) return value;
  }
  throw fields.refused("behavior", name_list(behavior_names, &EnumName<Behavior>::name));
}

PreTokenizer split_splitter(StageFields& fields) {
  return cut_by(fields.pattern("pattern"), behavior_in(fields), fields.flag("invert"));
}

PreTokenizer punctuation_splitter(StageFields& fields) {
  const bool given = fields.find("behavior") != nullptr;
  return cut_where(is_punctuation, given ? behavior_in(fields) : Behavior::isolated);
}

PreTokenizer digits_splitter(StageFields& fields) {
  return cut_where(is_number,
                   fields.flag("individual_digits") ? Behavior::isolated : Behavior::contiguous);
}

PreTokenizer white_space_splitter(StageFields&) {
  return [](std::vector<TextPiece>& pieces) {
    cut(pieces, [](AlignedText& text) {
      // Parts are runs of word characters and runs of other non-space characters.
      Parts parts;
      int last = 0;
      for_each_character(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
        const int kind = is_word_character(c) ? 1 : is_white_space(c) ? 0 : 2;
        if (kind != 0 && kind == last) {
          parts.back().end = end;
        } else if (kind != 0) {
          parts.push_back({begin, end, true});
        }
        last = kind;
      });
      return parts;
    });
  };
}

PreTokenizer white_space_split_splitter(StageFields&) {
  return cut_where(is_white_space, Behavior::removed);
}

PreTokenizer delimiter_splitter(StageFields& fields) {
  return cut_by(SplitPattern::literal(fields.text("delimiter")), Behavior::removed, false);
}

enum class Prepend { always, first, never };
constexpr EnumName<Prepend> prepend_names[] = {
    {Prepend::always, "always"}, {Prepend::first, "first"}, {Prepend::never, "never"}};

Prepend prepend_in(StageFields& fields) {
  const std::string name = fields.optional_text("prepend_scheme").value_or("always");
  // This member is used by files older than "prepend_scheme".
  const bool prefix = fields.flag("add_prefix_space", true);
  for (const auto& [value, known] : prepend_names) {
    if (known != name) continue;
    const bool stated = fields.find("prepend_scheme") != nullptr;
    if (!prefix && stated && value != Prepend::never) {
      throw fields.refused("add_prefix_space", "the value that prepend_scheme implies");
    }
    return prefix ? value : Prepend::never;
  }
  throw fields.refused("prepend_scheme", name_list(prepend_names, &EnumName<Prepend>::name));
}

PreTokenizer metaspace_splitter(StageFields& fields) {
  const std::string sign = fields.text("replacement");
  if (sign.empty() || utf8_length(sign, 0) != sign.size()) {
    throw fields.refused("replacement", "one character");
  }
  (void)fields.find("str_rep");  // duplicate of "replacement" in old files
  const Prepend prepend = prepend_in(fields);
  const bool split = fields.flag("split", true);
  return [sign, prepend, split](std::vector<TextPiece>& pieces) {
    cut(pieces, [&](AlignedText& text) {
      AlignedText marked;
      for_each_character(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
        if (c != ' ') return marked.append(text, begin, end);
        marked.append(sign, text.place(begin, end));
      });
      const bool wanted = prepend == Prepend::always ||
                          (prepend == Prepend::first && marked.place(0, 1).begin == 0);
      text = wanted && !marked.text().starts_with(sign) ? marked.with_prefix(sign) : marked;
      if (!split) return Parts{{0, text.text().size(), false}};
      return joined(SplitPattern::literal(sign).parts(text.text()), Behavior::merged_with_next);
    });
  };
}

PreTokenizer sequence_splitter(StageFields& fields) {
  return [list = make_stages(fields, "pretokenizers", make_pre_tokenizer)](
             std::vector<TextPiece>& pieces) {
    for (const PreTokenizer& each : list) each(pieces);
  };
}

constexpr StageKind<PreTokenizer> splitter_kinds[] = {
    {"BertPreTokenizer", bert_splitter},
    {"ByteLevel", byte_level_splitter},
    {"CharDelimiterSplit", delimiter_splitter},
    {"Digits", digits_splitter},
    {"Metaspace", metaspace_splitter},
    {"Punctuation", punctuation_splitter},
    {"Sequence", sequence_splitter},
    {"Split", split_splitter},
    {"Whitespace", white_space_splitter},
    {"WhitespaceSplit", white_space_split_splitter},
};

}  // namespace

PreTokenizer make_pre_tokenizer(const nlohmann::json& object, const std::string& place) {
  if (object.is_null()) return [](std::vector<TextPiece>&) {};
  return make_stage(splitter_kinds, object, place);
}

}  // namespace attnscope
