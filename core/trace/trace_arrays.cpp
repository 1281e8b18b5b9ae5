#include "core/trace/trace_arrays.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/utf8.h"

namespace attnscope {

namespace {

constexpr std::int64_t most_layers = 4096;
constexpr std::size_t map_axes = 3;

/// Number of leading axes of size 1 before [L, H, N, M] or [H, N, M].
std::size_t batch_axes(const Shape& shape) {
  std::size_t axes = 0;
  while (shape.size() - axes > map_axes && shape[axes] == 1) ++axes;
  return axes;
}

/// Natural order, "attn.2" before "attn.10": digits compare as numbers, everything else by bytes.
bool comes_before(std::string_view a, std::string_view b) {
  const auto take_number = [](std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
    std::size_t length = 0;
    while (length < text.size() && is_ascii_digit(text[length])) ++length;
    const std::string_view digits = text.substr(0, length);
    text.remove_prefix(length);
    return digits;
  };
  while (!a.empty() && !b.empty()) {
    if (is_ascii_digit(a.front()) && is_ascii_digit(b.front())) {
      const std::string_view left = take_number(a), right = take_number(b);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

/// True for the usual names of network parameters. A single convolution kernel has the shape of a
/// map but is not one.
bool is_parameter(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view last = name.substr(dot + 1);
  return last == "weight" || last == "bias";
}

}  // namespace

TensorView StoredMaps::view() const {
  TensorView maps = array->view();
  const auto batch = static_cast<std::ptrdiff_t>(maps.shape.size() - map_axes - (slice >= 0));
  if (slice >= 0) {
    const std::int64_t stride = maps.strides[static_cast<std::size_t>(batch)];
    maps.data += slice * stride * static_cast<std::int64_t>(size_of(maps.dtype));
  }
  const std::ptrdiff_t dropped = batch + (slice >= 0 ? 1 : 0);
  maps.shape.erase(maps.shape.begin(), maps.shape.begin() + dropped);
  maps.strides.erase(maps.strides.begin(), maps.strides.begin() + dropped);
  return maps;
}

std::vector<StoredMaps> maps_in_arrays(const Checkpoint& file) {
  std::vector<StoredMaps> layers;
  for (const StoredTensor& array : file.tensors()) {
    const Shape& shape = array.shape;
    if (is_parameter(array.name)) return {};
    if (!is_floating(array.dtype) || shape.size() < map_axes || array.bytes == 0) return {};
    const std::size_t axes = shape.size() - batch_axes(shape);
    if (axes > map_axes + 1) return {};
    if (axes == map_axes) {
      layers.push_back({&array, -1});
      continue;
    }
    const std::int64_t slices = shape[shape.size() - map_axes - 1];
    if (file.tensors().size() != 1 || slices > most_layers) return {};
    for (std::int64_t slice = 0; slice < slices; ++slice) layers.push_back({&array, slice});
  }
  if (std::ssize(layers) > most_layers) return {};
  std::stable_sort(layers.begin(), layers.end(), [](const StoredMaps& a, const StoredMaps& b) {
    return a.array != b.array && comes_before(a.array->name, b.array->name);
  });
  return layers;
}

}  // namespace attnscope
