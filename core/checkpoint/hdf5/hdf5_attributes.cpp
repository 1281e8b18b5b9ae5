// Reads attributes of an HDF5 file as text. Runs in a reading child.
#include <cstring>
#include <mutex>
#include <optional>
#include <type_traits>

#include "core/checkpoint/hdf5/global_heap.h"
#include "core/checkpoint/hdf5/hdf5_reading.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr std::size_t largest = 16 << 20;  // bytes of one attribute

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

constexpr const char* kRefused = "the HDF5 library refused a type";

/// Conversion callback from variable-length texts to their references. It leaves the stored bytes
/// unchanged, so the library never follows a reference.
herr_t keep_references(hid_t from, hid_t, H5T_cdata_t* state, std::size_t, std::size_t, std::size_t,
                       void*, void*, hid_t) {
  state->need_bkg = H5T_BKG_NO;
  if (state->command != H5T_CONV_CONV) return 0;
  return H5Tget_size(from) == HeapReference::bytes ? 0 : -1;
}

/// The type of references, 16 opaque bytes each.
Hdf5Id reference_type() {
  static std::once_flag once;
  Hdf5Id opaque(H5Tcreate(H5T_OPAQUE, HeapReference::bytes), H5Tclose, kRefused);
  std::call_once(once, [&] {
    const Hdf5Id text(H5Tcopy(H5T_C_S1), H5Tclose, kRefused);
    H5Tset_size(text.get(), H5T_VARIABLE);
    H5Tregister(H5T_PERS_SOFT, "heap references", text.get(), opaque.get(), keep_references);
  });
  return opaque;
}

std::string read_long_strings(hid_t attribute, std::size_t count, GlobalHeap& heap) {
  const Hdf5Id type = reference_type();
  std::vector<std::byte> stored(HeapReference::bytes * count);
  if (H5Aread(attribute, type.get(), stored.data()) < 0) {
    throw Error(ErrorKind::damaged, "the attribute cannot be read");
  }
  std::string text;
  for (std::size_t place = 0; place < count; ++place) {
    const std::span<const std::byte> bytes(stored.data() + place * HeapReference::bytes,
                                           HeapReference::bytes);
    std::string_view one = heap.text(HeapReference::read(bytes.first<HeapReference::bytes>()));
    one = one.substr(0, one.find('\0'));
    if (place > 0) text += ", ";
    text += one;
    if (text.size() > largest) {  // many references may share one long text
      throw Error(ErrorKind::damaged, "the attribute is absurdly long")
          .expected("at most " + std::to_string(largest) + " bytes");
    }
  }
  return text;
}

std::string read_strings(hid_t attribute, hid_t file_type, std::size_t count) {
  const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose, kRefused);
  H5Tset_cset(type.get(), H5Tget_cset(file_type));
  std::string text;
  const auto append = [&text](const char* begin, std::size_t size) {
    text += (text.empty() ? "" : ", ") + std::string(begin, strnlen(begin, size));
  };
  const std::size_t size = H5Tget_size(file_type);
  H5Tset_size(type.get(), size + 1);  // plus the terminator that space-padded strings lack
  std::vector<char> strings((size + 1) * count, '\0');
  if (H5Aread(attribute, type.get(), strings.data()) < 0) return {};
  for (std::size_t place = 0; place < count; ++place) {
    append(strings.data() + place * (size + 1), size + 1);
  }
  return text;
}

std::optional<std::string> attribute_text(hid_t attribute, GlobalHeap& heap) {
  const Hdf5Id type(H5Aget_type(attribute), H5Tclose, "an attribute has no type");
  const Hdf5Id space(H5Aget_space(attribute), H5Sclose, "an attribute has no dataspace");
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
      text = H5Tis_variable_str(type.get()) > 0 ? read_long_strings(attribute, elements, heap)
                                                : read_strings(attribute, type.get(), elements);
      break;
    default:
      return std::nullopt;
  }
  return scalar ? text : "[" + text + "]";
}

}  // namespace

std::map<std::string, std::string> hdf5_attributes(const Hdf5Id& file, GlobalHeap& heap) {
  const Hdf5Id object(H5Oopen(file.get(), "/", H5P_DEFAULT), H5Oclose,
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
    try {
      if (std::optional<std::string> text = attribute_text(id, heap)) {
        attributes.emplace(std::move(key), std::move(*text));
      }
    } catch (Error& error) {
      error.about(key);
      throw;
    }
  }
  return attributes;
}

}  // namespace attnscope
