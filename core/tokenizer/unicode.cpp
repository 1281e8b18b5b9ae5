#include "core/tokenizer/unicode.h"

#include <limits>
#include <memory>
#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

#include "core/error.h"
#include "core/utf8.h"

namespace attnscope {

namespace {

UChar32 icu_of(char32_t c) { return static_cast<UChar32>(c); }

bool in_categories(char32_t c, std::uint32_t mask) {
  return (U_MASK(u_charType(icu_of(c))) & mask) != 0;
}

void check(UErrorCode code) {
  if (U_FAILURE(code)) {
    throw Error(ErrorKind::unsupported, "ICU refuses the text").found(u_errorName(code));
  }
}

const icu::Normalizer2& normalizer_of(NormalForm form) {
  UErrorCode code = U_ZERO_ERROR;
  const icu::Normalizer2* found = nullptr;
  switch (form) {
    case NormalForm::nfc:
      found = icu::Normalizer2::getNFCInstance(code);
      break;
    case NormalForm::nfd:
      found = icu::Normalizer2::getNFDInstance(code);
      break;
    case NormalForm::nfkc:
      found = icu::Normalizer2::getNFKCInstance(code);
      break;
    case NormalForm::nfkd:
      found = icu::Normalizer2::getNFKDInstance(code);
      break;
  }
  check(code);
  return *found;
}

}  // namespace

bool is_white_space(char32_t c) { return u_isUWhiteSpace(icu_of(c)) != 0; }

bool is_punctuation(char32_t c) {
  const bool ascii = (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
                     (c >= 123 && c <= 126);
  return ascii || in_categories(c, U_GC_P_MASK);
}

bool is_number(char32_t c) { return in_categories(c, U_GC_N_MASK); }
bool is_mark(char32_t c) { return in_categories(c, U_GC_M_MASK); }
bool is_nonspacing_mark(char32_t c) { return in_categories(c, U_GC_MN_MASK); }
bool is_other(char32_t c) { return in_categories(c, U_GC_C_MASK); }

bool is_word_character(char32_t c) {
  return u_isUAlphabetic(icu_of(c)) != 0 ||
         in_categories(c, U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK) ||
         u_hasBinaryProperty(icu_of(c), UCHAR_JOIN_CONTROL) != 0;
}

std::string utf8_of(char32_t c) {
  const auto byte = [](char32_t value) { return static_cast<char>(static_cast<unsigned>(value)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0U | (c >> 6)), byte(0x80U | (c & 0x3FU))};
  if (c < 0x10000) {
    return {byte(0xE0U | (c >> 12)), byte(0x80U | ((c >> 6) & 0x3FU)), byte(0x80U | (c & 0x3FU))};
  }
  return {byte(0xF0U | (c >> 18)), byte(0x80U | ((c >> 12) & 0x3FU)),
          byte(0x80U | ((c >> 6) & 0x3FU)), byte(0x80U | (c & 0x3FU))};
}

std::string lower_case(char32_t c) {
  constexpr char32_t i_with_dot = 0x130;  // the only character whose lower case is two characters
  if (c == i_with_dot) return "i\xCC\x87";
  return utf8_of(static_cast<char32_t>(u_tolower(icu_of(c))));
}

std::vector<std::size_t> normal_boundaries(std::string_view text, NormalForm form) {
  const icu::Normalizer2& normalizer = normalizer_of(form);
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) throw Error(ErrorKind::usage, "the text is not UTF-8");
    if (at == 0 || normalizer.hasBoundaryBefore(icu_of(utf8_character(text, at, length)))) {
      starts.push_back(at);
    }
    at += length;
  }
  starts.push_back(text.size());
  return starts;
}

std::string normal(std::string_view text, NormalForm form) {
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  UErrorCode code = U_ZERO_ERROR;
  normalizer_of(form).normalizeUTF8(
      0, icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())), sink, nullptr,
      code);
  check(code);
  return result;
}

std::vector<std::size_t> grapheme_starts(std::string_view text) {
  struct Close {
    void operator()(UText* open) const { utext_close(open); }
  };
  UErrorCode code = U_ZERO_ERROR;
  const std::unique_ptr<UText, Close> open(
      utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &code));
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), code));
  check(code);
  breaks->setText(open.get(), code);
  check(code);
  std::vector<std::size_t> starts;
  for (std::int32_t at = breaks->first(); at != icu::BreakIterator::DONE; at = breaks->next()) {
    starts.push_back(static_cast<std::size_t>(at));
  }
  return starts;
}

}  // namespace attnscope
