// Reads traces from untrusted files. The HDF5 reader of checkpoints checks the file structure; the
// code here checks the meaning of the data.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/formats/readers.h"
#include "core/checkpoint/hdf5/hdf5_file.h"
#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/parameters/parameters_json.h"
#include "core/shown_text.h"
#include "core/text/json.h"
#include "core/trace/layer_name.h"
#include "core/trace/maps_of_vectors.h"
#include "core/trace/trace.h"
#include "core/trace/trace_arrays.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

// ---- one layer, and checks that its data sets agree ----

/// The elements of `name` with `rank` axes. One additional leading axis of size 1 (a batch of one)
/// is dropped. Empty if there is no such tensor.
std::optional<TensorView> stored_view(const Checkpoint& file, const std::string& name,
                                      std::int64_t rank, const char* expected) {
  const StoredTensor* const stored = file.find(name);
  if (!stored) return std::nullopt;
  if (!is_floating(stored->dtype)) {
    throw Error(ErrorKind::damaged, "the data set has the wrong element type")
        .about("/" + name)
        .expected("floating point")
        .found(std::string(name_of(stored->dtype)));
  }
  Shape shape = stored->shape;
  const bool batch = static_cast<std::int64_t>(shape.size()) == rank + 1 && shape.front() == 1;
  if (batch) shape.erase(shape.begin());
  if ((rank > 0 && static_cast<std::int64_t>(shape.size()) != rank) || element_count(shape) == 0) {
    throw Error(ErrorKind::damaged, "the data set has the wrong shape")
        .about("/" + name)
        .expected(expected)
        .found(to_string(stored->shape));
  }
  TensorView view = stored->view();
  if (batch) view.strides.erase(view.strides.begin());
  view.shape = std::move(shape);
  return view;
}

/// Checks that the product of the factors has the shape of the maps in the same layer.
void check_factors(const LayerTrace& layer, const std::string& name) {
  if (!layer.factors) return;
  const Tensor& left = layer.factors->left;
  const Tensor& right = layer.factors->right;
  const Shape product = {left.extent(0), left.extent(1), right.extent(1)};
  const bool fit = left.extent(0) == right.extent(0) && left.extent(2) == right.extent(2);
  if (fit && (layer.implied_map.empty() || layer.implied_map.shape() == product)) return;
  throw Error(ErrorKind::damaged, "the factors of the maps do not fit")
      .about("/" + name + "/left_factor")
      .expected("[heads, N, b], and right_factor [heads, M, b]")
      .found(to_string(left.shape()) + " and " + to_string(right.shape()));
}

std::vector<std::int64_t> read_whole_numbers(const Checkpoint& file, const std::string& name) {
  const StoredTensor* const stored = file.find(name);
  if (!stored || is_floating(stored->dtype) || stored->shape.size() != 1) {
    throw Error(ErrorKind::damaged,
                "the list that describes the maps' blocks is missing or invalid")
        .about("/" + name)
        .expected("a list of whole numbers")
        .found(stored ? to_string(stored->shape) : "nothing");
  }
  return stored->view().to_int64();
}

/// Most entries of maps that are expanded from blocks: small blocks of many tokens take little
/// space in a file.
constexpr std::int64_t kMostExpanded = std::int64_t{1} << 27;

/// Double-precision blocks [heads, Σ n²] expanded to full maps [heads, N, N].
std::shared_ptr<const std::vector<double>> whole_in_double(
    const TensorView& entries, const std::vector<std::vector<std::int64_t>>& partition,
    std::int64_t tokens) {
  const std::vector<double> stored = entries.to_double();
  const std::int64_t heads = entries.shape.front();
  if (element_count({heads, tokens, tokens}) > kMostExpanded) {
    throw Error(ErrorKind::unsupported, "map blocks in double precision expand to too many entries")
        .expected("at most " + std::to_string(kMostExpanded) + " entries of whole maps")
        .found(to_string(Shape{heads, tokens, tokens}))
        .remedy("store map_blocks as float32");
  }
  auto whole = std::make_shared<std::vector<double>>(
      static_cast<std::size_t>(element_count({heads, tokens, tokens})));
  auto next = stored.begin();
  for (std::int64_t head = 0; head < heads; ++head) {
    for (const std::vector<std::int64_t>& block : partition) {
      for (const std::int64_t query : block) {
        for (const std::int64_t key : block) {
          (*whole)[static_cast<std::size_t>((head * tokens + query) * tokens + key)] = *next++;
        }
      }
    }
  }
  return whole;
}

/// Reads the maps of windowed attention, if the layer has any.
void read_blocks(const Checkpoint& file, const std::string& layer, LayerTrace& into) {
  const std::optional<TensorView> view =
      stored_view(file, layer + "/map_blocks", 2, "[heads, entries of all blocks]");
  if (!view) return;
  const Tensor entries = view->to_float();
  const std::vector<std::int64_t> tokens = read_whole_numbers(file, layer + "/block_tokens");
  std::vector<std::vector<std::int64_t>> partition;
  auto next = tokens.begin();
  std::int64_t wanted = 0;
  for (const std::int64_t size : read_whole_numbers(file, layer + "/block_sizes")) {
    if (size < 1 || size > tokens.end() - next) {
      throw Error(ErrorKind::damaged, "the block sizes do not add up to the number of tokens")
          .about("/" + layer + "/block_sizes")
          .expected("numbers that add up to " + std::to_string(tokens.size()))
          .found(std::to_string(size));
    }
    partition.emplace_back(next, next + size);
    next += size;
    wanted += size * size;
  }
  if (next != tokens.end() || wanted != entries.extent(1)) {
    throw Error(ErrorKind::damaged, "the blocks of the maps do not fit their entries")
        .about("/" + layer + "/map_blocks")
        .expected("[heads, " + std::to_string(wanted) + "] of " + std::to_string(tokens.size()) +
                  " tokens in blocks")
        .found(to_string(entries.shape()));
  }
  MapBlocks blocks(entries.extent(0), std::move(partition));
  std::ranges::copy(entries.values(), blocks.entries().begin());
  into.seen = within_blocks(blocks.partition());
  if (view->dtype == DType::f64) {
    into.exact_map = whole_in_double(*view, blocks.partition(), blocks.tokens());
    into.implied_map = ImpliedMaps(std::move(blocks)).all();
  } else {
    into.implied_map = ImpliedMaps(std::move(blocks));
  }
}

/// Reads the keys that each query sees, if the file stores them.
void read_seen(const Checkpoint& file, const std::string& layer, LayerTrace& into) {
  const StoredTensor* const stored = file.find(layer + "/seen_keys");
  if (!stored) return;
  const ImpliedMaps& maps = into.implied_map;
  const std::int64_t queries = maps.empty() ? -1 : maps.extent(1);
  const std::int64_t keys = maps.empty() ? 0 : maps.extent(2);
  const auto refuse = [&](const std::string& found) {
    throw Error(ErrorKind::damaged, "the keys that queries see do not fit the maps")
        .about("/" + layer + "/seen_keys")
        .expected("whole numbers [queries, 2]: a first key and an end, at most " +
                  std::to_string(keys))
        .found(found);
  };
  const bool fits = !is_floating(stored->dtype) && stored->shape.size() == 2 &&
                    stored->shape[1] == 2 && (queries < 0 || stored->shape[0] == queries);
  if (!fits) refuse(to_string(stored->shape));
  const std::vector<std::int64_t> ends = stored->view().to_int64();
  if (!into.seen) into.seen.emplace();
  for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
    if (ends[i] < 0 || ends[i + 1] < ends[i] || (queries >= 0 && ends[i + 1] > keys)) {
      refuse(std::to_string(ends[i]) + " to " + std::to_string(ends[i + 1]));
    }
    into.seen->ranges.emplace_back(ends[i], ends[i + 1]);
  }
}

/// Size of the axis; 0 if the tensor is missing or has fewer axes.
std::int64_t extent_of(const Tensor& tensor, std::size_t axis) {
  return axis < tensor.shape().size() ? tensor.extent(axis) : 0;
}

/// The elements of the data set `name` with `rank` axes (0: any number). One additional leading
/// axis of size 1 (a batch of one) is dropped. Empty if there is no such data set. Throws
/// Error(damaged) for a wrong shape, with `expected` ("[heads, N, M]") in the message, and for
/// elements that are not floating point.
Tensor read_data_set(const Checkpoint& file, const std::string& name, std::int64_t rank,
                     const char* expected) {
  const std::optional<TensorView> view = stored_view(file, name, rank, expected);
  return view ? view->to_float() : Tensor();
}

/// Sets the layer's maps, and for double-precision data also their exact values.
void take_map(const TensorView& view, LayerTrace& layer) {
  layer.implied_map = view.to_float();
  if (view.dtype != DType::f64) return;
  layer.exact_map = std::make_shared<const std::vector<double>>(view.to_double());
}

/// Reads the data sets of the group `name` ("layer_00"). Throws Error(damaged), for example if the
/// product of the factors does not have the shape of the maps.
LayerTrace read_layer_trace(const Checkpoint& file, const std::string& name) {
  LayerTrace layer;
  if (const auto map = stored_view(file, name + "/implied_map", 3, "[heads, N, M]")) {
    take_map(*map, layer);
  } else {
    read_blocks(file, name, layer);
  }
  read_seen(file, name, layer);
  layer.queries = read_data_set(file, name + "/queries", 3, "[heads, N, d]");
  layer.keys = read_data_set(file, name + "/keys", 3, "[heads, M, d]");
  layer.values = read_data_set(file, name + "/values", 3, "[heads, M, d]");
  layer.tokens = read_data_set(file, name + "/tokens", 2, "[N, D]");
  MapFactors factors{read_data_set(file, name + "/left_factor", 3, "[heads, N, b]"),
                     read_data_set(file, name + "/right_factor", 3, "[heads, M, b]")};
  if (!factors.left.empty() && !factors.right.empty()) layer.factors = std::move(factors);
  const std::string quantities = name + "/quantities/";
  for (const StoredTensor& stored : file.tensors()) {
    if (!stored.name.starts_with(quantities)) continue;
    layer.quantities[stored.name.substr(quantities.size())] =
        read_data_set(file, stored.name, 0, "any shape");
  }
  check_factors(layer, name);
  return layer;
}

/// Throws Error(damaged) naming `name` unless the layer's tensors have the same numbers of tokens
/// and its grids match them.
void check_tokens_agree(const LayerTrace& layer, const std::string& name) {
  const auto agree = [&](std::int64_t wanted, std::int64_t found, const char* what) {
    if (wanted == 0 || found == 0 || wanted == found) return;
    throw Error(ErrorKind::damaged, "the data sets of the layer have different numbers of tokens")
        .about(name)
        .expected(std::to_string(wanted))
        .found(std::to_string(found) + " " + what);
  };
  const ImpliedMaps& map = layer.implied_map;
  const std::int64_t queries = map.empty() ? extent_of(layer.queries, 1) : map.extent(1);
  const std::int64_t keys = map.empty() ? extent_of(layer.keys, 1) : map.extent(2);
  agree(queries, extent_of(layer.queries, 1), "queries");
  agree(queries, extent_of(layer.tokens, 0), "tokens");
  agree(keys, extent_of(layer.keys, 1), "keys");
  agree(keys, extent_of(layer.values, 1), "values");
  for (const auto& [layout, count] :
       {std::pair(&layer.layout, queries), std::pair(&layer.key_layout, keys)}) {
    if (!layout->has_grid() || count == 0 || layout->is_grid_of(count)) continue;
    throw Error(ErrorKind::damaged, "the token grid does not fit the maps")
        .about(name + " grid_rows")
        .expected(std::to_string(count) + " tokens")
        .found(std::to_string(layout->prefix) + " + " + std::to_string(layout->rows) + " × " +
               std::to_string(layout->columns));
  }
}

// ---- the whole trace ----

using nlohmann::json;

constexpr const char *kFirstMap = "layer_00/implied_map", *kFirstBlocks = "layer_00/map_blocks",
                     *kFirstQueries = "layer_00/queries", *kOfVectors = "maps_of_vectors";

Error damaged(std::string what, const std::string& subject) {
  return Error(ErrorKind::damaged, std::move(what)).about(subject);
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

/// A JSON value in one line, in UTF-8 with invalid bytes replaced.
std::string printed(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string text_in(const json& value) {
  return shown_text(value.is_string() ? value.get<std::string>() : printed(value));
}

TokenLayout layout_from(const json& value, const char* attribute) {
  TokenLayout layout;
  for (const auto& [key, member] :
       {std::pair("prefix", &TokenLayout::prefix), std::pair("rows", &TokenLayout::rows),
        std::pair("columns", &TokenLayout::columns),
        std::pair("registers", &TokenLayout::registers)}) {
    if (member == &TokenLayout::registers && value.is_object() && !value.contains(key)) continue;
    if (!value.is_object() || !value.contains(key) || !value[key].is_number_unsigned() ||
        value[key] > (1 << 20)) {
      throw damaged("the attribute is not a list of layouts", attribute)
          .expected(R"([{"queries": {"prefix": 0, "rows": 56, "columns": 56}, "keys": {…}}, …])");
    }
    layout.*member = value[key].get<std::int64_t>();
  }
  layout.registers = std::min(layout.registers, layout.prefix);
  return layout;
}

/// Reads the grids of the layers; a layer without its own gets the trace's. Keys that differ in
/// number from the queries have no layout unless the file gives one.
void read_layouts(const Checkpoint& file, Trace& trace) {
  const json layouts = json_of(file, "layer_layouts", "null");
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    LayerTrace& layer = trace.layers[i];
    layer.layout = layer.key_layout = trace.layout;
    const ImpliedMaps& map = layer.implied_map;
    if (!map.empty() && map.extent(1) != map.extent(2)) layer.key_layout = {};
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

Image stored_image(const StoredTensor& stored) {
  const Shape& shape = stored.shape;
  if (stored.dtype != DType::u8 || shape.size() != 3 || (shape[2] != 1 && shape[2] != 3) ||
      element_count(shape) == 0) {
    throw damaged("the image has the wrong shape or element type", "/" + stored.name)
        .expected("uint8 [height, width, 1 or 3]")
        .found(std::string(name_of(stored.dtype)) + " " + to_string(shape));
  }
  Image image{shape[1], shape[0], shape[2], {}};
  const std::vector<std::int64_t> values = stored.view().to_int64();
  image.pixels.assign(values.begin(), values.end());
  return image;
}

std::vector<Image> read_images(const Checkpoint& file) {
  std::vector<Image> images;
  while (const StoredTensor* const stored = file.find(image_name(images.size()))) {
    images.push_back(stored_image(*stored));
  }
  return images;
}

/// The cells of [first, rows, columns] or [first, rows, columns, tiles, tiles_across, overview,
/// overview_rows, overview_columns], of which the last two may be missing if they are those of a
/// tile; none if the numbers do not fit each other.
TokenCells picture_of(const json& list) {
  const auto is_index = [](const json& one) {
    constexpr std::uint64_t most = 1 << 20;
    return one.is_number_unsigned() && one.get<std::uint64_t>() <= most;
  };
  const auto at = [&](std::size_t i) {
    return is_index(list[i]) ? list[i].get<std::int64_t>() : 0;
  };
  if (list.size() != 3 && list.size() != 6 && list.size() != 8) return {};
  TokenCells cells{.first = at(0), .rows = at(1), .columns = at(2)};
  if (list.size() == 3) return cells;
  if (!list[3].is_array() || !std::ranges::all_of(list[3], is_index)) return {};
  cells.tiles = list[3].get<std::vector<std::int64_t>>();
  cells.tiles_across = at(4);
  cells.overview = at(5);
  const std::int64_t across = cells.tiles_across, tiles = std::ssize(cells.tiles);
  if (across < 1 || tiles == 0 || tiles % across != 0 || cells.columns % across != 0 ||
      cells.rows % cells.tiles_down() != 0) {
    return {};
  }
  cells.overview_rows = list.size() == 8 ? at(6) : cells.rows / cells.tiles_down();
  cells.overview_columns = list.size() == 8 ? at(7) : cells.columns / across;
  const std::int64_t begin = cells.tiles.front();
  std::int64_t end = begin;
  for (const std::int64_t tile : cells.tiles) {
    if (tile < end) return {};
    end = tile + cells.tile_size();
  }
  const bool before = cells.overview == cells.first && cells.overview_count() > 0 &&
                      cells.overview + cells.overview_count() <= begin;
  const bool after = begin == cells.first && cells.overview >= end;
  return before || after ? cells : TokenCells{};
}

/// Reads the tokens of a text that stand for pictures: one list for a picture, or a list of them.
void read_pictures(const Checkpoint& file, const std::string& attribute, TokenLayout& layout) {
  json list = json_of(file, attribute.c_str(), "[]");
  if (list.empty()) return;
  if (!list.is_array() || !list[0].is_array()) list = json::array({list});
  std::int64_t end = 0;
  for (const json& numbers : list) {
    TokenCells cells = numbers.is_array() ? picture_of(numbers) : TokenCells{};
    if (cells.count() == 0 || cells.first < end || cells.end() > std::ssize(layout.texts)) {
      throw damaged("a picture's tokens are not a part of the text", attribute)
          .expected(
              "[first, rows, columns], or with [tiles], tiles in a row, overview, and its rows "
              "and columns, after those of the picture before, within " +
              std::to_string(layout.texts.size()) + " tokens")
          .found(printed(numbers));
    }
    end = cells.end();
    layout.pictures.push_back(std::move(cells));
  }
}

/// Reads the texts of tokens and the indices of special tokens. `whose` prefixes the attribute
/// names.
void read_texts(const Checkpoint& file, const std::string& whose, TokenLayout& layout) {
  const std::string texts = whose + "token_texts", special = whose + "special_tokens";
  for (const json& text : json_of(file, texts.c_str(), "[]")) {
    layout.texts.push_back(shown_lines(text.is_string() ? text.get<std::string>() : printed(text)));
  }
  for (const json& token : json_of(file, special.c_str(), "[]")) {
    const auto count = std::ssize(layout.texts);
    const std::int64_t after = layout.special.empty() ? 0 : layout.special.back() + 1;
    if (!token.is_number_unsigned() ||
        token.get<std::uint64_t>() >= static_cast<std::size_t>(count) ||
        token.get<std::int64_t>() < after) {
      throw damaged("the special tokens are not token positions in ascending order", special)
          .expected("whole numbers below " + std::to_string(count))
          .found(printed(token));
    }
    layout.special.push_back(token.get<std::int64_t>());
  }
  read_pictures(file, whose + "picture_tokens", layout);
}

void check_texts(const TokenLayout& layout, std::int64_t tokens, const std::string& attribute) {
  if (layout.texts.empty() || tokens == 0 || std::ssize(layout.texts) == tokens) return;
  throw damaged("the number of texts differs from the number of tokens", attribute)
      .expected(std::to_string(tokens))
      .found(std::to_string(layout.texts.size()));
}

bool reads_second_text(const LayerTrace& layer) {
  return layer.kind == LayerKind::decoder || layer.kind == LayerKind::cross;
}

/// Reads the kind of each layer, and the token texts of a decoder.
void read_kinds(const Checkpoint& file, Trace& trace) {
  const json kinds = json_of(file, "layer_kinds", "null");
  if (kinds.is_null()) return;
  TokenLayout decoding;
  read_texts(file, "decoder_", decoding);
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    LayerTrace& layer = trace.layers[i];
    const bool said = kinds.is_array() && i < kinds.size() && kinds[i].is_string();
    const auto kind = said ? layer_kind_named(kinds[i].get<std::string>()) : std::nullopt;
    if (!kind) {
      throw damaged("the attribute does not give the kind of each layer", "layer_kinds")
          .expected("a list of encoder, decoder, cross, class attention, layer")
          .found(printed(kinds).substr(0, 80));
    }
    layer.kind = *kind;
    if (!reads_second_text(layer)) continue;
    check_texts(decoding, trace.queries(static_cast<std::int64_t>(i)), "decoder_token_texts");
    layer.layout = decoding;
    layer.key_layout = layer.kind == LayerKind::cross ? trace.layout : decoding;
  }
}

/// Reads the factors that multiply scores, and which layers have a known mask.
void read_scales(const Checkpoint& file, Trace& trace) {
  const json scales = json_of(file, "score_scales", "[]");
  const json masks = json_of(file, "known_masks", "[]");
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    LayerTrace& layer = trace.layers[i];
    if (scales.is_array() && i < scales.size() && !scales[i].is_null()) {
      if (!scales[i].is_number() || !std::isfinite(scales[i].get<double>())) {
        throw damaged("the scale of a layer's scores is not a number", "score_scales")
            .expected("a list of numbers, null where a layer's is unknown")
            .found(printed(scales[i]));
      }
      layer.score_scale = scales[i].get<double>();
    }
    const bool known = masks.is_array() && i < masks.size() && masks[i] == true;
    if (known && !layer.seen) layer.seen.emplace();
  }
}

/// Makes the maps that are not stored.
void read_computed_maps(const Checkpoint& file, Trace& trace) {
  const json computed = json_of(file, kOfVectors, "[]");
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    if (!computed.is_array() || i >= computed.size() || computed[i] != true) continue;
    LayerTrace& layer = trace.layers[i];
    if (!layer.implied_map.empty()) {
      throw damaged("the layer has maps that should follow from its queries and keys",
                    "/" + layer_group(i) + "/implied_map");
    }
    try {
      layer.implied_map = maps_of_vectors(trace, layer);
    } catch (Error& error) {
      error.about("/" + layer_group(i) + "/queries");
      throw;
    }
  }
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
  trace.layout.registers = number_of(file, "register_tokens", 0, trace.layout.prefix);
  trace.layout.rows = number_of(file, "grid_rows", 0, 1 << 20);
  trace.layout.columns = number_of(file, "grid_columns", 0, 1 << 20);
  trace.causal = number_of(file, "causal", 0, 1) != 0;
  read_texts(file, "", trace.layout);
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
    trace.layers.push_back(read_layer_trace(file, layer_group(trace.layers.size())));
  }
  trace.features = read_data_set(file, "features", 1, "[D]");
  const json bounds = json_of(file, "rank_bounds", "[]");
  for (std::size_t i = 0; i < trace.layers.size() && i < bounds.size(); ++i) {
    if (!bounds[i].is_number_unsigned()) {
      throw damaged("a bound of the rank is not a whole number", "rank_bounds");
    }
    trace.layers[i].rank_bound = bounds[i].get<std::int64_t>();
  }
  trace.logits = read_data_set(file, "logits", 1, "[classes]");
  trace.embedded = read_data_set(file, "embedded", 2, "[N, D]");
  trace.images = read_images(file);
  read_scales(file, trace);
  read_mechanisms(file, trace);
  read_computed_maps(file, trace);
  read_layouts(file, trace);
  read_kinds(file, trace);
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    check_tokens_agree(trace.layers[i], "/" + layer_group(i));
  }
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    if (reads_second_text(trace.layers[i])) continue;
    tokens = std::max(tokens, trace.queries(static_cast<std::int64_t>(i)));
  }
  check_texts(trace.layout, tokens, "token_texts");
  return trace;
}

/// Reads a trace from a file that holds only arrays of maps.
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

bool names_layers(const Checkpoint& file) {
  return file.find(kFirstMap) != nullptr || file.find(kFirstBlocks) != nullptr ||
         (file.find(kFirstQueries) != nullptr && file.metadata().contains(kOfVectors));
}

bool holds_trace(const Checkpoint& file) {
  return names_layers(file) || (file.format() != "hdf5" && !maps_in_arrays(file).empty());
}

}  // namespace

bool is_trace_file(const std::filesystem::path& file) {
  try {
    const std::shared_ptr<const MappedFile> bytes = MappedFile::open(file);
    if (!recognises_hdf5(file, bytes->bytes().first(std::min<std::size_t>(64, bytes->size())))) {
      return holds_trace(open_checkpoint(file));
    }
    // Looking up a few data sets is faster than listing a model file with many.
    if (hdf5_has(file, kFirstMap) || hdf5_has(file, kFirstBlocks)) return true;
    return hdf5_has(file, kFirstQueries) && holds_trace(open_checkpoint(file));
  } catch (const Error&) {
    return false;
  }
}

Trace read_trace(const Checkpoint& file) {
  if (!holds_trace(file)) {
    throw Error(ErrorKind::not_this_format, "is not a trace: it holds no /layer_00/implied_map")
        .remedy("to open only maps, save one array [heads, N, N] per layer");
  }
  return names_layers(file) ? read_contents(file) : read_arrays(file);
}

Trace read_trace(const std::filesystem::path& file) {
  const Checkpoint opened = open_checkpoint(file);
  return with_file(file, [&] { return read_trace(opened); });
}

}  // namespace attnscope
