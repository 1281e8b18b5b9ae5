#include "core/architecture/spec_from_tensors/text_tokenizer.h"

#include "core/architecture/configuration/tokenizer_file.h"
#include "core/checkpoint/key_values.h"
#include "core/file/read_file.h"

namespace attnscope {

FoundTokenizer tokenizer_of(const Checkpoint& checkpoint, const ModelSpec& spec) {
  const std::filesystem::path folder = checkpoint.path().parent_path();
  const TokenizerFile beside = find_tokenizer_file(folder);
  const KeyValues* const keys = checkpoint.key_values();
  if (keys && keys->contains("tokenizer.ggml.model")) return {Tokenizer::file, {}};
  if (beside.kind == TokenizerFile::Kind::byte_pairs &&
      !is_entry(folder / "tokenizer_config.json")) {
    if (spec.readout.kind == Readout::end_token) {
      return {Tokenizer::ids, "CLIP's vocab.json is not GPT-2's: only its tokenizer.json is read"};
    }
    const std::string name = tokenizer_class_of_model(folder);
    if (name.empty() || name.starts_with("GPT2Tokenizer")) {
      return {Tokenizer::byte_pairs, "vocab.json and merges.txt are next to the file"};
    }
    return {Tokenizer::file, "vocab.json is next to the file, of a " + name};
  }
  if (beside.kind != TokenizerFile::Kind::none) {
    return {Tokenizer::file, beside.path.filename().string() + " is next to the file"};
  }
  if (spec.is_language_model() && std::ssize(spec.labels) == spec.input.vocabulary) {
    return {Tokenizer::characters, {}};
  }
  if (spec.input.vocabulary == 256) return {Tokenizer::bytes, "256 tokens are usually the bytes"};
  return {Tokenizer::ids, "there is no tokenizer next to the file"};
}

}  // namespace attnscope
