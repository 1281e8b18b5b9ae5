// Describes data sets of an HDF5 file and reads their elements. Runs in a reading child.
#include <optional>

#include "core/checkpoint/hdf5/hdf5_reading.h"
#include "core/error.h"
#include "core/file/inflate.h"
#include "core/file/mapped_file.h"

namespace attnscope {

namespace {

/// An element type of a file and the type to read it as.
struct ElementType {
  DType dtype;
  hid_t memory;  ///< library type to read as; negative: as stored
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
  const Hdf5Id space(H5Dget_space(data_set), H5Sclose, "the data set has no dataspace");
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

/// Refuses data sets that reach outside the file or decode to far more than is stored, and filters
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
  // A data set that claims more than its file can hold is incomplete or a decompression bomb.
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

Hdf5Id open_hdf5_data_set(const Hdf5Id& file, const std::string& name) {
  return {H5Dopen2(file.get(), ("/" + name).c_str(), H5P_DEFAULT), H5Dclose,
          "the data set cannot be opened"};
}

}  // namespace

std::optional<Hdf5DataSet> hdf5_data_set(const Hdf5Id& file, const std::string& name) {
  const Hdf5Id data_set = open_hdf5_data_set(file, name);
  const Hdf5Id stored(H5Dget_type(data_set.get()), H5Tclose, "the data set has no type");
  const std::optional<ElementType> type = element_type(stored.get());
  if (!type) return std::nullopt;
  Hdf5DataSet found{name, type->dtype, extents_of(data_set.get()), std::nullopt};
  const std::int64_t bytes = byte_count(found.shape, found.dtype);
  const H5D_layout_t layout = check_storage(data_set.get(), bytes);
  const bool as_stored = type->memory < 0 || H5Tequal(stored.get(), type->memory) > 0;
  if (layout == H5D_CONTIGUOUS && as_stored) {
    const haddr_t offset = H5Dget_offset(data_set.get());
    if (offset != HADDR_UNDEF) found.offset = offset;
  }
  return found;
}

void read_hdf5_elements(const Hdf5Id& file, const Hdf5DataSet& wanted,
                        std::span<std::byte> elements) {
  const Hdf5Id data_set = open_hdf5_data_set(file, wanted.name);
  const Hdf5Id stored(H5Dget_type(data_set.get()), H5Tclose, "the data set has no type");
  const std::optional<ElementType> type = element_type(stored.get());
  if (!type || type->dtype != wanted.dtype || extents_of(data_set.get()) != wanted.shape) {
    throw Error(ErrorKind::damaged, "the data set's shape or element type has changed");
  }
  if (H5Dread(data_set.get(), type->memory < 0 ? stored.get() : type->memory, H5S_ALL, H5S_ALL,
              H5P_DEFAULT, elements.data()) < 0) {
    throw Error(ErrorKind::damaged, "the data set's values cannot be read")
        .remedy("the file may be truncated; fetch it again");
  }
}

}  // namespace attnscope
