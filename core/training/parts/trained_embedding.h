// The embedding of images and texts before the first layer, with its gradient.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/training/parts/trained_linear.h"

namespace attnscope {

/// Images or texts with their targets.
struct Examples {
  std::vector<Tensor> images;                    ///< [C, H, W], normalised; for a model of images
  std::vector<std::vector<std::int64_t>> texts;  ///< token ids; for a model of texts
  /// The class of each image or text; in a language model, the next token after each token of each
  /// text in turn.
  std::vector<std::int64_t> targets;

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

}  // namespace attnscope
