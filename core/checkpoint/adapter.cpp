#include "core/checkpoint/adapter.h"

#include <memory>
#include <optional>
#include <utility>

#include "core/checkpoint/adapter_config.h"
#include "core/checkpoint/model_folder.h"
#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/file/read_file.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

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

Error misfit(const std::string& name, const LowRank& module, const StoredTensor& weight) {
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
    throw misfit(name, module, weight);
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
    throw misfit(name, module, weight);
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
