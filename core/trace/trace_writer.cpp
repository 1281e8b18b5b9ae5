// The contents of trace files, which trace_reader.cpp reads, and writing them.
#include <nlohmann/json.hpp>
#include <utility>

#include "core/checkpoint/format_version.h"
#include "core/checkpoint/hdf5/hdf5_writing.h"
#include "core/error.h"
#include "core/parameters/parameters_json.h"
#include "core/trace/layer_name.h"
#include "core/trace/maps_of_vectors.h"
#include "core/trace/trace_contents.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

using nlohmann::json;

/// Collects the attributes and arrays of a trace.
class Contents {
 public:
  void attribute(std::string name, std::string text) {
    contents_.attributes.emplace_back(std::move(name), std::move(text));
  }
  void attribute(std::string name, std::int64_t number) {
    contents_.attributes.emplace_back(std::move(name), number);
  }
  void array(std::string name, DType dtype, Shape shape, const void* data) {
    contents_.arrays.push_back({std::move(name), dtype, std::move(shape), data, nullptr});
  }
  void tensor(std::string name, const Tensor& tensor) {
    if (!tensor.empty()) array(std::move(name), DType::f32, tensor.shape(), tensor.data());
  }
  /// Numbers that are no part of the trace.
  TraceArray& numbers(std::string name, std::vector<std::int64_t> values) {
    const auto kept = std::make_shared<const std::vector<std::int64_t>>(std::move(values));
    return contents_.arrays.emplace_back(
        TraceArray{std::move(name), DType::i64, {std::ssize(*kept)}, kept->data(), kept});
  }
  [[nodiscard]] TraceContents take() { return std::move(contents_); }

 private:
  TraceContents contents_;
};

void add_blocks(Contents& to, const std::string& layer, const MapBlocks& blocks) {
  std::vector<std::int64_t> sizes, tokens;
  for (const std::vector<std::int64_t>& block : blocks.partition()) {
    sizes.push_back(std::ssize(block));
    tokens.insert(tokens.end(), block.begin(), block.end());
  }
  to.numbers(layer + "block_sizes", std::move(sizes));
  to.numbers(layer + "block_tokens", std::move(tokens));
  to.array(layer + "map_blocks", DType::f32,
           {blocks.heads(), std::ssize(blocks.entries()) / blocks.heads()},
           blocks.entries().data());
}

void add_seen(Contents& to, const std::string& layer,
              const std::vector<std::pair<std::int64_t, std::int64_t>>& ranges) {
  std::vector<std::int64_t> ends;
  for (const auto& [first, end] : ranges) ends.insert(ends.end(), {first, end});
  to.numbers(layer + "seen_keys", std::move(ends)).shape = {std::ssize(ranges), 2};
}

void add_layer(Contents& to, std::size_t index, const LayerTrace& layer, bool with_maps) {
  const std::string name = layer_group(index) + "/";
  if (layer.exact_map) {
    to.array(name + "implied_map", DType::f64, layer.implied_map.shape(), layer.exact_map->data());
  } else if (layer.implied_map.blocks()) {
    add_blocks(to, name, *layer.implied_map.blocks());
  } else if (with_maps) {
    to.tensor(name + "implied_map", layer.implied_map.whole());
  }
  if (layer.seen && !layer.seen->ranges.empty()) add_seen(to, name, layer.seen->ranges);
  to.tensor(name + "queries", layer.queries);
  to.tensor(name + "keys", layer.keys);
  to.tensor(name + "values", layer.values);
  to.tensor(name + "tokens", layer.tokens);
  if (layer.factors) {
    to.tensor(name + "left_factor", layer.factors->left);
    to.tensor(name + "right_factor", layer.factors->right);
  }
  for (const auto& [quantity, tensor] : layer.quantities) {
    to.tensor(name + "quantities/" + quantity, tensor);
  }
}

std::string json_dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool is_unknown(const TokenLayout& layout) { return layout.prefix == 0 && !layout.has_grid(); }

json to_json_object(const TokenLayout& layout) {
  if (is_unknown(layout)) return nullptr;
  return {{"prefix", layout.prefix},
          {"registers", layout.registers},
          {"rows", layout.rows},
          {"columns", layout.columns}};
}

/// True if the layout `a` follows from `b` and does not need to be stored.
bool goes_without_saying(const TokenLayout& a, const TokenLayout& b) {
  return is_unknown(a) || (a.prefix == b.prefix && a.rows == b.rows && a.columns == b.columns);
}

/// Adds the texts of tokens and the indices of special tokens. `whose` prefixes the attribute
/// names.
void add_texts(Contents& to, const TokenLayout& layout, const std::string& whose) {
  if (!layout.texts.empty()) to.attribute(whose + "token_texts", json_dump(layout.texts));
  if (!layout.special.empty()) to.attribute(whose + "special_tokens", json_dump(layout.special));
  if (layout.pictures.empty()) return;
  json pictures = json::array();
  for (const TokenCells& cells : layout.pictures) {
    json& tokens = pictures.emplace_back(json{cells.first, cells.rows, cells.columns});
    if (cells.tiles.empty()) continue;
    tokens.insert(tokens.end(), {cells.tiles, cells.tiles_across, cells.overview,
                                 cells.overview_rows, cells.overview_columns});
  }
  // A single picture is written as by earlier versions, which read no list of pictures.
  const bool one = pictures.size() == 1;
  to.attribute(whose + "picture_tokens", json_dump(one ? pictures.front() : pictures));
}

/// Adds the attributes that differ from layer to layer, if any do.
void add_differences(Contents& to, const Trace& trace) {
  json layouts = json::array(), mechanisms = json::array();
  bool grids_differ = false, mechanisms_differ = false;
  for (const LayerTrace& layer : trace.layers) {
    layouts.push_back(
        {{"queries", to_json_object(layer.layout)}, {"keys", to_json_object(layer.key_layout)}});
    grids_differ = grids_differ || !goes_without_saying(layer.layout, trace.layout) ||
                   !goes_without_saying(layer.key_layout, trace.layout);
    mechanisms.push_back(nullptr);
    if (!layer.mechanism) continue;
    mechanisms_differ = true;
    mechanisms.back() = {{"name", layer.mechanism->name},
                         {"parameters", json::parse(to_json(layer.mechanism->parameters))},
                         {"identity", layer.identity.value_or(trace.identity_in_maps)}};
  }
  const LayerTrace* decoding = nullptr;
  json kinds = json::array();
  for (const LayerTrace& layer : trace.layers) {
    kinds.push_back(layer_kind_name(layer.kind));
    if (layer.kind == LayerKind::decoder) decoding = &layer;
  }
  const bool kinds_differ = std::ranges::any_of(
      trace.layers, [](const LayerTrace& layer) { return layer.kind != LayerKind::plain; });
  if (kinds_differ) to.attribute("layer_kinds", json_dump(kinds));
  if (decoding) add_texts(to, decoding->layout, "decoder_");
  if (grids_differ) to.attribute("layer_layouts", json_dump(layouts));
  if (mechanisms_differ) to.attribute("layer_mechanisms", json_dump(mechanisms));
}

/// Adds the factor of q·k in each layer, and which layers' masks the contents describe completely.
void add_scales(Contents& to, const Trace& trace) {
  json scales = json::array(), masks = json::array();
  for (const LayerTrace& layer : trace.layers) {
    scales.push_back(layer.score_scale ? json(*layer.score_scale) : json());
    const bool said = layer.seen && (layer.seen->windows.empty() || layer.implied_map.blocks());
    masks.push_back(said);
  }
  to.attribute("score_scales", json_dump(scales));
  to.attribute("known_masks", json_dump(masks));
}

}  // namespace

TraceContents contents_of(const Trace& trace) {
  Contents to;
  to.attribute("format", "attnscope-trace");
  to.attribute("format_version", kFormatVersion);
  to.attribute("model_name", trace.model_name);
  to.attribute("input_label", trace.input_label);
  to.attribute("mechanism", trace.mechanism.name);
  to.attribute("mechanism_parameters", to_json(trace.mechanism.parameters));
  to.attribute("identity_in_maps", std::int64_t{trace.identity_in_maps});
  to.attribute("mechanism_trained", std::int64_t{trace.mechanism_trained});
  to.attribute("map_channels", trace.map_channels);
  if (trace.map_channel) to.attribute("map_channel", *trace.map_channel);
  to.attribute("prefix_tokens", trace.layout.prefix);
  to.attribute("register_tokens", trace.layout.registers);
  to.attribute("grid_rows", trace.layout.rows);
  to.attribute("grid_columns", trace.layout.columns);
  to.attribute("layers", static_cast<std::int64_t>(trace.layers.size()));
  std::vector<std::int64_t> bounds;
  for (const LayerTrace& layer : trace.layers) bounds.push_back(layer.rank_bound);
  to.attribute("rank_bounds", json_dump(bounds));
  add_scales(to, trace);
  add_differences(to, trace);
  to.attribute("causal", std::int64_t{trace.causal});
  add_texts(to, trace.layout, "");
  to.attribute("labels", json_dump(trace.labels));
  to.attribute("provenance", json_dump(trace.provenance));
  to.tensor("features", trace.features);
  to.tensor("logits", trace.logits);
  to.tensor("embedded", trace.embedded);
  for (std::size_t i = 0; i < trace.images.size(); ++i) {
    const Image& image = trace.images[i];
    if (image.pixels.empty()) break;
    to.array(image_name(i), DType::u8, {image.height, image.width, image.channels},
             image.pixels.data());
  }
  std::vector<bool> computed;
  for (const LayerTrace& layer : trace.layers) {
    computed.push_back(follow_from_vectors(trace, layer));
    add_layer(to, computed.size() - 1, layer, !computed.back());
  }
  if (std::ranges::count(computed, true) > 0) {
    to.attribute("maps_of_vectors", json_dump(computed));
  }
  return to.take();
}

namespace {

/// The HDF5 library's types of an array: in the file and in memory.
std::pair<hid_t, hid_t> hdf5_types(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
    case DType::i64:
      return {H5T_STD_I64LE, H5T_NATIVE_INT64};
    case DType::u8:
      return {H5T_STD_U8LE, H5T_NATIVE_UINT8};
    default:
      return {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT};
  }
}

}  // namespace

void write_trace(const std::filesystem::path& file, const Trace& trace) {
  const TraceContents contents = contents_of(trace);
  write_hdf5_file(file, [&](const Hdf5Id& root) {
    for (const auto& attribute : contents.attributes) {
      std::visit([&](const auto& known) { write_attribute(root, attribute.first, known); },
                 attribute.second);
    }
    // A layer that recorded nothing is an empty group.
    for (std::size_t i = 0; i < trace.layers.size(); ++i) create_group(root, layer_group(i));
    for (const TraceArray& array : contents.arrays) {
      const auto [stored, memory] = hdf5_types(array.dtype);
      write_data(root, array.name, stored, memory, array.shape, array.data);
    }
  });
}

}  // namespace attnscope
