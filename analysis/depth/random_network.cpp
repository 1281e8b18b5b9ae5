#include "analysis/depth/random_network.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/depth/rank_over_depth.h"
#include "analysis/depth/token_flow.h"
#include "analysis/spectrum/map_batch.h"
#include "core/attention/mechanism.h"
#include "core/attention/random_parameters.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr NetworkMeasure kNetworkMeasures[] = {
    {"rank", "equivalent rank of a map", &NetworkDepth::rank, true, true},
    {"gap", "σ₂/σ₁ of a map", &NetworkDepth::gap, true},
    {"entropy", "row entropy / ln n", &NetworkDepth::entropy, true},
    {"token-rank", "equivalent rank of the tokens", &NetworkDepth::token_rank, false, true},
    {"cosine", "mean cosine of two tokens", &NetworkDepth::cosine},
    {"residual", "‖X − 1x̄ᵀ‖ / ‖X‖", &NetworkDepth::residual}};

/// Streams of random numbers within a layer.
enum class Part : std::int64_t { tokens, query, key, value, out, mlp_in, mlp_out };

MatrixD weights(std::int64_t seed, std::int64_t layer, Part part, std::int64_t inputs,
                std::int64_t outputs) {
  return NormalNumbers(seed, layer, static_cast<std::int64_t>(part)).matrix(inputs, outputs) /
         std::sqrt(static_cast<double>(inputs));
}

MatrixD normalised(const MatrixD& x) {
  constexpr double kEpsilon = 1e-6;
  MatrixD rows = x.colwise() - x.rowwise().mean();
  const Eigen::ArrayXd variance = rows.rowwise().squaredNorm() / static_cast<double>(x.cols());
  rows.array().colwise() /= (variance + kEpsilon).sqrt();
  return rows;
}

MatrixD gelu(const MatrixD& x) {
  return x.unaryExpr(
      [](double value) { return value / 2 * (1 + std::erf(value / std::numbers::sqrt2)); });
}

Tensor in_float(const MatrixD& x) {
  Tensor tensor({x.rows(), x.cols()});
  tensor.matrix() = x.cast<float>();
  return tensor;
}

void add_maps(const Tensor& maps, const RandomNetwork& network, const RankThreshold& threshold,
              NetworkDepth& numbers) {
  const SeenKeys seen = network.causal ? up_to_the_query(network.tokens) : SeenKeys{};
  double rank = 0, gap = 0, entropy = 0;
  for (std::int64_t head = 0; head < maps.extent(0); ++head) {
    MatrixD map = maps.slice(head).cast<double>();
    const bool of_weights = map.array().isFinite().all() && map.minCoeff() >= 0;
    entropy += of_weights ? entropy_share(map, seen) : NetworkDepth::kUnknown;
    const MapSpectrum spectrum = spectrum_of_matrix(map, {.threshold = threshold});
    const bool ready = spectrum.state == SpectrumState::ready;
    rank += ready ? static_cast<double>(spectrum.equivalent_rank) : NetworkDepth::kUnknown;
    gap += ready ? gap_ratio(spectrum.singular_values) : NetworkDepth::kUnknown;
  }
  const auto heads = static_cast<double>(maps.extent(0));
  numbers.rank = rank / heads;
  numbers.gap = gap / heads;
  numbers.entropy = entropy / heads;
}

void add_tokens(const MatrixD& x, const RankThreshold& threshold, NetworkDepth& numbers) {
  if (!x.array().isFinite().all() || !(x.norm() > 0)) return;
  numbers.cosine = mean_row_cosine(x);
  numbers.residual = rank_one_residual(x).frobenius;
  MatrixD copy = x;
  const MapSpectrum spectrum = spectrum_of_matrix(copy, {.threshold = threshold}, kDoubleEpsilon);
  if (spectrum.state == SpectrumState::ready) {
    numbers.token_rank = static_cast<double>(spectrum.equivalent_rank);
  }
}

/// One network while its tokens pass through it.
class Pass {
 public:
  Pass(const RandomNetwork& network, const Mechanism& mechanism, std::int64_t seed)
      : network_(network),
        mechanism_(mechanism),
        seed_(seed),
        x_(NormalNumbers(seed, 0, static_cast<std::int64_t>(Part::tokens))
               .matrix(network.tokens, network.width)) {}

  [[nodiscard]] const MatrixD& tokens() const { return x_; }

  /// Applies layer 1, 2, …; returns its maps [H, N, N].
  Tensor apply(std::int64_t layer) {
    Tensor maps;
    add([&](const MatrixD& given) { return attention(layer, given, maps); });
    if (network_.mlp) add([&](const MatrixD& given) { return mlp(layer, given); });
    return maps;
  }

 private:
  template <class Function>
  void add(const Function& function) {
    const MatrixD change = function(network_.norm == NetworkNorm::pre ? normalised(x_) : x_);
    x_ = network_.skip * x_ + change;
    if (network_.norm == NetworkNorm::post) x_ = normalised(x_);
  }

  [[nodiscard]] MatrixD attention(std::int64_t layer, const MatrixD& given, Tensor& maps) const {
    const auto projected = [&](Part part) {
      return in_float(given * weights(seed_, layer, part, network_.width, network_.width));
    };
    const Tensor queries = projected(Part::query), keys = projected(Part::key),
                 values = projected(Part::value);
    Attended attended = mechanism_.forward_with_map({.queries = queries.matrix(),
                                                     .keys = keys.matrix(),
                                                     .values = values.matrix(),
                                                     .heads = network_.heads,
                                                     .causal = network_.causal,
                                                     .layer = layer});
    maps = std::move(attended.implied_map);
    return attended.output.matrix().cast<double>() *
           weights(seed_, layer, Part::out, network_.width, network_.width);
  }

  [[nodiscard]] MatrixD mlp(std::int64_t layer, const MatrixD& given) const {
    const std::int64_t inner = 4 * network_.width;
    return gelu(given * weights(seed_, layer, Part::mlp_in, network_.width, inner)) *
           weights(seed_, layer, Part::mlp_out, inner, network_.width);
  }

  const RandomNetwork& network_;
  const Mechanism& mechanism_;
  std::int64_t seed_;
  MatrixD x_;
};

void check_network(const RandomNetwork& network) {
  if (network.heads < 1 || network.width % network.heads != 0) {
    throw Error(ErrorKind::usage, "the heads do not divide the width of the network")
        .about("heads")
        .expected("a divisor of " + std::to_string(network.width))
        .found(std::to_string(network.heads));
  }
  if (network.causal && !find_mechanism(network.mechanism.name).causal) {
    throw Error(ErrorKind::usage, "this attention cannot be causal")
        .about(network.mechanism.name)
        .remedy("softmax attention can");
  }
}

}  // namespace

std::span<const NetworkMeasure> network_measures() { return kNetworkMeasures; }

std::vector<std::vector<NetworkDepth>> random_networks(const RandomNetwork& network,
                                                       std::int64_t seeds,
                                                       const RankThreshold& threshold,
                                                       const Progress& progress) {
  check_network(network);
  check_threshold(threshold);
  const auto mechanism = make_mechanism(choice_over_tokens(network.mechanism, false));
  std::vector<std::vector<NetworkDepth>> networks(static_cast<std::size_t>(seeds));
  MapReports reports(progress, networks.size() * static_cast<std::size_t>(network.depth),
                     "layers of random networks");
  for_single_ones(networks.size(), [&](std::size_t seed) {
    std::vector<NetworkDepth>& depths = networks[seed];
    Pass pass(network, *mechanism, static_cast<std::int64_t>(seed));
    add_tokens(pass.tokens(), threshold, depths.emplace_back());
    for (std::int64_t layer = 1; layer <= network.depth; ++layer) {
      NetworkDepth& numbers = depths.emplace_back();
      add_maps(pass.apply(layer), network, threshold, numbers);
      add_tokens(pass.tokens(), threshold, numbers);
      reports.report([] {});
    }
  });
  return networks;
}

OverSeeds over_seeds(const std::vector<std::vector<NetworkDepth>>& networks, std::size_t depth,
                     const NetworkMeasure& measure) {
  OverSeeds found;
  double sum = 0, count = 0;
  for (const std::vector<NetworkDepth>& depths : networks) {
    const double value = depths.at(depth).*measure.value;
    if (std::isnan(value)) continue;
    found.least = count == 0 ? value : std::min(found.least, value);
    found.greatest = count == 0 ? value : std::max(found.greatest, value);
    sum += value;
    ++count;
  }
  if (count > 0) found.mean = sum / count;
  return found;
}

}  // namespace attnscope
