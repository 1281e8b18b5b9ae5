// Reads a checkpoint's tensors by role and checks their shapes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/architecture/architecture.h"
#include "core/attention/mechanism.h"
#include "core/model/parts/convolution.h"
#include "core/model/parts/linear.h"
#include "core/model/parts/sequence_convolution.h"

namespace attnscope {

/// Keeps references to both arguments, which must outlive it. Tensors that do not fit throw
/// Error(damaged) naming them.
class WeightReader {
 public:
  WeightReader(const Checkpoint& checkpoint, const Architecture& architecture);

  [[nodiscard]] bool has(const std::string& role) const {
    return architecture_.sources.contains(role);
  }

  /// The role's tensor as `shape`. Axes of size 1 are ignored, as in [1, 1, D] or the 1×1
  /// convolution [out, in, 1, 1]; so is the split of a convolution's kernel into axes.
  [[nodiscard]] Tensor read(const std::string& role, const Shape& shape) const;

  /// The role's matrix [outputs, inputs]: for a large model in the file's dtype, otherwise as by
  /// read().
  [[nodiscard]] WeightMatrix read_matrix(const std::string& role, std::int64_t outputs,
                                         std::int64_t inputs) const;

  /// Empty if the tensor is missing and not `required`.
  [[nodiscard]] std::vector<float> read_vector(const std::string& role, std::int64_t extent,
                                               bool required = true) const;

  /// The norm of the role, of the kind given by its layer or, outside of layers, by the default for
  /// all layers. Empty if the tensor is missing; a missing bias is zero.
  [[nodiscard]] std::optional<LayerNorm> read_norm(const std::string& role,
                                                   std::int64_t width) const {
    return read_norm(role, width, norm_of(role).eps);
  }
  [[nodiscard]] std::optional<LayerNorm> read_norm(const std::string& role, std::int64_t width,
                                                   double eps) const;

  /// A linear layer inside a block. In adder arithmetic it includes its LayerNorm.
  [[nodiscard]] Linear read_linear(const std::string& role, std::int64_t outputs,
                                   std::int64_t inputs, Arithmetic arithmetic) const;

  /// The linear layers of the role's experts, [outputs, inputs] each. Their weights stay in the
  /// file, whatever the size of the model: one tensor for each, or one that stacks them.
  [[nodiscard]] std::vector<Linear> read_experts(const std::string& role, std::int64_t experts,
                                                 std::int64_t outputs, std::int64_t inputs) const;

  [[nodiscard]] Convolution read_convolution(const std::string& role, std::int64_t outputs,
                                             std::int64_t inputs, std::int64_t kernel,
                                             std::int64_t stride, std::int64_t padding) const;
  /// A convolution with weight [out, inputs / groups, kernel]; its shape determines the number of
  /// groups. Throws Error(unsupported) for an even kernel.
  [[nodiscard]] SequenceConvolution read_sequence_convolution(const std::string& role,
                                                              std::int64_t outputs,
                                                              std::int64_t inputs,
                                                              std::int64_t stride) const;
  /// Empty if the tensor is missing.
  [[nodiscard]] std::optional<DepthwiseConvolution> read_depthwise(const std::string& role,
                                                                   std::int64_t channels) const;

  /// The LayerNorm of an adder layer: the role's own, or plain_norm if the file has none. Empty in
  /// multiplicative arithmetic.
  [[nodiscard]] std::optional<LayerNorm> adder_norm(const std::string& role, std::int64_t width,
                                                    Arithmetic arithmetic) const;
  /// A norm with weight 1 and bias 0.
  [[nodiscard]] LayerNorm plain_norm(std::int64_t width) const;

  /// All tensors with the role "layer.N.mechanism.NAME", as stored; the mechanism checks their
  /// shapes.
  [[nodiscard]] NamedTensors read_mechanism(std::int64_t layer) const;

  /// Number of rows of a matrix as used, such as the classes of a head.
  [[nodiscard]] std::int64_t outputs_of(const std::string& role) const;
  /// Number of elements of the role's tensor.
  [[nodiscard]] std::int64_t size_of(const std::string& role) const;

 private:
  /// The norm of the layer that the role names, or the default for all layers.
  [[nodiscard]] NormSpec norm_of(const std::string& role) const;
  /// The weights [outputs, inputs] of experts, whose tensor or tensors fit.
  [[nodiscard]] std::vector<WeightMatrix> expert_matrices(const TensorSource& source,
                                                          std::int64_t experts,
                                                          std::int64_t outputs,
                                                          std::int64_t inputs) const;
  /// Throws Error(damaged) unless the role's tensor is used as `shape`.
  void check_shape(const TensorSource& source, const Shape& shape) const;
  /// Throws Error(damaged) if there is no such role.
  [[nodiscard]] const Architecture::Source& source_of(const std::string& role) const;

  const Checkpoint& checkpoint_;
  const Architecture& architecture_;
  const ModelSpec& spec_;
  bool large_ = false;
};

/// The `count` consecutive indices first, first + 1, …
[[nodiscard]] std::vector<std::int64_t> counted_rows(std::int64_t first, std::int64_t count);

/// Rows [first, first + count) of a matrix.
[[nodiscard]] Tensor rows_of(const Tensor& matrix, std::int64_t first, std::int64_t count);

/// Elements [first, first + count) of a vector; empty if the vector is empty.
[[nodiscard]] std::vector<float> part_of(const std::vector<float>& values, std::int64_t first,
                                         std::int64_t count);

}  // namespace attnscope
