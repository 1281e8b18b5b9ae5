// The embedding of images and texts before the first layer, with its gradient.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/architecture/pyramid_grid.h"
#include "core/tensor/tensor.h"
#include "core/training/learned_parameters/learned_parameters.h"
#include "core/training/learned_parameters/random_numbers.h"
#include "core/training/parts/trained_linear.h"
#include "core/training/parts/trained_norm.h"

namespace attnscope {

/// Images or texts with their targets.
struct Examples {
  std::vector<Tensor> images;                    ///< [C, H, W], normalised; for a model of images
  std::vector<std::vector<std::int64_t>> texts;  ///< token ids; for a model of texts
  /// The class of each image or text; in a language model, the next token after each token of each
  /// text in turn.
  std::vector<std::int64_t> targets;
  /// The other class of each image that two images are mixed in; empty if none is.
  std::vector<std::int64_t> mixed_targets;
  double share = 1;  ///< λ, share of `targets` in the loss of mixed images
  /// The random numbers of each example in training; empty in tests, which have no dropout, dropped
  /// branches or smoothed labels.
  std::vector<RandomNumbers> numbers;
  /// The numbers of the batch in training; empty in tests.
  std::optional<RandomNumbers> batch_numbers;

  [[nodiscard]] std::int64_t size() const { return std::ssize(images) + std::ssize(texts); }
};

/// Projected patches after the class token, or rows of a token table, plus positions; like
/// PatchEmbedding and TextEmbedding. A pyramid has only patches, with a norm. Fastformer-LM has a
/// norm after the positions.
class TrainedEmbedding {
 public:
  struct Memory {
    Matrix patches, embedded, d_embedded;
    TrainedLinear::Memory layer;
    TrainedNorm::Memory norm;
  };

  TrainedEmbedding(ParameterTable& table, const ModelSpec& spec);

  /// Number of tokens of each example.
  [[nodiscard]] std::vector<std::int64_t> lengths_of(const Examples& examples) const;
  /// Sets x to [Σ lengths, D].
  void forward(const float* values, const Examples& examples, Matrix& x, Memory& memory) const;
  void backward(const float* values, float* gradients, const Examples& examples, const Matrix& dx,
                Memory& memory) const;

  /// The token table [V, D] of a model of texts, which is also the weight of a language model's
  /// head.
  [[nodiscard]] ParameterSlot table() const { return table_; }

 private:
  void embed_patches(const float* values, const Examples& examples, Matrix& x,
                     Memory& memory) const;
  void embed_texts(const float* values, const Examples& examples, Matrix& x) const;

  ModelSpec spec_;
  TrainedLinear patch_;
  std::optional<TrainedNorm> norm_;
  ParameterSlot table_, positions_, class_token_;
};

/// Merges 2 × 2 neighbouring tokens for a coarser grid, with its gradient. Computes
/// reduction(norm([x(0,0), x(1,0), x(0,1), x(1,1)])) for each 2 × 2 cells, like
/// PatchMerging.
class TrainedMerging {
 public:
  struct Memory {
    Matrix four, normed, d_normed, d_four;
    TrainedNorm::Memory norm;
    TrainedLinear::Memory layer;
  };

  /// The grid must have even sides. Adds `name`.norm [4·C] and `name`.reduction [D, 4·C].
  TrainedMerging(ParameterTable& table, const std::string& name, const GridExtents& grid,
                 std::int64_t channels, std::int64_t width, double eps);

  /// Replaces x [sequences · grid, C] by [sequences · grid / 4, D].
  void forward(const float* values, Matrix& x, Memory& memory) const;
  /// Replaces dx, the gradient of forward's output, by that of its input.
  void backward(const float* values, float* gradients, Matrix& dx, Memory& memory) const;

 private:
  /// Calls act(coarse row, first channel, fine row) for the four cells of each coarse cell.
  template <class Act>
  void each_part(Eigen::Index coarse_rows, const Act& act) const;

  GridExtents grid_;
  std::int64_t channels_;
  TrainedNorm norm_;
  TrainedLinear reduction_;
};

/// Conditional positions: a depthwise 3 × 3 convolution over the grid, added to the tokens, with
/// its gradient (Chu et al. 2021): x += Σ_o w_o ⊙ x(cell + o) + b over the 3 × 3 cells around each
/// cell, with zeros outside the grid, like DepthwiseConvolution.
class TrainedNeighbours {
 public:
  /// Adds `name`.weight [D, 1, 3, 3] and `name`.bias [D].
  TrainedNeighbours(ParameterTable& table, const std::string& name, const GridExtents& grid,
                    std::int64_t width);

  /// Transforms x [sequences · grid, D] in place; `before` becomes a copy of the input.
  void forward(const float* values, Matrix& x, Matrix& before) const;
  /// Replaces dx, the gradient of forward's output, by that of `before`; `room` is overwritten.
  void backward(const float* values, float* gradients, const Matrix& before, Matrix& dx,
                Matrix& room) const;

 private:
  /// Calls act(token, neighbour, kernel index) for every pair of a token (row of x) and a
  /// neighbour.
  template <class Act>
  void each_pair(Eigen::Index rows, const Act& act) const;

  GridExtents grid_;
  std::int64_t width_;
  ParameterSlot weight_, bias_;
};

}  // namespace attnscope
