#include "core/model/evaluation/evaluation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <tbb/parallel_for.h>

#include "core/error.h"

namespace attnscope {

namespace {

struct Verdict {
  int true_class = -1;
  std::int64_t rank = 0;  ///< number of classes with a larger logit
  bool finite = true;
};

Verdict judge(const Model& model, const MechanismChoice& mechanism, const TraceRequest& request,
              const Input& input) {
  const Trace trace = model.run(input, mechanism, request, {});
  const auto logits = trace.logits.values();
  Verdict verdict;
  verdict.true_class = true_class_of(input, std::ssize(logits));
  verdict.finite =
      std::all_of(logits.begin(), logits.end(), [](float value) { return std::isfinite(value); });
  const auto own = static_cast<std::size_t>(verdict.true_class);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    // If logits are equal, the first ranks higher, as in argmax.
    if (logits[i] > logits[own] || (i < own && logits[i] == logits[own])) ++verdict.rank;
  }
  return verdict;
}

}  // namespace

int true_class_of(const Input& item, std::int64_t classes) {
  if (item.class_index < 0) {
    throw Error(ErrorKind::usage, "the item has no label to compare with").about(item.label);
  }
  if (item.class_index < classes) return item.class_index;
  throw Error(ErrorKind::usage, classes == 0 ? "the model has no head to classify with"
                                             : "the label is not one of the model's classes")
      .about(item.label)
      .expected("0 to " + std::to_string(classes - 1))
      .found(std::to_string(item.class_index));
}

Evaluation evaluate(const Model& model, const MechanismChoice& mechanism, const DataSet& data_set,
                    const ItemChoice& choice, const Progress& progress,
                    std::shared_ptr<const std::vector<NamedTensors>> parameters) {
  if (!model.spec().readout.gives_features()) {
    throw Error(ErrorKind::usage, "the model has no head to classify with").in_file(model.file());
  }
  const std::vector<std::int64_t> items = chosen_items(data_set.size(), choice);
  const std::int64_t images = std::ssize(items);
  if (images == 0) throw Error(ErrorKind::usage, "the data set is empty");
  TraceRequest request;
  request.implied_maps = false;
  request.parameters = std::move(parameters);
  std::vector<Verdict> verdicts(static_cast<std::size_t>(images));
  std::atomic<std::int64_t> done{0};
  tbb::parallel_for(std::int64_t{0}, images, [&](std::int64_t i) {
    progress.step(static_cast<double>(done) / static_cast<double>(images), "images judged");
    const auto place = static_cast<std::size_t>(i);
    verdicts[place] = judge(model, mechanism, request, data_set.item(items[place]));
    ++done;
  });
  progress.step(1, "images judged");

  Evaluation result;
  result.images = images;
  for (const Verdict& verdict : verdicts) {
    const auto index = static_cast<std::size_t>(verdict.true_class);
    if (result.class_images.size() <= index) {
      result.class_images.resize(index + 1);
      result.class_correct.resize(index + 1);
    }
    ++result.class_images[index];
    if (!verdict.finite) {
      ++result.not_finite;
      continue;
    }
    result.correct += verdict.rank == 0;
    result.class_correct[index] += verdict.rank == 0;
    result.correct_in_five += verdict.rank < 5;
  }
  return result;
}

}  // namespace attnscope
