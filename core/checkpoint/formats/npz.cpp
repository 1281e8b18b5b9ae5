// NumPy: one array (.npy), or a zip archive of them (.npz). Uncompressed arrays are viewed in place
// after their checksums are verified.
#include <memory>
#include <utility>

#include "core/checkpoint/formats/npy_header.h"
#include "core/checkpoint/formats/readers.h"
#include "core/error.h"
#include "core/file/zip_archive.h"

namespace attnscope {

namespace {

constexpr std::string_view array_ending = ".npy";

/// The name of the first entry of a zip archive, truncated to the bytes in `head`.
std::string_view first_entry_name(FileHead head) {
  constexpr std::size_t name_start = 30;
  if (head.size() <= name_start) return {};
  const auto length = std::to_integer<std::size_t>(head[26]);
  const std::string_view rest(reinterpret_cast<const char*>(head.data()) + name_start,
                              head.size() - name_start);
  return rest.substr(0, length);
}

StoredTensor array_in(const std::shared_ptr<const ZipArchive>& archive, const ZipEntry& entry) {
  const ZipBytes start = archive->read_start(entry, longest_npy_header);
  const NpyHeader header = read_npy_header(start.bytes);
  const std::int64_t bytes = byte_count(header.shape, header.dtype);
  const std::uint64_t found = entry.size - header.data_offset;
  if (static_cast<std::uint64_t>(bytes) != found) {
    throw Error(ErrorKind::damaged, "the array's shape does not fit its bytes")
        .expected(to_string(header.shape) + " " + std::string(name_of(header.dtype)) + ", " +
                  std::to_string(bytes) + " bytes")
        .found(std::to_string(found));
  }
  auto view = [archive, header, entry] {
    ZipBytes whole = archive->read(entry);
    return view_npy(header, whole.bytes.subspan(header.data_offset), std::move(whole.storage));
  };
  return {entry.name.substr(0, entry.name.size() - array_ending.size()), header.dtype, header.shape,
          bytes, std::move(view)};
}

bool is_text_array(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()),
                              std::min<std::size_t>(start.size(), 128));
  return text.find("'descr': '<U") != text.npos || text.find("'descr': '|S") != text.npos;
}

}  // namespace

bool is_zip(FileHead head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06");
}

bool recognises_npz(const std::filesystem::path& path, FileHead head) {
  return is_zip(head) &&
         (path.extension() == ".npz" || first_entry_name(head).ends_with(array_ending));
}

Checkpoint open_npz(const std::filesystem::path& path) {
  const auto archive = std::make_shared<const ZipArchive>(MappedFile::open(path));
  std::vector<StoredTensor> tensors;
  std::string skipped;
  for (const ZipEntry& entry : archive->entries()) {
    try {
      const bool numeric = entry.name.ends_with(array_ending) &&
                           !is_text_array(archive->read_start(entry, longest_npy_header).bytes);
      if (numeric) {
        tensors.push_back(array_in(archive, entry));
      } else {
        skipped += (skipped.empty() ? "" : ", ") + entry.name;
      }
    } catch (Error& error) {
      error.about(entry.name);
      throw;
    }
  }
  std::map<std::string, std::string> metadata;
  if (!skipped.empty()) metadata.emplace("members that are not numeric arrays", skipped);
  return {path, "npz", std::move(tensors), std::move(metadata)};
}

bool recognises_npy(const std::filesystem::path&, FileHead head) { return is_npy(head); }

Checkpoint open_npy(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const std::span<const std::byte> bytes = file->bytes();
  const NpyHeader header = read_npy_header(bytes);
  auto view = [file, header, elements = bytes.subspan(header.data_offset)] {
    return view_npy(header, elements, file);
  };
  const std::int64_t size = byte_count(header.shape, header.dtype);
  const std::uint64_t found = bytes.size() - header.data_offset;
  if (static_cast<std::uint64_t>(size) != found) {
    throw Error(ErrorKind::damaged, "the array's shape does not fit its bytes")
        .expected(to_string(header.shape) + " " + std::string(name_of(header.dtype)) + ", " +
                  std::to_string(size) + " bytes")
        .found(std::to_string(found))
        .remedy("the file may be truncated; fetch it again");
  }
  std::vector<StoredTensor> tensors;
  tensors.push_back({path.stem().string(), header.dtype, header.shape, size, std::move(view)});
  return {path, "npy", std::move(tensors), {}};
}

}  // namespace attnscope
