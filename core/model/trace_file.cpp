#include "core/model/trace_file.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/model/hdf5_object.h"
#include "core/model/mechanism_json.h"

namespace attnscope {

namespace {

using nlohmann::json;

std::string layer_name(std::size_t layer) {
  char text[32];
  std::snprintf(text, sizeof text, "layer_%02zu", layer);
  return text;
}

// ---- writing

void must(bool succeeded) {
  if (!succeeded) throw Error(ErrorKind::io, "the trace could not be written");
}

void write_data(hid_t parent, const std::string& name, hid_t stored_type, hid_t memory_type,
                const Shape& shape, const void* values) {
  std::vector<hsize_t> extents(shape.begin(), shape.end());
  const Hdf5Object space(
      H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr));
  must(static_cast<bool>(space));
  const Hdf5Object data(H5Dcreate2(parent, name.c_str(), stored_type, space.id(), H5P_DEFAULT,
                                   H5P_DEFAULT, H5P_DEFAULT));
  must(static_cast<bool>(data));
  must(H5Dwrite(data.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
}

void write_tensor(hid_t parent, const std::string& name, const Tensor& tensor) {
  if (tensor.empty()) return;
  write_data(parent, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, tensor.shape(), tensor.data());
}

void write_attribute(hid_t object, const char* name, const std::string& text) {
  const Hdf5Object type(H5Tcopy(H5T_C_S1));
  must(H5Tset_size(type.id(), H5T_VARIABLE) >= 0 && H5Tset_cset(type.id(), H5T_CSET_UTF8) >= 0);
  const Hdf5Object space(H5Screate(H5S_SCALAR));
  const Hdf5Object attribute(
      H5Acreate2(object, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT));
  const char* const value = text.c_str();
  must(attribute && H5Awrite(attribute.id(), type.id(), &value) >= 0);
}

void write_attribute(hid_t object, const char* name, std::int64_t value) {
  const Hdf5Object space(H5Screate(H5S_SCALAR));
  const Hdf5Object attribute(
      H5Acreate2(object, name, H5T_STD_I64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT));
  must(attribute && H5Awrite(attribute.id(), H5T_NATIVE_INT64, &value) >= 0);
}

Hdf5Object create_group(hid_t parent, const std::string& name) {
  Hdf5Object group(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  must(static_cast<bool>(group));
  return group;
}

void write_layer(hid_t file, std::size_t index, const LayerTrace& layer) {
  const Hdf5Object group = create_group(file, layer_name(index));
  write_tensor(group.id(), "implied_map", layer.implied_map);
  write_tensor(group.id(), "queries", layer.queries);
  write_tensor(group.id(), "keys", layer.keys);
  write_tensor(group.id(), "values", layer.values);
  write_tensor(group.id(), "tokens", layer.tokens);
  if (layer.quantities.empty()) return;
  const Hdf5Object quantities = create_group(group.id(), "quantities");
  for (const auto& [name, tensor] : layer.quantities) write_tensor(quantities.id(), name, tensor);
}

std::string json_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

void write_contents(const std::filesystem::path& path, const Trace& trace) {
  const Hdf5Object file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  must(static_cast<bool>(file));
  const hid_t root = file.id();
  write_attribute(root, "format", "attnscope-trace");
  write_attribute(root, "format_version", std::int64_t{1});
  write_attribute(root, "model_name", trace.model_name);
  write_attribute(root, "input_label", trace.input_label);
  write_attribute(root, "mechanism", trace.mechanism.name);
  write_attribute(root, "mechanism_parameters", to_json(trace.mechanism.parameters));
  write_attribute(root, "identity_in_maps", std::int64_t{trace.identity_in_maps});
  write_attribute(root, "mechanism_trained", std::int64_t{trace.mechanism_trained});
  write_attribute(root, "prefix_tokens", trace.layout.prefix);
  write_attribute(root, "grid_rows", trace.layout.rows);
  write_attribute(root, "grid_columns", trace.layout.columns);
  write_attribute(root, "labels", json_text(trace.labels));
  write_attribute(root, "provenance", json_text(trace.provenance));
  write_tensor(root, "logits", trace.logits);
  if (trace.image && !trace.image->pixels.empty()) {
    const Image& image = *trace.image;
    write_data(root, "image", H5T_STD_U8LE, H5T_NATIVE_UINT8,
               {image.height, image.width, image.channels}, image.pixels.data());
  }
  for (std::size_t i = 0; i < trace.layers.size(); ++i) write_layer(root, i, trace.layers[i]);
  must(H5Fflush(root, H5F_SCOPE_LOCAL) >= 0);
}

// ---- reading: the file may come from anyone

Error damaged(std::string what, const std::string& subject) {
  return Error(ErrorKind::damaged, std::move(what)).about(subject);
}

/// True if `name` is there as a plain member of this file, not a link elsewhere.
bool has_member(hid_t parent, const std::string& name) {
  if (H5Lexists(parent, name.c_str(), H5P_DEFAULT) <= 0) return false;
  H5L_info_t info;
  if (H5Lget_info(parent, name.c_str(), &info, H5P_DEFAULT) < 0) return false;
  if (info.type != H5L_TYPE_HARD) {
    throw Error(ErrorKind::damaged, "a link that leads elsewhere is not followed").about(name);
  }
  return true;
}

Hdf5Object open_group(hid_t parent, const std::string& name) {
  Hdf5Object group(H5Gopen2(parent, name.c_str(), H5P_DEFAULT));
  if (!group) throw damaged("this is not a group of data sets", name);
  return group;
}

/// Refuses what would read other files, run plug-ins, or decode to far more than is stored.
void check_storage(hid_t data, const Shape& shape, std::size_t element_size,
                   const std::string& subject) {
  const Hdf5Object properties(H5Dget_create_plist(data));
  const H5D_layout_t layout = H5Pget_layout(properties.id());
  if (layout == H5D_VIRTUAL || layout == H5D_LAYOUT_ERROR ||
      H5Pget_external_count(properties.id()) != 0) {
    throw damaged("a data set that lies in other files is not followed", subject);
  }
  for (int i = 0; i < H5Pget_nfilters(properties.id()); ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(properties.id(), static_cast<unsigned>(i), &flags,
                                               &values, nullptr, 0, nullptr, nullptr);
    if (filter <= 0 || filter >= H5Z_FILTER_RESERVED) {
      throw Error(ErrorKind::unsupported, "the data set needs a filter HDF5 itself does not have")
          .about(subject)
          .remedy("write it uncompressed or with gzip");
    }
  }
  constexpr std::uint64_t most_bytes = std::uint64_t{16} << 30;
  constexpr std::uint64_t deflate_ratio = 1100;  // above what deflate can reach
  const std::uint64_t bytes = static_cast<std::uint64_t>(element_count(shape)) * element_size;
  if (bytes > most_bytes || bytes / deflate_ratio > H5Dget_storage_size(data) + 4096) {
    throw damaged("the data set claims to be far larger than what is stored", subject)
        .found(to_string(shape));
  }
}

Hdf5Object open_data(hid_t parent, const std::string& name, H5T_class_t wanted, Shape& shape,
                     std::size_t element_size, const std::string& subject) {
  Hdf5Object data(H5Dopen2(parent, name.c_str(), H5P_DEFAULT));
  if (!data) throw damaged("this is not a data set", subject);
  const Hdf5Object type(H5Dget_type(data.id()));
  if (H5Tget_class(type.id()) != wanted) {
    throw damaged("the data set has the wrong element type", subject)
        .expected(wanted == H5T_FLOAT ? "floating point" : "integers");
  }
  const Hdf5Object space(H5Dget_space(data.id()));
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (rank < 0 || rank > 8) throw damaged("the data set has no usable shape", subject);
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr);
  shape.clear();
  for (const hsize_t extent : extents) {
    if (extent > (hsize_t{1} << 40)) throw damaged("the data set is too large", subject);
    shape.push_back(static_cast<std::int64_t>(extent));
  }
  check_storage(data.id(), shape, element_size, subject);
  return data;
}

Tensor read_tensor(hid_t parent, const std::string& name, const std::string& subject) {
  Shape shape;
  const Hdf5Object data = open_data(parent, name, H5T_FLOAT, shape, sizeof(float), subject);
  Tensor tensor(shape);
  if (H5Dread(data.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.data()) < 0) {
    throw damaged("the data set cannot be read", subject);
  }
  return tensor;
}

/// `tensor` of `rank` axes; one leading axis of extent 1 (a batch of one) more is dropped.
Tensor without_batch(Tensor tensor, std::int64_t rank, const std::string& subject,
                     const char* expected) {
  Shape shape = tensor.shape();
  if (tensor.rank() == rank + 1 && shape.front() == 1) shape.erase(shape.begin());
  if (static_cast<std::int64_t>(shape.size()) != rank || tensor.empty()) {
    throw damaged("the data set has the wrong shape", subject)
        .expected(expected)
        .found(to_string(tensor.shape()));
  }
  return std::move(tensor).reshaped(shape);
}

std::string read_text(hid_t object, const char* name, const std::string& otherwise = {}) {
  if (H5Aexists(object, name) <= 0) return otherwise;
  const Hdf5Object attribute(H5Aopen(object, name, H5P_DEFAULT));
  const Hdf5Object type(H5Aget_type(attribute.id()));
  const Hdf5Object space(H5Aget_space(attribute.id()));
  if (!attribute || H5Tget_class(type.id()) != H5T_STRING ||
      H5Sget_simple_extent_npoints(space.id()) != 1) {
    throw damaged("the attribute is not a text", name);
  }
  if (H5Tis_variable_str(type.id()) > 0) {
    char* value = nullptr;
    const Hdf5Object memory(H5Tcopy(H5T_C_S1));
    H5Tset_size(memory.id(), H5T_VARIABLE);
    H5Tset_cset(memory.id(), H5Tget_cset(type.id()));
    if (H5Aread(attribute.id(), memory.id(), &value) < 0) {
      throw damaged("the attribute cannot be read", name);
    }
    std::string text = value ? value : "";
    H5free_memory(value);
    return text;
  }
  std::string text(H5Tget_size(type.id()), '\0');
  if (H5Aread(attribute.id(), type.id(), text.data()) < 0) {
    throw damaged("the attribute cannot be read", name);
  }
  return text.substr(0, text.find('\0'));
}

std::int64_t read_number(hid_t object, const char* name, std::int64_t otherwise,
                         std::int64_t most) {
  if (H5Aexists(object, name) <= 0) return otherwise;
  const Hdf5Object attribute(H5Aopen(object, name, H5P_DEFAULT));
  const Hdf5Object type(H5Aget_type(attribute.id()));
  const Hdf5Object space(H5Aget_space(attribute.id()));
  const H5T_class_t kind = H5Tget_class(type.id());
  // h5py writes True and False as an enumeration.
  const Hdf5Object base(kind == H5T_ENUM ? H5Tget_super(type.id()) : H5Tcopy(H5T_NATIVE_INT64));
  std::int64_t value = 0;
  bool read = attribute && H5Sget_simple_extent_npoints(space.id()) == 1;
  if (read && kind == H5T_ENUM) {
    std::int8_t small = 0;
    read = H5Tget_size(base.id()) == 1 && H5Aread(attribute.id(), type.id(), &small) >= 0;
    value = small;
  } else if (read) {
    read = kind == H5T_INTEGER && H5Aread(attribute.id(), H5T_NATIVE_INT64, &value) >= 0;
  }
  if (!read || value < 0 || value > most) {
    throw damaged("the attribute is not a whole number from 0 to " + std::to_string(most), name);
  }
  return value;
}

json read_json(hid_t object, const char* name, const char* otherwise) {
  json value = json::parse(read_text(object, name, otherwise), nullptr, false);
  if (value.is_discarded()) throw damaged("the attribute is not valid JSON", name);
  return value;
}

LayerTrace read_layer(hid_t file, const std::string& name) {
  const Hdf5Object group = open_group(file, name);
  const auto subject = [&](const char* member) { return "/" + name + "/" + member; };
  LayerTrace layer;
  if (has_member(group.id(), "implied_map")) {
    layer.implied_map =
        without_batch(read_tensor(group.id(), "implied_map", subject("implied_map")), 3,
                      subject("implied_map"), "[heads, N, N]");
    if (layer.implied_map.extent(1) != layer.implied_map.extent(2)) {
      throw damaged("the maps are not square", subject("implied_map"))
          .expected("[heads, N, N]")
          .found(to_string(layer.implied_map.shape()));
    }
  }
  const std::pair<const char*, Tensor*> per_head[] = {
      {"queries", &layer.queries}, {"keys", &layer.keys}, {"values", &layer.values}};
  for (const auto& [member, tensor] : per_head) {
    if (!has_member(group.id(), member)) continue;
    *tensor = without_batch(read_tensor(group.id(), member, subject(member)), 3, subject(member),
                            "[heads, N, d]");
  }
  if (has_member(group.id(), "tokens")) {
    layer.tokens = without_batch(read_tensor(group.id(), "tokens", subject("tokens")), 2,
                                 subject("tokens"), "[N, D]");
  }
  if (has_member(group.id(), "quantities")) {
    const Hdf5Object quantities = open_group(group.id(), "quantities");
    H5G_info_t info;
    must(H5Gget_info(quantities.id(), &info) >= 0);
    for (hsize_t i = 0; i < std::min<hsize_t>(info.nlinks, 256); ++i) {
      char member[256] = {};
      H5Lget_name_by_idx(quantities.id(), ".", H5_INDEX_NAME, H5_ITER_INC, i, member, sizeof member,
                         H5P_DEFAULT);
      if (!has_member(quantities.id(), member)) continue;
      layer.quantities[member] =
          read_tensor(quantities.id(), member, subject("quantities") + "/" + member);
    }
  }
  return layer;
}

/// Every layer that recorded something recorded the same number of tokens.
void check_agreement(const Trace& trace) {
  const std::int64_t tokens = trace.tokens();
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    const LayerTrace& layer = trace.layers[i];
    for (const Tensor* tensor : {&layer.implied_map, &layer.queries, &layer.keys, &layer.values}) {
      if (tensor->empty() || tensor->extent(1) == tokens) continue;
      throw damaged("the layers have different numbers of tokens", "/" + layer_name(i))
          .expected(std::to_string(tokens))
          .found(std::to_string(tensor->extent(1)));
    }
  }
  const TokenLayout& layout = trace.layout;
  if (layout.has_grid() && layout.prefix + layout.rows * layout.columns != tokens) {
    throw damaged("the token grid does not fit the maps", "grid_rows")
        .expected(std::to_string(tokens) + " tokens")
        .found(std::to_string(layout.prefix) + " + " + std::to_string(layout.rows) + " × " +
               std::to_string(layout.columns));
  }
}

std::optional<Image> read_image_data(hid_t file) {
  if (!has_member(file, "image")) return std::nullopt;
  Shape shape;
  const Hdf5Object data = open_data(file, "image", H5T_INTEGER, shape, 1, "/image");
  if (shape.size() != 3 || (shape[2] != 1 && shape[2] != 3) || element_count(shape) == 0) {
    throw damaged("the image has the wrong shape", "/image")
        .expected("[height, width, 1 or 3]")
        .found(to_string(shape));
  }
  Image image{shape[1], shape[0], shape[2], {}};
  image.pixels.resize(static_cast<std::size_t>(element_count(shape)));
  if (H5Dread(data.id(), H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, image.pixels.data()) <
      0) {
    throw damaged("the image cannot be read", "/image");
  }
  return image;
}

Trace read_contents(const std::filesystem::path& path, hid_t file) {
  Trace trace;
  trace.model_name = read_text(file, "model_name", path.stem().string());
  trace.input_label = read_text(file, "input_label");
  trace.mechanism.name = read_text(file, "mechanism", "unknown");
  trace.mechanism.parameters = parameters_from_json(read_text(file, "mechanism_parameters", "{}"));
  trace.identity_in_maps = read_number(file, "identity_in_maps", 0, 1) != 0;
  trace.mechanism_trained = read_number(file, "mechanism_trained", 1, 1) != 0;
  trace.layout.prefix = read_number(file, "prefix_tokens", 0, 1 << 20);
  trace.layout.rows = read_number(file, "grid_rows", 0, 1 << 20);
  trace.layout.columns = read_number(file, "grid_columns", 0, 1 << 20);
  for (const json& label : read_json(file, "labels", "[]")) {
    trace.labels.push_back(label.is_string() ? label.get<std::string>() : label.dump());
  }
  const json provenance = read_json(file, "provenance", "{}");
  for (const auto& [key, value] : provenance.items()) {
    trace.provenance[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  constexpr std::size_t most_layers = 4096;
  while (trace.layers.size() < most_layers && has_member(file, layer_name(trace.layers.size()))) {
    trace.layers.push_back(read_layer(file, layer_name(trace.layers.size())));
  }
  if (has_member(file, "logits")) {
    trace.logits = without_batch(read_tensor(file, "logits", "/logits"), 1, "/logits", "[classes]");
  }
  trace.image = read_image_data(file);
  check_agreement(trace);
  return trace;
}

}  // namespace

void write_trace(const std::filesystem::path& file, const Trace& trace) {
  silence_hdf5();
  AtomicFile target(file);
  try {
    write_contents(target.temporary(), trace);
  } catch (Error& error) {
    error.in_file(file);
    throw;
  }
  target.commit();
}

bool is_trace_file(const std::filesystem::path& file) {
  silence_hdf5();
  if (H5Fis_hdf5(file.c_str()) <= 0) return false;
  const Hdf5Object opened(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!opened || H5Lexists(opened.id(), "layer_00", H5P_DEFAULT) <= 0) return false;
  return H5Lexists(opened.id(), "layer_00/implied_map", H5P_DEFAULT) > 0;
}

Trace read_trace(const std::filesystem::path& file) {
  silence_hdf5();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    throw Error(ErrorKind::io, "there is no such file").in_file(file);
  }
  if (!is_trace_file(file)) {
    throw Error(ErrorKind::not_this_format, "not a trace: it holds no /layer_00/implied_map")
        .in_file(file);
  }
  const Hdf5Object opened(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  try {
    return read_contents(file, opened.id());
  } catch (Error& error) {
    error.in_file(file);
    throw;
  }
}

}  // namespace attnscope
