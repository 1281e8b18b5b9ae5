#include "core/training/run/training_snapshot.h"

#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "core/architecture/model_spec_json.h"
#include "core/checkpoint/format_version.h"
#include "core/checkpoint/hdf5/hdf5_writer.h"

namespace attnscope {

namespace {

/// The attributes of a model file, other than its format's version.
std::map<std::string, std::string> attributes_of(const TrainingSnapshot& snapshot,
                                                 const std::string& name) {
  const nlohmann::ordered_json training = {
      {"step", snapshot.step}, {"recipe", nlohmann::ordered_json::parse(snapshot.recipe)}};
  return {{"format", "attnscope-model"},
          {"name", name},
          {"architecture", to_json(snapshot.network->spec())},
          {"training", training.dump()}};
}

}  // namespace

std::string model_bytes(const TrainingSnapshot& snapshot, const std::string& name) {
  Hdf5Writer model;
  model.attribute("/", "format_version", kFormatVersion);
  for (const auto& [key, text] : attributes_of(snapshot, name)) model.attribute("/", key, text);
  for (const Parameter& parameter : snapshot.network->parameters().list()) {
    model.data("/tensors/" + parameter.name, parameter.shape,
               std::span<const float>(parameter.slot.in(snapshot.values.data()),
                                      static_cast<std::size_t>(parameter.slot.size)));
  }
  return model.bytes();
}

Checkpoint checkpoint_of(std::shared_ptr<const TrainingSnapshot> snapshot,
                         const std::filesystem::path& path, const std::string& name) {
  std::vector<StoredTensor> tensors;
  for (const Parameter& parameter : snapshot->network->parameters().list()) {
    StoredTensor stored;
    stored.name = parameter.name;
    stored.shape = parameter.shape;
    stored.bytes = parameter.slot.size * static_cast<std::int64_t>(sizeof(float));
    stored.view = [snapshot, shape = parameter.shape, slot = parameter.slot] {
      TensorView view;
      view.shape = shape;
      view.strides = TensorView::contiguous_strides(shape);
      view.data = reinterpret_cast<const std::byte*>(slot.in(snapshot->values.data()));
      view.storage = snapshot;
      return view;
    };
    tensors.push_back(std::move(stored));
  }
  return {path, "memory", std::move(tensors), attributes_of(*snapshot, name)};
}

}  // namespace attnscope
