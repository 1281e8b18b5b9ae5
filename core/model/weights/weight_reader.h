// A checkpoint's tensors by role, checked against the shapes a model needs.
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

/// Refers to both arguments: they must outlive it. What does not fit throws Error(damaged) naming
/// the tensor.
class WeightReader {
 public:
  WeightReader(const Checkpoint& checkpoint, const Architecture& architecture);

  [[nodiscard]] bool has(const std::string& role) const {
    return architecture_.sources.contains(role);
  }

  /// The role's tensor as `shape`. Axes of extent 1 before or after are ignored, as in [1, 1, D]
  /// or the 1×1 convolution [out, in, 1, 1]; so is how a convolution's kernel is split into axes.
  [[nodiscard]] Tensor read(const std::string& role, const Shape& shape) const;

  /// The role's matrix [outputs, inputs]: of a large model as its file has it, else as read() has
  /// it.
  [[nodiscard]] WeightMatrix read_matrix(const std::string& role, std::int64_t outputs,
                                         std::int64_t inputs) const;

  /// Empty if it is not there and not `required`.
  [[nodiscard]] std::vector<float> read_vector(const std::string& role, std::int64_t extent,
                                               bool required = true) const;

  /// As the layer of the role says, or what all layers have; none if there is none; a missing bias
  /// is zero.
  [[nodiscard]] std::optional<LayerNorm> read_norm(const std::string& role,
                                                   std::int64_t width) const {
    return read_norm(role, width, norm_of(role).eps);
  }
  [[nodiscard]] std::optional<LayerNorm> read_norm(const std::string& role, std::int64_t width,
                                                   double eps) const;

  /// A linear layer inside a block: in adder arithmetic it takes its LayerNorm.
  [[nodiscard]] Linear read_linear(const std::string& role, std::int64_t outputs,
                                   std::int64_t inputs, Arithmetic arithmetic) const;

  [[nodiscard]] Convolution read_convolution(const std::string& role, std::int64_t outputs,
                                             std::int64_t inputs, std::int64_t kernel,
                                             std::int64_t stride, std::int64_t padding) const;
  /// [out, inputs / groups, kernel]: as many groups as its shape leaves. Throws Error(unsupported)
  /// for an even kernel.
  [[nodiscard]] SequenceConvolution read_sequence_convolution(const std::string& role,
                                                              std::int64_t outputs,
                                                              std::int64_t inputs,
                                                              std::int64_t stride) const;
  /// None if there is none.
  [[nodiscard]] std::optional<DepthwiseConvolution> read_depthwise(const std::string& role,
                                                                   std::int64_t channels) const;

  /// The LayerNorm of an adder layer: the role's own, plain where the file has none; none in
  /// multiplicative arithmetic.
  [[nodiscard]] std::optional<LayerNorm> adder_norm(const std::string& role, std::int64_t width,
                                                    Arithmetic arithmetic) const;
  /// Weight 1, bias 0.
  [[nodiscard]] LayerNorm plain_norm(std::int64_t width) const;

  /// Every tensor with the role "layer.N.mechanism.NAME", as stored: the mechanism knows its shape.
  [[nodiscard]] NamedTensors read_mechanism(std::int64_t layer) const;

  /// Rows of a matrix as it is used: the classes of a head.
  [[nodiscard]] std::int64_t outputs_of(const std::string& role) const;
  /// Its numbers.
  [[nodiscard]] std::int64_t size_of(const std::string& role) const;

 private:
  /// Of the layer that the role names, or what all layers have.
  [[nodiscard]] NormSpec norm_of(const std::string& role) const;
  /// Throws Error(damaged) unless the role's tensor is used as `shape`.
  void check_shape(const TensorSource& source, const Shape& shape) const;
  /// Throws Error(damaged) if there is none.
  [[nodiscard]] const Architecture::Source& source_of(const std::string& role) const;

  const Checkpoint& checkpoint_;
  const Architecture& architecture_;
  const ModelSpec& spec_;
  bool large_ = false;
};

/// first, first + 1, … : `count` rows that follow each other.
[[nodiscard]] std::vector<std::int64_t> counted_rows(std::int64_t first, std::int64_t count);

/// Rows [first, first + count) of a matrix.
[[nodiscard]] Tensor rows_of(const Tensor& matrix, std::int64_t first, std::int64_t count);

/// The same of a vector; empty of an empty one.
[[nodiscard]] std::vector<float> part_of(const std::vector<float>& values, std::int64_t first,
                                         std::int64_t count);

}  // namespace attnscope
