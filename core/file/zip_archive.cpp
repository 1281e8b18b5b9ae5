// The layout follows PKWARE's APPNOTE.TXT, §§ 4.3.7 (local header), 4.3.12 (directory), 4.3.14–16
// (its end).
#include "core/file/zip_archive.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <tbb/parallel_for.h>
#include <utility>
#include <zlib.h>

#include "core/error.h"
#include "core/file/inflate.h"

namespace attnscope {

namespace {

constexpr std::uint32_t local_signature = 0x04034B50, entry_signature = 0x02014B50,
                        end_signature = 0x06054B50, end64_signature = 0x06064B50,
                        locator64_signature = 0x07064B50;
// Value of a 32-bit field that refers to the 64-bit one.
constexpr std::uint64_t in_zip64 = 0xFFFFFFFF;

/// A range of the file with checked little-endian reads.
class Record {
 public:
  Record(std::span<const std::byte> file, std::uint64_t at, std::uint64_t size) {
    if (at > file.size() || size > file.size() - at) {
      throw Error(ErrorKind::damaged, "the archive's directory leads outside the file")
          .remedy("the file may be truncated; fetch it again");
    }
    bytes_ = file.subspan(at, size);
  }

  [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t width) const {
    if (width > bytes_.size() || at > bytes_.size() - width) {
      throw Error(ErrorKind::damaged, "the archive's directory is broken");
    }
    std::uint64_t number = 0;
    std::memcpy(&number, bytes_.data() + at, width);
    return number;
  }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

 private:
  std::span<const std::byte> bytes_;
};

struct Directory {
  std::uint64_t offset = 0, size = 0, entries = 0;
};

std::optional<std::uint64_t> end_record(std::span<const std::byte> file) {
  constexpr std::uint64_t record = 22, longest_comment = 65535;
  if (file.size() < record) return std::nullopt;
  const std::uint64_t last = file.size() - record;
  for (std::uint64_t at = last + 1; at-- > 0 && last - at <= longest_comment;) {
    const Record end(file, at, record);
    if (end.number(0, 4) == end_signature && end.number(20, 2) == last - at) return at;
  }
  return std::nullopt;
}

Directory find_directory(std::span<const std::byte> file) {
  const std::optional<std::uint64_t> at = end_record(file);
  if (!at) {
    throw Error(ErrorKind::damaged, "the zip archive has no directory at its end")
        .remedy("the file is truncated; fetch it again");
  }
  const Record end(file, *at, 22);
  Directory directory{end.number(16, 4), end.number(12, 4), end.number(10, 2)};
  std::uint64_t disk = end.number(4, 2);
  std::uint64_t limit = *at;
  constexpr std::uint64_t locator_size = 20;
  if (*at >= locator_size) {
    const Record locator(file, *at - locator_size, locator_size);
    if (locator.number(0, 4) == locator64_signature) {
      limit = locator.number(8, 8);
      const Record end64(file, limit, 56);
      if (end64.number(0, 4) != end64_signature) {
        throw Error(ErrorKind::damaged, "the archive's directory is broken");
      }
      disk = end64.number(16, 4);
      directory = {end64.number(48, 8), end64.number(40, 8), end64.number(32, 8)};
    }
  }
  if (disk != 0) {
    throw Error(ErrorKind::unsupported, "multi-part zip archives are not supported");
  }
  if (directory.offset > limit || directory.size > limit - directory.offset) {
    throw Error(ErrorKind::damaged, "the archive's directory leads outside the file")
        .remedy("the file may be truncated; fetch it again");
  }
  return directory;
}

/// Replaces sizes and offset by those of the zip64 extra field if the entry refers to it.
void apply_zip64(const Record& extra, std::size_t extra_size, ZipEntry& entry,
                 std::uint64_t& header) {
  constexpr std::uint64_t zip64_field = 1;
  std::size_t at = 0;
  while (at + 4 <= extra_size) {
    const std::uint64_t kind = extra.number(at, 2);
    const auto size = static_cast<std::size_t>(extra.number(at + 2, 2));
    if (kind == zip64_field) {
      std::size_t field = at + 4;
      for (std::uint64_t* value : {&entry.size, &entry.packed_size, &header}) {
        if (*value != in_zip64) continue;
        if (field + 8 > at + 4 + size) {
          throw Error(ErrorKind::damaged, "the entry's 64-bit sizes are missing");
        }
        *value = extra.number(field, 8);
        field += 8;
      }
      return;
    }
    at += 4 + size;
  }
}

Error bomb(std::uint64_t packed, std::uint64_t unpacked) {
  return Error(ErrorKind::damaged, "the zip entry's unpacked size is absurdly large")
      .expected("what " + std::to_string(packed) + " compressed bytes of weights can hold")
      .found(std::to_string(unpacked) + " bytes")
      .remedy("if it is what you want, store it without compression");
}

/// CRC-32 computed in parallel over parts, then combined.
std::uint32_t checksum_of(std::span<const std::byte> bytes) {
  constexpr std::size_t part = 4 << 20;
  std::vector<uLong> sums((bytes.size() + part - 1) / part);
  const auto part_at = [&](std::size_t i) {
    return bytes.subspan(i * part, std::min(part, bytes.size() - i * part));
  };
  tbb::parallel_for(std::size_t{0}, sums.size(), [&](std::size_t i) {
    const std::span<const std::byte> own = part_at(i);
    sums[i] = crc32_z(0, reinterpret_cast<const Bytef*>(own.data()), own.size());
  });
  uLong all = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    all = crc32_combine(all, sums[i], static_cast<z_off_t>(part_at(i).size()));
  }
  return static_cast<std::uint32_t>(all);
}

void check_checksum(const ZipEntry& entry, std::span<const std::byte> bytes) {
  const std::uint32_t found = checksum_of(bytes);
  if (found == entry.checksum) return;
  throw Error(ErrorKind::damaged, "the zip entry's checksum does not fit its bytes")
      .about(entry.name)
      .expected("CRC-32 " + std::to_string(entry.checksum))
      .found(std::to_string(found))
      .remedy("fetch the file again");
}

void check_method(std::uint64_t flags, std::uint64_t method) {
  constexpr std::uint64_t encrypted = 1 | 1 << 6 | 1 << 13;
  constexpr std::uint64_t stored = 0, deflated = 8, aes = 99;
  if ((flags & encrypted) != 0 || method == aes) {
    throw Error(ErrorKind::unsupported, "the zip entry is encrypted")
        .remedy("decrypt the archive first");
  }
  if (method != stored && method != deflated) {
    throw Error(ErrorKind::unsupported, "the zip entry's compression is not supported")
        .expected("stored or deflated")
        .found("method " + std::to_string(method));
  }
}

}  // namespace

ZipArchive::ZipArchive(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {
  read_directory();
}

void ZipArchive::read_directory() {
  constexpr std::uint64_t fixed = 46;
  const std::span<const std::byte> bytes = file_->bytes();
  const Directory directory = find_directory(bytes);
  if (directory.entries > directory.size / fixed) {
    throw Error(ErrorKind::damaged, "the archive claims more entries than its directory can hold")
        .found(std::to_string(directory.entries));
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> extents;  // ranges of header and data
  std::uint64_t packed = 0, unpacked = 0;                        // sums over all deflated entries
  std::uint64_t at = directory.offset;
  const std::uint64_t end = directory.offset + directory.size;
  for (std::uint64_t place = 0; place < directory.entries; ++place) {
    const Record record(bytes.first(end), at, fixed);
    if (record.number(0, 4) != entry_signature) {
      throw Error(ErrorKind::damaged, "the archive's directory is broken");
    }
    const std::uint64_t name_size = record.number(28, 2), extra_size = record.number(30, 2),
                        comment_size = record.number(32, 2);
    ZipEntry entry;
    entry.name = Record(bytes.first(end), at + fixed, name_size).text();
    entry.deflated = record.number(10, 2) != 0;
    entry.checksum = static_cast<std::uint32_t>(record.number(16, 4));
    entry.packed_size = record.number(20, 4);
    entry.size = record.number(24, 4);
    std::uint64_t header = record.number(42, 4);
    try {
      check_method(record.number(8, 2), record.number(10, 2));
      apply_zip64(Record(bytes.first(end), at + fixed + name_size, extra_size),
                  static_cast<std::size_t>(extra_size), entry, header);
      place_data(entry, header, directory.offset);
    } catch (Error& error) {
      error.about(entry.name);
      throw;
    }
    packed += entry.deflated ? entry.packed_size : 0;
    unpacked += entry.deflated ? entry.size : 0;
    if (is_bomb(packed, unpacked)) throw bomb(packed, unpacked);
    extents.emplace_back(header, entry.offset + entry.packed_size);
    at += fixed + name_size + extra_size + comment_size;
    if (entry.name.ends_with('/')) continue;
    if (!index_.emplace(entry.name, entries_.size()).second) {
      throw Error(ErrorKind::damaged, "two zip entries have the same name").about(entry.name);
    }
    entries_.push_back(std::move(entry));
  }
  checked_ = std::make_unique<std::atomic<bool>[]>(entries_.size());
  std::sort(extents.begin(), extents.end());
  for (std::size_t place = 1; place < extents.size(); ++place) {
    if (extents[place].first < extents[place - 1].second) {
      throw Error(ErrorKind::damaged, "entries of the zip archive overlap");
    }
  }
}

void ZipArchive::place_data(ZipEntry& entry, std::uint64_t header, std::uint64_t directory) {
  constexpr std::uint64_t fixed = 30;
  const std::span<const std::byte> before = file_->bytes().first(directory);
  const Record local(before, header, fixed);
  if (local.number(0, 4) != local_signature) {
    throw Error(ErrorKind::damaged, "the zip entry's header is broken");
  }
  check_method(local.number(6, 2), local.number(8, 2));
  const std::uint64_t name_size = local.number(26, 2);
  if (Record(before, header + fixed, name_size).text() != entry.name ||
      (local.number(8, 2) != 0) != entry.deflated) {
    throw Error(ErrorKind::damaged, "the zip entry's header does not agree with the directory");
  }
  entry.offset = header + fixed + name_size + local.number(28, 2);
  (void)Record(before, entry.offset, entry.packed_size);
  if (!entry.deflated && entry.packed_size != entry.size) {
    throw Error(ErrorKind::damaged, "the zip entry is stored, yet its sizes differ")
        .expected(std::to_string(entry.packed_size))
        .found(std::to_string(entry.size));
  }
  if (is_bomb(entry.packed_size, entry.size)) throw bomb(entry.packed_size, entry.size);
}

const ZipEntry* ZipArchive::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

ZipBytes ZipArchive::read(const ZipEntry& entry) const {
  const std::span<const std::byte> packed = file_->bytes().subspan(entry.offset, entry.packed_size);
  return read_unchanged(*file_, [&]() -> ZipBytes {
    if (entry.deflated) return inflated(entry, packed);
    check_stored(entry, packed);
    return {packed, file_};
  });
}

void ZipArchive::check_stored(const ZipEntry& entry, std::span<const std::byte> bytes) const {
  // torch.save writes 0 if checksums are disabled.
  const auto known = index_.find(entry.name);
  if (entry.checksum == 0 || known == index_.end() || checked_[known->second]) return;
  check_checksum(entry, bytes);
  checked_[known->second] = true;
}

ZipBytes ZipArchive::inflated(const ZipEntry& entry, std::span<const std::byte> packed) {
  try {
    auto inflated = std::make_shared<Inflated>(inflate(packed, DeflateWrapping::raw, entry.size));
    if (!inflated->complete || inflated->bytes.size() != entry.size) {
      throw Error(ErrorKind::damaged, "the zip entry's unpacked size differs from the directory's")
          .expected(std::to_string(entry.size) + " bytes");
    }
    check_checksum(entry, inflated->bytes);
    return {inflated->bytes, inflated};
  } catch (Error& error) {
    error.about(entry.name);
    throw;
  }
}

ZipBytes ZipArchive::read_start(const ZipEntry& entry, std::uint64_t count) const {
  const std::span<const std::byte> packed = file_->bytes().subspan(entry.offset, entry.packed_size);
  if (!entry.deflated) return {packed.first(std::min(count, entry.packed_size)), file_};
  auto inflated = std::make_shared<Inflated>(
      inflate(packed, DeflateWrapping::raw, std::min(count, entry.size)));
  return {inflated->bytes, inflated};
}

}  // namespace attnscope
