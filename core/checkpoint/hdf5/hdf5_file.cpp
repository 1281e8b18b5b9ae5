#include "core/checkpoint/hdf5/hdf5_file.h"

#include <cstring>
#include <mutex>
#include <optional>

#include "core/error.h"
#include "core/file/mapped_file.h"

namespace attnscope {

namespace {

constexpr unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};

/// Byte of the signature: at 0, or after a user block of 512, 1024, 2048 … bytes.
std::optional<std::size_t> superblock_start(std::span<const std::byte> bytes) {
  for (std::size_t start = 0; start + 8 <= bytes.size(); start = start == 0 ? 512 : start * 2) {
    if (std::memcmp(bytes.data() + start, signature, 8) == 0) return start;
  }
  return std::nullopt;
}

std::uint64_t read_u64(std::span<const std::byte> bytes, std::size_t at) {
  if (bytes.size() < 8 || at > bytes.size() - 8) {
    throw Error(ErrorKind::damaged, "the file ends inside its superblock");
  }
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, 8);
  return number;
}

/// What the library trusts too much or says too unclearly: sizes of addresses, the end of the file,
/// and a driver block (which may make it open further files).
void check_superblock(std::span<const std::byte> bytes) {
  const std::optional<std::size_t> start = superblock_start(bytes);
  if (!start) {
    throw Error(ErrorKind::not_this_format, "is no HDF5 file");
  }
  bytes = bytes.subspan(*start);
  (void)read_u64(bytes, 8);
  const auto byte_at = [&](std::size_t at) { return std::to_integer<unsigned>(bytes[at]); };
  const unsigned version = byte_at(8);
  const bool old = version <= 1;
  if (version > 3) {
    throw Error(ErrorKind::unsupported, "the HDF5 superblock is of an unknown version")
        .expected("0 to 3")
        .found(std::to_string(version));
  }
  if (byte_at(old ? 13 : 9) != 8 || byte_at(old ? 14 : 10) != 8) {
    throw Error(ErrorKind::unsupported, "addresses or lengths are not 8 bytes wide");
  }
  const std::size_t base = version == 0 ? 24 : version == 1 ? 28 : 12;
  const std::uint64_t end = read_u64(bytes, base + 16);
  const std::uint64_t base_address = read_u64(bytes, base);
  if (base_address != 0 && base_address != *start) {
    throw Error(ErrorKind::damaged, "the superblock's base address is impossible");
  }
  // The end counts from the base address in some writers' files and from the file's start in
  // others.
  if (end > bytes.size() + *start) {
    throw Error(ErrorKind::damaged, "the file is cut off")
        .expected(std::to_string(end) + " bytes")
        .found(std::to_string(bytes.size() + *start))
        .remedy("fetch it again");
  }
  constexpr std::uint64_t undefined = ~std::uint64_t{0};
  if (old && read_u64(bytes, base + 24) != undefined) {
    throw Error(ErrorKind::unsupported, "the file needs an HDF5 driver of several files");
  }
}

/// Once a process, before anything else: the library must load no filter from a shared object,
/// follow no link into another file even where a path passes through one, and close nothing by
/// itself when the process ends. We close all files; what it could not close then (a broken file, a
/// full disk) it would only try again, print about, or fall over.
void start_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    H5dont_atexit();
    H5open();
    H5PLset_loading_state(0);
    H5Lunregister(H5L_TYPE_EXTERNAL);
  });
}

}  // namespace

std::span<const std::byte> hdf5_bytes(const MappedFile& file) {
  return file.bytes().subspan(superblock_start(file.bytes()).value_or(0));
}

Hdf5Id::Hdf5Id(hid_t id, Close close, const char* what) : id_(id), close_(close) {
  if (id < 0) throw Error(ErrorKind::damaged, what);
}

herr_t Hdf5Id::close() {
  if (id_ < 0) return 0;
  const QuietHdf5 quiet;
  return close_(std::exchange(id_, -1));
}

void Hdf5Id::reset() { (void)close(); }

QuietHdf5::QuietHdf5() {
  start_library();
  H5Eget_auto2(H5E_DEFAULT, &report_, &context_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietHdf5::~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, report_, context_); }

Hdf5Id open_hdf5_file(const std::filesystem::path& path) {
  const QuietHdf5 quiet;
  try {
    check_superblock(MappedFile::open(path)->bytes());
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "the HDF5 library refused to start");
    H5Pset_file_locking(access.get(), false, true);
    H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
    return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose,
            "the HDF5 library cannot open the file"};
  } catch (Error& error) {
    error.in_file(path);
    throw;
  }
}

}  // namespace attnscope
