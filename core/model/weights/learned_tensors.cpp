#include "core/model/weights/learned_tensors.h"

#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/format_version.h"
#include "core/checkpoint/hdf5/hdf5_writing.h"
#include "core/error.h"
#include "core/parameters/parameters_json.h"
#include "core/text/json.h"

namespace attnscope {

namespace {

constexpr const char* kFormat = "attnscope-tensors";
constexpr std::int64_t kMostLearnedLayers = 4096;

std::string group_of(std::size_t layer) {
  char text[32];
  std::snprintf(text, sizeof text, "layer_%02zu", layer);
  return text;
}

std::string attribute_text(const Checkpoint& file, const char* name) {
  const auto found = file.metadata().find(name);
  if (found == file.metadata().end()) {
    throw Error(ErrorKind::damaged, "an attribute is missing").in_file(file.path()).about(name);
  }
  return found->second;
}

std::int64_t layers_of(const Checkpoint& file) {
  const std::string text = attribute_text(file, "layers");
  std::int64_t layers = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), layers);
  if (failure != std::errc() || end != text.data() + text.size() || layers < 1 ||
      layers > kMostLearnedLayers) {
    throw Error(ErrorKind::damaged, "the number of layers is out of range")
        .in_file(file.path())
        .about("layers")
        .found(text);
  }
  return layers;
}

void write_learned(const Hdf5Id& root, const LearnedTensors& tensors) {
  write_attribute(root, "format", kFormat);
  write_attribute(root, "format_version", kFormatVersion);
  write_attribute(root, "mechanism", tensors.mechanism.name);
  write_attribute(root, "mechanism_parameters", to_json(tensors.mechanism.parameters));
  write_attribute(root, "layers", static_cast<std::int64_t>(tensors.layers->size()));
  write_attribute(root, "provenance",
                  nlohmann::json(tensors.provenance)
                      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  for (std::size_t layer = 0; layer < tensors.layers->size(); ++layer) {
    const Hdf5Id group = create_group(root, group_of(layer));
    for (const auto& [name, tensor] : (*tensors.layers)[layer]) write_tensor(group, name, tensor);
  }
}

}  // namespace

void write_learned_tensors(const std::filesystem::path& file, const LearnedTensors& tensors) {
  write_hdf5_file(file, [&](const Hdf5Id& root) { write_learned(root, tensors); });
}

LearnedTensors read_learned_tensors(const std::filesystem::path& file) {
  const Checkpoint checkpoint = open_checkpoint(file);
  const auto format = checkpoint.metadata().find("format");
  if (format == checkpoint.metadata().end() || format->second != kFormat) {
    throw Error(ErrorKind::not_this_format, "the file holds no learned tensors of a mechanism")
        .in_file(file)
        .remedy("attnscope learn-codes writes such files");
  }
  LearnedTensors tensors;
  tensors.mechanism.name = attribute_text(checkpoint, "mechanism");
  tensors.mechanism.parameters =
      parameters_from_json(attribute_text(checkpoint, "mechanism_parameters"));
  const auto provenance = parse_json_or_null(attribute_text(checkpoint, "provenance"));
  if (provenance.is_object()) {
    for (const auto& [name, value] : provenance.items()) {
      if (value.is_string()) tensors.provenance[name] = value.get<std::string>();
    }
  }
  auto layers =
      std::make_shared<std::vector<NamedTensors>>(static_cast<std::size_t>(layers_of(checkpoint)));
  for (std::size_t layer = 0; layer < layers->size(); ++layer) {
    const std::string prefix = group_of(layer) + "/";
    for (const StoredTensor& stored : checkpoint.tensors()) {
      if (!stored.name.starts_with(prefix)) continue;
      (*layers)[layer].emplace(stored.name.substr(prefix.size()), stored.view().to_float());
    }
  }
  tensors.layers = std::move(layers);
  return tensors;
}

LearnedTensors read_learned_codes(const std::filesystem::path& file, const std::string& name,
                                  const std::string& argument) {
  LearnedTensors learned = read_learned_tensors(file);
  if (!name.empty() && name != learned.mechanism.name) {
    throw Error(ErrorKind::usage, "the codes were learned for another mechanism")
        .in_file(file)
        .about(argument)
        .expected(learned.mechanism.name)
        .found(name);
  }
  return learned;
}

}  // namespace attnscope
