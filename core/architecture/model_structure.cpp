#include "core/architecture/model_structure.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

#include "core/architecture/tensor_groups.h"

namespace attnscope {

namespace {

std::string in_brackets(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

std::int64_t numbers_of(const Shape& shape) {
  std::int64_t numbers = 1;
  for (const std::int64_t extent : shape) numbers *= extent;
  return numbers;
}

/// Appends `child`; the sum of `parent` includes it.
void add(StructureNode& parent, StructureNode child) {
  parent.numbers += child.numbers;
  parent.children.push_back(std::move(child));
}

void add_if_any(StructureNode& parent, StructureNode child) {
  if (!child.children.empty()) add(parent, std::move(child));
}

/// Index of a role's module in the list of roles, which has the order of the computation.
std::size_t place_of(std::string_view module) {
  const auto roles = tensor_roles();
  const auto found = std::ranges::find(roles, module, &TensorRole::name);
  return static_cast<std::size_t>(found - roles.begin());
}

struct PlacedRole {
  std::size_t place;  ///< index in the list of roles
  std::string name;   ///< role without its layer: "query.weight"
  const TensorSource* source;
};

class Structure {
 public:
  Structure(const Checkpoint& checkpoint, const Architecture& architecture,
            std::int64_t first_layer)
      : checkpoint_(checkpoint), architecture_(architecture), first_layer_(first_layer) {
    for (const auto& [role, source] : architecture_.sources) place(role, source);
  }

  StructureNode whole() {
    const ModelSpec& spec = architecture_.spec;
    StructureNode model{.title = architecture_.name};
    add_if_any(model, assumptions());
    add_if_any(model, part("Embedding", before_));
    for (auto& [stage, roles] : stages_) {
      add_if_any(model, part("Into stage " + std::to_string(stage + 1), roles));
    }
    StructureNode layers{.title = "Layers"};
    layers.note = std::to_string(spec.layers) + " of " + to_string(spec.mechanism);
    for (auto& [number, roles] : layers_) add(layers, layer(number, roles));
    add_if_any(model, std::move(layers));
    add_if_any(model, part("Read-out", after_));
    add_if_any(model, without_role());
    model.note = "width " + std::to_string(spec.width) + ", " +
                 std::to_string(spec.layer.attention.heads) + " heads, " +
                 count_in_words(model.numbers) + " numbers";
    return model;
  }

 private:
  /// Layer and rest of a role: "layer.3.query.weight" → 3, "query.weight".
  static std::pair<std::int64_t, std::string> numbered(const std::string& role, std::size_t from) {
    const std::size_t dot = role.find('.', from);
    return {std::stoll(role.substr(from, dot - from)), role.substr(dot + 1)};
  }

  void place(const std::string& role, const TensorSource& source) {
    for (const auto& [prefix, list] :
         {std::pair{std::string("layer."), &layers_}, std::pair{std::string("stage."), &stages_}}) {
      if (!role.starts_with(prefix)) continue;
      const auto [number, name] = numbered(role, prefix.size());
      (*list)[number].push_back({place_of(prefix + parts_of_role(name).module), name, &source});
      return;
    }
    const std::size_t place = place_of(parts_of_role(role).module);
    std::vector<PlacedRole>& list = place > first_of_layers() ? after_ : before_;
    list.push_back({place, role, &source});
  }

  static std::size_t first_of_layers() { return place_of("layer.norm1"); }

  [[nodiscard]] StructureNode tensor(const PlacedRole& role) const {
    StructureNode node{.title = role.name, .tensor = role.source->tensor};
    if (const StoredTensor* const stored = checkpoint_.find(role.source->tensor)) {
      node.shape = in_brackets(stored->shape);
      node.type = stored->type_name();
      node.numbers = numbers_of(stored->shape);
    }
    for (const std::string& piece : role.source->pieces) {
      if (const StoredTensor* const stored = checkpoint_.find(piece)) {
        node.numbers += numbers_of(stored->shape);
      }
    }
    if (!role.source->pieces.empty()) {
      node.shape = std::to_string(role.source->pieces.size() + 1) + " × " + node.shape;
    }
    if (role.source->transposed) node.note = "stored as [in, out]";
    return node;
  }

  [[nodiscard]] StructureNode part(const std::string& title, std::vector<PlacedRole>& roles) const {
    std::ranges::sort(roles, {}, [](const PlacedRole& role) {
      // A weight comes before its bias.
      return std::pair(role.place, role.name.ends_with("bias"));
    });
    StructureNode node{.title = title};
    for (const PlacedRole& role : roles) add(node, tensor(role));
    return node;
  }

  [[nodiscard]] StructureNode layer(std::int64_t number,
                                    const std::vector<PlacedRole>& roles) const {
    std::vector<PlacedRole> attention, mlp;
    const std::size_t second = place_of("layer.norm2");
    for (const PlacedRole& role : roles) (role.place < second ? attention : mlp).push_back(role);
    StructureNode node{.title = "Layer " + std::to_string(number + first_layer_)};
    const LayerSpec spec = layer_of(architecture_.spec, number);
    node.note = std::to_string(spec.attention.heads) + " heads of " +
                std::to_string(width_of_head(spec, width_of_layer(architecture_.spec, number)));
    add_if_any(node, part("Attention", attention));
    add_if_any(node, part("MLP", mlp));
    return node;
  }

  [[nodiscard]] StructureNode assumptions() const {
    StructureNode node{.title = "Assumptions"};
    for (const Assumption& each : architecture_.assumptions) {
      node.children.push_back({.title = each.option + " = " + each.value,
                               .note = (each.stated ? "" : "assumed: ") + each.reason});
    }
    return node;
  }

  [[nodiscard]] StructureNode without_role() const {
    StructureNode node{.title = "Tensors without a role",
                       .note = "maps and predictions do not depend on them"};
    for (const std::string& name : architecture_.unused) {
      TensorSource source;
      source.tensor = name;
      StructureNode one = tensor({0, name, &source});
      one.title.clear();
      add(node, std::move(one));
    }
    return node;
  }

  const Checkpoint& checkpoint_;
  const Architecture& architecture_;
  std::int64_t first_layer_;
  std::vector<PlacedRole> before_, after_;
  std::map<std::int64_t, std::vector<PlacedRole>> layers_, stages_;
};

StructureNode of_tensors(const Checkpoint& checkpoint) {
  StructureNode model{.title = "No known model", .note = "only its tensors"};
  for (const TensorGroup& group : group_tensors(checkpoint)) {
    StructureNode node{.tensor = group.pattern,
                       .shape = group.alike ? in_brackets(group.shape) : "several",
                       .type = group.type};
    if (group.count > 1) node.shape = std::to_string(group.count) + " × " + node.shape;
    node.numbers = group.count * numbers_of(group.shape);
    add(model, std::move(node));
  }
  return model;
}

}  // namespace

std::string count_in_words(std::int64_t numbers) {
  constexpr std::array<std::pair<double, const char*>, 3> names = {
      {{1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}}};
  for (const auto& [size, name] : names) {
    const double count = static_cast<double>(numbers) / size;
    if (count < 1) continue;
    char text[64];
    (void)std::snprintf(text, sizeof text,
                        count < 10    ? "%.2f %s"
                        : count < 100 ? "%.1f %s"
                                      : "%.0f %s",
                        count, name);
    return text;
  }
  std::string text = std::to_string(numbers);
  if (text.size() > 3) text.insert(text.size() - 3, ",");
  return text;
}

StructureNode structure_of(const Checkpoint& checkpoint, const Architecture* architecture,
                           std::int64_t first_layer) {
  if (architecture == nullptr) return of_tensors(checkpoint);
  return Structure(checkpoint, *architecture, first_layer).whole();
}

}  // namespace attnscope
