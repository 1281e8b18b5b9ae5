#include <nlohmann/json.hpp>
#include <vector>

#include "core/budget.h"
#include "core/tokenizer/byte_signs.h"
#include "core/tokenizer/stage_fields.h"
#include "core/tokenizer/stages.h"
#include "core/utf8.h"

namespace attnscope {

namespace {

std::string replaced(const std::string& text, const std::string& what, const std::string& by) {
  if (what.empty()) return text;
  std::string result;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(what, at)) != std::string::npos;) {
    spend_work(found - at + by.size() + 1);
    result.append(text, at, found - at);
    result += by;
    at = found + what.size();
  }
  spend_work(text.size() - at);
  return result.append(text, at);
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string byte_of(std::string token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return token;
  const int high = digit_of(token[3]), low = digit_of(token[4]);
  return high < 0 || low < 0 ? token : std::string(1, static_cast<char>(16 * high + low));
}

TokenText unchanged() {
  return [](std::string token) { return token; };
}

TokenText byte_level_decoder(StageFields& fields) {
  for (const char* const key : {"add_prefix_space", "trim_offsets", "use_regex"}) {
    (void)fields.flag(key, true);
  }
  return [](const std::string& token) { return bytes_of_signs(token); };
}

TokenText byte_fallback_decoder(StageFields&) { return byte_of; }
TokenText fuse_decoder(StageFields&) { return unchanged(); }

TokenText strip_decoder(StageFields& fields) {  // affects only the ends of a whole text
  (void)fields.text("content");
  (void)fields.whole("start");
  (void)fields.whole("stop");
  return unchanged();
}

TokenText metaspace_decoder(StageFields& fields) {
  for (const char* const key : {"add_prefix_space", "prepend_scheme", "split", "str_rep"}) {
    (void)fields.find(key);
  }
  return [sign = fields.text("replacement")](const std::string& token) {
    return replaced(token, sign, " ");
  };
}

TokenText replace_decoder(StageFields& fields) {
  return [pattern = fields.pattern("pattern"),
          content = fields.text("content")](const std::string& token) {
    if (token.size() == 1 && utf8_length(token, 0) == 0) return token;  // a single byte
    std::string result;
    for (const SplitPattern::Part& part : pattern.parts(token)) {
      const std::size_t length = part.end - part.begin;
      spend_work(part.matches ? content.size() : length);
      result += part.matches ? content : token.substr(part.begin, length);
    }
    return result;
  };
}

TokenText word_piece_decoder(StageFields& fields) {
  (void)fields.text("prefix");
  (void)fields.flag("cleanup", true);
  return unchanged();
}

TokenText byte_pairs_decoder(StageFields& fields) {
  return [suffix = fields.text("suffix")](const std::string& token) {
    return replaced(token, suffix, " ");
  };
}

TokenText ctc_decoder(StageFields& fields) {
  (void)fields.text("pad_token");
  (void)fields.flag("cleanup", true);
  return [delimiter = fields.text("word_delimiter_token")](const std::string& token) {
    return replaced(token, delimiter, " ");
  };
}

TokenText sequence_decoder(StageFields& fields) {
  return [list = make_stages(fields, "decoders", make_decoder)](std::string token) {
    for (const TokenText& each : list) token = each(std::move(token));
    return token;
  };
}

constexpr StageKind<TokenText> decoder_kinds[] = {
    {"BPEDecoder", byte_pairs_decoder},
    {"ByteFallback", byte_fallback_decoder},
    {"ByteLevel", byte_level_decoder},
    {"CTC", ctc_decoder},
    {"Fuse", fuse_decoder},
    {"Metaspace", metaspace_decoder},
    {"Replace", replace_decoder},
    {"Sequence", sequence_decoder},
    {"Strip", strip_decoder},
    {"WordPiece", word_piece_decoder},
};

}  // namespace

TokenText make_decoder(const nlohmann::json& object, const std::string& place) {
  return object.is_null() ? unchanged() : make_stage(decoder_kinds, object, place);
}

}  // namespace attnscope
