// The parameters of a training: named tensors in one contiguous array, so that an optimiser, a sum
// of gradients and a file of a run's state each need one loop.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/shape.h"

namespace attnscope {

/// The initial values of a tensor. For three axes, inputs and outputs are those of one head.
enum class Initialisation {
  zeros,
  ones,
  identity,         ///< I, for a square matrix
  xavier,           ///< uniform in ±√(6 / (inputs + outputs)) (Glorot & Bengio 2010, Eq. 16)
  small_normal,     ///< normal, deviation 0.02, as in ViT's and GPT-2's embeddings
  lambda_normal,    ///< normal, deviation 0.1, of differential attention's λ (Ye et al. 2024)
  kernel,           ///< uniform in ±1/w for kernels [C, w, w], as a depthwise torch.nn.Conv2d
  standard_normal,  ///< normal, deviation 1: weights of adder layers (AdderNet's published code)
};

/// The location of a tensor: elements [offset, offset + size) of the values and of the gradients.
/// Size 0 means that there is no tensor.
struct ParameterSlot {
  std::int64_t offset = 0, size = 0;

  [[nodiscard]] explicit operator bool() const { return size > 0; }
  [[nodiscard]] const float* in(const float* numbers) const { return numbers + offset; }
  [[nodiscard]] float* in(float* numbers) const { return numbers + offset; }
};

struct Parameter {
  std::string name;  ///< name in files: "blocks.0.attn.qkv.weight"
  Shape shape;
  Initialisation initialisation = Initialisation::zeros;
  bool decays = false;  ///< true if weight decay applies: for matrices, not for norms and biases
  bool adder = false;   ///< true for a weight of an adder layer, whose gradient AdderNet rescales
  bool own = false;     ///< true for a parameter of the mechanism itself
  ParameterSlot slot;
};

/// The tensors of a network, in the order in which they were added.
class ParameterTable {
 public:
  /// The name must be new. Weight decay applies to tensors of at least two axes named "….weight".
  ParameterSlot add(std::string name, Shape shape, Initialisation initialisation,
                    bool adder = false, bool own = false);

  [[nodiscard]] const std::vector<Parameter>& list() const { return list_; }
  /// Number of elements of all tensors.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Null if there is no tensor of that name.
  [[nodiscard]] const Parameter* find(std::string_view name) const;

  /// The initial values: the same for a seed on every machine, except for the last digits of its
  /// mathematical library. The values of a tensor depend only on seed and name, so that networks
  /// that share a tensor start with the same one.
  [[nodiscard]] std::vector<float> initial_values(std::uint64_t seed) const;

 private:
  std::vector<Parameter> list_;
  std::int64_t size_ = 0;
};

}  // namespace attnscope
