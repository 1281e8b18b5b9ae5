#include "core/tokenizer/sentence_piece.h"

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/budget.h"
#include "core/error.h"
#include "core/input/text.h"
#include "core/tokenizer/charsmap.h"
#include "core/tokenizer/prefix_table.h"

namespace attnscope {

namespace {

constexpr std::string_view kSpace = "▁";

/// User-defined pieces, which are neither split nor normalised.
PrefixTable kept_pieces(const ScoredPieces& pieces) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < pieces.texts.size(); ++i) {
    if (pieces.kinds[i] == PieceKind::user_defined) kept.push_back(pieces.texts[i]);
  }
  return PrefixTable(std::move(kept));
}

/// SentencePiece's normaliser, which works from left to right.
class SpaceMarks {
 public:
  explicit SpaceMarks(const SentencePiece& model)
      : kept_(kept_pieces(model.pieces)),
        prefix_(model.add_dummy_prefix),
        every_part_(model.prefix_every_part),
        goes_on_(model.goes_on),
        remove_(model.remove_extra_spaces) {
    if (!model.charsmap.empty()) charsmap_ = std::make_shared<const Charsmap>(model.charsmap);
  }

  AlignedText operator()(const AlignedText& text) const {
    const std::string_view all = text.text();
    std::size_t at = 0;
    while (remove_ && !goes_on_ && at < all.size()) {
      const Written next = written(all, at);
      if (next.by != " ") break;
      at += next.length;
    }
    AlignedText result;
    if (at == all.size()) return result;
    const std::size_t begin = text.place(0, 1).begin;
    if (prefix_ && (every_part_ || begin == 0)) result.append(kSpace, {begin, begin});
    for (bool after_space = remove_ && !goes_on_; at < all.size();) {
      Written next = written(all, at);
      while (after_space && next.by.starts_with(' ')) next.by.remove_prefix(1);
      if (!next.by.empty()) {
        append(next.by, text, at, at + next.length, result);
        after_space = remove_ && next.by.ends_with(' ');
      }
      at += next.length;
    }
    std::string_view left = result.text();
    while (remove_ && left.ends_with(kSpace)) left.remove_suffix(kSpace.size());
    return left.size() == result.text().size() ? result : result.part(0, left.size());
  }

 private:
  struct Written {
    std::size_t length;  ///< length of the replaced prefix in bytes
    std::string_view by;
  };

  [[nodiscard]] Written written(std::string_view all, std::size_t at) const {
    const std::string_view rest = all.substr(at);
    if (const auto kept = kept_.longest(rest)) {
      return {kept->length, rest.substr(0, kept->length)};
    }
    if (charsmap_) {
      if (const auto found = charsmap_->longest(rest)) {
        // An untrusted table may split a character or produce invalid UTF-8.
        const bool whole = found->length == rest.size() || utf8_length(rest, found->length) > 0;
        if (!whole || first_invalid_utf8(found->by) != std::string::npos) {
          throw Error(ErrorKind::damaged, "the tokenizer's charsmap splits characters");
        }
        return {found->length, found->by};
      }
    }
    const std::size_t length = utf8_length(all, at);
    return {length, rest.substr(0, length)};
  }

  static void append(std::string_view by, const AlignedText& text, std::size_t begin,
                     std::size_t end, AlignedText& result) {
    const std::string_view before = std::string_view(text.text()).substr(begin, end - begin);
    if (by == before && by.find(' ') == std::string_view::npos) {
      return result.append(text, begin, end);
    }
    std::string escaped;
    for (const char c : by) {
      if (c == ' ') {
        escaped += kSpace;
      } else {
        escaped += c;
      }
    }
    result.append(escaped, text.place(begin, end));
  }

  PrefixTable kept_;
  std::shared_ptr<const Charsmap> charsmap_;
  bool prefix_, every_part_, goes_on_, remove_;
};

/// Throws Error(damaged, unsupported) for invalid pieces.
void check_pieces(const ScoredPieces& pieces) {
  constexpr std::size_t longest = 256;  // bytes; the default limit is 16 characters
  for (std::size_t i = 0; i < pieces.texts.size(); ++i) {
    const std::string& text = pieces.texts[i];
    if (first_invalid_utf8(text) != std::string::npos) {
      throw Error(ErrorKind::damaged, "a piece is not UTF-8").about("piece " + std::to_string(i));
    }
    if (pieces.kinds[i] == PieceKind::normal && text.size() > longest) {
      throw Error(ErrorKind::unsupported, "a piece is too long")
          .about("piece " + std::to_string(i))
          .expected("at most " + std::to_string(longest) + " bytes")
          .found(std::to_string(text.size()));
    }
  }
}

AddedToken added_piece(const ScoredPieces& pieces, std::size_t i) {
  AddedToken token;
  token.id = static_cast<std::int64_t>(i);
  token.content = pieces.texts[i];
  token.special = pieces.kinds[i] == PieceKind::control;
  return token;
}

std::vector<AddedToken> pieces_of_kind(const ScoredPieces& pieces, PieceKind kind) {
  std::vector<AddedToken> tokens;
  for (std::size_t i = 0; i < pieces.texts.size(); ++i) {
    if (pieces.kinds[i] == kind && !pieces.texts[i].empty())
      tokens.push_back(added_piece(pieces, i));
  }
  return tokens;
}

/// Splits the normalised text at user-defined pieces.
PreTokenizer cut_out(const std::vector<AddedToken>& tokens) {
  const auto as_it_is = [](const AlignedText& text) { return text; };
  return [found = AddedTokens(tokens, as_it_is), as_it_is](std::vector<TextPiece>& pieces) {
    std::vector<TextPiece> all;
    for (TextPiece& piece : pieces) {
      if (piece.token) {
        all.push_back(std::move(piece));
        continue;
      }
      for (TextPiece& part : found.split(piece.text, as_it_is)) all.push_back(std::move(part));
    }
    pieces = std::move(all);
  };
}

// Bytes of a merge here and in the resulting model, except for long texts.
constexpr std::size_t kMergeBytes = 128;

/// All pairs that form a piece, in the order of the pieces' scores, best first.
Merges merges_by_score(const ScoredPieces& pieces) {
  std::unordered_map<std::string_view, std::size_t> numbers;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < pieces.texts.size(); ++i) {
    if (pieces.kinds[i] != PieceKind::normal) continue;
    numbers.emplace(pieces.texts[i], i);
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return pieces.scores[a] > pieces.scores[b];
  });
  Merges merges;
  const WorkRule rule("merges of the pieces");
  for (const std::size_t i : order) {
    const std::string_view text = pieces.texts[i];
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const std::string_view left = text.substr(0, cut), right = text.substr(cut);
      if (!numbers.contains(left) || !numbers.contains(right)) continue;
      spend_work(kMergeBytes + text.size());
      merges.emplace_back(left, right);
    }
  }
  return merges;
}

std::optional<std::size_t> unknown_in(const ScoredPieces& pieces) {
  const auto found = std::find(pieces.kinds.begin(), pieces.kinds.end(), PieceKind::unknown);
  if (found == pieces.kinds.end()) return std::nullopt;
  return static_cast<std::size_t>(found - pieces.kinds.begin());
}

std::shared_ptr<const TokenModel> model_of_pieces(const SentencePiece& model) {
  const auto unknown = unknown_in(model.pieces);
  if (model.algorithm == SentencePiece::Algorithm::unigram) {
    UnigramSettings settings;
    if (unknown) settings.unknown = static_cast<std::int64_t>(*unknown);
    settings.byte_fallback = model.byte_fallback;
    settings.single_precision = true;
    return make_unigram(model.pieces, settings);
  }
  BytePairSettings settings;
  if (unknown) settings.unknown = model.pieces.texts[*unknown];
  settings.fuse_unknown = true;
  settings.byte_fallback = model.byte_fallback;
  TokenTable table;
  for (std::size_t i = 0; i < model.pieces.texts.size(); ++i) {
    table.add(model.pieces.texts[i], static_cast<std::int64_t>(i));
  }
  return make_byte_pairs(std::move(table), merges_by_score(model.pieces), settings);
}

}  // namespace

TokenizerStages sentence_piece_stages(const SentencePiece& model) {
  std::uint64_t given = model.charsmap.size();
  for (const std::string& text : model.pieces.texts) given += text.size() + kFieldBytes;
  const ThreadBudget budget("opening the tokenizer", given, kTokenizerRates);
  check_pieces(model.pieces);
  TokenizerStages stages;
  stages.normalizer = SpaceMarks(model);
  stages.pre_tokenizer = make_pre_tokenizer(nullptr);
  stages.added = pieces_of_kind(model.pieces, PieceKind::control);
  if (model.algorithm == SentencePiece::Algorithm::byte_pairs) {
    stages.pre_tokenizer = cut_out(pieces_of_kind(model.pieces, PieceKind::user_defined));
  }
  stages.model = model_of_pieces(model);
  const nlohmann::json space = {
      {"type", "Replace"}, {"pattern", {{"String", kSpace}}}, {"content", " "}};
  const nlohmann::json byte = {{"type", "ByteFallback"}};
  stages.decoder = make_decoder({{"type", "Sequence"}, {"decoders", {space, byte}}});
  stages.post_processor = make_post_processor(nullptr);
  return stages;
}

}  // namespace attnscope
