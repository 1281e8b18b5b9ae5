#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/budget.h"
#include "core/tokenizer/byte_signs.h"
#include "core/tokenizer/charsmap.h"
#include "core/tokenizer/stage_fields.h"
#include "core/tokenizer/stages.h"
#include "core/tokenizer/unicode.h"

namespace attnscope {

namespace {

/// Replaces each character c by `written(c)`.
AlignedText map_characters(const AlignedText& text, const auto& written) {
  AlignedText result;
  for_each_character(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
    result.append(written(c), text.place(begin, end));
  });
  return result;
}

AlignedText filter(const AlignedText& text, const auto& keep) {
  AlignedText result;
  for_each_character(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
    if (keep(c)) result.append(text, begin, end);
  });
  return result;
}

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for_each_character(text, [&](char32_t, std::size_t, std::size_t) { ++count; });
  return count;
}

/// Appends `written` in place of [begin, end), aligned per character if both have as many.
void append_instead(AlignedText& result, const AlignedText& text, std::size_t begin,
                    std::size_t end, std::string_view written) {
  const std::string_view old = std::string_view(text.text()).substr(begin, end - begin);
  if (old == written) return result.append(text, begin, end);
  if (character_count(old) != character_count(written)) {
    return result.append(written, text.place(begin, end));
  }
  std::size_t at = 0;
  for_each_character(written, [&](char32_t, std::size_t from, std::size_t to) {
    const std::size_t length = utf8_length(old, at);
    result.append(written.substr(from, to - from), text.place(begin + at, begin + at + length));
    at += length;
  });
}

AlignedText to_form(const AlignedText& text, NormalForm form) {
  AlignedText result;
  const std::vector<std::size_t> starts = normal_boundaries(text.text(), form);
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const std::size_t begin = starts[i], end = starts[i + 1];
    if (end - begin == 1) {
      result.append(text, begin, end);
    } else {
      // Marks are sorted one by one, so the number of steps grows with the square of a part's
      // length.
      spend_work((end - begin) * (end - begin) / 4);
      append_instead(result, text, begin, end,
                     normal(std::string_view(text.text()).substr(begin, end - begin), form));
    }
  }
  return result;
}

template <NormalForm form>
Normalizer form_normalizer(StageFields&) {
  return [](const AlignedText& text) { return to_form(text, form); };
}

AlignedText lowercased(const AlignedText& text) { return map_characters(text, lower_case); }
Normalizer lowercase_normalizer(StageFields&) { return lowercased; }

Normalizer strip_accents_normalizer(StageFields&) {
  return
      [](const AlignedText& text) { return filter(text, [](char32_t c) { return !is_mark(c); }); };
}

Normalizer strip_normalizer(StageFields& fields) {
  return [left = fields.flag("strip_left"),
          right = fields.flag("strip_right")](const AlignedText& text) {
    std::size_t first = text.text().size(), last = 0;
    for_each_character(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
      if (is_white_space(c)) return;
      first = std::min(first, begin);
      last = end;
    });
    const std::size_t begin = left ? first : 0;
    const std::size_t end = right ? last : text.text().size();
    return begin < end ? text.part(begin, end) : AlignedText();
  };
}

Normalizer replace_normalizer(StageFields& fields) {
  return [pattern = fields.pattern("pattern"),
          content = fields.text("content")](const AlignedText& text) {
    AlignedText result;
    for (const SplitPattern::Part& part : pattern.parts(text.text())) {
      if (!part.matches) {
        result.append(text, part.begin, part.end);
      } else {
        result.append(content, text.place(part.begin, part.end));
      }
    }
    return result;
  };
}

Normalizer prepend_normalizer(StageFields& fields) {
  return [before = fields.text("prepend")](const AlignedText& text) {
    return text.empty() ? text : text.with_prefix(before);
  };
}

/// Looks up grapheme clusters of fewer than six bytes as a whole, and longer ones per character.
/// The replacement of the shortest matching prefix replaces the whole unit. SentencePiece itself
/// differs.
AlignedText by_clusters(const AlignedText& text, const Charsmap& map) {
  constexpr std::size_t longest_looked_up = 5;
  AlignedText result;
  const std::vector<std::size_t> starts = grapheme_starts(text.text());
  const std::string_view all = text.text();
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const std::string_view cluster = all.substr(starts[i], starts[i + 1] - starts[i]);
    if (cluster.size() <= longest_looked_up) {
      if (const auto found = map.shortest(cluster)) {
        append_instead(result, text, starts[i], starts[i + 1], found->by);
        continue;
      }
    }
    for_each_character(cluster, [&](char32_t, std::size_t begin, std::size_t end) {
      const auto found = map.shortest(cluster.substr(begin, end - begin));
      begin += starts[i];
      end += starts[i];
      append_instead(result, text, begin, end, found ? found->by : all.substr(begin, end - begin));
    });
  }
  return result;
}

Normalizer precompiled_normalizer(StageFields& fields) {
  const std::optional<std::string> bytes = decode_base64(fields.text("precompiled_charsmap"));
  if (!bytes) throw fields.refused("precompiled_charsmap", "base64");
  return [map = std::make_shared<const Charsmap>(*bytes)](const AlignedText& text) {
    return by_clusters(text, *map);
  };
}

/// Normalisation for neural machine translation: removes control characters and turns space-like
/// characters into spaces.
Normalizer nmt_normalizer(StageFields&) {
  return [](const AlignedText& text) {
    const AlignedText kept = filter(text, [](char32_t c) {
      const bool control = (c >= 1 && c <= 8) || c == 0x0B || (c >= 0x0E && c <= 0x1F) ||
                           c == 0x7F || c == 0x8F || c == 0x9F;
      return !control;
    });
    return map_characters(kept, [](char32_t c) {
      const bool space = c == 9 || c == 10 || c == 12 || c == 13 || c == 0x1680 ||
                         (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
                         c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
      return space ? std::string(" ") : utf8_of(c);
    });
  };
}

Normalizer byte_level_normalizer(StageFields&) { return as_byte_signs; }

bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

AlignedText cleaned(const AlignedText& text) {
  const auto is_space = [](char32_t c) {
    return c == '\t' || c == '\n' || c == '\r' || is_white_space(c);
  };
  const AlignedText kept = filter(text, [](char32_t c) {
    if (c == '\t' || c == '\n' || c == '\r') return true;
    return c != 0 && c != 0xFFFD && !is_other(c);
  });
  return map_characters(kept,
                        [&](char32_t c) { return is_space(c) ? std::string(" ") : utf8_of(c); });
}

AlignedText with_spaces_around_chinese(const AlignedText& text) {
  AlignedText result;
  for_each_character(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
    if (!is_chinese(c)) return result.append(text, begin, end);
    const TokenPlace place = text.place(begin, end);
    result.append(" ", {place.begin, place.begin});
    result.append(text, begin, end);
    result.append(" ", {place.end, place.end});
  });
  return result;
}

Normalizer bert_normalizer_of(StageFields& fields) {
  BertNormalization settings;
  settings.clean = fields.flag("clean_text");
  settings.space_chinese = fields.flag("handle_chinese_chars");
  settings.lowercase = fields.flag("lowercase");
  settings.strip_accents = fields.flag("strip_accents", settings.lowercase);
  return bert_normalizer(settings);
}

Normalizer sequence_normalizer(StageFields& fields) {
  return [list = make_stages(fields, "normalizers", make_normalizer)](AlignedText text) {
    for (const Normalizer& each : list) text = each(text);
    return text;
  };
}

constexpr StageKind<Normalizer> normalizer_kinds[] = {
    {"BertNormalizer", bert_normalizer_of},
    {"ByteLevel", byte_level_normalizer},
    {"Lowercase", lowercase_normalizer},
    {"NFC", form_normalizer<NormalForm::nfc>},
    {"NFD", form_normalizer<NormalForm::nfd>},
    {"NFKC", form_normalizer<NormalForm::nfkc>},
    {"NFKD", form_normalizer<NormalForm::nfkd>},
    {"Nmt", nmt_normalizer},
    {"Precompiled", precompiled_normalizer},
    {"Prepend", prepend_normalizer},
    {"Replace", replace_normalizer},
    {"Sequence", sequence_normalizer},
    {"Strip", strip_normalizer},
    {"StripAccents", strip_accents_normalizer},
};

}  // namespace

Normalizer bert_normalizer(const BertNormalization& settings) {
  return [settings](AlignedText text) {
    if (settings.clean) text = cleaned(text);
    if (settings.space_chinese) text = with_spaces_around_chinese(text);
    if (settings.strip_accents) {
      text =
          filter(to_form(text, NormalForm::nfd), [](char32_t c) { return !is_nonspacing_mark(c); });
    }
    if (settings.lowercase) text = lowercased(text);
    return text;
  };
}

Normalizer make_normalizer(const nlohmann::json& object, const std::string& place) {
  if (object.is_null()) return [](const AlignedText& text) { return text; };
  return make_stage(normalizer_kinds, object, place);
}

}  // namespace attnscope
