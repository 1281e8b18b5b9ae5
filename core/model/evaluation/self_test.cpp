#include "core/model/evaluation/self_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr std::string_view kMapsOfLayer = "maps_";

/// The reference's arrays, each with the inputs as its first axis.
class Reference {
 public:
  explicit Reference(const std::filesystem::path& file) : stored_(open_checkpoint(file)) {
    bool anything = false;
    for (const StoredTensor& tensor : stored_.tensors()) {
      const bool known = tensor.name == "inputs" || is_compared(tensor.name);
      if (!known) {
        throw Error(ErrorKind::unsupported, "the reference holds an unknown array")
            .about(tensor.name)
            .expected("inputs, logits, tokens, maps, or maps_0, maps_1, …");
      }
      anything = anything || is_compared(tensor.name);
      if (tensor.shape.empty() || tensor.shape[0] != inputs()) {
        throw Error(ErrorKind::damaged, "the arrays are not of the same inputs")
            .about(tensor.name)
            .expected(std::to_string(inputs()) + " on the first axis")
            .found(to_string(tensor.shape));
      }
      arrays_.emplace(tensor.name, tensor.view());
    }
    if (!anything || inputs() == 0) {
      throw Error(ErrorKind::damaged, "the reference says nothing of the model")
          .expected("logits, tokens or maps of one input at least");
    }
  }

  [[nodiscard]] std::int64_t inputs() const {
    const Shape& shape = stored_.at("inputs").shape;
    return shape.empty() ? 0 : shape[0];
  }

  [[nodiscard]] Input input(std::int64_t index) const {
    const TensorView& all = arrays_.at("inputs");
    const TensorView one = part(all, index);
    Input input;
    if (all.shape.size() == 2 && !is_floating(all.dtype)) {
      input.content = Text{{}, one.to_int64()};
    } else {
      input.content = one.to_float();
    }
    input.label = "reference, input " + std::to_string(index);
    return input;
  }

  [[nodiscard]] bool has(const std::string& name) const { return arrays_.contains(name); }

  /// Of one input.
  [[nodiscard]] Tensor of(const std::string& name, std::int64_t input) const {
    return part(arrays_.at(name), input).to_float();
  }

  /// Of one input and one layer of [B, L, …].
  [[nodiscard]] Tensor of(const std::string& name, std::int64_t input, std::int64_t layer,
                          std::int64_t layers) const {
    const TensorView all = part(arrays_.at(name), input);
    if (all.shape.empty() || all.shape[0] != layers) {
      throw Error(ErrorKind::damaged, "the reference is of another number of layers")
          .about(name)
          .expected(std::to_string(layers) + " on the second axis")
          .found(to_string(stored_.at(name).shape));
    }
    return part(all, layer).to_float();
  }

 private:
  static bool is_compared(const std::string& name) {
    return name == "logits" || name == "tokens" || name == "maps" ||
           (name.starts_with(kMapsOfLayer) && parse_whole(name.substr(kMapsOfLayer.size())));
  }

  static TensorView part(TensorView all, std::int64_t index) {
    if (element_count(all.shape) != 0) {
      all.data += index * all.strides[0] * static_cast<std::int64_t>(size_of(all.dtype));
    }
    all.shape.erase(all.shape.begin());
    all.strides.erase(all.strides.begin());
    return all;
  }

  Checkpoint stored_;
  std::map<std::string, TensorView> arrays_;  ///< each unpacked once
};

/// Greatest |ours − reference| over the greatest |reference|.
double difference_of(const Tensor& ours, const Tensor& reference, const std::string& part) {
  if (ours.shape() != reference.shape()) {
    throw Error(ErrorKind::damaged, "the reference is of another shape than the model's")
        .about(part)
        .expected(to_string(ours.shape()))
        .found(to_string(reference.shape()));
  }
  double greatest = 0, difference = 0;
  for (std::int64_t i = 0; i < ours.size(); ++i) {
    const double expected = reference.data()[i], one = std::abs(ours.data()[i] - expected);
    if (std::isnan(one)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, one);
    greatest = std::max(greatest, std::abs(expected));
  }
  return difference > 0 ? difference / greatest : 0;
}

/// What has been compared, in the order of the computation: the greatest difference of each part.
class Comparison {
 public:
  void add(const std::string& part, const Tensor& ours, const Tensor& reference) {
    const double difference = difference_of(ours, reference, part);
    const auto known =
        std::ranges::find(parts_, part, [](const auto& entry) { return entry.first; });
    if (known == parts_.end()) {
      parts_.emplace_back(part, difference);
    } else {
      known->second = std::max(known->second, difference);
    }
  }

  void into(SelfTest& test) const {
    for (const auto& [part, difference] : parts_) {
      test.difference = std::max(test.difference, difference);
      if (!test.part.empty() || difference <= self_test_tolerance) continue;
      test.part = part;
      test.part_difference = difference;
    }
  }

 private:
  std::vector<std::pair<std::string, double>> parts_;
};

/// Of the reference, as of a run.
Tensor maps_of(const Reference& reference, std::int64_t input, std::int64_t layer,
               std::int64_t layers) {
  const std::string own = std::string(kMapsOfLayer) + std::to_string(layer);
  if (reference.has(own)) return reference.of(own, input);
  return reference.has("maps") ? reference.of("maps", input, layer, layers) : Tensor();
}

void compare(const Trace& trace, const Reference& reference, std::int64_t input,
             Comparison& comparison) {
  const std::int64_t layers = std::ssize(trace.layers);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const LayerTrace& ours = trace.layers[static_cast<std::size_t>(layer)];
    const std::string name = "layer " + std::to_string(layer);
    if (const Tensor maps = maps_of(reference, input, layer, layers); !maps.empty()) {
      comparison.add(name + ", attention maps", ours.implied_map.all(), maps);
    }
    if (reference.has("tokens")) {
      comparison.add(name + ", output", ours.tokens, reference.of("tokens", input, layer, layers));
    }
  }
  if (reference.has("logits")) {
    comparison.add("logits", trace.logits, reference.of("logits", input));
  }
}

}  // namespace

std::optional<std::filesystem::path> reference_beside(const std::filesystem::path& model) {
  namespace fs = std::filesystem;
  const bool folder = fs::is_directory(model);
  const fs::path place = folder ? model : model.parent_path();
  std::vector<fs::path> names = {"reference.npz"};
  if (!folder) names.insert(names.begin(), model.stem().string() + ".reference.npz");
  std::error_code ignored;
  for (const fs::path& name : names) {
    const bool itself = !folder && name == model.filename();
    if (!itself && fs::is_regular_file(place / name, ignored)) return place / name;
  }
  return std::nullopt;
}

SelfTest self_test(const Model& model, const std::filesystem::path& file,
                   const Progress& progress) {
  return with_file(file, [&] {
    const Reference reference(file);
    SelfTest test;
    test.file = file;
    test.inputs = reference.inputs();
    TraceRequest request;
    request.tokens = reference.has("tokens");
    Comparison comparison;
    const double share = 1.0 / static_cast<double>(test.inputs);
    for (std::int64_t i = 0; i < test.inputs; ++i) {
      const Progress own =
          progress.part(static_cast<double>(i) * share, static_cast<double>(i + 1) * share);
      const Trace trace = model.run(reference.input(i), model.spec().mechanism, request, own);
      compare(trace, reference, i, comparison);
    }
    comparison.into(test);
    return test;
  });
}

std::string in_words(const SelfTest& test) {
  const std::string name = test.file.filename().string();
  const std::string inputs =
      std::to_string(test.inputs) + (test.inputs == 1 ? " input" : " inputs");
  if (test.agrees()) {
    return "agrees with " + name + " to " + rounded_text(test.difference, 1) + " (" + inputs + ")";
  }
  return "differs from " + name + ", first in " + test.part + " (by " +
         rounded_text(test.part_difference, 2) + " of the greatest value; " + inputs + ")";
}

}  // namespace attnscope
