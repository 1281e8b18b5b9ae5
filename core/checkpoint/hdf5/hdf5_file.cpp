#include "core/checkpoint/hdf5/hdf5_file.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/checkpoint/hdf5/hdf5_reading.h"
#include "core/checkpoint/hdf5/reading_child.h"
#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

// ---- the superblock, read from the file's bytes ----

constexpr unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};

/// Offset of the signature: 0, or after a user block of 512, 1024, 2048 … bytes.
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

/// Checks fields that the HDF5 library trusts, or whose errors it reports unclearly: the size of
/// addresses, the end of the file, and a driver block (which could open further files). Throws
/// Error(not_this_format) without HDF5's signature, Error(damaged) for a truncated file or an
/// impossible superblock, Error(unsupported).
void check_superblock(std::span<const std::byte> bytes) {
  const std::optional<std::size_t> start = superblock_start(bytes);
  if (!start) {
    throw Error(ErrorKind::not_this_format, "is not an HDF5 file");
  }
  bytes = bytes.subspan(*start);
  (void)read_u64(bytes, 8);
  const auto byte_at = [&](std::size_t at) { return std::to_integer<unsigned>(bytes[at]); };
  const unsigned version = byte_at(8);
  const bool old = version <= 1;
  if (version > 3) {
    throw Error(ErrorKind::unsupported, "the HDF5 superblock's version is unknown")
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
  // Some writers store the end relative to the base address, others relative to the file's start.
  if (end > bytes.size() + *start) {
    throw Error(ErrorKind::damaged, "the file is truncated")
        .expected(std::to_string(end) + " bytes")
        .found(std::to_string(bytes.size() + *start))
        .remedy("fetch it again");
  }
  constexpr std::uint64_t undefined = ~std::uint64_t{0};
  if (old && read_u64(bytes, base + 24) != undefined) {
    throw Error(ErrorKind::unsupported, "the file needs a multi-file HDF5 driver");
  }
}

/// The file's bytes from the superblock on; addresses in the file are relative to it.
std::span<const std::byte> from_superblock(std::span<const std::byte> bytes) {
  return bytes.subspan(superblock_start(bytes).value_or(0));
}

// ---- in the child ----

std::string catalogue_of(std::span<const std::byte> bytes) {
  const Hdf5Id file = open_hdf5_image(bytes);
  GlobalHeap heap(from_superblock(bytes));
  Hdf5Catalogue catalogue{hdf5_attributes(file, heap), {}, {}};
  for (std::string& name : hdf5_data_set_names(file)) {
    try {
      if (std::optional<Hdf5DataSet> data_set = hdf5_data_set(file, name)) {
        catalogue.data_sets.push_back(std::move(*data_set));
      } else {
        catalogue.not_numeric.push_back(std::move(name));
      }
    } catch (Error& error) {
      error.about(name);
      throw;
    }
  }
  return catalogue.to_bytes();
}

/// Returns "1" if the object exists, else "0".
std::string has_object(std::span<const std::byte> bytes, const std::string& object) {
  const Hdf5Id file = open_hdf5_image(bytes);
  // Each parent group is checked first, because the library reports an error if one is missing.
  for (std::size_t end = 0; end != std::string::npos;) {
    end = object.find('/', end + 1);
    if (H5Lexists(file.get(), object.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return "0";
  }
  return "1";
}

// ---- in the program ----

/// An HDF5 file in memory, shared by the views into it.
struct Source {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> storage;
};

Source mapped(const std::filesystem::path& path) {
  std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  return {file->bytes(), file};
}

/// Runs `read` on the file's bytes in a child. Errors without a subject get `subject`.
template <class Read>
std::string ask(const Source& source, const std::string& subject, const ChildLimits& limits,
                Read&& read) {
  return read_unchanged(source.bytes, [&] {
    check_superblock(source.bytes);
    try {
      return read_in_child([&] { return read(source.bytes); }, limits);
    } catch (Error& error) {
      if (error.subject().empty()) error.about(subject);
      throw;
    }
  });
}

TensorView unpack(const Source& source, const Hdf5DataSet& data_set) {
  const auto bytes = static_cast<std::size_t>(byte_count(data_set.shape, data_set.dtype));
  // The buffer starts with zeros because the library fills missing chunks only if the file requests
  // it.
  const auto elements = std::make_shared<const SharedBytes>(bytes);
  if (bytes > 0) {
    constexpr std::uint64_t slowest = 10'000;  // bytes per millisecond
    ChildLimits limits;
    limits.time += std::chrono::milliseconds(bytes / slowest);
    limits.memory += 2 * bytes;  // a chunk may hold all elements, packed and unpacked
    (void)ask(source, "/" + data_set.name, limits, [&](std::span<const std::byte> file) {
      read_hdf5_elements(open_hdf5_image(file), data_set, elements->bytes());
      return std::string();
    });
  }
  return {data_set.dtype, data_set.shape, TensorView::contiguous_strides(data_set.shape),
          elements->bytes().data(), elements};
}

StoredTensor stored_tensor(const std::filesystem::path& path, const Source& source,
                           const Hdf5DataSet& data_set) {
  const std::int64_t bytes = byte_count(data_set.shape, data_set.dtype);
  std::function<TensorView()> view;
  if (data_set.offset) {
    view = [source, data_set] {
      return view_of(source.bytes, source.storage, *data_set.offset, data_set.dtype,
                     data_set.shape);
    };
    (void)view();  // checks that the elements are inside the file
  } else {
    view = [path, source, data_set] {
      return with_file(path, [&] { return unpack(source, data_set); });
    };
  }
  return {data_set.name, data_set.dtype, data_set.shape, bytes, std::move(view)};
}

}  // namespace

Hdf5File read_hdf5(const std::filesystem::path& path) {
  return with_file(path, [&] {
    Source source = mapped(path);
    return read_hdf5(source.bytes, std::move(source.storage), path);
  });
}

Hdf5File read_hdf5(std::span<const std::byte> bytes, std::shared_ptr<const void> storage,
                   const std::filesystem::path& path) {
  return with_file(path, [&] {
    const Source source{bytes, std::move(storage)};
    Hdf5Catalogue catalogue =
        Hdf5Catalogue::from_bytes(ask(source, "the list of its data sets", {}, catalogue_of));
    Hdf5File file{std::move(catalogue.attributes), {}};
    for (const Hdf5DataSet& data_set : catalogue.data_sets) {
      try {
        file.tensors.push_back(stored_tensor(path, source, data_set));
      } catch (Error& error) {
        error.about(data_set.name);
        throw;
      }
    }
    if (!catalogue.not_numeric.empty()) {
      file.metadata.emplace("data sets that are not numeric", name_list(catalogue.not_numeric));
    }
    return file;
  });
}

bool hdf5_has(const std::filesystem::path& path, const std::string& object) {
  return with_file(path, [&] {
    return ask(mapped(path), object, {},
               [&](std::span<const std::byte> bytes) { return has_object(bytes, object); }) == "1";
  });
}

}  // namespace attnscope
