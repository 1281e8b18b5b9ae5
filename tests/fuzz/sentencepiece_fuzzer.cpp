// Fuzzes the reader of SentencePiece models: accepted models must encode or refuse any text.
#include <cstdlib>

#include "core/error.h"
#include "core/tokenizer/sentence_piece.h"
#include "tests/fuzz/fuzzed_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto tokenizer = attnscope::make_tokenizer(attnscope::sentence_piece_stages(
        attnscope::read_sentence_piece(attnscope::fuzzed_file({data, size}))));
    const std::string text = "a  b\u00e9\u0301 \u4eca12 <s>\n <sep>the fox ";
    const attnscope::Encoding encoding = tokenizer->encode_texts(text, nullptr);
    for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
      (void)tokenizer->text_of(encoding.ids[i]);
      const auto [begin, end] = encoding.places[i];
      if (begin > end || end > text.size()) std::abort();
    }
  } catch (const attnscope::Error&) {
  }
  return 0;
}
