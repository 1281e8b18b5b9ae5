// Writes trace files; trace_reader.cpp reads them.
#include <nlohmann/json.hpp>

#include "core/checkpoint/hdf5/hdf5_writing.h"
#include "core/error.h"
#include "core/parameters/parameters_json.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

using nlohmann::json;

void write_blocks(const Hdf5Id& group, const MapBlocks& blocks) {
  std::vector<std::int64_t> sizes, tokens;
  for (const std::vector<std::int64_t>& block : blocks.partition()) {
    sizes.push_back(std::ssize(block));
    tokens.insert(tokens.end(), block.begin(), block.end());
  }
  const auto whole_numbers = [&](const char* name, const std::vector<std::int64_t>& values) {
    write_data(group, name, H5T_STD_I64LE, H5T_NATIVE_INT64, {std::ssize(values)}, values.data());
  };
  whole_numbers("block_sizes", sizes);
  whole_numbers("block_tokens", tokens);
  write_data(group, "map_blocks", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT,
             {blocks.heads(), std::ssize(blocks.entries()) / blocks.heads()},
             blocks.entries().data());
}

void write_seen(const Hdf5Id& group,
                const std::vector<std::pair<std::int64_t, std::int64_t>>& ranges) {
  std::vector<std::int64_t> ends;
  for (const auto& [first, end] : ranges) ends.insert(ends.end(), {first, end});
  write_data(group, "seen_keys", H5T_STD_I64LE, H5T_NATIVE_INT64, {std::ssize(ranges), 2},
             ends.data());
}

void write_layer(const Hdf5Id& file, std::size_t index, const LayerTrace& layer) {
  const Hdf5Id group = create_group(file, layer_group(index));
  if (layer.exact_map) {
    write_data(group, "implied_map", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, layer.implied_map.shape(),
               layer.exact_map->data());
  } else if (layer.implied_map.blocks()) {
    write_blocks(group, *layer.implied_map.blocks());
  } else {
    write_tensor(group, "implied_map", layer.implied_map.whole());
  }
  if (layer.seen && !layer.seen->ranges.empty()) write_seen(group, layer.seen->ranges);
  write_tensor(group, "queries", layer.queries);
  write_tensor(group, "keys", layer.keys);
  write_tensor(group, "values", layer.values);
  write_tensor(group, "tokens", layer.tokens);
  if (layer.factors) {
    write_tensor(group, "left_factor", layer.factors->left);
    write_tensor(group, "right_factor", layer.factors->right);
  }
  if (layer.quantities.empty()) return;
  const Hdf5Id quantities = create_group(group, "quantities");
  for (const auto& [name, tensor] : layer.quantities) write_tensor(quantities, name, tensor);
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

/// Writes the texts of tokens and the indices of special tokens. `whose` prefixes the attribute
/// names.
void write_texts(const Hdf5Id& root, const TokenLayout& layout, const std::string& whose) {
  if (!layout.texts.empty()) {
    write_attribute(root, (whose + "token_texts").c_str(), json_dump(layout.texts));
  }
  if (!layout.special.empty()) {
    write_attribute(root, (whose + "special_tokens").c_str(), json_dump(layout.special));
  }
}

/// Writes the attributes that differ from layer to layer, if any do.
void write_differences(const Hdf5Id& root, const Trace& trace) {
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
  if (kinds_differ) write_attribute(root, "layer_kinds", json_dump(kinds));
  if (decoding) write_texts(root, decoding->layout, "decoder_");
  if (grids_differ) write_attribute(root, "layer_layouts", json_dump(layouts));
  if (mechanisms_differ) write_attribute(root, "layer_mechanisms", json_dump(mechanisms));
}

/// Writes the factor of q·k in each layer, and which layers' masks the file describes completely.
void write_scales(const Hdf5Id& root, const Trace& trace) {
  json scales = json::array(), masks = json::array();
  for (const LayerTrace& layer : trace.layers) {
    scales.push_back(layer.score_scale ? json(*layer.score_scale) : json());
    const bool said = layer.seen && (layer.seen->windows.empty() || layer.implied_map.blocks());
    masks.push_back(said);
  }
  write_attribute(root, "score_scales", json_dump(scales));
  write_attribute(root, "known_masks", json_dump(masks));
}

void write_contents(const Hdf5Id& root, const Trace& trace) {
  write_attribute(root, "format", "attnscope-trace");
  write_attribute(root, "format_version", std::int64_t{1});
  write_attribute(root, "model_name", trace.model_name);
  write_attribute(root, "input_label", trace.input_label);
  write_attribute(root, "mechanism", trace.mechanism.name);
  write_attribute(root, "mechanism_parameters", to_json(trace.mechanism.parameters));
  write_attribute(root, "identity_in_maps", std::int64_t{trace.identity_in_maps});
  write_attribute(root, "mechanism_trained", std::int64_t{trace.mechanism_trained});
  write_attribute(root, "map_channels", trace.map_channels);
  if (trace.map_channel) write_attribute(root, "map_channel", *trace.map_channel);
  write_attribute(root, "prefix_tokens", trace.layout.prefix);
  write_attribute(root, "register_tokens", trace.layout.registers);
  write_attribute(root, "grid_rows", trace.layout.rows);
  write_attribute(root, "grid_columns", trace.layout.columns);
  write_attribute(root, "layers", static_cast<std::int64_t>(trace.layers.size()));
  std::vector<std::int64_t> bounds;
  for (const LayerTrace& layer : trace.layers) bounds.push_back(layer.rank_bound);
  write_attribute(root, "rank_bounds", json_dump(bounds));
  write_scales(root, trace);
  write_differences(root, trace);
  write_attribute(root, "causal", std::int64_t{trace.causal});
  write_texts(root, trace.layout, "");
  write_attribute(root, "labels", json_dump(trace.labels));
  write_attribute(root, "provenance", json_dump(trace.provenance));
  write_tensor(root, "features", trace.features);
  write_tensor(root, "logits", trace.logits);
  write_tensor(root, "embedded", trace.embedded);
  if (trace.image && !trace.image->pixels.empty()) {
    const Image& image = *trace.image;
    write_data(root, "image", H5T_STD_U8LE, H5T_NATIVE_UINT8,
               {image.height, image.width, image.channels}, image.pixels.data());
  }
  for (std::size_t i = 0; i < trace.layers.size(); ++i) write_layer(root, i, trace.layers[i]);
}

}  // namespace

void write_trace(const std::filesystem::path& file, const Trace& trace) {
  write_hdf5_file(file, [&](const Hdf5Id& root) { write_contents(root, trace); });
}

}  // namespace attnscope
