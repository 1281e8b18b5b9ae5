// The values that a training begins with: random ones, or those of a model file.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/attention/mechanism.h"
#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/model/model.h"
#include "core/training/run/training_run.h"

namespace attnscope {

namespace {

/// The shape without axes of size 1: [1, 3, 1, 25] becomes [3, 25].
Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

/// The fused name, "blocks.0.attn.to_qk.weight" → "blocks.0.attn.qkv.weight". Empty for a tensor
/// that is not a part of to_qk or to_v.
std::string together(const std::string& name) {
  for (const std::string_view part : {".to_qk.", ".to_v."}) {
    const std::size_t at = name.find(part);
    if (at != std::string::npos)
      return name.substr(0, at) + ".qkv." + name.substr(at + part.size());
  }
  return {};
}

/// True for queries, keys and values under one name.
bool is_fused(std::string_view name) {
  return name.find(".qkv.") != std::string_view::npos ||
         name.find(".c_attn.") != std::string_view::npos;
}

/// True if a tensor of that name belongs to any mechanism.
bool is_own(std::string_view name) {
  constexpr std::string_view kAttention = ".attn.", kHash = "fast_attention.";
  const std::size_t at = name.find(kAttention);
  if (at == std::string_view::npos) return false;
  name.remove_prefix(at + kAttention.size());
  if (name.starts_with(kHash)) name.remove_prefix(kHash.size());
  return std::ranges::any_of(mechanisms(), [&](const MechanismEntry& entry) {
    return std::ranges::any_of(entry.tensors,
                               [&](const TensorDescription& one) { return one.name == name; });
  });
}

/// The parts of a network that begin with random values although the rest comes from a file.
class RandomParts {
 public:
  explicit RandomParts(std::vector<std::string> names) : names_(std::move(names)) {}

  [[nodiscard]] bool queries() const { return has("queries"); }
  [[nodiscard]] bool keys() const { return has("keys"); }
  /// True if all of the tensor belongs to one of the parts.
  [[nodiscard]] bool contain(std::string_view tensor) const {
    const auto is_part = [&](std::string_view part) {
      return tensor.find(part) != std::string_view::npos;
    };
    return (has("positions") &&
            (tensor == "pos_embed" || is_part(".wpe.") || is_part("position_embeddings"))) ||
           (has("class_token") && tensor == "cls_token") ||
           (has("head") && tensor.starts_with("head.")) ||
           (queries() && (is_part(".to_q.") || is_part(".to_qk."))) ||
           (keys() && (is_part(".to_k.") || is_part(".to_qk.")));
  }

 private:
  [[nodiscard]] bool has(std::string_view name) const {
    return std::ranges::find(names_, name) != names_.end();
  }

  std::vector<std::string> names_;
};

/// A file with initial values.
class InitialisationFile {
 public:
  InitialisationFile(const Recipe& recipe, bool has_codes)
      : file_(recipe.from()),
        checkpoint_(open_checkpoint(file_)),
        random_(recipe.from_without()),
        has_codes_(has_codes) {}

  /// Checks, with the file's own description, that tensors of equal shapes have the same meaning.
  void check_model(const ModelSpec& spec) const {
    if (!checkpoint_.metadata().contains("architecture")) return;
    const ModelSpec own = read_model(checkpoint_, file_)->spec();
    for (std::int64_t i = 0; i < std::min(own.layers, spec.layers); ++i) {
      const std::int64_t heads = layer_of(spec, i).attention.heads,
                         found = layer_of(own, i).attention.heads;
      if (heads == found) continue;
      throw differs("its layers have a different number of heads", "model_heads",
                    std::to_string(heads), std::to_string(found));
    }
    if (spec.is_language_model() && own.labels != spec.labels) {
      throw differs("its vocabulary differs from the data set's", "dataset",
                    std::to_string(spec.labels.size()) + " characters",
                    std::to_string(own.labels.size()));
    }
  }

  /// Reads the file's values of `parameter`. Keeps the values if a mechanism's own tensor is
  /// missing.
  void read(const Parameter& parameter, float* to) {
    if (random_.contain(parameter.name)) return;
    const std::string qkv = together(parameter.name);
    if (checkpoint_.find(parameter.name) == nullptr && checkpoint_.find(qkv) != nullptr) {
      return read_part(parameter, qkv, to);
    }
    const StoredTensor* const stored = checkpoint_.find(parameter.name);
    if (stored == nullptr) {
      if (parameter.own && !has_codes_) return;
      throw missing(parameter);
    }
    check_shape(*stored, parameter.shape);
    const std::vector<float> numbers = taken(*stored);
    std::size_t first = 0;
    // Queries, keys and values under one name; a random part keeps its third.
    if (is_fused(parameter.name)) {
      const std::size_t third = numbers.size() / 3;
      if (random_.queries()) first = third;
      if (random_.keys()) first = 2 * third;
      if (random_.keys() && !random_.queries()) std::copy_n(numbers.data(), third, to);
    }
    std::copy(numbers.begin() + static_cast<std::ptrdiff_t>(first), numbers.end(), to + first);
  }

  /// Throws Error(usage) for a tensor that was not used and is not a mechanism's own.
  void check_rest() const {
    for (const StoredTensor& stored : checkpoint_.tensors()) {
      if (taken_.contains(stored.name) || is_own(stored.name)) continue;
      if (random_.contain(stored.name)) continue;
      throw differs("the network has no such tensor", stored.name, "none", to_string(stored.shape));
    }
  }

 private:
  /// Reads to_qk or to_v from queries, keys and values stored under one name.
  void read_part(const Parameter& parameter, const std::string& name, float* to) {
    const StoredTensor& stored = checkpoint_.at(name);
    Shape three = parameter.shape;
    three.front() *= 3;
    check_shape(stored, three);
    const std::vector<float> numbers = taken(stored);
    const auto each = static_cast<std::size_t>(parameter.slot.size);
    const float *const queries = numbers.data(), *const keys = queries + each;
    const bool values = parameter.name.find(".to_v.") != std::string::npos;
    for (std::size_t i = 0; i < each; ++i) {
      to[i] = values ? keys[each + i] : (queries[i] + keys[i]) / 2;
    }
  }

  std::vector<float> taken(const StoredTensor& stored) {
    taken_.insert(stored.name);
    const Tensor tensor = stored.view().to_float();
    return {tensor.values().begin(), tensor.values().end()};
  }

  void check_shape(const StoredTensor& stored, const Shape& expected) const {
    if (without_ones(stored.shape) == without_ones(expected)) return;
    throw differs("the tensor has another shape than the network's", stored.name,
                  to_string(expected), to_string(stored.shape));
  }

  [[nodiscard]] Error missing(const Parameter& parameter) const {
    std::string nearest;
    for (const std::string& name : checkpoint_.nearest_names(parameter.name)) {
      nearest += (nearest.empty() ? "" : ", ") + name;
    }
    return differs("a tensor of the network is missing", parameter.name, to_string(parameter.shape),
                   nearest.empty() ? "no tensors" : nearest);
  }

  [[nodiscard]] Error differs(const char* what, const std::string& which,
                              const std::string& expected, const std::string& found) const {
    return Error(ErrorKind::usage, std::string("the network cannot begin from the file: ") + what)
        .in_file(file_)
        .about(which)
        .expected(expected)
        .found(found);
  }

  std::filesystem::path file_;
  Checkpoint checkpoint_;
  RandomParts random_;
  bool has_codes_;  ///< true if learned codes are required
  std::set<std::string> taken_;
};

}  // namespace

std::vector<float> initial_values(const Recipe& recipe, const TrainedNetwork& network) {
  std::vector<float> values = network.parameters().initial_values(recipe.data().seed);
  if (recipe.from().empty()) return values;
  InitialisationFile file(recipe, recipe.has_learned_codes() && recipe.code_steps().empty());
  file.check_model(network.spec());
  for (const Parameter& parameter : network.parameters().list()) {
    file.read(parameter, parameter.slot.in(values.data()));
  }
  file.check_rest();
  return values;
}

}  // namespace attnscope
