#include "analysis/features/features.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <tbb/parallel_for.h>

#include "analysis/spectrum/leading_vectors.h"
#include "core/error.h"

namespace attnscope {

namespace {

struct RunItem {
  Tensor features;
  int true_class = -1;
  bool correct = false, finite = true;
};

RunItem run_item(const Model& model, const MechanismChoice& mechanism, const Input& input) {
  if (input.class_index < 0) {
    throw Error(ErrorKind::usage, "the item has no label to colour it by").about(input.label);
  }
  TraceRequest request;
  request.implied_maps = false;
  Trace trace = model.run(input, mechanism, request, {});
  RunItem item;
  item.true_class = input.class_index;
  const auto logits = trace.logits.values();
  if (!logits.empty()) {
    item.correct = std::max_element(logits.begin(), logits.end()) - logits.begin() ==
                   static_cast<std::ptrdiff_t>(input.class_index);
  }
  if (trace.features.empty()) {
    throw Error(ErrorKind::usage, "the model has no head that reads features")
        .in_file(model.file());
  }
  item.features = std::move(trace.features);
  const auto values = item.features.values();
  item.finite =
      std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
  return item;
}

}  // namespace

LabelledFeatures features_of(const Model& model, const MechanismChoice& mechanism,
                             const DataSet& data_set, const ItemChoice& choice,
                             const Progress& progress) {
  const std::vector<std::int64_t> chosen = chosen_items(data_set.size(), choice);
  const std::int64_t items = std::ssize(chosen);
  if (items == 0) throw Error(ErrorKind::usage, "the data set is empty");
  std::vector<RunItem> run(static_cast<std::size_t>(items));
  std::atomic<std::int64_t> done{0};
  tbb::parallel_for(std::int64_t{0}, items, [&](std::int64_t i) {
    progress.step(static_cast<double>(done) / static_cast<double>(items), "features of images");
    const auto place = static_cast<std::size_t>(i);
    run[place] = run_item(model, mechanism, data_set.item(chosen[place]));
    ++done;
  });
  progress.step(1, "features of images");

  LabelledFeatures result;
  result.class_names =
      data_set.class_names().empty() ? model.spec().labels : data_set.class_names();
  const auto kept =
      std::count_if(run.begin(), run.end(), [](const RunItem& item) { return item.finite; });
  result.not_finite = items - kept;
  result.features = Tensor({kept, run.front().features.size()});
  std::int64_t row = 0;
  for (const RunItem& item : run) {
    result.correct += item.correct;
    if (!item.finite) continue;
    std::copy(item.features.values().begin(), item.features.values().end(),
              result.features.data() + row * result.features.extent(1));
    result.classes.push_back(item.true_class);
    ++row;
  }
  return result;
}

PrincipalPlane principal_plane(const Tensor& points) {
  PrincipalPlane plane;
  if (points.empty()) return plane;
  const ConstMatrixMap given = points.matrix();
  if (!given.allFinite()) {
    throw Error(ErrorKind::damaged, "the values must be finite").about("features");
  }
  MatrixD centred = given.cast<double>();
  centred.rowwise() -= centred.colwise().mean().eval();
  const Eigen::Index rows = centred.rows(), width = centred.cols(), size = std::min(rows, width);
  const bool tall = rows >= width;
  const Eigen::MatrixXd vectors = leading_vectors(centred, std::min<Eigen::Index>(2, size));
  const double total = centred.squaredNorm();
  plane.x.assign(static_cast<std::size_t>(rows), 0);
  plane.y.assign(static_cast<std::size_t>(rows), 0);
  for (Eigen::Index component = 0; component < 2; ++component) {
    Eigen::VectorXd axis = Eigen::VectorXd::Zero(width);
    if (component < size && total > 0) {
      const Eigen::VectorXd vector = vectors.col(component);
      const Eigen::VectorXd image =
          tall ? Eigen::VectorXd(centred * vector) : Eigen::VectorXd(centred.transpose() * vector);
      axis = tall ? vector : image;
      const double value = image.squaredNorm();
      // Directions without variance come only from rounding.
      if (value <= total * 1e-14) axis.setZero();
      if (const double length = axis.norm(); length > 0) axis /= length;
      Eigen::Index greatest = 0;
      if (width > 0) axis.cwiseAbs().maxCoeff(&greatest);
      if (width > 0 && axis(greatest) < 0) axis = -axis;
      plane.share[static_cast<std::size_t>(component)] = value / total;
    }
    const Eigen::VectorXd place = centred * axis;
    (component == 0 ? plane.x : plane.y).assign(place.begin(), place.end());
    (component == 0 ? plane.first_axis : plane.second_axis).assign(axis.begin(), axis.end());
  }
  return plane;
}

}  // namespace attnscope
