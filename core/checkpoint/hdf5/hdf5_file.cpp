#include "core/checkpoint/hdf5/hdf5_file.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>

#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/text/number_text.h"

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

/// Once a process: the library must load no filter from a shared object, and follow no link into
/// another file even where a path passes through one.
void close_library_doors() {
  static std::once_flag once;
  std::call_once(once, [] {
    H5open();
    H5PLset_loading_state(0);
    H5Lunregister(H5L_TYPE_EXTERNAL);
  });
}

template <class Number>
std::string print_all(hid_t attribute, hid_t type, std::size_t count) {
  std::vector<Number> numbers(count);
  if (H5Aread(attribute, type, numbers.data()) < 0) return {};
  std::string text;
  for (const Number number : numbers) {
    std::string printed;
    if constexpr (std::is_floating_point_v<Number>) {
      printed = exact(number);
    } else {
      printed = std::to_string(number);
    }
    text += (text.empty() ? "" : ", ") + printed;
  }
  return text;
}

std::string read_strings(hid_t attribute, hid_t file_type, const Hdf5Id& space, std::size_t count) {
  const auto close_type = [](hid_t id) { return H5Tclose(id); };
  const Hdf5Id type(H5Tcopy(H5T_C_S1), close_type, "the library refused a type");
  H5Tset_cset(type.get(), H5Tget_cset(file_type));
  std::string text;
  const auto append = [&text](const char* begin, std::size_t size) {
    text += (text.empty() ? "" : ", ") + std::string(begin, strnlen(begin, size));
  };
  if (H5Tis_variable_str(file_type) > 0) {
    H5Tset_size(type.get(), H5T_VARIABLE);
    std::vector<char*> strings(count, nullptr);
    if (H5Aread(attribute, type.get(), strings.data()) < 0) return {};
    for (const char* string : strings) {
      if (string != nullptr) append(string, std::numeric_limits<std::size_t>::max());
    }
    H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, strings.data());
  } else {
    const std::size_t size = H5Tget_size(file_type);
    H5Tset_size(type.get(), size + 1);  // room for the zero that space-padded strings lack
    std::vector<char> strings((size + 1) * count, '\0');
    if (H5Aread(attribute, type.get(), strings.data()) < 0) return {};
    for (std::size_t place = 0; place < count; ++place) {
      append(strings.data() + place * (size + 1), size + 1);
    }
  }
  return text;
}

std::optional<std::string> attribute_text(hid_t attribute) {
  constexpr hsize_t largest = 16 << 20;  // bytes
  const Hdf5Id type(H5Aget_type(attribute), H5Tclose, "an attribute has no type");
  const Hdf5Id space(H5Aget_space(attribute), H5Sclose, "an attribute has no extent");
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  const bool scalar = H5Sget_simple_extent_type(space.get()) == H5S_SCALAR;
  const std::size_t size = H5Tget_size(type.get());
  if (count < 0 || size == 0 || size > largest || static_cast<hsize_t>(count) > largest / size ||
      H5Aget_storage_size(attribute) > largest) {
    return std::nullopt;
  }
  const auto elements = static_cast<std::size_t>(count);
  std::string text;
  switch (H5Tget_class(type.get())) {
    case H5T_INTEGER:
    case H5T_ENUM:
      text = print_all<std::int64_t>(attribute, H5T_NATIVE_INT64, elements);
      break;
    case H5T_FLOAT:
      text = print_all<double>(attribute, H5T_NATIVE_DOUBLE, elements);
      break;
    case H5T_STRING:
      text = read_strings(attribute, type.get(), space, elements);
      break;
    default:
      return std::nullopt;
  }
  return scalar ? text : "[" + text + "]";
}

}  // namespace

Hdf5Id::Hdf5Id(hid_t id, Close close, const char* what) : id_(id), close_(close) {
  if (id < 0) throw Error(ErrorKind::damaged, what);
}

void Hdf5Id::reset() {
  if (id_ < 0) return;
  const QuietHdf5 quiet;
  close_(id_);
  id_ = -1;
}

QuietHdf5::QuietHdf5() {
  H5Eget_auto2(H5E_DEFAULT, &report_, &context_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietHdf5::~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, report_, context_); }

Hdf5Id open_hdf5_file(const std::filesystem::path& path) {
  try {
    check_superblock(MappedFile::open(path)->bytes());
    close_library_doors();
    const QuietHdf5 quiet;
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

std::map<std::string, std::string> hdf5_attributes(const Hdf5Id& file, const std::string& name) {
  const QuietHdf5 quiet;
  const Hdf5Id object(H5Oopen(file.get(), name.c_str(), H5P_DEFAULT), H5Oclose,
                      "an object cannot be opened");
  constexpr int most = 10'000;
  std::map<std::string, std::string> attributes;
  for (int index = 0; index < most; ++index) {
    const hid_t id = H5Aopen_by_idx(object.get(), ".", H5_INDEX_NAME, H5_ITER_INC,
                                    static_cast<hsize_t>(index), H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0) break;
    const Hdf5Id attribute(id, H5Aclose, "");
    const ssize_t length = H5Aget_name(id, 0, nullptr);
    if (length <= 0 || length > 4096) continue;
    std::string key(static_cast<std::size_t>(length) + 1, '\0');
    H5Aget_name(id, key.size(), key.data());
    key.pop_back();
    if (std::optional<std::string> text = attribute_text(id)) {
      attributes.emplace(std::move(key), std::move(*text));
    }
  }
  return attributes;
}

}  // namespace attnscope
