#include "analysis/hash_codes/code_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

struct UsedCode {
  std::int64_t tokens = 0;
  std::size_t first = 0;  // first token with this code
};

std::map<std::uint64_t, UsedCode> used_codes(const HashCodes& codes) {
  std::map<std::uint64_t, UsedCode> used;
  for (std::size_t i = 0; i < codes.words.size(); ++i) {
    UsedCode& code = used.try_emplace(codes.words[i], UsedCode{0, i}).first->second;
    ++code.tokens;
  }
  return used;
}

MatrixD correlation_of(const MatrixD& signs) {
  const MatrixD centred = signs.rowwise() - signs.colwise().mean();
  const Eigen::VectorXd lengths = centred.colwise().norm();
  MatrixD correlation = centred.transpose() * centred;
  for (Eigen::Index r = 0; r < correlation.rows(); ++r) {
    for (Eigen::Index s = 0; s < correlation.cols(); ++s) {
      const double both = lengths(r) * lengths(s);
      correlation(r, s) = both > 0 ? std::clamp(correlation(r, s) / both, -1.0, 1.0)
                                   : std::numeric_limits<double>::quiet_NaN();
    }
  }
  return correlation;
}

double srgb_encoded(double linear) {
  const double value = std::clamp(linear, 0.0, 1.0);
  return value <= 0.0031308 ? 12.92 * value : 1.055 * std::pow(value, 1 / 2.4) - 0.055;
}

/// CIE L*a*b* under D65 to sRGB.
Colour from_lab(double lightness, double a, double b) {
  const double fy = (lightness + 16) / 116, fx = fy + a / 500, fz = fy - b / 200;
  const auto back = [](double t) {
    return t > 6.0 / 29 ? t * t * t : 3 * (6.0 / 29) * (6.0 / 29) * (t - 4.0 / 29);
  };
  const double x = 0.95047 * back(fx), y = back(fy), z = 1.08883 * back(fz);
  const auto byte = [](double linear) {
    return static_cast<std::uint8_t>(std::lround(255 * srgb_encoded(linear)));
  };
  return {byte(3.2406 * x - 1.5372 * y - 0.4986 * z), byte(-0.9689 * x + 1.8758 * y + 0.0415 * z),
          byte(0.0557 * x - 0.2040 * y + 1.0570 * z), 255};
}

/// Three leading principal components [N, 3], each scaled to −1 … 1; 0 for a missing component.
MatrixD components(const HashCodes& codes) {
  MatrixD signs = codes.signs.cast<double>();
  signs.rowwise() -= signs.colwise().mean().eval();
  const Eigenpairs pairs = symmetric_eigenpairs(signs.transpose() * signs);
  MatrixD shown = MatrixD::Zero(signs.rows(), 3);
  const Eigen::Index bits = signs.cols();
  const double greatest = std::max(pairs.values(bits - 1), 0.0);
  for (Eigen::Index k = 0; k < std::min<Eigen::Index>(3, bits); ++k) {
    if (pairs.values(bits - 1 - k) <= 1e-9 * greatest || greatest <= 0) break;
    Eigen::VectorXd direction = pairs.vectors.col(bits - 1 - k);
    Eigen::Index strongest = 0;
    direction.cwiseAbs().maxCoeff(&strongest);
    if (direction(strongest) < 0) direction = -direction;
    const Eigen::VectorXd values = signs * direction;
    const double low = values.minCoeff(), high = values.maxCoeff();
    if (high > low) shown.col(k) = (2 * (values.array() - low) / (high - low) - 1).matrix();
  }
  return shown;
}

}  // namespace

CodeStatistics code_statistics(const HashCodes& codes) {
  CodeStatistics statistics;
  statistics.tokens = codes.tokens();
  statistics.bits = codes.bits();
  const auto count = static_cast<double>(statistics.tokens);
  for (const auto& [word, used] : used_codes(codes)) {
    ++statistics.distinct;
    statistics.commonest = std::max(statistics.commonest, used.tokens);
    const double share = static_cast<double>(used.tokens) / count;
    statistics.entropy -= share * std::log2(share);
  }
  if (statistics.tokens > 0) {
    statistics.greatest_entropy = std::min(static_cast<double>(statistics.bits), std::log2(count));
  }
  for (std::int64_t bit = 0; bit < statistics.bits; ++bit) {
    const auto set = std::count_if(codes.words.begin(), codes.words.end(),
                                   [bit](std::uint64_t word) { return (word >> bit & 1U) != 0; });
    statistics.balance.push_back(count > 0 ? static_cast<double>(set) / count : 0);
  }
  statistics.correlation = correlation_of(codes.signs.cast<double>());
  return statistics;
}

std::vector<std::int64_t> code_ranks(const HashCodes& codes) {
  const std::map<std::uint64_t, UsedCode> used = used_codes(codes);
  std::vector<std::pair<std::uint64_t, UsedCode>> order(used.begin(), used.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    if (a.second.tokens != b.second.tokens) return a.second.tokens > b.second.tokens;
    return a.second.first < b.second.first;
  });
  std::map<std::uint64_t, std::int64_t> rank;
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank[order[i].first] = static_cast<std::int64_t>(i);
  }
  std::vector<std::int64_t> ranks;
  for (const std::uint64_t word : codes.words) ranks.push_back(rank[word]);
  return ranks;
}

std::vector<Colour> code_colours(const HashCodes& codes) {
  std::vector<Colour> colours;
  if (codes.tokens() == 0) return colours;
  const MatrixD shown = components(codes);
  for (Eigen::Index i = 0; i < shown.rows(); ++i) {
    colours.push_back(from_lab(60 + 26 * shown(i, 0), 48 * shown(i, 1), 48 * shown(i, 2)));
  }
  return colours;
}

}  // namespace attnscope
