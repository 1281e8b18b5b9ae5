#include "core/training/parts/trained_embedding.h"

#include <algorithm>
#include <numeric>

#include "core/model/preprocessing/preprocessing.h"

namespace attnscope {

namespace {

using ConstRows = Eigen::Map<const Matrix>;
using Rows = Eigen::Map<Matrix>;

TrainedLinear patch_layer(ParameterTable& table, const ModelSpec& spec) {
  const InputSpec& input = spec.input;
  const std::int64_t pixels = input.channels * input.patch_height * input.patch_width;
  const std::int64_t width = width_of_layer(spec, 0);
  return {table,
          {.name = "patch_embed.proj",
           .inputs = pixels,
           .outputs = width,
           .weight_shape = {width, input.channels, input.patch_height, input.patch_width}}};
}

/// The kernel [D, 9] with a column for each of its cells.
using KernelMap = Eigen::Map<Matrix>;
using ConstKernel = Eigen::Map<const Matrix>;
using ChannelMap = Eigen::Map<Eigen::RowVectorXf>;
using ConstChannels = Eigen::Map<const Eigen::RowVectorXf>;

}  // namespace

TrainedEmbedding::TrainedEmbedding(ParameterTable& table, const ModelSpec& spec) : spec_(spec) {
  const std::int64_t width = spec.width;
  if (spec.reads_texts()) {
    const bool fastformer = spec.layer.form == LayerForm::fastformer;
    table_ = table.add(fastformer ? "word_embedding.weight" : "transformer.wte.weight",
                       {spec.input.vocabulary, width}, Initialisation::small_normal);
    positions_ = table.add(
        fastformer ? "fastformer_model.position_embeddings.weight" : "transformer.wpe.weight",
        {spec.input.context, width}, Initialisation::small_normal);
    if (fastformer) {
      norm_.emplace(table, "fastformer_model.LayerNorm", width, spec.layer.norm.eps);
    }
    return;
  }
  if (spec.input.class_tokens > 0) {
    class_token_ = table.add("cls_token", {1, 1, width}, Initialisation::small_normal);
  }
  if (spec.positions.kind == Positions::learned) {
    positions_ = table.add("pos_embed", {1, spec.tokens(), width}, Initialisation::small_normal);
  }
  patch_ = patch_layer(table, spec);
  if (spec.is_pyramid()) {
    norm_.emplace(table, "patch_embed.norm", width_of_layer(spec, 0), spec.input.norm_eps);
  }
}

std::vector<std::int64_t> TrainedEmbedding::lengths_of(const Examples& examples) const {
  std::vector<std::int64_t> lengths(examples.images.size(), spec_.tokens());
  for (const auto& text : examples.texts) lengths.push_back(std::ssize(text));
  return lengths;
}

void TrainedEmbedding::forward(const float* values, const Examples& examples, Matrix& x,
                               Memory& memory) const {
  const std::vector<std::int64_t> lengths = lengths_of(examples);
  x.resize(std::reduce(lengths.begin(), lengths.end()), width_of_layer(spec_, 0));
  if (spec_.reads_texts()) {
    embed_texts(values, examples, x);
  } else {
    embed_patches(values, examples, x, memory);
  }
  if (!positions_) return;
  Eigen::Index row = 0;
  for (const std::int64_t tokens : lengths) {
    x.middleRows(row, tokens) += ConstRows(positions_.in(values), tokens, spec_.width);
    row += tokens;
  }
  if (!norm_) return;
  memory.embedded = x;
  norm_->forward(values, memory.embedded, x, memory.norm);
}

void TrainedEmbedding::embed_patches(const float* values, const Examples& examples, Matrix& x,
                                     Memory& memory) const {
  const std::int64_t tokens = spec_.tokens(), prefix = spec_.input.prefix_tokens(),
                     patches = tokens - prefix;
  for (std::int64_t i = 0; i < examples.size(); ++i) {
    const Tensor flat = to_patches(examples.images[static_cast<std::size_t>(i)], spec_);
    if (i == 0) memory.patches.resize(examples.size() * patches, flat.extent(1));
    memory.patches.middleRows(i * patches, patches) = flat.matrix();
  }
  patch_.forward(values, memory.patches, memory.embedded, memory.layer);
  if (norm_) return norm_->forward(values, memory.embedded, x, memory.norm);
  for (std::int64_t i = 0; i < examples.size(); ++i) {
    x.middleRows(i * tokens + prefix, patches) = memory.embedded.middleRows(i * patches, patches);
    if (class_token_) x.row(i * tokens) = ConstRows(class_token_.in(values), 1, spec_.width);
  }
}

void TrainedEmbedding::embed_texts(const float* values, const Examples& examples, Matrix& x) const {
  const ConstRows table(table_.in(values), spec_.input.vocabulary, spec_.width);
  Eigen::Index row = 0;
  for (const auto& text : examples.texts) {
    for (const std::int64_t id : text) x.row(row++) = table.row(id);
  }
}

void TrainedEmbedding::backward(const float* values, float* gradients, const Examples& examples,
                                const Matrix& dx, Memory& memory) const {
  const std::int64_t width = spec_.width;
  if (norm_) {
    memory.d_embedded.setZero(dx.rows(), dx.cols());
    norm_->backward(values, gradients, memory.embedded, dx, memory.norm, memory.d_embedded);
  }
  const Matrix& d_sum = norm_ ? memory.d_embedded : dx;
  if (positions_) {
    Eigen::Index row = 0;
    for (const std::int64_t tokens : lengths_of(examples)) {
      Rows(positions_.in(gradients), tokens, width) += d_sum.middleRows(row, tokens);
      row += tokens;
    }
  }
  if (spec_.reads_texts()) {
    Rows table(table_.in(gradients), spec_.input.vocabulary, width);
    Eigen::Index row = 0;
    for (const auto& text : examples.texts) {
      for (const std::int64_t id : text) table.row(id) += d_sum.row(row++);
    }
    return;
  }
  if (spec_.is_pyramid()) {
    patch_.backward(values, gradients, memory.patches, d_sum, memory.layer, nullptr);
    return;
  }
  const std::int64_t tokens = spec_.tokens(), prefix = spec_.input.prefix_tokens(),
                     patches = tokens - prefix;
  for (std::int64_t i = 0; i < examples.size(); ++i) {
    memory.embedded.middleRows(i * patches, patches) =
        d_sum.middleRows(i * tokens + prefix, patches);
    if (class_token_) Rows(class_token_.in(gradients), 1, width) += d_sum.row(i * tokens);
  }
  patch_.backward(values, gradients, memory.patches, memory.embedded, memory.layer, nullptr);
}

TrainedMerging::TrainedMerging(ParameterTable& table, const std::string& name,
                               const GridExtents& grid, std::int64_t channels, std::int64_t width,
                               double eps)
    : grid_(grid),
      channels_(channels),
      norm_(table, name + ".norm", 4 * channels, eps),
      reduction_(table, {.name = name + ".reduction", .inputs = 4 * channels, .outputs = width}) {}

template <class Act>
void TrainedMerging::each_part(Eigen::Index coarse_rows, const Act& act) const {
  const std::int64_t columns = grid_.columns / 2, cells = grid_.tokens() / 4;
  for (Eigen::Index cell = 0; cell < coarse_rows; ++cell) {
    const std::int64_t first = cell / cells * grid_.tokens(), place = cell % cells;
    for (std::int64_t part = 0; part < 4; ++part) {
      const std::int64_t row = 2 * (place / columns) + part % 2;
      const std::int64_t column = 2 * (place % columns) + part / 2;
      act(cell, part * channels_, first + row * grid_.columns + column);
    }
  }
}

void TrainedMerging::forward(const float* values, Matrix& x, Memory& memory) const {
  memory.four.resize(x.rows() / 4, 4 * channels_);
  each_part(memory.four.rows(), [&](Eigen::Index cell, std::int64_t channel, std::int64_t token) {
    memory.four.row(cell).segment(channel, channels_) = x.row(token);
  });
  norm_.forward(values, memory.four, memory.normed, memory.norm);
  reduction_.forward(values, memory.normed, x, memory.layer);
}

void TrainedMerging::backward(const float* values, float* gradients, Matrix& dx,
                              Memory& memory) const {
  reduction_.backward(values, gradients, memory.normed, dx, memory.layer, &memory.d_normed);
  memory.d_four.setZero(memory.four.rows(), memory.four.cols());
  norm_.backward(values, gradients, memory.four, memory.d_normed, memory.norm, memory.d_four);
  dx.resize(4 * memory.d_four.rows(), channels_);
  each_part(memory.d_four.rows(), [&](Eigen::Index cell, std::int64_t channel, std::int64_t token) {
    dx.row(token) = memory.d_four.row(cell).segment(channel, channels_);
  });
}

TrainedNeighbours::TrainedNeighbours(ParameterTable& table, const std::string& name,
                                     const GridExtents& grid, std::int64_t width)
    : grid_(grid), width_(width) {
  weight_ = table.add(name + ".weight", {width, 1, 3, 3}, Initialisation::xavier);
  bias_ = table.add(name + ".bias", {width}, Initialisation::zeros);
}

template <class Act>
void TrainedNeighbours::each_pair(Eigen::Index rows, const Act& act) const {
  for (Eigen::Index token = 0; token < rows; ++token) {
    const std::int64_t cell = token % grid_.tokens();
    const std::int64_t row = cell / grid_.columns, column = cell % grid_.columns;
    for (std::int64_t down = std::max<std::int64_t>(-row, -1);
         down <= std::min<std::int64_t>(grid_.rows - 1 - row, 1); ++down) {
      for (std::int64_t right = std::max<std::int64_t>(-column, -1);
           right <= std::min<std::int64_t>(grid_.columns - 1 - column, 1); ++right) {
        act(token, token + down * grid_.columns + right, (down + 1) * 3 + right + 1);
      }
    }
  }
}

void TrainedNeighbours::forward(const float* values, Matrix& x, Matrix& before) const {
  before = x;
  const Matrix kernel = ConstKernel(weight_.in(values), width_, 9).transpose();
  x.rowwise() += ConstChannels(bias_.in(values), width_);
  each_pair(x.rows(), [&](Eigen::Index token, Eigen::Index neighbour, std::int64_t place) {
    x.row(token).array() += kernel.row(place).array() * before.row(neighbour).array();
  });
}

void TrainedNeighbours::backward(const float* values, float* gradients, const Matrix& before,
                                 Matrix& dx, Matrix& room) const {
  const Matrix kernel = ConstKernel(weight_.in(values), width_, 9).transpose();
  Matrix d_kernel = Matrix::Zero(9, width_);
  ChannelMap(bias_.in(gradients), width_) += dx.colwise().sum();
  room = dx;
  each_pair(dx.rows(), [&](Eigen::Index token, Eigen::Index neighbour, std::int64_t place) {
    d_kernel.row(place).array() += dx.row(token).array() * before.row(neighbour).array();
    room.row(neighbour).array() += kernel.row(place).array() * dx.row(token).array();
  });
  KernelMap(weight_.in(gradients), width_, 9) += d_kernel.transpose();
  dx.swap(room);
}

}  // namespace attnscope
