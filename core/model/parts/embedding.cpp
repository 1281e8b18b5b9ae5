#include "core/model/parts/embedding.h"

#include <cmath>
#include <utility>

#include "core/model/preprocessing/preprocessing.h"

namespace attnscope {

Tensor PatchEmbedding::operator()(const Tensor& image, const ModelSpec& spec) const {
  Tensor patches = to_patches(image, spec);
  if (norm_before) norm_before->apply(patches.matrix());
  Tensor embedded = patch(std::as_const(patches).matrix());
  if (norm_after) norm_after->apply(embedded.matrix());
  if (!positions.empty()) embedded.matrix() += positions.matrix();
  Tensor tokens({spec.tokens(), spec.width});
  const std::int64_t prefix = spec.input.prefix_tokens();
  if (prefix > 0) tokens.matrix().topRows(prefix) = prefix_tokens.matrix();
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
  return x;
}

void add_sinusoids(MatrixMap tokens) {
  for (Eigen::Index position = 0; position < tokens.rows(); ++position) {
    for (Eigen::Index channel = 0; channel < tokens.cols(); ++channel) {
      const Eigen::Index even = channel - channel % 2;
      const double power = static_cast<double>(even) / static_cast<double>(tokens.cols());
      const double angle = static_cast<double>(position) * std::pow(10000.0, -power);
      tokens(position, channel) +=
          static_cast<float>(channel % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
}

}  // namespace attnscope
