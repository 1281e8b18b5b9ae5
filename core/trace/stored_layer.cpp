#include "core/trace/stored_layer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

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

/// Double-precision blocks [heads, Σ n²] expanded to full maps [heads, N, N].
std::shared_ptr<const std::vector<double>> whole_in_double(
    const TensorView& entries, const std::vector<std::vector<std::int64_t>>& partition,
    std::int64_t tokens) {
  const std::vector<double> stored = entries.to_double();
  const std::int64_t heads = entries.shape.front();
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

}  // namespace

Tensor read_data_set(const Checkpoint& file, const std::string& name, std::int64_t rank,
                     const char* expected) {
  const std::optional<TensorView> view = stored_view(file, name, rank, expected);
  return view ? view->to_float() : Tensor();
}

void take_map(const TensorView& view, LayerTrace& layer) {
  layer.implied_map = view.to_float();
  if (view.dtype != DType::f64) return;
  layer.exact_map = std::make_shared<const std::vector<double>>(view.to_double());
}

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
    if (!layout->has_grid() || count == 0) continue;
    if (layout->prefix + layout->rows * layout->columns == count) continue;
    throw Error(ErrorKind::damaged, "the token grid does not fit the maps")
        .about(name + " grid_rows")
        .expected(std::to_string(count) + " tokens")
        .found(std::to_string(layout->prefix) + " + " + std::to_string(layout->rows) + " × " +
               std::to_string(layout->columns));
  }
}

}  // namespace attnscope
