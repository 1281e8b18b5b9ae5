// Fuzzes the readers of tokenizers: accepted ones must encode or refuse any text, with byte offsets
// inside it.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/error.h"
#include "core/text/json.h"
#include "core/tokenizer/tokenizer.h"

namespace {

/// Encodes a text, which may be refused separately.
void encode(const attnscope::Vocabulary& tokenizer, const std::string& text,
            const std::string* second) {
  try {
    const attnscope::Encoding encoding = tokenizer.encode_texts(text, second);
    for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
      (void)tokenizer.text_of(encoding.ids[i]);
      const std::string& from = encoding.sources[i] == 1 ? *second : text;
      const auto [begin, end] = encoding.places[i];
      if (begin > end || end > from.size()) std::abort();
    }
  } catch (const attnscope::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const nlohmann::json object = attnscope::parse_json(text);
    const bool example = object.is_object() && object.contains("tokenizer");
    const auto tokenizer = attnscope::tokenizer_of_json(example ? object["tokenizer"] : object);
    const std::string other = "a  b\u00e9\u0301 \u4eca12 <s>\n";
    encode(*tokenizer, other, nullptr);
    encode(*tokenizer, other, &other);
  } catch (const attnscope::Error&) {
  }
  return 0;
}
