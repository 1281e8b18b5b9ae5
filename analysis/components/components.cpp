#include "analysis/components/components.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/spectrum/estimated_spectrum.h"
#include "analysis/spectrum/leading_values.h"
#include "analysis/spectrum/leading_vectors.h"
#include "core/error.h"
#include "core/tensor/decompose.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

std::vector<double> numbers_of(const Eigen::VectorXd& vector) {
  return {vector.data(), vector.data() + vector.size()};
}

/// True if the signs of u and v must be flipped: see Component.
bool is_turned(const Eigen::VectorXd& keys) {
  const double sum = keys.sum();
  if (std::abs(sum) > 1e-9) return sum < 0;
  Eigen::Index greatest = 0;
  keys.cwiseAbs().maxCoeff(&greatest);
  return keys(greatest) < 0;
}

/// The leading singular vectors of the side with the smaller dimension; those after one that did
/// not converge are missing.
Eigen::MatrixXd vectors_of_shorter_side(const MatrixD& matrix, std::int64_t count) {
  constexpr std::int64_t kLarge = 2048;  // measured in analysis/spectrum/leading_values.h
  const std::int64_t shorter = std::min(matrix.rows(), matrix.cols());
  if (shorter < kLarge) return leading_vectors(matrix, std::min(count, shorter));
  const ConstMatrixDMap entries(matrix.data(), matrix.rows(), matrix.cols());
  return leading_values(MapOperator(entries, 0), count).right;
}

void check_count(std::int64_t count) {
  if (count >= 1) return;
  throw Error(ErrorKind::usage, "the number of components must be at least 1")
      .about("count")
      .expected("1 or more")
      .found(std::to_string(count));
}

void check_place(const Trace& trace, const MapIndex& place) {
  const ImpliedMaps& maps = recorded_layer(trace, place.layer).implied_map;
  if (maps.empty()) {
    throw Error(ErrorKind::usage, "the maps of this layer were not recorded")
        .about(layer_name(trace, place.layer));
  }
  if (place.head < 0 || place.head >= maps.extent(0)) {
    throw Error(ErrorKind::usage, "the layer has no such head")
        .about(layer_name(trace, place.layer) + ", head " + std::to_string(place.head))
        .expected("0 to " + std::to_string(maps.extent(0) - 1));
  }
}

/// Components of a plain map, whose spectrum may come from its factors or be estimated.
MapComponents components_of_map(const Trace& trace, const MapIndex& place, IdentityView view,
                                std::int64_t count) {
  check_place(trace, place);
  const MatrixD map = map_seen(trace, place, view);
  const MapSpectrum spectrum =
      spectrum_at(trace, place, view, {.accuracy = SpectrumAccuracy::every_value});
  MapComponents found;
  found.layer = place.layer;
  found.head = place.head;
  found.identity = spectrum.identity;
  found.state = spectrum.state;
  if (spectrum.state != SpectrumState::ready) return found;
  found.nuclear_norm = spectrum.estimate ? kNotKnown : nuclear_norm(spectrum);
  found.squares = map.squaredNorm();
  found.components = leading_components(map, count);
  if (found.components.empty()) found.state = SpectrumState::not_converged;
  return found;
}

}  // namespace

double MapComponents::share(std::size_t component) const {
  return nuclear_norm > 0 ? components.at(component).value / nuclear_norm : kNotKnown;
}

double MapComponents::share_of_squares(std::size_t component) const {
  const double value = components.at(component).value;
  return squares > 0 ? value * value / squares : kNotKnown;
}

std::vector<Component> leading_components(const MatrixD& matrix, std::int64_t count) {
  const bool wide = matrix.cols() > matrix.rows();
  const Eigen::MatrixXd shorter = vectors_of_shorter_side(matrix, count);
  // The image's own decomposition has small values more exactly than AᵀA, and sorts them.
  const SingularVectors image = singular_vectors(
      wide ? Eigen::MatrixXd(matrix.transpose() * shorter) : Eigen::MatrixXd(matrix * shorter));
  std::vector<Component> components;
  for (Eigen::Index k = 0; k < image.values.size(); ++k) {
    const double value = image.values(k);
    if (!(value > 0)) break;  // vectors of σ = 0 are not unique
    const Eigen::VectorXd known = shorter * image.right.col(k);
    Eigen::VectorXd other =
        wide ? Eigen::VectorXd(matrix.transpose() * known) : Eigen::VectorXd(matrix * known);
    other.normalize();
    const Eigen::VectorXd& keys = wide ? other : known;
    const double sign = is_turned(keys) ? -1 : 1;
    components.push_back(
        {value, numbers_of(sign * (wide ? known : other)), numbers_of(sign * keys)});
  }
  return components;
}

MapComponents map_components(const Subject& subject, const MapIndex& place,
                             const MatrixChoice& analysed, std::int64_t count) {
  check_count(count);
  const Trace& trace = *subject.trace;
  if (analysed.is_plain_map()) return components_of_map(trace, place, analysed.identity, count);
  check_view(analysed);
  const std::vector<MapIndex> places = places_of(trace, analysed, {place.layer});
  const bool known =
      std::ranges::any_of(places, [&place](const MapIndex& one) { return one.head == place.head; });
  if (!known) {
    if (is_of_layer(analysed.of)) {
      throw Error(ErrorKind::usage, "the analysed matrix is defined per layer, not per head")
          .about(in_words(analysed));
    }
    throw Error(ErrorKind::usage, "the layer has no such head")
        .about(layer_name(trace, place.layer) + ", head " + std::to_string(place.head))
        .expected("0 to " + std::to_string(places.size() - 1));
  }
  const AnalysedMatrix analysed_there = analysed_matrix(subject, place, analysed);
  const MatrixD& matrix = analysed_there.matrix;
  MapComponents found;
  found.layer = place.layer;
  found.head = place.head;
  found.identity = analysed_there.identity;
  found.squares = matrix.squaredNorm();
  found.nuclear_norm = kNotKnown;
  if (!matrix.allFinite()) {
    found.state = SpectrumState::not_finite;
    return found;
  }
  if (found.squares == 0) {
    found.state = SpectrumState::zero;
    return found;
  }
  if (std::min(matrix.rows(), matrix.cols()) <= SpectrumOptions{}.dense_limit) {
    MatrixD work = matrix;
    const MapSpectrum spectrum =
        spectrum_of_matrix(work, {.accuracy = SpectrumAccuracy::every_value});
    found.nuclear_norm = nuclear_norm(spectrum);
  }
  found.components = leading_components(matrix, count);
  if (found.components.empty()) found.state = SpectrumState::not_converged;
  return found;
}

MatrixD sum_of(const std::vector<Component>& components) {
  MatrixD sum;
  for (const Component& component : components) {
    const Eigen::Map<const Eigen::VectorXd> u(component.queries.data(),
                                              std::ssize(component.queries));
    const Eigen::Map<const Eigen::VectorXd> v(component.keys.data(), std::ssize(component.keys));
    if (sum.size() == 0) sum = MatrixD::Zero(u.size(), v.size());
    sum += component.value * u * v.transpose();
  }
  return sum;
}

}  // namespace attnscope
