#include "core/training/refinement.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/error.h"
#include "core/model/parts/position_grid.h"

namespace attnscope {

namespace {

using ConstRows = Eigen::Map<const Matrix>;
using Rows = Eigen::Map<Matrix>;

/// One tensor in both networks.
struct RefinedTensor {
  const Parameter& parameter;  ///< parameter of the fine network
  const Shape& coarse_shape;
  const float* from;
  float* to;
};

/// Sums pixels of a kernel, [D, C, P, P] → [D, C, p, p].
void sum_pixels(const RefinedTensor& kernel) {
  const std::int64_t coarse = kernel.coarse_shape[3], fine = kernel.parameter.shape[3],
                     factor = coarse / fine;
  const std::int64_t planes = kernel.parameter.slot.size / (fine * fine);
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    const ConstRows from(kernel.from + plane * coarse * coarse, coarse, coarse);
    Rows to(kernel.to + plane * fine * fine, fine, fine);
    for (std::int64_t row = 0; row < fine; ++row) {
      for (std::int64_t column = 0; column < fine; ++column) {
        to(row, column) = from.block(row * factor, column * factor, factor, factor).sum();
      }
    }
  }
}

PositionGrid grid_of(const ModelSpec& spec) {
  return {spec.input.grid_rows(), spec.input.grid_columns()};
}

/// Resamples a tensor [N, D] or [1, N, D] with one row per token.
void resample_tokens(const RefinedTensor& rows, const ModelSpec& coarse, const ModelSpec& fine) {
  const std::int64_t width = rows.parameter.shape.back(),
                     prefix = coarse.input.prefix_tokens() * width;
  const PositionGrid from = grid_of(coarse), to = grid_of(fine);
  std::copy_n(rows.from, prefix, rows.to);
  const float* const first = rows.from + prefix;
  const std::int64_t cells = from.rows * from.columns;
  const Tensor stored({cells, width}, std::vector<float>(first, first + cells * width));
  const Tensor made = resample_positions(stored, from, to, PositionResize::bicubic);
  std::ranges::copy(made.values(), rows.to + prefix);
}

/// Resamples windows [h, k, k] → [h, K, K], each head separately.
void resample_windows(const RefinedTensor& windows) {
  const std::int64_t from = windows.coarse_shape.back(), to = windows.parameter.shape.back();
  for (std::int64_t head = 0; head < windows.parameter.shape[0]; ++head) {
    const float* const first = windows.from + head * from * from;
    const Tensor stored({from * from, 1}, std::vector<float>(first, first + from * from));
    const Tensor made = resample_positions(stored, {from, from}, {to, to}, PositionResize::bicubic);
    std::ranges::copy(made.values(), windows.to + head * to * to);
  }
}

void refine(const RefinedTensor& tensor, const ModelSpec& coarse, const ModelSpec& fine) {
  const std::string_view name = tensor.parameter.name;
  if (name == "patch_embed.proj.weight") return sum_pixels(tensor);
  if (name == "pos_embed" || name.ends_with(".attn.pe0") || name.ends_with(".attn.pe1")) {
    return resample_tokens(tensor, coarse, fine);
  }
  if (tensor.coarse_shape == tensor.parameter.shape) {
    std::copy_n(tensor.from, tensor.parameter.slot.size, tensor.to);
    return;
  }
  if (name.ends_with(".attn.r")) return resample_windows(tensor);
  throw Error(ErrorKind::unsupported,
              "the tensor learned on coarse patches does not fit fine patches")
      .about(std::string(name))
      .expected(to_string(tensor.coarse_shape))
      .found(to_string(tensor.parameter.shape))
      .remedy(
          "leave coarse_patch out, or choose a mechanism whose tensors do not depend on the number "
          "of tokens");
}

}  // namespace

std::vector<float> refined_values(const TrainedNetwork& coarse, const std::vector<float>& values,
                                  const TrainedNetwork& fine) {
  std::vector<float> made(static_cast<std::size_t>(fine.parameters().size()));
  for (const Parameter& parameter : fine.parameters().list()) {
    const Parameter& before = *coarse.parameters().find(parameter.name);
    refine({parameter, before.shape, before.slot.in(values.data()), parameter.slot.in(made.data())},
           coarse.spec(), fine.spec());
  }
  return made;
}

}  // namespace attnscope
