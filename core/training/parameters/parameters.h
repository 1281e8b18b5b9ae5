// The numbers a training changes: named tensors in one stretch of memory, so that an optimiser, a
// sum of gradients and a file of a run's state each are one loop.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/shape.h"

namespace attnscope {

/// What a tensor begins with, before the first step.
enum class Beginning {
  zeros,
  ones,
  identity,         ///< I, of a square matrix
  xavier,           ///< uniform in ±√(6 / (inputs + outputs)) (Glorot & Bengio 2010, Eq. 16); of
                    ///< three axes those of each head
  small_normal,     ///< normal, deviation 0.02, as ViT's and GPT-2's embeddings
  standard_normal,  ///< normal, deviation 1: weights of adder layers (AdderNet's published code)
};

/// Where a part finds its tensor: elements [offset, offset + size) of the values, and of the
/// gradients. Size 0: there is none.
struct ParameterSlot {
  std::int64_t offset = 0, size = 0;

  [[nodiscard]] explicit operator bool() const { return size > 0; }
  [[nodiscard]] const float* in(const float* numbers) const { return numbers + offset; }
  [[nodiscard]] float* in(float* numbers) const { return numbers + offset; }
};

struct Parameter {
  std::string name;  ///< in files: "blocks.0.attn.qkv.weight"
  Shape shape;
  Beginning beginning = Beginning::zeros;
  bool decays = false;  ///< whether weight decay applies: to matrices, not to norms and biases
  bool adder = false;   ///< a weight of an adder layer, whose gradient AdderNet rescales
  bool own = false;     ///< of a layer's mechanism itself: models with another do not have it
  ParameterSlot slot;
};

/// What a network's tensors are, in the order in which they were added.
class ParameterTable {
 public:
  /// The name must be new. Matrices decay: weights of two axes and more under the name "….weight".
  ParameterSlot add(std::string name, Shape shape, Beginning beginning, bool adder = false,
                    bool own = false);

  [[nodiscard]] const std::vector<Parameter>& list() const { return list_; }
  /// Elements of all tensors together.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Null if there is none of that name.
  [[nodiscard]] const Parameter* find(std::string_view name) const;

  /// The values before the first step: the same for a seed on every machine but for the last digits
  /// that its mathematical library gives. A tensor's numbers depend on seed and name alone:
  /// networks that share a tensor begin with the same one.
  [[nodiscard]] std::vector<float> beginning(std::uint64_t seed) const;

 private:
  std::vector<Parameter> list_;
  std::int64_t size_ = 0;
};

}  // namespace attnscope
