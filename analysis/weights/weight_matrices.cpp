#include "analysis/weights/weight_matrices.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tbb/parallel_for.h>

#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/rank.h"
#include "core/error.h"
#include "core/model/transformer/transformer.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

struct NamedLinear {
  LayerMatrix name;
  const Linear* linear;
};

std::vector<NamedLinear> linears_of(const Transformer& model, std::int64_t layer) {
  require_products(model, layer);
  const Block& block = block_of(model, layer);
  const AttentionPart& attention = block.attention;
  std::vector<NamedLinear> found;
  if (attention.query_latent) {
    found.push_back({LayerMatrix::query_latent, &attention.query_latent->narrow});
  }
  if (attention.latent) found.push_back({LayerMatrix::latent, &attention.latent->narrow});
  found.push_back({LayerMatrix::query, &attention.query});
  const auto add = [&found](LayerMatrix name, const auto& linear) {
    if (linear) found.push_back({name, &*linear});
  };
  add(LayerMatrix::key, block.attention.key);
  found.push_back({LayerMatrix::value, &block.attention.value});
  add(LayerMatrix::transform, block.transform);
  add(LayerMatrix::output, block.attention.out);
  if (block.mlp) {
    found.push_back({LayerMatrix::mlp_in, &block.mlp->mlp1});
    add(LayerMatrix::mlp_gate, block.mlp->gate);
    found.push_back({LayerMatrix::mlp_out, &block.mlp->mlp2});
  }
  return found;
}

std::string shape_text(const Linear& linear) {
  return "[" + std::to_string(linear.inputs()) + ", " + std::to_string(linear.outputs()) + "]";
}

std::string matrix_place(std::int64_t layer, LayerMatrix name) {
  return "layer " + std::to_string(layer) + ", " + std::string(name_of(layer_matrix_names, name));
}

/// Throws Error(usage) about the first matrix that only one of the models has, or that differs in
/// shape.
void require_same_matrices(const Transformer& model, const Transformer& minus) {
  if (model.spec().layers != minus.spec().layers) {
    throw Error(ErrorKind::usage, "the models differ in their number of layers")
        .in_file(minus.file())
        .about("--minus")
        .expected(std::to_string(model.spec().layers) + " as in " + model.file().string())
        .found(std::to_string(minus.spec().layers));
  }
  for (std::int64_t layer = 0; layer < model.spec().layers; ++layer) {
    const std::vector<NamedLinear> own = linears_of(model, layer);
    const std::vector<NamedLinear> others = linears_of(minus, layer);
    const auto has = [](const std::vector<NamedLinear>& list, LayerMatrix name) {
      return std::ranges::find(list, name, &NamedLinear::name) != list.end();
    };
    for (const NamedLinear& one : own) {
      const auto other = std::ranges::find(others, one.name, &NamedLinear::name);
      const bool is_missing = other == others.end();
      if (!is_missing && shape_text(*one.linear) == shape_text(*other->linear)) continue;
      throw Error(ErrorKind::usage,
                  is_missing ? "the model has no such matrix" : "the matrices differ in shape")
          .in_file(minus.file())
          .about(matrix_place(layer, one.name))
          .expected(shape_text(*one.linear) + " as in " + model.file().string())
          .found(is_missing ? "none" : shape_text(*other->linear));
    }
    for (const NamedLinear& other : others) {
      if (has(own, other.name)) continue;
      throw Error(ErrorKind::usage, "the model has no such matrix")
          .in_file(model.file())
          .about(matrix_place(layer, other.name))
          .expected(shape_text(*other.linear) + " as in " + minus.file().string())
          .found("none");
    }
  }
}

MatrixSpectrum whole_matrix_spectrum(const MatrixD& weight, const RankThreshold& threshold) {
  MatrixSpectrum found;
  found.inputs = weight.rows();
  found.outputs = weight.cols();
  const Eigen::VectorXd values = singular_values_of(weight);
  found.singular_values.assign(values.begin(), values.end());
  if (!weight.allFinite() || !values.allFinite() || values.size() == 0) {
    found.equivalent_rank = found.stable_rank = found.norm = kUndefined;
    found.noise_edge = found.above_noise = kUndefined;
    return found;
  }
  found.equivalent_rank = static_cast<double>(equivalent_rank(found.singular_values, threshold));
  found.stable_rank = stable_rank(found.singular_values);
  found.norm = weight.norm();
  const double variance = (weight.array() - weight.mean()).square().mean();
  found.noise_edge = std::sqrt(variance) * (std::sqrt(static_cast<double>(found.inputs)) +
                                            std::sqrt(static_cast<double>(found.outputs)));
  found.above_noise = static_cast<double>(std::ranges::count_if(
      found.singular_values, [&](double value) { return value > found.noise_edge; }));
  const std::int64_t rank =
      numerical_rank(found.singular_values, std::max(found.inputs, found.outputs));
  std::vector<double> squares;
  for (std::int64_t i = 0; i < rank; ++i) {
    squares.push_back(std::pow(found.singular_values[static_cast<std::size_t>(i)], 2));
  }
  found.tail = power_law_tail(std::move(squares));
  return found;
}

/// The spectra of `model`, or of its differences from `minus` if that is not null.
std::vector<MatrixSpectrum> spectra_of_matrices(const Transformer& model, const Transformer* minus,
                                                const RankThreshold& threshold,
                                                const Progress& progress) {
  std::vector<MatrixSpectrum> spectra;
  const std::int64_t layers = model.spec().layers;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    progress.step(static_cast<double>(layer) / static_cast<double>(layers), "spectra of weights");
    const std::vector<NamedLinear> own = linears_of(model, layer);
    const std::vector<NamedLinear> others =
        minus ? linears_of(*minus, layer) : std::vector<NamedLinear>();
    std::vector<MatrixSpectrum> of_layer(own.size());
    tbb::parallel_for(std::size_t{0}, own.size(), [&](std::size_t i) {
      MatrixD weight = matrix_of(*own[i].linear);
      double relative = kUndefined;
      if (minus) {
        const auto other = std::ranges::find(others, own[i].name, &NamedLinear::name);
        const MatrixD subtracted = matrix_of(*other->linear);
        weight -= subtracted;
        const double norm = subtracted.norm();
        if (norm > 0) relative = weight.norm() / norm;
      }
      of_layer[i] = whole_matrix_spectrum(weight, threshold);
      of_layer[i].layer = layer;
      of_layer[i].matrix = own[i].name;
      of_layer[i].relative_norm = relative;
    });
    for (MatrixSpectrum& spectrum : of_layer) spectra.push_back(std::move(spectrum));
  }
  progress.step(1, "spectra of weights");
  return spectra;
}

}  // namespace

std::vector<MatrixSpectrum> matrix_spectra(const Model& model, const RankThreshold& threshold,
                                           const Progress& progress) {
  check_threshold(threshold);
  return spectra_of_matrices(transformer_of(model), nullptr, threshold, progress);
}

std::vector<MatrixSpectrum> difference_spectra(const Model& model, const Model& minus,
                                               const RankThreshold& threshold,
                                               const Progress& progress) {
  check_threshold(threshold);
  const Transformer& own = transformer_of(model);
  const Transformer& other = transformer_of(minus);
  require_same_matrices(own, other);
  return spectra_of_matrices(own, &other, threshold, progress);
}

PowerLawTail power_law_tail(std::vector<double> eigenvalues) {
  PowerLawTail best;
  if (!std::ranges::all_of(eigenvalues, [](double value) { return std::isfinite(value); })) {
    return best;
  }
  std::erase_if(eigenvalues, [](double value) { return value <= 0; });
  if (eigenvalues.size() < least_tail_values) return best;
  std::ranges::sort(eigenvalues);
  std::vector<double> logarithms;
  for (const double value : eigenvalues) logarithms.push_back(std::log(value));

  const std::size_t count = eigenvalues.size();
  double sum = logarithms.back();  // sum of the logarithms from `first` on
  for (std::size_t first = count - 1; first-- > 0;) {
    sum += logarithms[first];
    const auto n = static_cast<double>(count - first);
    if (eigenvalues[first] == eigenvalues.back()) continue;  // equal values have no exponent
    const double exponent = 1 + n / (sum - n * logarithms[first]);
    double distance = 0;
    for (std::size_t i = first; i < count; ++i) {
      // 1 − (λ / x_min)^(1 − α) against the share of smaller values.
      const double law = -std::expm1((1 - exponent) * (logarithms[i] - logarithms[first]));
      distance = std::max(distance, std::abs(law - static_cast<double>(i - first) / n));
    }
    if (!(distance > best.distance)) {
      best = {exponent, (exponent - 1) / std::sqrt(n), distance, eigenvalues[first],
              static_cast<std::int64_t>(count - first)};
    }
  }
  return best;
}

}  // namespace attnscope
