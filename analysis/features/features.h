// Final features of a labelled data set: the input of a model's head.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/model/model.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct LabelledFeatures {
  Tensor features;                       ///< [n, D], one row per item
  std::vector<int> classes;              ///< [n], the items' true classes
  std::vector<std::string> class_names;  ///< the data set's names, else the model's; may be empty
  std::int64_t correct = 0;              ///< number of correctly classified items
  std::int64_t not_finite = 0;  ///< number of items left out for NaN or Inf in their features
};

/// Runs the chosen items, the same for every model, in parallel. Throws Error(usage) if the model
/// has no head or an item has no label; Cancelled.
[[nodiscard]] LabelledFeatures features_of(const Model& model, const MechanismChoice& mechanism,
                                           const DataSet& data_set, const ItemChoice& choice,
                                           const Progress& progress);

/// Projection of high-dimensional points onto the plane of their greatest variance (PCA).
struct PrincipalPlane {
  std::vector<double> x, y;        ///< coordinates per row, in the features' units; mean 0
  std::array<double, 2> share{};   ///< share of the total variance per axis; 0 if there is none
  std::vector<double> first_axis;  ///< [D], unit length; all 0 if the direction has no variance
  std::vector<double> second_axis;
};

/// First two principal components of the rows of `points` [n, D], in double precision. The
/// component of greatest magnitude of each axis is positive, so the picture is reproducible.
/// Missing dimensions are 0 if there are fewer than two columns or rows. Throws Error(damaged) for
/// NaN or Inf.
[[nodiscard]] PrincipalPlane principal_plane(const Tensor& points);

}  // namespace attnscope
