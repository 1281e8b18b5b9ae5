#include "core/checkpoint/hdf5/hdf5_file.h"

#include <memory>
#include <utility>

#include "core/checkpoint/hdf5/hdf5_reading.h"
#include "core/checkpoint/hdf5/reading_child.h"
#include "core/checkpoint/hdf5/superblock.h"
#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

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
std::string ask(const Source& source, const std::string& subject, const ReadingLimits& limits,
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
    ReadingLimits limits;
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
