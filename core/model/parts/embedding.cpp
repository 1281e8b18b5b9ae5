#include "core/model/parts/embedding.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/model/parts/activation.h"
#include "core/model/preprocessing/preprocessing.h"

namespace attnscope {

namespace {

/// The grid of an image [C, H, W], which has the model's size unless images keep theirs.
PositionGrid grid_of(const Tensor& image, const InputSpec& input) {
  return {input.cells(image.extent(1), input.patch_height),
          input.cells(image.extent(2), input.patch_width)};
}

}  // namespace

Tensor Stem::operator()(const Tensor& image) const {
  GridExtents grid{image.extent(1), image.extent(2)};
  const ConstMatrixMap planes(image.data(), image.extent(0), grid.tokens());
  Tensor cells({grid.tokens(), image.extent(0)});
  cells.matrix() = planes.transpose();
  for (const Layer& layer : layers) {
    cells = layer.convolution(cells, grid);
    grid = layer.convolution.output_grid(grid);
    if (layer.norm) layer.norm->apply(cells.matrix());
    apply_activation(activation, cells.values());
  }
  Tensor result({cells.extent(1), grid.rows, grid.columns});
  MatrixMap(result.data(), cells.extent(1), grid.tokens()) =
      std::as_const(cells).matrix().transpose();
  return result;
}

Tensor PatchEmbedding::operator()(const Tensor& image, const ModelSpec& spec) const {
  Tensor patches = to_patches(stem ? (*stem)(image) : image, spec);
  if (norm_before) norm_before->apply(patches.matrix());
  Tensor embedded = patch(std::as_const(patches).matrix());
  if (norm_after) norm_after->apply(embedded.matrix());
  if (!positions.empty()) {
    embedded.matrix() +=
        resample_positions(positions, stored, grid_of(image, spec.input), spec.positions.resize)
            .matrix();
  }
  if (prefix_tokens.empty()) return embedded;
  Tensor tokens({prefix_tokens.extent(0) + embedded.extent(0), spec.width});
  tokens.matrix().topRows(prefix_tokens.extent(0)) = prefix_tokens.matrix();
  tokens.matrix().bottomRows(embedded.extent(0)) = embedded.matrix();
  return tokens;
}

Tensor TextEmbedding::operator()(const std::vector<std::int64_t>& ids,
                                 const std::vector<std::int64_t>& token_types,
                                 std::int64_t first) const {
  const std::int64_t width = tokens.columns();
  Tensor x({std::ssize(ids), width});
  std::vector<float> room;
  const std::int64_t kept = std::ssize(ids) - std::ranges::count(ids, dropped);
  const float factor = scale * (static_cast<float>(ids.size()) /
                                static_cast<float>(std::max<std::int64_t>(kept, 1)));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const Eigen::Map<const Eigen::RowVectorXf> token(tokens.read(ids[i], 1, room), width);
    x.matrix().row(row) = (ids[i] == dropped ? 0.0F : factor) * token;
    if (!positions.empty()) {
      x.matrix().row(row) += positions.matrix().row(position_offset + first + row);
    }
    if (!types.empty()) x.matrix().row(row) += types.matrix().row(token_types[i]);
  }
  tokens.release_pages();
  return x;
}

float embedding_scale(const ModelSpec& spec) {
  const double scale = spec.input.scale;
  return static_cast<float>(scale == 0 ? std::sqrt(static_cast<double>(spec.width)) : scale);
}

void add_sinusoids(const PositionSpec& positions, MatrixMap tokens, std::int64_t first) {
  if (positions.kind != Positions::sinusoidal) return;
  const bool in_turns = positions.sinusoid_order == SinusoidOrder::alternating;
  const bool to_end = positions.sinusoid_order == SinusoidOrder::halves_to_end;
  const Eigen::Index width = tokens.cols(), whole = width / 2;
  // With an odd width the last channel has a sine, except in halves_to_end, where it has nothing.
  const Eigen::Index sines = to_end ? whole : (width + 1) / 2;
  const double span = to_end ? static_cast<double>(std::max<Eigen::Index>(whole - 1, 1))
                             : static_cast<double>(width) / 2;
  for (Eigen::Index row = 0; row < tokens.rows(); ++row) {
    const auto place = static_cast<double>(first + row + positions.offset);
    for (Eigen::Index channel = 0; channel < (to_end ? 2 * whole : width); ++channel) {
      const Eigen::Index pair = channel / 2;
      const double angle = place * std::pow(10000.0, -static_cast<double>(pair) / span);
      const bool sine = channel % 2 == 0;
      const Eigen::Index to = in_turns ? channel : pair + (sine ? 0 : sines);
      tokens(row, to) += static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
    }
  }
}

Tensor SoundEmbedding::operator()(const Tensor& spectrum) const {
  Tensor frames({spectrum.extent(1), spectrum.extent(0)});
  frames.matrix() = spectrum.matrix().transpose();
  Tensor tokens = first(frames);
  apply_activation(Activation::gelu, tokens.values());
  tokens = second(tokens);
  apply_activation(Activation::gelu, tokens.values());
  tokens.matrix() += positions.matrix();
  return tokens;
}

Tensor embed_in_steps(const std::vector<EmbeddingStep>& steps, Tensor cells, GridExtents& grid) {
  Tensor before;
  for (const EmbeddingStep& step : steps) {
    if (step.begins) before = cells;
    cells = step.depthwise ? (*step.depthwise)(cells, grid) : (*step.convolution)(cells, grid);
    grid = step.depthwise ? step.depthwise->output_grid(grid) : step.convolution->output_grid(grid);
    if (step.ends) {
      cells.matrix() += seen(before);
    } else {
      apply_activation(Activation::relu, cells.values());
    }
  }
  return cells;
}

Tensor PatchMerging::operator()(const Tensor& tokens, const GridExtents& grid) const {
  const std::int64_t width = tokens.extent(1), columns = (grid.columns + 1) / 2;
  Tensor four({(grid.rows + 1) / 2 * columns, 4 * width});
  for (std::int64_t cell = 0; cell < four.extent(0); ++cell) {
    for (std::int64_t part = 0; part < 4; ++part) {
      const std::int64_t row = 2 * (cell / columns) + part % 2;
      const std::int64_t column = 2 * (cell % columns) + part / 2;
      if (row >= grid.rows || column >= grid.columns) continue;
      four.matrix().row(cell).segment(part * width, width) =
          tokens.matrix().row(row * grid.columns + column);
    }
  }
  norm.apply(four.matrix());
  return reduction(std::as_const(four).matrix());
}

}  // namespace attnscope
