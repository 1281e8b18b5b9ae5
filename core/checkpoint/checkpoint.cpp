#include "core/checkpoint/checkpoint.h"

#include <algorithm>
#include <numeric>
#include <tbb/parallel_for.h>
#include <utility>

#include "core/error.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

/// Levenshtein distance: the number of insertions, deletions and substitutions.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t substitution = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitution, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// Removes wrapper modules from a name: "module.blocks.0._checkpoint_wrapped_module.weight" becomes
/// "blocks.0.weight". DataParallel, torch.compile, FSDP and activation checkpointing add wrappers
/// around single modules or the whole model.
std::string without_wrappers(std::string_view name) {
  static constexpr std::string_view wrappers[] = {"module.", "_orig_mod.", "_fsdp_wrapped_module.",
                                                  "_checkpoint_wrapped_module."};
  std::string plain;
  while (!name.empty()) {
    const auto wraps = [&](std::string_view wrapper) { return name.starts_with(wrapper); };
    const auto* const wrapper = std::ranges::find_if(wrappers, wraps);
    if (wrapper != std::end(wrappers)) {
      name.remove_prefix(wrapper->size());
      continue;
    }
    const std::size_t end = std::min(name.find('.'), name.size() - 1) + 1;
    plain += name.substr(0, end);
    name.remove_prefix(end);
  }
  return plain;
}

/// Removes the wrappers from all names, unless two names would then be equal.
void unwrap_names(std::vector<StoredTensor>& tensors) {
  std::vector<std::string> plain;
  plain.reserve(tensors.size());
  for (const StoredTensor& tensor : tensors) plain.push_back(without_wrappers(tensor.name));
  std::vector<std::string_view> sorted(plain.begin(), plain.end());
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return;
  for (std::size_t i = 0; i < plain.size(); ++i) tensors[i].name = std::move(plain[i]);
}

}  // namespace

std::string_view StoredTensor::type_name() const {
  return blocks != nullptr ? blocks->name : name_of(dtype);
}

Checkpoint::Checkpoint(std::filesystem::path path, std::string format,
                       std::vector<StoredTensor> tensors,
                       std::map<std::string, std::string> metadata)
    : path_(std::move(path)),
      format_(std::move(format)),
      tensors_(std::move(tensors)),
      metadata_(std::move(metadata)) {
  for (StoredTensor& tensor : tensors_) tensor.name = shown_text(tensor.name);
  unwrap_names(tensors_);
  make_index();
}

void Checkpoint::make_index() {
  index_.clear();
  for (std::size_t place = 0; place < tensors_.size(); ++place) {
    if (!index_.emplace(tensors_[place].name, place).second) {
      throw Error(ErrorKind::damaged, "two tensors have the same name")
          .in_file(path_)
          .about(tensors_[place].name);
    }
  }
}

void Checkpoint::hold_key_values(std::shared_ptr<const KeyValues> values) {
  key_values_ = std::move(values);
}

void Checkpoint::hold_state_dicts(std::string taken,
                                  std::map<std::string, std::vector<StoredTensor>> others) {
  state_dict_ = std::move(taken);
  other_state_dicts_ = std::move(others);
}

std::vector<std::string> Checkpoint::other_state_dicts() const {
  std::vector<std::string> names;
  for (const auto& [name, tensors] : other_state_dicts_) names.push_back(name);
  return names;
}

Checkpoint Checkpoint::with_state_dict(const std::string& name) const {
  if (name == state_dict_) return *this;
  const auto found = other_state_dicts_.find(name);
  if (found == other_state_dicts_.end()) {
    std::string known = state_dict_;
    for (const std::string& other : other_state_dicts()) known += ", " + other;
    throw Error(ErrorKind::usage, "the file has no such state dict")
        .in_file(path_)
        .about("state_dict")
        .expected(known)
        .found(name);
  }
  Checkpoint other(path_, format_, found->second, metadata_);
  other.key_values_ = key_values_;
  std::map<std::string, std::vector<StoredTensor>> others = other_state_dicts_;
  others.erase(name);
  others.emplace(state_dict_, tensors_);
  other.hold_state_dicts(name, std::move(others));
  return other;
}

const StoredTensor* Checkpoint::find(std::string_view name) const {
  auto found = index_.find(name);
  if (found == index_.end()) found = index_.find(without_wrappers(name));
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

const StoredTensor& Checkpoint::at(std::string_view name) const {
  if (const StoredTensor* tensor = find(name)) return *tensor;
  std::string nearest;
  for (const std::string& other : nearest_names(name)) {
    nearest += (nearest.empty() ? "" : ", ") + other;
  }
  throw Error(ErrorKind::damaged, "the file has no such tensor")
      .in_file(path_)
      .about(std::string(name))
      .remedy(nearest.empty() ? "the file holds no tensors" : "nearest names: " + nearest);
}

std::vector<std::string> Checkpoint::nearest_names(std::string_view name, std::size_t count) const {
  constexpr std::size_t compared = 200;  // characters; bounds the cost of a hostile file's names
  std::vector<std::pair<std::size_t, std::size_t>> ranked;  // distance, index
  ranked.reserve(tensors_.size());
  for (std::size_t place = 0; place < tensors_.size(); ++place) {
    const std::string_view other = tensors_[place].name;
    ranked.emplace_back(edit_distance(name.substr(0, compared), other.substr(0, compared)), place);
  }
  count = std::min(count, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count),
                    ranked.end());
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < count; ++rank) {
    names.push_back(tensors_[ranked[rank].second].name);
  }
  return names;
}

std::vector<TensorScan> scan_tensors(const Checkpoint& checkpoint) {
  std::vector<TensorScan> scans(checkpoint.tensors().size());
  tbb::parallel_for(std::size_t{0}, scans.size(), [&](std::size_t i) {
    try {
      scans[i].counts = checkpoint.tensors()[i].view().count_non_finite();
    } catch (const Error& error) {
      scans[i].error = error.what();
    }
  });
  return scans;
}

}  // namespace attnscope
