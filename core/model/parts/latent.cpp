#include "core/model/parts/latent.h"

namespace attnscope {

LatentPart::Vectors LatentPart::operator()(const Tensor& tokens) const {
  const Tensor all = narrow(seen(tokens));
  const auto width = static_cast<Eigen::Index>(norm.weight.size());
  Vectors vectors{.latents = Tensor::unfilled({all.extent(0), width}), .shared = {}};
  vectors.latents.matrix() = all.matrix().leftCols(width);
  norm.apply(vectors.latents.matrix());
  if (all.extent(1) == width) return vectors;
  vectors.shared = Tensor::unfilled({all.extent(0), all.extent(1) - width});
  vectors.shared.matrix() = all.matrix().rightCols(all.extent(1) - width);
  return vectors;
}

Tensor with_shared_channels(const Tensor& shared, const Tensor& own, std::int64_t heads) {
  const std::int64_t first = shared.extent(1), each = own.extent(1) / heads, whole = first + each;
  Tensor keys = Tensor::unfilled({own.extent(0), heads * whole});
  for (std::int64_t head = 0; head < heads; ++head) {
    keys.matrix().middleCols(head * whole, first) = shared.matrix();
    keys.matrix().middleCols(head * whole + first, each) =
        own.matrix().middleCols(head * each, each);
  }
  return keys;
}

}  // namespace attnscope
