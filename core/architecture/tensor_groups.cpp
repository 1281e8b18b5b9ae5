#include "core/architecture/tensor_groups.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace attnscope {

namespace {

constexpr std::string_view kLayerMark = "{layer}", kHeadMark = "{head}";

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

/// Whole number in a name: where it begins and ends, and its value.
struct Number {
  std::size_t begin, end;
  std::int64_t value;
};

std::vector<Number> numbers_in(const std::string& name) {
  constexpr std::size_t most_digits = 4;
  std::vector<Number> numbers;
  for (std::size_t i = 0; i < name.size();) {
    if (!is_decimal(name[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < name.size() && is_decimal(name[end])) ++end;
    const bool inside =
        end < name.size() && name[end] != '.' && name[end] != '/' && name[end] != '_';
    if (!inside && end - i <= most_digits) {
      numbers.push_back({i, end, std::stoll(name.substr(i, end - i))});
    }
    i = end;
  }
  return numbers;
}

/// Texts before numbers that count from 0, with the same three or more tensors behind the first and
/// the last number.
std::set<std::string> containers_of(const Checkpoint& checkpoint) {
  std::map<std::string, std::map<std::int64_t, std::set<std::string>>> behind;
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    for (const Number& number : numbers_in(tensor.name)) {
      behind[tensor.name.substr(0, number.begin)][number.value].insert(
          tensor.name.substr(number.end));
    }
  }
  std::set<std::string> containers;
  for (const auto& [text, counted] : behind) {
    const auto last = static_cast<std::int64_t>(counted.size()) - 1;
    if (last < 1 || counted.begin()->first != 0 || counted.rbegin()->first != last) continue;
    // Blocks have more than a weight and a bias; the layers of an MLP do not.
    const std::set<std::string>& first = counted.begin()->second;
    if (first.size() > 2 && counted.rbegin()->second == first) containers.insert(text);
  }
  return containers;
}

/// Number of a head in a name, for one tensor per head: it follows a word for heads.
std::optional<Number> number_of_head(const std::string& name, std::size_t from) {
  for (const Number& number : numbers_in(name)) {
    if (number.begin < from) continue;
    std::string before = name.substr(0, number.begin);
    while (!before.empty() && (before.back() == '.' || before.back() == '_')) before.pop_back();
    if (before.ends_with("head") || before.ends_with("heads")) return number;
  }
  return std::nullopt;
}

std::string pattern_of(const std::string& name, const std::set<std::string>& containers) {
  for (const Number& number : numbers_in(name)) {
    if (!containers.contains(name.substr(0, number.begin))) continue;
    std::string pattern = name.substr(0, number.begin);
    pattern += kLayerMark;
    const std::size_t tail = pattern.size();
    pattern += name.substr(number.end);
    if (const auto head = number_of_head(pattern, tail)) {
      pattern.replace(head->begin, head->end - head->begin, kHeadMark);
    }
    return pattern;
  }
  return name;
}

}  // namespace

std::string TensorGroup::tail() const {
  const std::size_t layer = pattern.find(kLayerMark);
  if (layer == std::string::npos) return pattern;
  return pattern.substr(std::min(layer + kLayerMark.size() + 1, pattern.size()));
}

std::vector<TensorGroup> group_tensors(const Checkpoint& checkpoint) {
  const std::set<std::string> containers = containers_of(checkpoint);
  std::vector<TensorGroup> groups;
  std::map<std::string, std::size_t> places;
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    const std::string pattern = pattern_of(tensor.name, containers);
    const auto [place, is_new] = places.emplace(pattern, groups.size());
    if (is_new) {
      groups.push_back({pattern, tensor.shape, std::string(tensor.type_name())});
      continue;
    }
    TensorGroup& group = groups[place->second];
    ++group.count;
    group.alike = group.alike && group.shape == tensor.shape;
  }
  return groups;
}

bool is_causal_mask(const StoredTensor& mask, std::int64_t window) {
  const std::int64_t side = mask.shape.empty() ? 0 : mask.shape.back();
  const TensorView view = mask.view();
  if (side < 2 || view.rows() < side) return false;
  // Only some rows of a long mask are compared.
  const std::int64_t step = std::max<std::int64_t>(side / 256, 1);
  std::vector<float> row(static_cast<std::size_t>(side));
  view.rows_to_float(0, 1, row.data());
  const float seen = row[0], hidden = row[1];
  for (std::int64_t i = 0; i < side; i += step) {
    view.rows_to_float(i, i + 1, row.data());
    for (std::int64_t j = 0; j < side; ++j) {
      const bool sees = j <= i && (window == 0 || j > i - window);
      if (row[static_cast<std::size_t>(j)] != (sees ? seen : hidden)) return false;
    }
  }
  return seen != hidden;
}

bool holds_sinusoids(const StoredTensor& table) {
  const Tensor values = table.view().to_float();
  const std::int64_t width = table.shape.empty() ? 0 : table.shape.back();
  if (width < 2 || values.size() < width) return false;
  std::int64_t sines = 0, cosines = 0;
  for (std::int64_t i = 0; i < width; ++i) {
    sines += values.data()[i] == 0 ? 1 : 0;
    cosines += values.data()[i] == 1 ? 1 : 0;
  }
  return sines > 0 && cosines > 0 && sines + cosines == width;
}

}  // namespace attnscope
