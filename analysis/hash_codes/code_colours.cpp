#include "analysis/hash_codes/code_colours.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

double encoded(double linear) {
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
    return static_cast<std::uint8_t>(std::lround(255 * encoded(linear)));
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
