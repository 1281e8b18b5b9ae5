#include "core/attention/values_convolution.h"

#include <algorithm>
#include <string>

#include "core/attention/costs/build.h"
#include "core/attention/costs/count.h"
#include "core/attention/score_blocks.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// Side of the kernels; 0 unless the shape ends with two equal odd dimensions.
std::int64_t side_of(const Shape& shape) {
  if (shape.size() < 3) return 0;
  const std::int64_t side = shape.back();
  return side == shape[shape.size() - 2] && side % 2 == 1 ? side : 0;
}

std::optional<Shape> kernel_shape(const AttentionShape& shape, const TypedValues& values,
                                  std::int64_t channels) {
  if (!values.flag("term") || !values.has("kernel")) return std::nullopt;
  const std::int64_t side = values.whole("kernel");
  return Shape{(Count(channels) * shape.value_width).value(), side, side};
}

}  // namespace

void check_on_grid(const TokenLayout* layout, std::int64_t queries, std::int64_t keys) {
  if (layout != nullptr && layout->is_grid_of(keys) && queries == keys) return;
  throw Error(ErrorKind::usage, "a convolution of the values needs tokens on a grid")
      .about("term")
      .expected("false, or patches on a grid")
      .found("true")
      .remedy("set term=false");
}

ValuesConvolution::ValuesConvolution(const AttentionInput& input, const Tensor& kernels)
    : input_(input), kernels_(kernels), width_(input.values.cols() / input.heads) {
  check_on_grid(input.layout, input.queries.rows(), input.keys.rows());
  side_ = side_of(kernels.shape());
  const std::int64_t taps = side_ * side_;
  shared_ = kernels.size() == width_ * taps;
  if (side_ == 0 || (!shared_ && kernels.size() != input.heads * width_ * taps)) {
    throw Error(ErrorKind::usage, "the kernels do not fit the channels of the values")
        .about("dwc")
        .expected("[" + std::to_string(input.values.cols()) + ", w, w], or [" +
                  std::to_string(width_) + ", w, w] for all heads, with an odd w")
        .found(to_string(kernels.shape()));
  }
  check_channel(input, width_);
}

ConstMatrixMap ValuesConvolution::kernels_of(std::int64_t head) const {
  const std::int64_t taps = side_ * side_;
  return {kernels_.data() + (shared_ ? 0 : head * width_ * taps), width_, taps};
}

void ValuesConvolution::add_output(std::int64_t head, StridedMatrixMap out) const {
  const ConstStridedMatrixMap values = head_columns(input_.values, input_.heads, head);
  const Matrix taps = kernels_of(head).transpose();
  each_tap_run(*input_.layout, side_, [&](const TapRun& run) {
    out.middleRows(run.query, run.count).array() +=
        values.middleRows(run.key, run.count).array().rowwise() * taps.row(run.tap).array();
  });
}

void ValuesConvolution::add_map(std::int64_t head, MatrixMap map) const {
  const std::int64_t begin = input_.channel.value_or(0), count = input_.channel ? 1 : width_;
  const Eigen::RowVectorXf means =
      kernels_of(head).middleRows(begin, count).cast<double>().colwise().mean().cast<float>();
  each_tap_run(*input_.layout, side_, [&](const TapRun& run) {
    map.block(run.query, run.key, run.count, run.count).diagonal().array() += means[run.tap];
  });
}

std::optional<ValuesConvolution> find_values_convolution(const AttentionInput& input) {
  if (input.parameters == nullptr || input.values.cols() == 0) return std::nullopt;
  const auto found = input.parameters->find(std::string_view("dwc"));
  if (found == input.parameters->end()) return std::nullopt;
  return ValuesConvolution(input, found->second);
}

ParameterDescription term_parameter() {
  return setting::flag("term", false,
                       "the map is A + T with the convolution T of the values, where the layer has "
                       "its kernels (dwc): one map per channel");
}

ParameterDescription counted_kernel_parameter(std::int64_t side) {
  return setting::whole("kernel", side, {1, 99},
                        "w, side of the convolution of the values, counted with term=true");
}

TensorDescription convolution_tensor(bool shared) {
  if (shared) {
    return {"dwc", "[dv, w, w] or [H·dv, w, w], kernels of the values' convolution (term)",
            [](const AttentionShape& shape, const TypedValues& values) {
              return kernel_shape(shape, values, 1);
            }};
  }
  return {"dwc", "[H·dv, w, w] or [dv, w, w], kernels of the values' convolution (term)",
          [](const AttentionShape& shape, const TypedValues& values) {
            return kernel_shape(shape, values, shape.heads);
          }};
}

void append_convolution(std::vector<OperationCount>& counts, const AttentionShape& shape,
                        CostConvention convention, const TypedValues& values) {
  if (!values.flag("term")) return;
  const Count side = values.whole("kernel"),
              elements = Count(shape.heads) * shape.queries * shape.value_width;
  OperationCount count = costs::accumulated("convolution", elements * side * side);
  if (convention == CostConvention::complete) {
    count.additions = (elements * side * side + elements).value();
    count = costs::moving(count, convention,
                          3 * elements + Count(shape.heads) * shape.value_width * side * side);
  }
  counts.push_back(count);
}

}  // namespace attnscope
