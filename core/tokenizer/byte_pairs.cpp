#define PCRE2_CODE_UNIT_WIDTH 8
#include "core/tokenizer/byte_pairs.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <pcre2.h>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/file/read_file.h"
#include "core/input/text_file.h"

namespace attnscope {

namespace {

constexpr std::string_view kEndOfText = "<|endoftext|>";

// GPT-2's pattern. \p{L} are letters and \p{N} numbers of any script.
constexpr char kWords[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Bytes that print as themselves keep their number; the others follow from 256 on.
bool prints(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

std::string utf8_of(unsigned code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0U | (code >> 6)), static_cast<char>(0x80U | (code & 0x3FU))};
}

/// The character that stands for each byte in the vocabulary's files.
const std::array<std::string, 256>& signs() {
  static const std::array<std::string, 256> list = [] {
    std::array<std::string, 256> filled;
    unsigned next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
      filled[byte] = utf8_of(prints(byte) ? byte : next++);
    }
    return filled;
  }();
  return list;
}

/// The bytes that signs stand for; a sign that stands for none remains as it is (special tokens).
std::string bytes_of(const std::string& written) {
  static const std::unordered_map<std::string, char> bytes = [] {
    std::unordered_map<std::string, char> map;
    for (unsigned byte = 0; byte < 256; ++byte) map[signs()[byte]] = static_cast<char>(byte);
    return map;
  }();
  const std::vector<std::size_t> starts = character_starts(written);
  std::string text;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    const std::string sign = written.substr(starts[i], starts[i + 1] - starts[i]);
    const auto found = bytes.find(sign);
    text += found == bytes.end() ? sign : std::string(1, found->second);
  }
  return text;
}

constexpr std::size_t kLargestVocabulary = std::size_t{256} << 20;  // bytes

class BytePairs final : public Vocabulary {
 public:
  BytePairs(const std::filesystem::path& folder, std::int64_t size)
      : texts_(static_cast<std::size_t>(size)) {
    read_tokens(folder / "vocab.json");
    read_merges(folder / "merges.txt");
  }

  [[nodiscard]] std::vector<std::int64_t> encode(const std::string& text) const override {
    std::vector<std::int64_t> ids;
    const auto special = ids_.find(std::string(kEndOfText));
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = special == ids_.end() ? std::string::npos : text.find(kEndOfText, at);
      const bool ends = end != std::string::npos;
      if (!ends) end = text.size();
      for (const std::string& word : split_into_words(text.substr(at, end - at))) {
        append(word, ids);
      }
      at = end;
      if (!ends) continue;
      ids.push_back(special->second);
      at += kEndOfText.size();
    }
    return ids;
  }

  [[nodiscard]] std::string text_of(std::int64_t id) const override {
    return texts_.at(static_cast<std::size_t>(id));
  }

 private:
  void read_tokens(const std::filesystem::path& path) {
    const auto object = read_json_file(path, kLargestVocabulary);
    if (!object.is_object()) {
      throw Error(ErrorKind::damaged, "the vocabulary is not a JSON object").in_file(path);
    }
    for (const auto& [written, id] : object.items()) {
      if (!id.is_number_integer() || id.get<std::int64_t>() < 0 ||
          id.get<std::int64_t>() >= std::ssize(texts_)) {
        throw Error(ErrorKind::damaged, "the token's number is outside the model's vocabulary")
            .in_file(path)
            .about(written)
            .expected("0 to " + std::to_string(std::ssize(texts_) - 1))
            .found(id.dump());
      }
      ids_[written] = id.get<std::int64_t>();
      texts_[static_cast<std::size_t>(id.get<std::int64_t>())] = bytes_of(written);
    }
  }

  void read_merges(const std::filesystem::path& path) {
    const std::string text = read_file(path, kLargestVocabulary);
    std::size_t rank = 0, number = 0;
    for (std::size_t at = 0; at < text.size(); ++number) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      std::string line = text.substr(at, end - at);
      at = end + 1;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.empty() || (number == 0 && line.starts_with("#version"))) continue;
      const std::size_t space = line.find(' ');
      if (space == std::string::npos || space == 0 || space + 1 == line.size() ||
          line.find(' ', space + 1) != std::string::npos) {
        throw Error(ErrorKind::damaged, "the line is not two parts to be merged")
            .in_file(path)
            .about("line " + std::to_string(number + 1))
            .found("'" + line.substr(0, 60) + "'");
      }
      ranks_.emplace(std::move(line), rank++);
    }
  }

  /// Merges the pair of lowest rank until none is left: the pairs' order of learning.
  void append(const std::string& word, std::vector<std::int64_t>& ids) const {
    std::vector<std::string> parts;
    for (const char byte : word) parts.push_back(signs()[static_cast<unsigned char>(byte)]);
    while (parts.size() > 1) {
      std::size_t best = std::numeric_limits<std::size_t>::max();
      std::string pair;
      for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        const auto found = ranks_.find(parts[i] + ' ' + parts[i + 1]);
        if (found == ranks_.end() || found->second >= best) continue;
        best = found->second;
        pair = found->first;
      }
      if (pair.empty()) break;
      std::vector<std::string> merged;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool both = i + 1 < parts.size() && parts[i] + ' ' + parts[i + 1] == pair;
        merged.push_back(both ? parts[i] + parts[i + 1] : parts[i]);
        if (both) ++i;
      }
      parts = std::move(merged);
    }
    for (const std::string& part : parts) {
      const auto id = ids_.find(part);
      if (id == ids_.end()) {
        throw Error(ErrorKind::usage, "the vocabulary has no token for a part of the text")
            .about("vocab.json")
            .found("'" + bytes_of(part) + "'");
      }
      ids.push_back(id->second);
    }
  }

  std::unordered_map<std::string, std::int64_t> ids_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::size_t> ranks_;
};

struct CodeDeleter {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct MatchDeleter {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

}  // namespace

std::shared_ptr<const Vocabulary> read_byte_pairs(const std::filesystem::path& folder,
                                                  std::int64_t size) {
  return std::make_shared<const BytePairs>(folder, size);
}

std::vector<std::string> split_into_words(const std::string& text) {
  const std::size_t broken = first_invalid_utf8(text);
  if (broken != std::string::npos) {
    throw Error(ErrorKind::usage, "the text is not UTF-8")
        .found("byte " + std::to_string(broken) + " belongs to no character");
  }
  int problem = 0;
  PCRE2_SIZE where = 0;
  const std::unique_ptr<pcre2_code, CodeDeleter> code(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(kWords), sizeof kWords - 1, PCRE2_UTF | PCRE2_UCP,
                    &problem, &where, nullptr));
  const std::unique_ptr<pcre2_match_data, MatchDeleter> match(
      code ? pcre2_match_data_create_from_pattern(code.get(), nullptr) : nullptr);
  if (!match) throw Error(ErrorKind::unsupported, "PCRE2 lacks Unicode");
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const int found = pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                                  text.size(), at, PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    if (found < 1) break;  // the pattern covers every character: never
    const PCRE2_SIZE* const place = pcre2_get_ovector_pointer(match.get());
    words.push_back(text.substr(place[0], place[1] - place[0]));
    at = place[1];
  }
  return words;
}

}  // namespace attnscope
