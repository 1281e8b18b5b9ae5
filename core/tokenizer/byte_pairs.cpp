#include "core/tokenizer/byte_pairs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file/read_file.h"
#include "core/tokenizer/tokenizer.h"

namespace attnscope {

namespace {

constexpr std::size_t kLargestVocabulary = std::size_t{256} << 20;  // bytes

}  // namespace

std::shared_ptr<const Vocabulary> read_byte_pairs(const std::filesystem::path& folder,
                                                  std::int64_t size) {
  TokenTable table = read_token_table(folder / "vocab.json");
  if (table.size() > size) {
    throw Error(ErrorKind::damaged, "the token id is outside the model's vocabulary")
        .in_file(folder / "vocab.json")
        .about(table.text(table.size() - 1))
        .expected("0 to " + std::to_string(size - 1))
        .found(std::to_string(table.size() - 1));
  }
  TokenizerStages stages;
  AddedToken end;
  end.content = "<|endoftext|>";
  end.special = true;
  if (const auto id = table.find(end.content)) {
    end.id = *id;
    stages.added.push_back(end);
  }
  stages.normalizer = make_normalizer(nullptr);
  stages.pre_tokenizer = make_pre_tokenizer({{"type", "ByteLevel"}, {"add_prefix_space", false}});
  stages.post_processor = make_post_processor(nullptr);
  stages.decoder = make_decoder({{"type", "ByteLevel"}});
  const Merges merges = read_merges(folder / "merges.txt");
  stages.model = make_byte_pairs(std::move(table), merges, {});
  return make_tokenizer(std::move(stages));
}

std::vector<std::string> read_lines(const std::filesystem::path& path) {
  const std::string text = read_file(path, kLargestVocabulary);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    at = end + 1;
  }
  return lines;
}

TokenTable read_token_table(const std::filesystem::path& path) {
  const auto object = read_json_file(path, kLargestVocabulary);
  if (!object.is_object()) {
    throw Error(ErrorKind::damaged, "the vocabulary is not a JSON object").in_file(path);
  }
  TokenTable table;
  for (const auto& [written, id] : object.items()) {
    if (!id.is_number_unsigned()) {
      throw Error(ErrorKind::damaged, "the token id is not a whole number")
          .in_file(path)
          .about(written)
          .found(id.dump(-1, ' ', true).substr(0, 80));
    }
    table.add(written, id.get<std::int64_t>());
  }
  return table;
}

Merges read_merges(const std::filesystem::path& path) {
  Merges merges;
  const std::vector<std::string> lines = read_lines(path);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.empty() || (i == 0 && line.starts_with("#version"))) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string::npos || space == 0 || space + 1 == line.size() ||
        line.find(' ', space + 1) != std::string::npos) {
      throw Error(ErrorKind::damaged, "the line is not a pair of tokens to merge")
          .in_file(path)
          .about("line " + std::to_string(i + 1))
          .found("'" + line.substr(0, 60) + "'");
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

}  // namespace attnscope
