// The walk over an HDF5 file's links and the reading of its data sets.
#include <algorithm>
#include <optional>
#include <set>

#include "core/checkpoint/hdf5/hdf5_file.h"
#include "core/error.h"
#include "core/file/inflate.h"
#include "core/file/mapped_file.h"

namespace attnscope {

namespace {

constexpr int deepest_group = 32;
constexpr std::size_t most_links = 1'000'000;

/// Links of one group, as H5Literate reports them.
struct GroupLinks {
  std::vector<std::pair<std::string, H5L_type_t>> links;
};

herr_t note_link(hid_t, const char* name, const H5L_info_t* info, void* data) {
  auto& group = *static_cast<GroupLinks*>(data);
  if (group.links.size() >= most_links) return -1;
  group.links.emplace_back(name, info->type);
  return 0;
}

class Walk {
 public:
  explicit Walk(const Hdf5Id& file) : file_(file) {}

  /// Names of all data sets at and below `group`, relative to it; soft links after hard ones.
  std::vector<std::string> data_sets(const std::string& group) {
    (void)type_of(group);
    groups_seen_.insert(address_);
    enter(group, "", 0);
    for (const std::string& link : soft_links_) {
      const std::string absolute = group + "/" + link;
      if (H5Oexists_by_name(file_.get(), absolute.c_str(), H5P_DEFAULT) <= 0) {
        throw Error(ErrorKind::damaged, "the link leads nowhere").about(link);
      }
      // A soft link to a group adds no tensor: its members are listed under their own names.
      if (type_of(absolute) == H5O_TYPE_DATASET) found_.push_back(link);
    }
    return std::move(found_);
  }

 private:
  H5O_type_t type_of(const std::string& name) {
    H5O_info_t info;
    if (H5Oget_info_by_name2(file_.get(), name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
      throw Error(ErrorKind::damaged, "an object cannot be read").about(name);
    }
    address_ = info.addr;
    return info.type;
  }

  void enter(const std::string& group, const std::string& prefix, int depth) {
    if (depth > deepest_group) {
      throw Error(ErrorKind::damaged, "groups are nested too deeply").about(prefix);
    }
    const Hdf5Id id(H5Gopen2(file_.get(), group.c_str(), H5P_DEFAULT), H5Gclose,
                    "a group cannot be opened");
    GroupLinks content;
    hsize_t position = 0;
    if (H5Literate(id.get(), H5_INDEX_NAME, H5_ITER_INC, &position, note_link, &content) < 0) {
      throw Error(ErrorKind::damaged, "a group cannot be read").about(group);
    }
    links_seen_ += content.links.size();
    if (links_seen_ > most_links) throw Error(ErrorKind::damaged, "the file has too many links");
    for (const auto& [link, type] : content.links) follow(group, prefix + link, link, type, depth);
  }

  void follow(const std::string& group, const std::string& name, const std::string& link,
              H5L_type_t type, int depth) {
    if (type == H5L_TYPE_SOFT) {
      soft_links_.push_back(name);
      return;
    }
    if (type != H5L_TYPE_HARD) {
      throw Error(ErrorKind::unsupported, type == H5L_TYPE_EXTERNAL
                                              ? "the link leads into another file"
                                              : "the link is of a kind that only its writer knows")
          .about(name)
          .remedy("copy the data into one file (h5repack, or h5copy -f ext)");
    }
    const std::string absolute = group == "/" ? "/" + link : group + "/" + link;
    switch (type_of(absolute)) {
      case H5O_TYPE_DATASET:
        found_.push_back(name);
        break;
      case H5O_TYPE_GROUP:
        if (groups_seen_.insert(address_).second) enter(absolute, name + "/", depth + 1);
        break;
      default:  // a named datatype holds no numbers
        break;
    }
  }

  const Hdf5Id& file_;
  std::vector<std::string> found_, soft_links_;
  std::set<haddr_t> groups_seen_;
  std::size_t links_seen_ = 0;
  haddr_t address_ = 0;
};

/// How a file's element type is read.
struct ElementType {
  DType dtype;
  hid_t memory;  ///< the library's type to read as; negative: as stored
};

std::optional<ElementType> float_type(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  std::size_t sign = 0, exponent = 0, exponent_size = 0, fraction = 0, fraction_size = 0;
  H5Tget_fields(type, &sign, &exponent, &exponent_size, &fraction, &fraction_size);
  if (size == 2 && H5Tget_order(type) == H5T_ORDER_LE && sign == 15 && fraction == 0) {
    if (exponent == 10 && exponent_size == 5 && fraction_size == 10) {
      return ElementType{DType::f16, -1};
    }
    if (exponent == 7 && exponent_size == 8 && fraction_size == 7) {
      return ElementType{DType::bf16, -1};
    }
  }
  if (size <= 4) return ElementType{DType::f32, H5T_NATIVE_FLOAT};
  if (size <= 16) return ElementType{DType::f64, H5T_NATIVE_DOUBLE};
  return std::nullopt;
}

std::optional<ElementType> integer_type(hid_t type) {
  const bool has_sign = H5Tget_sign(type) != H5T_SGN_NONE;
  switch (H5Tget_size(type)) {
    case 1:
      return has_sign ? ElementType{DType::i8, H5T_NATIVE_INT8}
                      : ElementType{DType::u8, H5T_NATIVE_UINT8};
    case 2:
      return has_sign ? ElementType{DType::i16, H5T_NATIVE_INT16}
                      : ElementType{DType::u16, H5T_NATIVE_UINT16};
    case 4:
      return has_sign ? ElementType{DType::i32, H5T_NATIVE_INT32}
                      : ElementType{DType::u32, H5T_NATIVE_UINT32};
    case 8:
      return has_sign ? ElementType{DType::i64, H5T_NATIVE_INT64}
                      : ElementType{DType::u64, H5T_NATIVE_UINT64};
    default:
      return std::nullopt;
  }
}

/// NumPy's booleans are stored as an enumeration of one byte, FALSE = 0 and TRUE = 1.
bool is_boolean(hid_t type) {
  if (H5Tget_size(type) != 1 || H5Tget_nmembers(type) != 2) return false;
  signed char no = -1, yes = -1;
  return H5Tenum_valueof(type, "FALSE", &no) >= 0 && H5Tenum_valueof(type, "TRUE", &yes) >= 0 &&
         no == 0 && yes == 1;
}

std::optional<ElementType> element_type(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return float_type(type);
    case H5T_INTEGER:
      return integer_type(type);
    case H5T_ENUM:
      if (is_boolean(type)) return ElementType{DType::boolean, -1};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

Shape extents_of(hid_t data_set) {
  const Hdf5Id space(H5Dget_space(data_set), H5Sclose, "the data set has no extent");
  if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) return {0};
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0 || rank > H5S_MAX_RANK) {
    throw Error(ErrorKind::damaged, "the data set's rank is impossible");
  }
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  Shape shape;
  for (const hsize_t extent : extents) {
    if (extent > (hsize_t{1} << 62)) {
      throw Error(ErrorKind::damaged, "the data set is too large to exist");
    }
    shape.push_back(static_cast<std::int64_t>(extent));
  }
  return shape;
}

/// Refuses what reaches outside the file, what would decode to far more than is stored, and filters
/// that are not built in. Returns the layout.
H5D_layout_t check_storage(hid_t data_set, std::int64_t bytes) {
  const Hdf5Id creation(H5Dget_create_plist(data_set), H5Pclose, "the data set is incomplete");
  const H5D_layout_t layout = H5Pget_layout(creation.get());
  if (layout == H5D_VIRTUAL) {
    throw Error(ErrorKind::unsupported, "the data set is virtual: its values lie in other files")
        .remedy("copy the data into one file with h5repack");
  }
  if (layout < 0) throw Error(ErrorKind::damaged, "the data set's layout is unknown");
  if (H5Pget_external_count(creation.get()) != 0) {
    throw Error(ErrorKind::unsupported, "the data set's values are stored in another file")
        .remedy("copy the data into one file with h5repack");
  }
  const int filters = H5Pget_nfilters(creation.get());
  for (int index = 0; index < filters; ++index) {
    std::size_t parameters = 0;
    char name[64] = "";
    const H5Z_filter_t filter =
        H5Pget_filter2(creation.get(), static_cast<unsigned>(index), nullptr, &parameters, nullptr,
                       sizeof name, name, nullptr);
    if (filter < 0 || H5Zfilter_avail(filter) <= 0) {
      throw Error(ErrorKind::unsupported, "the data set's compression is not built in")
          .found("filter " + std::to_string(filter) + " " + name)
          .remedy("store it again with gzip or without compression");
    }
  }
  // A data set that claims more than its file can hold was never written in full, or is a bomb.
  constexpr std::int64_t always_fine = 64 << 20;
  const hsize_t stored = H5Dget_storage_size(data_set);
  const auto claimed = static_cast<hsize_t>(bytes);
  const bool too_much =
      layout == H5D_CHUNKED ? is_bomb(stored, claimed) : layout != H5D_COMPACT && claimed > stored;
  if (bytes > always_fine && too_much) {
    throw Error(ErrorKind::damaged, "the data set claims far more than it stores")
        .expected(std::to_string(bytes) + " bytes")
        .found(std::to_string(stored) + " stored");
  }
  if (layout == H5D_CHUNKED) {
    hsize_t extents[H5S_MAX_RANK] = {};
    const int rank = H5Pget_chunk(creation.get(), H5S_MAX_RANK, extents);
    const Hdf5Id type(H5Dget_type(data_set), H5Tclose, "the data set has no type");
    double chunk = static_cast<double>(H5Tget_size(type.get()));
    for (int axis = 0; axis < rank; ++axis) chunk *= static_cast<double>(extents[axis]);
    if (chunk > static_cast<double>(always_fine) && chunk > 16.0 * static_cast<double>(bytes)) {
      throw Error(ErrorKind::damaged, "the data set's chunks are far larger than itself");
    }
  }
  return layout;
}

TensorView read_elements(const std::shared_ptr<const Hdf5Id>& file, const std::string& absolute,
                         DType dtype, hid_t memory, const Shape& shape) {
  const QuietHdf5 quiet;
  const Hdf5Id data_set(H5Dopen2(file->get(), absolute.c_str(), H5P_DEFAULT), H5Dclose,
                        "the data set cannot be opened");
  const Hdf5Id stored(H5Dget_type(data_set.get()), H5Tclose, "the data set has no type");
  const auto bytes = static_cast<std::size_t>(byte_count(shape, dtype));
  // The library fills what it has no chunk for only if the file says so: start from zeros.
  auto buffer = std::make_shared<std::vector<std::byte>>(bytes);
  if (bytes > 0 && H5Dread(data_set.get(), memory < 0 ? stored.get() : memory, H5S_ALL, H5S_ALL,
                           H5P_DEFAULT, buffer->data()) < 0) {
    throw Error(ErrorKind::damaged, "the data set's values cannot be read")
        .remedy("the file may be cut off; fetch it again");
  }
  return {dtype, shape, TensorView::contiguous_strides(shape), buffer->data(), buffer};
}

/// The data set as a stored tensor; nothing if its elements are no numbers.
std::optional<StoredTensor> stored_tensor(const std::filesystem::path& path,
                                          const std::shared_ptr<const MappedFile>& mapped,
                                          const std::shared_ptr<const Hdf5Id>& file,
                                          const std::string& absolute, const std::string& name) {
  const Hdf5Id data_set(H5Dopen2(file->get(), absolute.c_str(), H5P_DEFAULT), H5Dclose,
                        "the data set cannot be opened");
  const Hdf5Id stored(H5Dget_type(data_set.get()), H5Tclose, "the data set has no type");
  const std::optional<ElementType> type = element_type(stored.get());
  if (!type) return std::nullopt;
  const Shape shape = extents_of(data_set.get());
  const std::int64_t bytes = byte_count(shape, type->dtype);
  const H5D_layout_t layout = check_storage(data_set.get(), bytes);

  const bool as_stored = type->memory < 0 || H5Tequal(stored.get(), type->memory) > 0;
  const haddr_t offset =
      layout == H5D_CONTIGUOUS && as_stored ? H5Dget_offset(data_set.get()) : HADDR_UNDEF;
  std::function<TensorView()> view;
  if (offset != HADDR_UNDEF) {
    (void)view_of(mapped, offset, type->dtype, shape);
    view = [mapped, offset, dtype = type->dtype, shape] {
      return view_of(mapped, offset, dtype, shape);
    };
  } else {
    view = [path, file, mapped, absolute, dtype = type->dtype, memory = type->memory, shape] {
      try {
        return read_unchanged(*mapped,
                              [&] { return read_elements(file, absolute, dtype, memory, shape); });
      } catch (Error& error) {
        error.in_file(path).about(absolute);
        throw;
      }
    };
  }
  return StoredTensor{name, type->dtype, shape, bytes, std::move(view)};
}

}  // namespace

std::vector<StoredTensor> hdf5_data_sets(const std::filesystem::path& path,
                                         const std::shared_ptr<const Hdf5Id>& file,
                                         const std::string& root,
                                         std::vector<std::string>& skipped) {
  const QuietHdf5 quiet;
  std::vector<StoredTensor> tensors;
  try {
    const std::shared_ptr<const MappedFile> mapped = MappedFile::open(path);
    for (const std::string& name : Walk(*file).data_sets(root)) {
      try {
        const std::string absolute = root == "/" ? "/" + name : root + "/" + name;
        if (std::optional<StoredTensor> tensor =
                stored_tensor(path, mapped, file, absolute, name)) {
          tensors.push_back(std::move(*tensor));
        } else {
          skipped.push_back(name);
        }
      } catch (Error& error) {
        error.about(name);
        throw;
      }
    }
  } catch (Error& error) {
    error.in_file(path);
    throw;
  }
  return tensors;
}

}  // namespace attnscope
