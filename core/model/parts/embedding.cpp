#include "core/model/parts/embedding.h"

#include <cmath>
#include <utility>

#include "core/model/preprocessing/preprocessing.h"

namespace attnscope {

Tensor PatchEmbedding::operator()(const Tensor& image, const ModelSpec& spec) const {
  Tensor patches = to_patches(stem ? (*stem)(image) : image, spec);
  if (norm_before) norm_before->apply(patches.matrix());
  Tensor embedded = patch(std::as_const(patches).matrix());
  if (norm_after) norm_after->apply(embedded.matrix());
  if (!positions.empty()) embedded.matrix() += positions.matrix();
  if (prefix_tokens.empty()) return embedded;
  Tensor tokens({prefix_tokens.extent(0) + embedded.extent(0), spec.width});
  tokens.matrix().topRows(prefix_tokens.extent(0)) = prefix_tokens.matrix();
  tokens.matrix().bottomRows(embedded.extent(0)) = embedded.matrix();
  return tokens;
}

Tensor TextEmbedding::operator()(const std::vector<std::int64_t>& ids,
                                 const std::vector<std::int64_t>& token_types) const {
  const std::int64_t width = tokens.columns();
  Tensor x({std::ssize(ids), width});
  std::vector<float> room;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const Eigen::Map<const Eigen::RowVectorXf> token(tokens.read(ids[i], 1, room), width);
    x.matrix().row(row) = scale * token;
    if (!positions.empty()) x.matrix().row(row) += positions.matrix().row(position_offset + row);
    if (!types.empty()) x.matrix().row(row) += types.matrix().row(token_types[i]);
  }
  tokens.give_back();
  return x;
}

float embedding_scale(const ModelSpec& spec) {
  const double scale = spec.input.scale;
  return static_cast<float>(scale == 0 ? std::sqrt(static_cast<double>(spec.width)) : scale);
}

void add_sinusoids(Positions kind, MatrixMap tokens) {
  if (kind != Positions::sinusoidal && kind != Positions::sinusoidal_halves) return;
  const bool in_turns = kind == Positions::sinusoidal;
  const Eigen::Index sines = (tokens.cols() + 1) / 2;
  for (Eigen::Index position = 0; position < tokens.rows(); ++position) {
    for (Eigen::Index channel = 0; channel < tokens.cols(); ++channel) {
      const Eigen::Index pair = channel / 2;
      const double power = 2 * static_cast<double>(pair) / static_cast<double>(tokens.cols());
      const double angle = static_cast<double>(position) * std::pow(10000.0, -power);
      const bool sine = channel % 2 == 0;
      const Eigen::Index place = in_turns ? channel : pair + (sine ? 0 : sines);
      tokens(position, place) += static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
    }
  }
}

}  // namespace attnscope
