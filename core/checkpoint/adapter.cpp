#include "core/checkpoint/adapter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/checkpoint/model_folder.h"
#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/file/read_file.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

// ---- PEFT's adapter_config.json: every key that changes the computation is read or refused ----

struct AdapterConfig {
  std::string base;                             ///< base_model_name_or_path
  double rank = 0, alpha = 0;                   ///< r, lora_alpha
  bool root_of_rank = false;                    ///< use_rslora
  bool fan_in_fan_out = false;                  ///< base weights are stored [in, out]
  std::map<std::string, double> ranks, alphas;  ///< rank_pattern, alpha_pattern

  /// Rank of the module with this name ("model.layers.0.self_attn.q_proj"). Throws
  /// Error(unsupported) if several patterns fit and disagree.
  [[nodiscard]] double rank_of(std::string_view module) const;
  /// Factor of B A for the module with this name.
  [[nodiscard]] double scale_of(std::string_view module) const;
};

using nlohmann::json;

/// Keys that only describe the training, or follow from the adapter's tensors.
constexpr std::array kHarmless = {"auto_mapping",        "corda_config",   "eva_config",
                                  "exclude_modules",     "inference_mode", "layers_pattern",
                                  "layers_to_transform", "loftq_config",   "lora_dropout",
                                  "lora_ga_config",      "megatron_core",  "modules_to_save",
                                  "peft_version",        "revision",       "runtime_config",
                                  "qalora_group_size",  // belongs to use_qalora, which is refused
                                  "target_modules",      "task_type"};

Error refused_setting(const std::string& key, const json& value) {
  constexpr std::size_t longest = 80;
  return Error(ErrorKind::unsupported, "the adapter's setting is not supported")
      .about(key)
      .found(value.dump(-1, ' ', true).substr(0, longest))
      .remedy("merge the adapter into its base: merge_and_unload(), then save_pretrained()");
}

bool adds_nothing(const json& value) {
  return value.is_null() || value == json(false) || (value.is_structured() && value.empty()) ||
         value == json("");
}

double positive(const std::string& key, const json& value) {
  if (!value.is_number() || !(value.get<double>() > 0)) {
    throw Error(ErrorKind::damaged, "is not a number above 0").about(key).found(value.dump());
  }
  return value.get<double>();
}

bool truth(const std::string& key, const json& value) {
  if (value.is_null()) return false;
  if (!value.is_boolean()) {
    throw Error(ErrorKind::damaged, "is neither true nor false").about(key).found(value.dump());
  }
  return value.get<bool>();
}

/// Reads a pattern table. PEFT's keys are regular expressions for the ends of module names; only
/// plain names, optionally anchored by '^', are supported because libraries write no others.
std::map<std::string, double> patterns(const std::string& key, const json& value) {
  std::map<std::string, double> result;
  if (value.is_null()) return result;
  if (!value.is_object()) throw Error(ErrorKind::damaged, "is not an object").about(key);
  for (const auto& [pattern, number] : value.items()) {
    const bool plain = std::all_of(
        pattern.begin() + (pattern.starts_with('^') ? 1 : 0), pattern.end(),
        [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-'; });
    if (pattern.empty() || !plain) throw refused_setting(key, json(pattern));
    result.emplace(pattern, positive(key, number));
  }
  return result;
}

/// Matches like PEFT: the whole name, or the part after a dot; with '^' only the whole name.
bool fits(std::string_view pattern, std::string_view module) {
  if (pattern.starts_with('^')) return module == pattern.substr(1);
  if (!module.ends_with(pattern)) return false;
  const std::size_t before = module.size() - pattern.size();
  return before == 0 || module[before - 1] == '.';
}

double value_of(const std::map<std::string, double>& patterns, std::string_view module,
                double otherwise) {
  std::optional<double> found;
  for (const auto& [pattern, value] : patterns) {
    if (!fits(pattern, module)) continue;
    if (found && *found != value) {
      throw Error(ErrorKind::unsupported, "several patterns of the adapter fit one module")
          .about(std::string(module));
    }
    found = value;
  }
  return found.value_or(otherwise);
}

/// Refuses initialisations that subtract from the base's weights, because the adapter was then not
/// trained on the published base.
void check_initialisation(const json& value) {
  if (value.is_null() || value.is_boolean()) return;
  for (const char* kept : {"gaussian", "eva", "orthogonal"}) {
    if (value == json(kept)) return;
  }
  throw refused_setting("init_lora_weights", value);
}

void read_key(const std::string& key, const json& value, AdapterConfig& config) {
  if (key == "base_model_name_or_path") {
    if (value.is_string()) config.base = value.get<std::string>();
  } else if (key == "peft_type") {
    if (value != json("LORA")) throw refused_setting(key, value);
  } else if (key == "r") {
    config.rank = positive(key, value);
  } else if (key == "lora_alpha") {
    config.alpha = positive(key, value);
  } else if (key == "use_rslora") {
    config.root_of_rank = truth(key, value);
  } else if (key == "fan_in_fan_out") {
    config.fan_in_fan_out = truth(key, value);
  } else if (key == "rank_pattern") {
    config.ranks = patterns(key, value);
  } else if (key == "alpha_pattern") {
    config.alphas = patterns(key, value);
  } else if (key == "init_lora_weights") {
    check_initialisation(value);
  } else if (key == "bias") {  // trained biases are tensors of the adapter
    if (value != json("none") && value != json("all") && value != json("lora_only")) {
      throw refused_setting(key, value);
    }
  } else if (std::find(kHarmless.begin(), kHarmless.end(), key) == kHarmless.end() &&
             !adds_nothing(value)) {
    throw refused_setting(key, value);
  }
}

double AdapterConfig::rank_of(std::string_view module) const {
  return value_of(ranks, module, rank);
}

double AdapterConfig::scale_of(std::string_view module) const {
  const double of_module = rank_of(module);
  return value_of(alphas, module, alpha) / (root_of_rank ? std::sqrt(of_module) : of_module);
}

/// Reads the file. Throws Error(io, damaged), and Error(unsupported) naming a key that is neither
/// supported nor disabled (null, false, empty).
AdapterConfig read_adapter_config(const std::filesystem::path& file) {
  return with_file(file, [&] {
    const json object = read_json_file(file);
    if (!object.is_object()) throw Error(ErrorKind::damaged, "is not a JSON object");
    AdapterConfig config;
    for (const auto& [key, value] : object.items()) read_key(key, value, config);
    for (const char* key : {"peft_type", "r", "lora_alpha", "base_model_name_or_path"}) {
      if (!object.contains(key)) throw Error(ErrorKind::damaged, "the key is missing").about(key);
    }
    return config;
  });
}

// ---- the weights ----

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "base_model.model.";

fs::path weights_of_adapter(const fs::path& folder) {
  for (const char* name : {"adapter_model.safetensors", "adapter_model.bin"}) {
    if (is_entry(folder / name)) return folder / name;
  }
  throw Error(ErrorKind::io, "the adapter's weights are missing")
      .in_file(folder)
      .expected("adapter_model.safetensors or adapter_model.bin");
}

/// True if `path` is `folder` or below it, judged by the names. Links are not resolved: a link in
/// these folders was created by the user.
bool is_within(const fs::path& path, const fs::path& folder) {
  const fs::path rest = path.lexically_normal().lexically_relative(folder.lexically_normal());
  return !rest.empty() && *rest.begin() != "..";
}

/// Finds the base by its given path inside or next to the adapter's folder, or by its own name next
/// to it. A path in a downloaded file must not lead elsewhere.
fs::path find_base(const fs::path& folder, const std::string& name) {
  const fs::path base(name);
  const fs::path here = fs::absolute(folder / "").lexically_normal().parent_path();
  const bool is_name = base.has_filename() && base.filename() != "." && base.filename() != "..";
  if (is_name && name.find('\0') == std::string::npos) {
    for (const fs::path& candidate :
         {here / base, here.parent_path() / base, here.parent_path() / base.filename()}) {
      if (!is_within(candidate, here.parent_path()) || !is_entry(candidate)) continue;
      std::error_code ignored;
      const bool itself = fs::equivalent(candidate, folder, ignored);
      if (!itself && !is_adapter_folder(candidate)) return candidate;
    }
  }
  throw Error(
      ErrorKind::io,
      "the adapter's base model is missing: it is neither inside nor next to the adapter's folder")
      .in_file(folder)
      .about("base_model_name_or_path")
      .expected(name.empty() ? "the path of a model" : shown_text(name))
      .remedy(
          "put the base model's folder, or a link to it, next to the adapter's, under the name '" +
          shown_text(base.filename().string()) + "'");
}

/// The factors B and A of one module.
struct LowRank {
  const StoredTensor* a = nullptr;
  const StoredTensor* b = nullptr;
  bool of_embedding = false;
};

struct AdapterTensors {
  std::map<std::string, LowRank> modules;  ///< modules by name
  /// Replacements of the base's tensors, by name.
  std::map<std::string, const StoredTensor*> whole;
};

/// Sorts the adapter's tensors by the endings of their names.
AdapterTensors sort_tensors(const Checkpoint& adapter) {
  struct Ending {
    std::string_view text;
    bool is_a, of_embedding;
  };
  constexpr Ending endings[] = {{".lora_A.weight", true, false},
                                {".lora_B.weight", false, false},
                                {".lora_embedding_A", true, true},
                                {".lora_embedding_B", false, true}};
  AdapterTensors sorted;
  for (const StoredTensor& tensor : adapter.tensors()) {
    std::string name = tensor.name;
    if (!name.starts_with(kPrefix)) {
      throw Error(ErrorKind::unsupported, "the adapter's tensor is not supported")
          .about(tensor.name)
          .expected("names that start with " + std::string(kPrefix));
    }
    name.erase(0, kPrefix.size());
    const Ending* found = nullptr;
    for (const Ending& ending : endings) {
      if (name.ends_with(ending.text)) found = &ending;
    }
    if (found != nullptr) {
      LowRank& module = sorted.modules[name.substr(0, name.size() - found->text.size())];
      (found->is_a ? module.a : module.b) = &tensor;
      module.of_embedding = found->of_embedding;
    } else if (name.find("lora_") != std::string::npos) {
      throw Error(ErrorKind::unsupported, "the adapter's tensor is not supported")
          .about(tensor.name)
          .remedy("merge the adapter into its base: merge_and_unload(), then save_pretrained()");
    } else {
      if (const std::size_t at = name.find("modules_to_save."); at != std::string::npos) {
        name.erase(at, std::string_view("modules_to_save.").size());
      }
      sorted.whole.emplace(std::move(name), &tensor);
    }
  }
  return sorted;
}

/// The base's tensor `name`, where either name may have an additional prefix, as for a model inside
/// another one. Null if missing. Throws Error(unsupported) if several match.
const StoredTensor* tensor_of_base(const Checkpoint& base, const std::string& name) {
  if (const StoredTensor* exact = base.find(name)) return exact;
  const StoredTensor* found = nullptr;
  for (const StoredTensor& tensor : base.tensors()) {
    if (!tensor.name.ends_with("." + name) && !name.ends_with("." + tensor.name)) continue;
    if (found != nullptr) {
      throw Error(ErrorKind::unsupported,
                  "the adapter's module matches several tensors of the base model")
          .about(name)
          .found(found->name + ", " + tensor.name);
    }
    found = &tensor;
  }
  return found;
}

Error factors_misfit(const std::string& name, const LowRank& module, const StoredTensor& weight) {
  return Error(ErrorKind::damaged, "the adapter does not fit the base's tensor")
      .about(name)
      .expected("B A of " + to_string(weight.shape))
      .found("B " + to_string(module.b->shape) + ", A " + to_string(module.a->shape));
}

/// W + scale · B A, with the product transposed if the base stores [in, out].
StoredTensor merged(const StoredTensor& weight, const std::string& name, const LowRank& module,
                    const AdapterConfig& config, const fs::path& adapter_file) {
  if (module.a == nullptr || module.b == nullptr) {
    throw Error(ErrorKind::damaged, "the adapter has only one of a module's two factors")
        .about(name);
  }
  if (module.a->shape.size() < 2 || module.b->shape.size() < 2 || weight.shape.size() < 2) {
    throw factors_misfit(name, module, weight);
  }
  const std::int64_t rank = module.a->shape[0], rows = module.b->shape[0];
  const std::int64_t elements = element_count(weight.shape);
  const double stated = config.rank_of(name);
  if (static_cast<double>(rank) != stated) {
    throw Error(ErrorKind::damaged, "the adapter's rank differs from its configuration")
        .about(name)
        .expected(std::to_string(static_cast<std::int64_t>(stated)))
        .found(std::to_string(rank));
  }
  const bool transposed = module.of_embedding || config.fan_in_fan_out;
  const std::int64_t columns = rank == 0 ? 0 : element_count(module.a->shape) / rank;
  const std::int64_t first = transposed ? columns : rows;
  if (element_count(module.b->shape) != rows * rank || weight.shape[0] != first || rows == 0 ||
      columns != elements / rows || elements % rows != 0 ||
      (transposed && weight.shape.size() != 2)) {
    throw factors_misfit(name, module, weight);
  }
  const auto scale = static_cast<float>(config.scale_of(name));
  auto view = [weight, a = *module.a, b = *module.b, rank, rows, columns, transposed, scale,
               adapter_file] {
    auto sum = std::make_shared<Tensor>(weight.view().to_float());
    with_file(adapter_file, [&] {
      const Tensor a_values = a.view().to_float(), b_values = b.view().to_float();
      const ConstMatrixMap factor_a(a_values.data(), rank, columns);
      const ConstMatrixMap factor_b(b_values.data(), rows, rank);
      if (transposed) {
        MatrixMap(sum->data(), columns, rows).noalias() +=
            scale * (factor_a.transpose() * factor_b.transpose());
      } else {
        MatrixMap(sum->data(), rows, columns).noalias() += scale * (factor_b * factor_a);
      }
    });
    return TensorView{DType::f32, weight.shape, TensorView::contiguous_strides(weight.shape),
                      reinterpret_cast<const std::byte*>(sum->data()), sum};
  };
  return {weight.name, DType::f32, weight.shape, byte_count(weight.shape, DType::f32),
          std::move(view)};
}

Checkpoint lay_over(const Checkpoint& base, const Checkpoint& adapter,
                    const AdapterConfig& config) {
  const AdapterTensors changes = sort_tensors(adapter);
  std::map<std::string, StoredTensor> changed;  // changed tensors by their names in the base
  for (const auto& [name, module] : changes.modules) {
    const StoredTensor* const weight = tensor_of_base(base, name + ".weight");
    if (weight == nullptr) (void)base.at(name + ".weight");  // throws with the nearest names
    changed.insert_or_assign(weight->name, merged(*weight, name, module, config, adapter.path()));
  }
  std::vector<StoredTensor> tensors = base.tensors();
  for (const auto& [name, tensor] : changes.whole) {
    const StoredTensor* const replaced = tensor_of_base(base, name);
    StoredTensor renamed = *tensor;
    renamed.name = replaced != nullptr ? replaced->name : name;
    if (replaced == nullptr) {
      tensors.push_back(std::move(renamed));
    } else if (!changed.emplace(replaced->name, std::move(renamed)).second) {
      throw Error(ErrorKind::unsupported,
                  "the adapter holds both a full copy and a change of the tensor")
          .about(name);
    }
  }
  for (StoredTensor& tensor : tensors) {
    if (const auto found = changed.find(tensor.name); found != changed.end()) {
      tensor = found->second;
    }
  }
  std::map<std::string, std::string> metadata = base.metadata();
  metadata.insert_or_assign("adapter", adapter.path().string());
  metadata.insert_or_assign("adapter's base", base.path().string());
  return {base.path(), base.format() + " with a LoRA adapter", std::move(tensors),
          std::move(metadata)};
}

}  // namespace

bool is_adapter_folder(const fs::path& folder) { return is_entry(folder / "adapter_config.json"); }

Checkpoint open_adapter(const fs::path& folder) {
  const AdapterConfig config = read_adapter_config(folder / "adapter_config.json");
  const fs::path weights = weights_of_adapter(folder);
  const Checkpoint base = open_checkpoint(find_base(folder, config.base));
  const Checkpoint adapter = open_checkpoint(weights);
  return with_file(weights, [&] { return lay_over(base, adapter, config); });
}

}  // namespace attnscope
