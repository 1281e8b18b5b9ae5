// Reads SentencePiece's .model files. Fields: google/sentencepiece, sentencepiece_model.proto.
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "core/budget.h"
#include "core/checkpoint/formats/protobuf.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/tokenizer/sentence_piece.h"

namespace attnscope {

namespace {

using Wire = ProtobufField::Wire;

Error damaged_file(const std::string& what) { return {ErrorKind::damaged, what}; }

Error not_implemented(const char* key, std::string expected, std::string found) {
  return Error(ErrorKind::unsupported, "this part of a tokenizer is not implemented")
      .about(key)
      .expected(std::move(expected))
      .found(std::move(found));
}

void check_wire(const ProtobufField& field, Wire wire, const char* what) {
  if (field.wire != wire) throw damaged_file(std::string(what) + " has the wrong type");
}

// Memory of a piece in the lists and in the table of tokens, in bytes.
constexpr std::size_t kPieceBytes = 192;

void read_piece(std::span<const std::byte> bytes, ScoredPieces& pieces) {
  spend_work(kPieceBytes + bytes.size());
  std::string text;
  double score = 0;
  std::uint64_t kind = 1;
  ProtobufReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number == 1) {
      check_wire(*field, Wire::bytes, "a piece's text");
      text = field->text();
    } else if (field->number == 2) {
      check_wire(*field, Wire::fixed32, "a piece's score");
      float value = 0;
      std::memcpy(&value, field->bytes.data(), sizeof value);
      score = static_cast<double>(value);
    } else if (field->number == 3) {
      check_wire(*field, Wire::varint, "a piece's kind");
      kind = field->value;
    }
  }
  if (kind < 1 || kind > 6 || !std::isfinite(score)) {
    throw damaged_file("a piece has an impossible kind or score").about(text.substr(0, 60));
  }
  pieces.texts.push_back(std::move(text));
  pieces.scores.push_back(score);
  pieces.kinds.push_back(static_cast<PieceKind>(kind));
}

void read_trainer(std::span<const std::byte> bytes, SentencePiece& model) {
  ProtobufReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number == 3) {
      check_wire(*field, Wire::varint, "model_type");
      if (field->value != 1 && field->value != 2) {
        throw not_implemented("trainer_spec.model_type", "1 (unigram) or 2 (byte pairs)",
                              std::to_string(field->value));
      }
      model.algorithm = field->value == 2 ? SentencePiece::Algorithm::byte_pairs
                                          : SentencePiece::Algorithm::unigram;
    } else if (field->number == 24 && field->value != 0) {
      throw not_implemented("trainer_spec.treat_whitespace_as_suffix", "false", "true");
    } else if (field->number == 35) {
      check_wire(*field, Wire::varint, "byte_fallback");
      model.byte_fallback = field->value != 0;
    }
  }
}

void read_normalizer(std::span<const std::byte> bytes, SentencePiece& model) {
  ProtobufReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number == 2) {
      check_wire(*field, Wire::bytes, "precompiled_charsmap");
      model.charsmap = field->text();
    } else if (field->number >= 3 && field->number <= 5) {
      check_wire(*field, Wire::varint, "a setting of the normaliser");
      const bool on = field->value != 0;
      if (field->number == 3) model.add_dummy_prefix = on;
      if (field->number == 4) model.remove_extra_spaces = on;
      if (field->number == 5 && !on) {
        throw not_implemented("normalizer_spec.escape_whitespaces", "true", "false");
      }
    }
  }
}

SentencePiece parse_model(std::span<const std::byte> bytes) {
  SentencePiece model;
  ProtobufReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number < 1 || field->number > 3) continue;
    check_wire(*field, Wire::bytes, "a part of the model");
    if (field->number == 1) read_piece(field->bytes, model.pieces);
    if (field->number == 2) read_trainer(field->bytes, model);
    if (field->number == 3) read_normalizer(field->bytes, model);
  }
  if (model.pieces.texts.empty()) throw damaged_file("the model has no pieces");
  return model;
}

}  // namespace

SentencePiece read_sentence_piece(const std::filesystem::path& file) {
  // Size limit in bytes; the largest known files have ten million.
  constexpr std::size_t most = std::size_t{64} << 20;
  static_assert(std::endian::native == std::endian::little);
  const std::string bytes = read_file(file, most);
  const ThreadBudget budget("opening the tokenizer", bytes.size(), kTokenizerRates);
  const WorkRule rule("pieces");
  try {
    return parse_model(std::as_bytes(std::span(bytes)));
  } catch (Error& error) {
    error.in_file(file);
    throw;
  }
}

}  // namespace attnscope
