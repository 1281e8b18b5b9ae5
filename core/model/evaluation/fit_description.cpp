#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/architecture/architecture.h"
#include "core/architecture/member_json.h"
#include "core/architecture/model_spec_json.h"
#include "core/architecture/unknown_models/named_model.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/model/evaluation/fit.h"
#include "core/model/evaluation/fit_base.h"
#include "core/text/json.h"

namespace attnscope {

namespace {

using nlohmann::json;

/// The module "model.blocks" for a tensor "blocks.0.attn.wq.weight", which is also the fallback.
std::string blocks_of(const Architecture& architecture) {
  for (const auto& [role, source] : architecture.sources) {
    if (!role.starts_with("layer.0.")) continue;
    const std::size_t number = source.tensor.find(".0.");
    if (number != std::string::npos) return "model." + source.tensor.substr(0, number);
  }
  return "model.blocks";
}

std::string inputs_of(const ModelSpec& spec) {
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  if (spec.reads_texts()) {
    const std::int64_t most =
        spec.input.context > 0 ? std::min<std::int64_t>(spec.input.context, 24) : 24;
    return "torch.randint(" + text(spec.input.vocabulary) + ", (2, " + text(most) + "))";
  }
  if (spec.input.kind == InputKind::embeddings) {
    return "torch.randn(2, 24, " + text(spec.embedding_width()) + ")";
  }
  return "torch.randn(2, " + text(spec.input.channels) + ", " + text(spec.input.image_height) +
         ", " + text(spec.input.image_width) + ")";
}

/// The description by which the file was read.
json describe_fit(const Checkpoint& checkpoint, const Architecture& architecture,
                  const ModelOptions& options) {
  constexpr std::size_t most = 4 << 20;  // bytes
  if (!options.description.empty()) {
    const std::vector<std::string> texts = revisions_in(read_file(options.description, most));
    for (const std::string& text : texts) {
      json description = parse_json(text);
      const auto name = description.find("name");
      if (name != description.end() && *name == architecture.name) return description;
    }
    return parse_json(texts.front());
  }
  if (architecture.name == kNamedModel) {
    return parse_json(read_named_model(checkpoint, options, options.overrides).description);
  }
  return {{"like", architecture.name}};
}

/// The members of `model` as a JSON object nested by their paths.
json by_place(const json& model) {
  json placed = json::object();
  for (const auto& [member, value] : statements(model)) at_path(placed, member->path) = *value;
  return placed;
}

}  // namespace

std::string lines_for_reference(const std::filesystem::path& file, const ModelOptions& said) {
  const FitBase base = open_for_fit(file, said, {});
  const bool folder = std::filesystem::is_directory(file);
  const std::string name = folder ? "reference.npz" : file.stem().string() + ".reference.npz";
  const ModelSpec& spec = base.architecture.spec;
  return "    maps, tokens, inputs = [], [], " + inputs_of(spec) +
         "\n"
         "    class Maps(torch.overrides.TorchFunctionMode):\n"
         "        def __torch_function__(self, function, types, args=(), kwargs=None):\n"
         "            if function.__name__ == 'scaled_dot_product_attention':  # times I: the map\n"
         "                one = "
         "torch.eye(args[1].shape[-2]).to(args[1]).expand(*args[1].shape[:-1], -1)\n"
         "                maps.append(function(*args[:2], one, *args[3:], **(kwargs or {})))\n"
         "            result = function(*args, **(kwargs or {}))\n"
         "            if function.__name__ == 'softmax': maps.append(result)\n"
         "            return result\n"
         "    for block in " +
         blocks_of(base.architecture) +
         ": block.register_forward_hook(lambda m, i, o: tokens.append(o))\n"
         "    with torch.no_grad(), Maps(): logits = model.eval()(inputs)\n"
         "    maps = torch.stack(maps, 1).reshape(2, " +
         std::to_string(spec.layers) +
         ", -1, *maps[0].shape[-2:])\n"
         "    numpy.savez('" +
         name + "', inputs=inputs, maps=maps, tokens=torch.stack(tokens, 1), logits=logits" +
         (spec.reads_texts() ? "[:, -1]" : "") + ")\n";
}

std::string fitted_description(const std::filesystem::path& file, const ModelOptions& options) {
  const Checkpoint checkpoint = open_model_file(file, options);
  const Architecture found = recognise_architecture(checkpoint, options);
  json description = describe_fit(checkpoint, found, options);
  json model = by_place(description.value("model", json::object()));
  ModelSpec spec = found.spec;
  for (const auto& [option, value] : options.overrides) {
    const SpecMember* const member = find_spec_member(option);
    if (member) at_path(model, member->path) = member_as_json(spec, *member);
  }
  if (found.qkv_rows != QkvRows::parts_first)
    description[kQkvRowsOption] = enum_name(found.qkv_rows);
  // A description is asked for heads that neither it nor the tensors give.
  description["model"] = model;
  const ArchitectureDescription so_far = parse_architecture_description(description.dump());
  if (!spec.is_pyramid() && !so_far.stated.contains("heads")) {
    const SpecMember& heads = *find_spec_member("heads");
    at_path(model, heads.path) = member_as_json(spec, heads);
  }
  // The description must include members that were read from a configuration next to the file.
  ModelOptions described;
  described.description = file;
  for (const char* const option : {kIgnoreOption, kStateDictOption}) {
    if (const auto own = options.overrides.find(option); own != options.overrides.end())
      described.overrides.insert(*own);
  }
  for (int round = 0;; ++round) {
    description["model"] = model;
    const Architecture again = architecture_described(
        parse_architecture_description(description.dump()), checkpoint, described);
    ModelSpec other = again.spec;
    bool differs = false;
    for (const SpecMember& member : spec_members()) {
      if (member_as_json(spec, member) == member_as_json(other, member)) continue;
      at_path(model, member.path) = member_as_json(spec, member);
      differs = true;
    }
    if (!differs && again.qkv_rows == found.qkv_rows) return description.dump(2) + "\n";
    if (round > 0) break;
  }
  throw Error(ErrorKind::unsupported, "a description cannot express this model").in_file(file);
}

}  // namespace attnscope
