// What images and texts become before the first layer, with its gradient.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/training/parts/trained_linear.h"

namespace attnscope {

/// Images or texts with what they should be told to be.
struct Examples {
  std::vector<Tensor> images;                    ///< [C, H, W], normalised; of a model of images
  std::vector<std::vector<std::int64_t>> texts;  ///< ids of tokens, at least one; of one of texts
  /// The class of each image or text; of a language model of each token of each text in turn, what
  /// comes after it.
  std::vector<std::int64_t> targets;

  [[nodiscard]] std::int64_t size() const { return std::ssize(images) + std::ssize(texts); }
};

/// Patches through a linear layer after the class token, or rows of a table; plus positions. Of a
/// pyramid patches alone, with a norm; of Fastformer-LM with a norm after the positions. As
/// PatchEmbedding and TextEmbedding.
class TrainedEmbedding {
 public:
  struct Memory {
    Matrix patches, embedded, d_embedded;
    TrainedLinear::Memory layer;
    TrainedNorm::Memory norm;
  };

  TrainedEmbedding(ParameterTable& table, const ModelSpec& spec);

  /// Tokens of each example.
  [[nodiscard]] std::vector<std::int64_t> lengths_of(const Examples& examples) const;
  /// x becomes [Σ lengths, D].
  void forward(const float* values, const Examples& examples, Matrix& x, Memory& memory) const;
  void backward(const float* values, float* gradients, const Examples& examples, const Matrix& dx,
                Memory& memory) const;

  /// The table of a model of texts [V, D], which is the head's weight too.
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
