#include "core/input/input.h"

#include <charconv>
#include <optional>
#include <utility>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/formats/npy_header.h"
#include "core/checkpoint/mapped_file.h"
#include "core/error.h"
#include "core/input/data_set.h"
#include "core/input/picture_codecs.h"

namespace attnscope {

namespace {

constexpr const char* kinds_of_input =
    "an input is a PNG or JPEG picture, a .npy array [C, H, W] or [N, D], or an item of a data set "
    "(PATH#INDEX)";

/// "PATH#17" as PATH and 17; nothing if it does not end so.
std::optional<std::pair<std::string, std::int64_t>> split_item(const std::string& locator) {
  const std::size_t mark = locator.rfind('#');
  if (mark == std::string::npos || mark + 1 == locator.size()) return std::nullopt;
  std::int64_t index = 0;
  const char* const end = locator.data() + locator.size();
  const auto [stop, problem] = std::from_chars(locator.data() + mark + 1, end, index);
  if (problem != std::errc() || stop != end) return std::nullopt;
  return std::pair(locator.substr(0, mark), index);
}

Tensor read_array(const std::filesystem::path& path) {
  const Checkpoint file = open_checkpoint(path);
  const StoredTensor& array = file.tensors().at(0);
  if (!is_floating(array.dtype) || (array.shape.size() != 2 && array.shape.size() != 3)) {
    throw Error(ErrorKind::unsupported, "the array is no input")
        .in_file(path)
        .expected("floating-point [C, H, W] (already normalised) or [N, D]")
        .found(std::string(name_of(array.dtype)) + " " + to_string(array.shape));
  }
  return array.view().to_float();
}

}  // namespace

Input open_input(const std::string& locator) {
  const std::filesystem::path path(locator);
  if (!std::filesystem::exists(path)) {
    if (const auto item = split_item(locator)) {
      return open_data_set(item->first)->item(item->second);
    }
  }
  if (std::filesystem::is_directory(path)) {
    throw Error(ErrorKind::usage, "is a folder").in_file(path).remedy(kinds_of_input);
  }
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const std::string label = path.filename().string();
  if (is_npy(file->bytes())) return {read_array(path), label, locator, -1};
  if (is_png(file->bytes()) || is_jpeg(file->bytes())) {
    return {read_image(path), label, locator, -1};
  }
  throw Error(ErrorKind::not_this_format, "is no input that can be read")
      .in_file(path)
      .remedy(kinds_of_input);
}

}  // namespace attnscope
