#include "core/model/evaluation/self_test.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/model/evaluation/reference.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// The greatest difference of each part that was compared, in the order of the computation.
class Comparison {
 public:
  void add(const std::string& part, const Tensor& ours, const Tensor& reference) {
    if (ours.shape() != reference.shape()) {
      throw Error(ErrorKind::damaged, "the reference has a different shape than the model's")
          .about(part)
          .expected(to_string(ours.shape()))
          .found(to_string(reference.shape()));
    }
    const double difference = relative_difference(ours, reference);
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

void compare(const Trace& trace, const Reference& reference, std::int64_t input,
             Comparison& comparison) {
  const std::int64_t layers = std::ssize(trace.layers);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const LayerTrace& ours = trace.layers[static_cast<std::size_t>(layer)];
    const std::string name = "layer " + std::to_string(layer);
    if (const Tensor maps = reference.maps(input, layer, layers); !maps.empty()) {
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
