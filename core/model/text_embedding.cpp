#include "core/model/text_embedding.h"

#include <cmath>
#include <utility>

namespace attnscope {

Tensor TextEmbedding::operator()(const std::vector<std::int64_t>& ids) const {
  Tensor x({std::ssize(ids), tokens.extent(1)});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    x.matrix().row(row) = scale * tokens.matrix().row(ids[i]) + positions.matrix().row(row);
  }
  if (norm) norm->apply(x.matrix());
  return x;
}

TextEmbedding read_text_embedding(const WeightReader& reader, const Architecture& architecture) {
  const ModelSpec& spec = architecture.spec;
  TextEmbedding embedding;
  embedding.tokens = reader.read("token_embedding.weight", {spec.input.vocabulary, spec.width});
  const Tensor stored = reader.read("positions", {architecture.position_rows, spec.width});
  embedding.positions = Tensor({spec.input.context, spec.width});
  embedding.positions.matrix() = stored.matrix().topRows(spec.input.context);
  embedding.scale = static_cast<float>(
      spec.input.scale == 0 ? std::sqrt(static_cast<double>(spec.width)) : spec.input.scale);
  embedding.norm = reader.read_norm("embedding_norm", spec.width);
  return embedding;
}

}  // namespace attnscope
