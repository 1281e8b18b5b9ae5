// Reading traces, which may come from anyone: what the file claims is checked by the HDF5 reader of
// checkpoints, what the numbers mean is checked here.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/formats/readers.h"
#include "core/checkpoint/hdf5/hdf5_file.h"
#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/parameters/parameters_json.h"
#include "core/shown_text.h"
#include "core/text/json.h"
#include "core/trace/layer_group.h"
#include "core/trace/trace_arrays.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

using nlohmann::json;

constexpr const char* kFirstMap = "layer_00/implied_map";

Error damaged(std::string what, const std::string& subject) {
  return Error(ErrorKind::damaged, std::move(what)).about(subject);
}

/// The elements of `name`, of `rank` axes; one leading axis of extent 1 (a batch of one) more is
/// dropped. Nothing if there is no such tensor.
std::optional<TensorView> stored_view(const Checkpoint& file, const std::string& name,
                                      std::int64_t rank, const char* expected) {
  const StoredTensor* const stored = file.find(name);
  if (!stored) return std::nullopt;
  if (!is_floating(stored->dtype)) {
    throw damaged("the data set has the wrong element type", "/" + name)
        .expected("floating point")
        .found(std::string(name_of(stored->dtype)));
  }
  Shape shape = stored->shape;
  const bool batch = static_cast<std::int64_t>(shape.size()) == rank + 1 && shape.front() == 1;
  if (batch) shape.erase(shape.begin());
  if ((rank > 0 && static_cast<std::int64_t>(shape.size()) != rank) || element_count(shape) == 0) {
    throw damaged("the data set has the wrong shape", "/" + name)
        .expected(expected)
        .found(to_string(stored->shape));
  }
  TensorView view = stored->view();
  if (batch) view.strides.erase(view.strides.begin());
  view.shape = std::move(shape);
  return view;
}

Tensor read_tensor(const Checkpoint& file, const std::string& name, std::int64_t rank,
                   const char* expected) {
  const std::optional<TensorView> view = stored_view(file, name, rank, expected);
  return view ? view->to_float() : Tensor();
}

/// The maps, and what float32 would round of them.
void take_map(const TensorView& view, LayerTrace& layer) {
  layer.implied_map = view.to_float();
  if (view.dtype != DType::f64) return;
  layer.exact_map = std::make_shared<const std::vector<double>>(view.to_double());
}

std::string text_of(const Checkpoint& file, const char* name, const std::string& otherwise) {
  const auto found = file.metadata().find(name);
  return found == file.metadata().end() ? otherwise : found->second;
}

std::int64_t number_of(const Checkpoint& file, const char* name, std::int64_t otherwise,
                       std::int64_t most) {
  const auto found = file.metadata().find(name);
  if (found == file.metadata().end()) return otherwise;
  std::string text = found->second;
  // h5py writes True and False as an enumeration.
  if (text == "TRUE" || text == "true" || text == "True") text = "1";
  if (text == "FALSE" || text == "false" || text == "False") text = "0";
  std::int64_t value = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < 0 || value > most) {
    throw damaged("the attribute is not a whole number from 0 to " + std::to_string(most), name)
        .found(text.substr(0, 80));
  }
  return value;
}

json json_of(const Checkpoint& file, const char* name, const char* otherwise) {
  try {
    return parse_json(text_of(file, name, otherwise));
  } catch (Error& error) {
    throw damaged("the attribute " + error.message(), name)
        .expected(error.expected_text())
        .found(error.found_text());
  }
}

/// A JSON value in one line; texts without their quotes.
std::string printed(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string text_in(const json& value) {
  return shown_text(value.is_string() ? value.get<std::string>() : printed(value));
}

LayerTrace read_layer(const Checkpoint& file, const std::string& name) {
  LayerTrace layer;
  if (const auto map = stored_view(file, name + "/implied_map", 3, "[heads, N, M]")) {
    take_map(*map, layer);
  }
  layer.queries = read_tensor(file, name + "/queries", 3, "[heads, N, d]");
  layer.keys = read_tensor(file, name + "/keys", 3, "[heads, M, d]");
  layer.values = read_tensor(file, name + "/values", 3, "[heads, M, d]");
  layer.tokens = read_tensor(file, name + "/tokens", 2, "[N, D]");
  MapFactors factors{read_tensor(file, name + "/left_factor", 3, "[heads, N, b]"),
                     read_tensor(file, name + "/right_factor", 3, "[heads, M, b]")};
  if (!factors.left.empty() && !factors.right.empty()) layer.factors = std::move(factors);
  const std::string quantities = name + "/quantities/";
  for (const StoredTensor& stored : file.tensors()) {
    if (!stored.name.starts_with(quantities)) continue;
    layer.quantities[stored.name.substr(quantities.size())] =
        read_tensor(file, stored.name, 0, "any shape");
  }
  return layer;
}

/// Factors multiply to the maps beside them.
void check_factors(const LayerTrace& layer, const std::string& name) {
  if (!layer.factors) return;
  const Tensor& left = layer.factors->left;
  const Tensor& right = layer.factors->right;
  const Shape product = {left.extent(0), left.extent(1), right.extent(1)};
  const bool fit = left.extent(0) == right.extent(0) && left.extent(2) == right.extent(2);
  if (fit && (layer.implied_map.empty() || layer.implied_map.shape() == product)) return;
  throw damaged("the factors of the maps do not fit", "/" + name + "/left_factor")
      .expected("[heads, N, b], and right_factor [heads, M, b]")
      .found(to_string(left.shape()) + " and " + to_string(right.shape()));
}

/// 0 unless the tensor is there and has that axis.
std::int64_t extent_of(const Tensor& tensor, std::size_t axis) {
  return axis < tensor.shape().size() ? tensor.extent(axis) : 0;
}

/// A layer's tensors speak of the same tokens, and its grids have room for them.
void check_agreement(const LayerTrace& layer, const std::string& name) {
  const auto agree = [&](std::int64_t wanted, std::int64_t found, const char* what) {
    if (wanted == 0 || found == 0 || wanted == found) return;
    throw damaged("the data sets of the layer have different numbers of tokens", name)
        .expected(std::to_string(wanted))
        .found(std::to_string(found) + " " + what);
  };
  const Tensor& map = layer.implied_map;
  const std::int64_t queries = map.empty() ? extent_of(layer.queries, 1) : map.extent(1);
  const std::int64_t keys = map.empty() ? extent_of(layer.keys, 1) : map.extent(2);
  agree(queries, extent_of(layer.queries, 1), "queries");
  agree(queries, extent_of(layer.tokens, 0), "tokens");
  agree(keys, extent_of(layer.keys, 1), "keys");
  agree(keys, extent_of(layer.values, 1), "values");
  for (const auto& [layout, count] :
       {std::pair(&layer.layout, queries), std::pair(&layer.key_layout, keys)}) {
    if (!layout->has_grid() || count == 0) continue;
    if (layout->prefix + layout->rows * layout->columns == count) continue;
    throw damaged("the token grid does not fit the maps", name + " grid_rows")
        .expected(std::to_string(count) + " tokens")
        .found(std::to_string(layout->prefix) + " + " + std::to_string(layout->rows) + " × " +
               std::to_string(layout->columns));
  }
}

TokenLayout layout_from(const json& value, const char* attribute) {
  TokenLayout layout;
  for (const auto& [key, member] :
       {std::pair("prefix", &TokenLayout::prefix), std::pair("rows", &TokenLayout::rows),
        std::pair("columns", &TokenLayout::columns)}) {
    if (!value.is_object() || !value.contains(key) || !value[key].is_number_unsigned() ||
        value[key] > (1 << 20)) {
      throw damaged("the attribute is not a list of layouts", attribute)
          .expected(R"([{"queries": {"prefix": 0, "rows": 56, "columns": 56}, "keys": {…}}, …])");
    }
    layout.*member = value[key].get<std::int64_t>();
  }
  return layout;
}

/// Grids of the layers: what the file says of each, else the whole trace's. Keys of another number
/// than queries lie nowhere unless it is said where.
void read_layouts(const Checkpoint& file, Trace& trace) {
  const json layouts = json_of(file, "layer_layouts", "null");
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    LayerTrace& layer = trace.layers[i];
    layer.layout = layer.key_layout = trace.layout;
    const Tensor& map = layer.implied_map;
    if (extent_of(map, 1) != extent_of(map, 2)) layer.key_layout = {};
    if (!layouts.is_array() || i >= layouts.size() || !layouts[i].is_object()) continue;
    const json queries = layouts[i].value("queries", json()),
               keys = layouts[i].value("keys", json());
    if (!queries.is_null()) layer.layout = layout_from(queries, "layer_layouts");
    if (!keys.is_null()) layer.key_layout = layout_from(keys, "layer_layouts");
  }
}

void read_mechanisms(const Checkpoint& file, Trace& trace) {
  const json mechanisms = json_of(file, "layer_mechanisms", "null");
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    if (!mechanisms.is_array() || i >= mechanisms.size() || mechanisms[i].is_null()) continue;
    const json& own = mechanisms[i];
    const bool fits = own.is_object() && own.contains("name") && own["name"].is_string() &&
                      own.value("identity", json(false)).is_boolean();
    if (!fits) {
      throw damaged("the attribute is not a list of mechanisms", "layer_mechanisms")
          .expected(R"([null, {"name": "softmax", "parameters": {}, "identity": false}, …])");
    }
    trace.layers[i].mechanism = {
        own["name"].get<std::string>(),
        parameters_from_json(own.value("parameters", json::object()).dump())};
    trace.layers[i].identity = own.value("identity", false);
  }
}

std::optional<Image> read_picture(const Checkpoint& file) {
  const StoredTensor* const stored = file.find("image");
  if (!stored) return std::nullopt;
  const Shape& shape = stored->shape;
  if (stored->dtype != DType::u8 || shape.size() != 3 || (shape[2] != 1 && shape[2] != 3) ||
      element_count(shape) == 0) {
    throw damaged("the image has the wrong shape or element type", "/image")
        .expected("uint8 [height, width, 1 or 3]")
        .found(std::string(name_of(stored->dtype)) + " " + to_string(shape));
  }
  Image image{shape[1], shape[0], shape[2], {}};
  const std::vector<std::int64_t> values = stored->view().to_int64();
  image.pixels.assign(values.begin(), values.end());
  return image;
}

Trace read_contents(const Checkpoint& file) {
  Trace trace;
  trace.model_name = shown_text(text_of(file, "model_name", file.path().stem().string()));
  trace.input_label = shown_text(text_of(file, "input_label", ""));
  trace.mechanism.name = shown_text(text_of(file, "mechanism", "unknown"));
  trace.mechanism.parameters = parameters_from_json(text_of(file, "mechanism_parameters", "{}"));
  trace.identity_in_maps = number_of(file, "identity_in_maps", 0, 1) != 0;
  trace.mechanism_trained = number_of(file, "mechanism_trained", 1, 1) != 0;
  trace.map_channels = number_of(file, "map_channels", 1, 1 << 20);
  if (file.metadata().contains("map_channel")) {
    trace.map_channel = number_of(file, "map_channel", 0, 1 << 20);
  }
  trace.layout.prefix = number_of(file, "prefix_tokens", 0, 1 << 20);
  trace.layout.rows = number_of(file, "grid_rows", 0, 1 << 20);
  trace.layout.columns = number_of(file, "grid_columns", 0, 1 << 20);
  trace.causal = number_of(file, "causal", 0, 1) != 0;
  for (const json& text : json_of(file, "token_texts", "[]")) {
    trace.layout.texts.push_back(
        shown_lines(text.is_string() ? text.get<std::string>() : printed(text)));
  }
  for (const json& token : json_of(file, "special_tokens", "[]")) {
    const auto count = std::ssize(trace.layout.texts);
    const std::int64_t after = trace.layout.special.empty() ? 0 : trace.layout.special.back() + 1;
    if (!token.is_number_unsigned() ||
        token.get<std::uint64_t>() >= static_cast<std::size_t>(count) ||
        token.get<std::int64_t>() < after) {
      throw damaged("the special tokens are not places in the text, in order", "special_tokens")
          .expected("whole numbers below " + std::to_string(count))
          .found(printed(token));
    }
    trace.layout.special.push_back(token.get<std::int64_t>());
  }
  for (const json& label : json_of(file, "labels", "[]")) {
    trace.labels.push_back(text_in(label));
  }
  const json provenance = json_of(file, "provenance", "{}");
  for (const auto& [key, value] : provenance.items()) {
    trace.provenance[shown_text(key)] = text_in(value);
  }
  std::set<std::string> groups;
  for (const StoredTensor& stored : file.tensors()) {
    groups.insert(stored.name.substr(0, stored.name.find('/')));
  }
  // A layer that recorded nothing is an empty group, which the list of tensors does not show.
  const auto layers = static_cast<std::size_t>(number_of(file, "layers", 0, 4096));
  while (trace.layers.size() < layers || groups.contains(layer_group(trace.layers.size()))) {
    trace.layers.push_back(read_layer(file, layer_group(trace.layers.size())));
    check_factors(trace.layers.back(), layer_group(trace.layers.size() - 1));
  }
  trace.features = read_tensor(file, "features", 1, "[D]");
  const json bounds = json_of(file, "rank_bounds", "[]");
  for (std::size_t i = 0; i < trace.layers.size() && i < bounds.size(); ++i) {
    if (!bounds[i].is_number_unsigned()) {
      throw damaged("a bound of the rank is not a whole number", "rank_bounds");
    }
    trace.layers[i].rank_bound = bounds[i].get<std::int64_t>();
  }
  trace.logits = read_tensor(file, "logits", 1, "[classes]");
  trace.embedded = read_tensor(file, "embedded", 2, "[N, D]");
  trace.image = read_picture(file);
  read_layouts(file, trace);
  read_mechanisms(file, trace);
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    check_agreement(trace.layers[i], "/" + layer_group(i));
  }
  if (!trace.layout.texts.empty() && std::ssize(trace.layout.texts) != trace.tokens()) {
    throw damaged("there are not as many texts as tokens", "token_texts")
        .expected(std::to_string(trace.tokens()))
        .found(std::to_string(trace.layout.texts.size()));
  }
  return trace;
}

/// A trace of maps alone.
Trace read_arrays(const Checkpoint& file) {
  Trace trace;
  trace.model_name = shown_text(file.path().stem().string());
  trace.mechanism.name = "unknown";
  for (const StoredMaps& maps : maps_in_arrays(file)) {
    try {
      take_map(maps.view(), trace.layers.emplace_back());
    } catch (Error& error) {
      error.about(maps.array->name);
      throw;
    }
  }
  read_layouts(file, trace);
  return trace;
}

bool holds_trace(const Checkpoint& file) {
  return file.find(kFirstMap) != nullptr ||
         (file.format() != "hdf5" && !maps_in_arrays(file).empty());
}

}  // namespace

bool is_trace_file(const std::filesystem::path& file) {
  try {
    const std::shared_ptr<const MappedFile> bytes = MappedFile::open(file);
    if (!recognises_hdf5(file, bytes->bytes().first(std::min<std::size_t>(64, bytes->size())))) {
      return holds_trace(open_checkpoint(file));
    }
    // A model file may have many data sets: they need not all be seen.
    return hdf5_has(file, kFirstMap);
  } catch (const Error&) {
    return false;
  }
}

Trace read_trace(const std::filesystem::path& file) {
  const Checkpoint opened = open_checkpoint(file);
  if (!holds_trace(opened)) {
    throw Error(ErrorKind::not_this_format, "not a trace: it holds no /layer_00/implied_map")
        .in_file(file)
        .remedy("or save arrays of maps alone: [heads, N, N] for each layer");
  }
  try {
    return opened.find(kFirstMap) != nullptr ? read_contents(opened) : read_arrays(opened);
  } catch (Error& error) {
    error.in_file(file);
    throw;
  }
}

}  // namespace attnscope
