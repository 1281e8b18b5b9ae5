// IDX format: bytes 0, 0, element type, number of axes; big-endian 32-bit dimensions; the elements.
// Images are unsigned bytes [n, H, W] or [n, H, W, C], labels unsigned bytes [n].
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/file/inflate.h"
#include "core/file/mapped_file.h"
#include "core/input/data_set_kinds.h"
#include "core/platform/file_mapping.h"

namespace attnscope {

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 30;  // bytes, decompressed
constexpr std::size_t longest_idx_header = 4 + 4 * 4;

/// Elements of an IDX file of unsigned bytes, in place or decompressed.
struct IdxBytes {
  std::vector<std::uint64_t> extents;
  std::span<const std::byte> elements;
  std::shared_ptr<const void> storage;
};

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1F} && bytes[1] == std::byte{0x8B};
}

bool has_idx_magic(std::span<const std::byte> bytes) {
  if (bytes.size() < 4 || bytes[0] != std::byte{0} || bytes[1] != std::byte{0}) return false;
  const auto type = std::to_integer<unsigned>(bytes[2]);
  const auto axes = std::to_integer<unsigned>(bytes[3]);
  return ((type >= 0x08 && type <= 0x0E && type != 0x0A)) && axes >= 1 && axes <= 16;
}

std::vector<std::byte> start_of(std::span<const std::byte> file) {
  if (is_gzip(file)) return inflate(file, DeflateWrapping::gzip, longest_idx_header).bytes;
  const std::span<const std::byte> start = file.first(std::min(longest_idx_header, file.size()));
  return {start.begin(), start.end()};
}

IdxBytes parse_idx(const std::shared_ptr<const MappedFile>& file) {
  const std::vector<std::byte> start = start_of(file->bytes());
  if (!has_idx_magic(start)) {
    throw Error(ErrorKind::not_this_format, "is not an IDX file");
  }
  if (start[2] != std::byte{0x08}) {
    throw Error(ErrorKind::unsupported, "the IDX file does not hold unsigned bytes");
  }
  const auto axes = std::to_integer<std::size_t>(start[3]);
  const std::size_t header = 4 + 4 * axes;
  if (axes > 4) throw Error(ErrorKind::unsupported, "the IDX file has more than four axes");
  if (start.size() < header) throw Error(ErrorKind::damaged, "the file ends inside its header");
  IdxBytes bytes;
  std::uint64_t count = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::uint64_t extent = 0;
    for (std::size_t place = 0; place < 4; ++place) {
      extent = extent << 8 | std::to_integer<std::uint64_t>(start[4 + 4 * axis + place]);
    }
    bytes.extents.push_back(extent);
    if (extent != 0 && count > kMostBytes / extent) {
      throw Error(ErrorKind::damaged, "the data set is absurdly large");
    }
    count *= extent;
  }
  const std::uint64_t expected = header + count;
  const auto wrong_size = [&](const std::string& found) {
    return Error(ErrorKind::damaged, "the dimensions do not fit the number of bytes")
        .expected(std::to_string(expected) + " bytes")
        .found(found)
        .remedy("fetch the file again");
  };
  if (!is_gzip(file->bytes())) {
    if (file->size() != expected) throw wrong_size(std::to_string(file->size()));
    bytes.elements = file->bytes().subspan(header);
    bytes.storage = file;
    return bytes;
  }
  if (is_bomb(file->size(), expected)) {
    throw wrong_size("a file of " + std::to_string(file->size()) + " compressed bytes");
  }
  const auto inflated =
      std::make_shared<Inflated>(inflate(file->bytes(), DeflateWrapping::gzip, expected));
  if (!inflated->complete) throw wrong_size("more");
  if (inflated->bytes.size() != expected) {
    throw wrong_size(std::to_string(inflated->bytes.size()));
  }
  bytes.elements = std::span<const std::byte>(inflated->bytes).subspan(header);
  bytes.storage = inflated;
  return bytes;
}

IdxBytes read_idx(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  return with_file(path, [&] { return read_unchanged(*file, [&] { return parse_idx(file); }); });
}

bool replace_last(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.rfind(from);
  if (at == std::string::npos) return false;
  text.replace(at, from.size(), to);
  return true;
}

/// The label file train-labels-idx1-ubyte[.gz] of train-images-idx3-ubyte.gz; nullopt if missing.
std::optional<std::filesystem::path> labels_beside(const std::filesystem::path& images) {
  std::string name = images.filename().string();
  if (!replace_last(name, "images", "labels")) return std::nullopt;
  replace_last(name, "idx3", "idx1");
  std::string other = name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name + ".gz";
  for (const std::string& candidate : {name, other}) {
    std::filesystem::path path = images.parent_path() / candidate;
    if (std::filesystem::exists(path)) return path;
  }
  return std::nullopt;
}

class IdxDataSet : public DataSet {
 public:
  IdxDataSet(std::filesystem::path path, IdxBytes images, std::optional<IdxBytes> labels)
      : path_(std::move(path)), images_(std::move(images)), labels_(std::move(labels)) {}

  [[nodiscard]] std::int64_t size() const override {
    return static_cast<std::int64_t>(images_.extents[0]);
  }

  [[nodiscard]] Input item(std::int64_t index) const override {
    check_index(path_, index, size());
    Image image;
    image.height = static_cast<std::int64_t>(images_.extents[1]);
    image.width = static_cast<std::int64_t>(images_.extents[2]);
    image.channels =
        images_.extents.size() == 4 ? static_cast<std::int64_t>(images_.extents[3]) : 1;
    const auto count = static_cast<std::size_t>(image.height * image.width * image.channels);
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(images_.elements.data());
    pixels += static_cast<std::size_t>(index) * count;
    image.pixels.assign(pixels, pixels + count);
    check_unchanged(images_.elements.data());
    const int label =
        labels_ ? std::to_integer<int>(labels_->elements[static_cast<std::size_t>(index)]) : -1;
    if (labels_) check_unchanged(labels_->elements.data());
    return {std::move(image), item_label(path_, index), item_locator(path_, index), label};
  }

  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return class_names_;
  }

  [[nodiscard]] std::vector<std::filesystem::path> files() const override {
    std::vector<std::filesystem::path> files = {path_};
    if (const auto labels = labels_beside(path_)) files.push_back(*labels);
    return files;
  }

 private:
  std::filesystem::path path_;
  IdxBytes images_;
  std::optional<IdxBytes> labels_;
  std::vector<std::string> class_names_;
};

}  // namespace

bool is_idx(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  // An error here means a broken gzip stream. Other kinds of data sets are not gzipped.
  return with_file(path, [&] { return has_idx_magic(start_of(file->bytes())); });
}

std::filesystem::path idx_images_in(const std::filesystem::path& folder, const char* part) {
  for (const char* const ending : {"-images-idx3-ubyte", "-images.idx3-ubyte"}) {
    for (const char* const packed : {"", ".gz"}) {
      std::filesystem::path images = folder / (std::string(part) + ending + packed);
      std::error_code ignored;
      if (std::filesystem::is_regular_file(images, ignored)) return images;
    }
  }
  return {};
}

std::shared_ptr<const DataSet> open_idx(const std::filesystem::path& path) {
  IdxBytes images = read_idx(path);
  const std::vector<std::uint64_t>& extents = images.extents;
  if (extents.size() < 3) {
    throw Error(ErrorKind::unsupported, "the IDX file holds no images")
        .in_file(path)
        .expected("three axes: images, rows, columns")
        .found(std::to_string(extents.size()))
        .remedy("open the images file; its labels are found next to it");
  }
  if (extents[1] == 0 || extents[2] == 0 ||
      (extents.size() == 4 && extents[3] != 1 && extents[3] != 3)) {
    throw Error(ErrorKind::damaged, "the images' shape is impossible").in_file(path);
  }
  std::optional<IdxBytes> labels;
  if (const auto labels_path = labels_beside(path)) {
    labels = read_idx(*labels_path);
    if (labels->extents.size() != 1 || labels->extents[0] != extents[0]) {
      throw Error(ErrorKind::damaged, "the labels do not fit the images")
          .in_file(*labels_path)
          .expected(std::to_string(extents[0]) + " labels")
          .found(std::to_string(labels->extents[0]));
    }
  }
  return std::make_shared<IdxDataSet>(path, std::move(images), std::move(labels));
}

}  // namespace attnscope
