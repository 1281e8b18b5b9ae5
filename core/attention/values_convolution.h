// The term T that some layers add to their map: a depthwise convolution of the values over the grid
// of patches, with zeros beyond its border.
//
//   (T_c)_ij = κ_c(y_j − y_i, x_j − x_i) for patches i and j at most w/2 rows and columns apart,
//   else 0
//
// Each channel c of the values has its own T_c, and so its own map A + T_c. Prefix tokens have no
// place on the grid: their rows and columns of T are 0. A bias of the convolution is no part of a
// map, because it does not depend on the values, and is not added to the output.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/attention/mechanism.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Queries [query, query + count) of a row of the grid, and the keys, from `key` on, that tap `tap`
/// of the w² has for them.
struct TapRun {
  std::int64_t tap, query, key, count;
};

/// Calls act(TapRun) for every tap of kernels w = `side` wide and every row of the grid, tap by
/// tap.
template <class Act>
void each_tap_run(const TokenLayout& layout, std::int64_t side, const Act& act) {
  const std::int64_t half = side / 2, rows = layout.rows, columns = layout.columns;
  for (std::int64_t tap = 0; tap < side * side; ++tap) {
    const std::int64_t down = tap / side - half, right = tap % side - half;
    const std::int64_t from = std::max<std::int64_t>(0, -right);
    const std::int64_t count = std::min(columns, columns - right) - from;
    if (count < 1) continue;
    for (std::int64_t y = std::max<std::int64_t>(0, -down); y < std::min(rows, rows - down); ++y) {
      const std::int64_t query = layout.prefix + y * columns + from;
      act(TapRun{tap, query, query + down * columns + right, count});
    }
  }
}

/// Throws Error(usage) unless the tokens are patches on a grid after a prefix, both of queries and
/// keys. `layout` may be null.
void check_on_grid(const TokenLayout* layout, std::int64_t queries, std::int64_t keys);

/// The convolution of a layer, whose tensor "dwc" has its kernels.
class ValuesConvolution {
 public:
  /// Throws like check_on_grid, and Error(usage) unless the kernels fit the values and the
  /// requested channel exists.
  ValuesConvolution(const AttentionInput& input, const Tensor& kernels);

  /// out [N, dv] += T V of a head.
  void add_output(std::int64_t head, StridedMatrixMap out) const;
  /// map [N, N] += T_c of channel `input.channel`, else the mean over the head's channels.
  void add_map(std::int64_t head, MatrixMap map) const;

 private:
  /// The kernels of a head, [dv, w²].
  [[nodiscard]] ConstMatrixMap kernels_of(std::int64_t head) const;

  const AttentionInput& input_;
  const Tensor& kernels_;
  std::int64_t width_;     ///< dv
  std::int64_t side_ = 1;  ///< w
  bool shared_ = false;    ///< the heads have the same kernels
};

/// The convolution of the layer's tensor "dwc"; absent if there is none.
[[nodiscard]] std::optional<ValuesConvolution> find_values_convolution(const AttentionInput& input);

/// The setting "term": whether T is added to the map.
[[nodiscard]] ParameterDescription term_parameter();

/// The setting "kernel" of the accounting: the side w of the convolution that `term` counts.
[[nodiscard]] ParameterDescription counted_kernel_parameter(std::int64_t side);

/// The tensor "dwc" with kernels of every channel. Shared by the heads if `shared`.
[[nodiscard]] TensorDescription convolution_tensor(bool shared);

/// Appends the component "convolution" if the settings have `term`: w² products for every value,
/// padding included, and the sum with the output.
void append_convolution(std::vector<OperationCount>& counts, const AttentionShape& shape,
                        CostConvention convention, const TypedValues& values);

}  // namespace attnscope
