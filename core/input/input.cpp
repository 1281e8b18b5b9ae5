#include "core/input/input.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/formats/npy_header.h"
#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/input/data_set.h"
#include "core/input/image.h"
#include "core/input/text.h"
#include "core/shown_text.h"
#include "core/text/lines.h"

namespace attnscope {

namespace {

constexpr const char* kinds_of_input =
    "an input is a PNG or JPEG picture, a WAV sound (PATH#FIRST-LAST for some of its seconds), a "
    ".npy array [C, H, W], [N, D] or [bands, frames], an item of a data set (PATH#INDEX), a text "
    "file (.txt; PATH#FIRST-LAST for some of its characters), a text "
    "(text:To be, or not), a message to an assistant (chat:WORDS), a pair of texts "
    "(pair:FIRST ||| SECOND), a picture, or several with + between them, and a question about "
    "them (ask:PICTURE ||| TEXT) or token ids (ids:1,2,3)";

constexpr std::string_view kLiteral = "text:", kPair = "pair:", kIds = "ids:", kAsk = "ask:",
                           kChat = "chat:";
/// Separator between the texts of a pair, as in BERT's original tools.
constexpr std::string_view kBetween = "|||";

/// Splits "PATH#17" into PATH and 17; nullopt for other locators.
std::optional<std::pair<std::string, std::int64_t>> split_item(const std::string& locator) {
  const std::size_t mark = locator.rfind('#');
  if (mark == std::string::npos || mark + 1 == locator.size()) return std::nullopt;
  std::int64_t index = 0;
  const char* const end = locator.data() + locator.size();
  const auto [stop, problem] = std::from_chars(locator.data() + mark + 1, end, index);
  if (problem != std::errc() || stop != end) return std::nullopt;
  return std::pair(locator.substr(0, mark), index);
}

bool is_sound_file_name(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".wav" || extension == ".WAV";
}

/// A part of a text or sound, given as "PATH#100-356".
struct FilePart {
  std::filesystem::path path;
  std::int64_t first = 0, last = 0;
};

std::optional<FilePart> split_part(const std::string& locator) {
  const std::size_t mark = locator.rfind('#'), dash = locator.rfind('-');
  if (mark == std::string::npos || dash == std::string::npos || dash < mark) return std::nullopt;
  const auto number = [&](std::size_t begin, std::size_t end, std::int64_t& value) {
    const char* const last = locator.data() + end;
    const auto [stop, problem] = std::from_chars(locator.data() + begin, last, value);
    return problem == std::errc() && stop == last;
  };
  FilePart part{locator.substr(0, mark), 0, 0};
  if (!number(mark + 1, dash, part.first) || !number(dash + 1, locator.size(), part.last) ||
      (!is_text_file_name(part.path) && !is_sound_file_name(part.path))) {
    return std::nullopt;
  }
  return part;
}

/// The beginning of a text in quotes, as its display name.
std::string in_quotes(const std::string& text) {
  const std::vector<std::size_t> starts = character_starts(text);
  constexpr std::size_t most = 24;
  const bool all = starts.size() <= most + 1;
  std::string shown = text.substr(0, all ? text.size() : starts[most]);
  std::replace(shown.begin(), shown.end(), '\n', ' ');
  return "“" + shown_text(shown) + (all ? "”" : "…”");
}

/// Opens "text:WORDS", or the message of "chat:WORDS".
Input open_literal(const std::string& locator) {
  const bool chat = locator.starts_with(kChat);
  Text text{locator.substr((chat ? kChat : kLiteral).size()), {}};
  text.chat = chat;
  if (text.characters.empty()) {
    throw Error(ErrorKind::usage, "the text is empty").expected("text:To be, or not");
  }
  if (text.characters.size() > longest_text) {
    throw Error(ErrorKind::unsupported, "the text is too long");
  }
  std::string label = in_quotes(text.characters);
  return {std::move(text), std::move(label), locator, -1};
}

Input open_pair(const std::string& locator) {
  const std::string_view both = std::string_view(locator).substr(kPair.size());
  const std::size_t between = both.find(kBetween);
  if (between == std::string_view::npos || both.find(kBetween, between + 1) != std::string::npos) {
    throw Error(ErrorKind::usage, "the pair is not two texts with one ||| between them")
        .expected("pair:Who is there? ||| Nay, answer me.")
        .found(shown_text(both.substr(0, 60)));
  }
  const std::string first(without_spaces(both.substr(0, between)));
  const std::string second(without_spaces(both.substr(between + kBetween.size())));
  if (first.empty() || second.empty()) {
    throw Error(ErrorKind::usage, "one of the texts of the pair is empty")
        .expected("pair:Who is there? ||| Nay, answer me.");
  }
  if (both.size() > longest_text) throw Error(ErrorKind::unsupported, "the texts are too long");
  return {Text{first, {}, second}, in_quotes(first) + " + " + in_quotes(second), locator, -1};
}

/// True if a file has this name, or the name before "#" of a part of it.
bool names_a_file(std::string_view locator) {
  std::error_code unreadable;  // a name that is too long counts as missing
  return std::filesystem::exists(locator, unreadable) ||
         std::filesystem::exists(locator.substr(0, locator.rfind('#')), unreadable);
}

/// The picture's locator and the text of "ask:PICTURE ||| TEXT".
std::pair<std::string, std::string> split_question(std::string_view locator) {
  const std::string_view both = locator.substr(kAsk.size());
  const std::size_t between = both.find(kBetween);
  const std::string picture(without_spaces(both.substr(0, between)));
  std::string text;
  if (between != std::string_view::npos) {
    text = without_spaces(both.substr(between + kBetween.size()));
  }
  if (picture.empty() || text.empty()) {
    throw Error(ErrorKind::usage, "a question needs a picture and a text with ||| between them")
        .expected("ask:photo.png ||| What is on the table?")
        .found(shown_text(locator.substr(0, 60)));
  }
  if (text.size() > longest_text) throw Error(ErrorKind::unsupported, "the text is too long");
  return {picture, text};
}

Input open_question(const std::string& locator) {
  const auto [pictures, characters] = split_question(locator);
  Text text{characters, {}};
  std::string label;
  for (const std::string& path : picture_locators(pictures)) {
    Input picture = open_input(path);
    Image* const image = std::get_if<Image>(&picture.content);
    if (!image) {
      throw Error(ErrorKind::usage, "a question is asked about a picture")
          .about(picture.label)
          .expected("a PNG or JPEG picture, or an item of a data set of pictures");
    }
    text.pictures.push_back(std::make_shared<const Image>(std::move(*image)));
    label += picture.label + " + ";
  }
  return {std::move(text), label + in_quotes(characters), locator, -1};
}

/// Opens one list of ids, or two with the separator of pairs between them.
Input open_ids(const std::string& locator) {
  const std::string_view lists = std::string_view(locator).substr(kIds.size());
  const std::size_t between = lists.find(kBetween);
  Text text = parse_token_ids(lists.substr(0, between));
  if (between != std::string_view::npos) {
    text.second_ids = parse_token_ids(lists.substr(between + kBetween.size())).ids;
  }
  return {std::move(text), locator, locator, -1};
}

Sound read_sound(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  if (!is_wav(file->bytes())) {
    throw Error(ErrorKind::not_this_format, "the sound is not a WAV file").in_file(path);
  }
  return with_file(path, [&] { return decode_wav(file->bytes()); });
}

Input open_part(const FilePart& part, const std::string& locator) {
  return with_file(part.path, [&]() -> Input {
    const bool sound = is_sound_file_name(part.path);
    std::string label = shown_text(part.path.filename().string()) + "[" +
                        std::to_string(part.first) + "–" + std::to_string(part.last) +
                        (sound ? " s]" : "]");
    if (sound) {
      return {part_of_sound(read_sound(part.path), part.first, part.last), std::move(label),
              locator, -1};
    }
    return {part_of_text(read_text(part.path), part.first, part.last), std::move(label), locator,
            -1};
  });
}

/// Token ids from an array of integers.
Text read_ids(const std::filesystem::path& path, const StoredTensor& array) {
  Shape shape = array.shape;
  std::erase(shape, 1);
  if (shape.size() > 1) {
    throw Error(ErrorKind::unsupported, "the array is not a list of token ids")
        .in_file(path)
        .expected("whole numbers [N]")
        .found(std::string(name_of(array.dtype)) + " " + to_string(array.shape));
  }
  Text text{{}, array.view().to_int64()};
  if (text.ids.empty()) throw Error(ErrorKind::usage, "the array holds no token ids").in_file(path);
  return text;
}

Tensor read_array(const std::filesystem::path& path, const StoredTensor& array) {
  if (!is_floating(array.dtype) || (array.shape.size() != 2 && array.shape.size() != 3)) {
    throw Error(ErrorKind::unsupported, "the array cannot be an input")
        .in_file(path)
        .expected("floating-point [C, H, W] (already normalised) or [N, D]")
        .found(std::string(name_of(array.dtype)) + " " + to_string(array.shape));
  }
  return array.view().to_float();
}

}  // namespace

std::string pair_locator(std::string_view first, std::string_view second) {
  return std::string(kPair).append(first).append(" ").append(kBetween).append(" ").append(second);
}

std::string question_locator(std::string_view picture, std::string_view text) {
  return std::string(kAsk).append(picture).append(" ").append(kBetween).append(" ").append(text);
}

std::optional<std::pair<std::string, std::string>> parts_of_question(std::string_view locator) {
  if (!locator.starts_with(kAsk)) return std::nullopt;
  return split_question(locator);
}

std::vector<std::string> picture_locators(std::string_view pictures) {
  if (names_a_file(pictures)) return {std::string(pictures)};
  std::vector<std::string> locators;
  for (std::size_t begin = 0; begin <= pictures.size();) {
    const std::size_t end = std::min(pictures.find('+', begin), pictures.size());
    locators.emplace_back(without_spaces(pictures.substr(begin, end - begin)));
    begin = end + 1;
  }
  const bool each_named = std::ranges::none_of(locators, &std::string::empty);
  return each_named ? locators : std::vector<std::string>{std::string(pictures)};
}

std::string pictures_locator(const std::vector<std::string>& pictures) {
  std::string all;
  for (const std::string& picture : pictures) all += (all.empty() ? "" : "+") + picture;
  return all;
}

bool is_written_out(std::string_view locator) {
  return locator.starts_with(kLiteral) || locator.starts_with(kChat) ||
         locator.starts_with(kPair) || locator.starts_with(kIds);
}

Input open_input(const std::string& locator) {
  if (locator.starts_with(kLiteral) || locator.starts_with(kChat)) return open_literal(locator);
  if (locator.starts_with(kPair)) return open_pair(locator);
  if (locator.starts_with(kIds)) return open_ids(locator);
  if (locator.starts_with(kAsk)) return open_question(locator);
  const std::filesystem::path path(locator);
  std::error_code unreadable;  // a name that is too long counts as missing
  if (!std::filesystem::exists(path, unreadable)) {
    if (const auto part = split_part(locator)) return open_part(*part, locator);
    if (const auto item = split_item(locator)) {
      return open_data_set(item->first)->item(item->second);
    }
    const std::vector<std::string> pictures = picture_locators(locator);
    if (pictures.size() > 1 && std::ranges::all_of(pictures, names_a_file)) {
      std::string names;
      for (const std::filesystem::path picture : pictures) {
        names += (names.empty() ? "" : " + ") + shown_text(picture.filename().string());
      }
      throw Error(ErrorKind::usage, "several pictures are read with a text about them")
          .about(names)
          .remedy("add the text: --prompt \"What changed?\"");
    }
  }
  if (std::filesystem::is_directory(path)) {
    throw Error(ErrorKind::usage, "is a folder").in_file(path).remedy(kinds_of_input);
  }
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const std::string label = shown_text(path.filename().string());
  if (is_npy(file->bytes())) {
    const Checkpoint arrays = open_checkpoint(path);
    const StoredTensor& array = arrays.tensors().at(0);
    if (!is_floating(array.dtype) && array.dtype != DType::u8 && array.dtype != DType::boolean) {
      return {read_ids(path, array), label, locator, -1};
    }
    return {read_array(path, array), label, locator, -1};
  }
  if (is_png(file->bytes()) || is_jpeg(file->bytes())) {
    return {read_image(path), label, locator, -1};
  }
  if (is_wav(file->bytes())) return {read_sound(path), label, locator, -1};
  if (is_text_file_name(path)) return {read_text(path), label, locator, -1};
  throw Error(ErrorKind::not_this_format, "is not an input that can be read")
      .in_file(path)
      .remedy(kinds_of_input);
}

}  // namespace attnscope
