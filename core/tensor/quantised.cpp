#include "core/tensor/quantised.h"

#include <span>
#include <string>

#include "core/error.h"

namespace attnscope {

namespace {

/// All known layouts.
std::span<const BlockLayout> block_layouts() {
  static constexpr BlockLayout layouts[] = {
      {2, "Q4_0", 32, 18, true},       {3, "Q4_1", 32, 20, true},
      {6, "Q5_0", 32, 22, true},       {7, "Q5_1", 32, 24, true},
      {8, "Q8_0", 32, 34, true},       {9, "Q8_1", 32, 40, false},
      {10, "Q2_K", 256, 84, true},     {11, "Q3_K", 256, 110, true},
      {12, "Q4_K", 256, 144, true},    {13, "Q5_K", 256, 176, true},
      {14, "Q6_K", 256, 210, true},    {15, "Q8_K", 256, 292, false},
      {16, "IQ2_XXS", 256, 66, false}, {17, "IQ2_XS", 256, 74, false},
      {18, "IQ3_XXS", 256, 98, false}, {19, "IQ1_S", 256, 50, false},
      {20, "IQ4_NL", 32, 18, true},    {21, "IQ3_S", 256, 110, false},
      {22, "IQ2_S", 256, 82, false},   {23, "IQ4_XS", 256, 136, true},
      {29, "IQ1_M", 256, 56, false},   {34, "TQ1_0", 256, 54, false},
      {35, "TQ2_0", 256, 66, false},   {39, "MXFP4", 32, 17, true},
      {40, "NVFP4", 64, 36, false}};
  return layouts;
}

}  // namespace

const BlockLayout* block_layout(std::uint32_t ggml_type) {
  for (const BlockLayout& layout : block_layouts()) {
    if (layout.ggml_type == ggml_type) return &layout;
  }
  return nullptr;
}

std::int64_t byte_count(const Shape& shape, const BlockLayout& layout) {
  const std::int64_t elements = element_count(shape);
  const std::int64_t row = shape.empty() ? 1 : shape.back();
  if (row % layout.elements != 0) {
    throw Error(ErrorKind::damaged, "the tensor's rows are not whole blocks")
        .expected("a multiple of " + std::to_string(layout.elements) + " elements a row for " +
                  std::string(layout.name))
        .found(to_string(shape));
  }
  const std::int64_t blocks = elements / layout.elements;
  if (blocks > (std::int64_t{1} << 62) / layout.bytes) {
    throw Error(ErrorKind::damaged, "a tensor is too large to exist").found(to_string(shape));
  }
  return blocks * layout.bytes;
}

void check_readable(const BlockLayout& layout) {
  if (layout.readable) return;
  std::string readable;
  for (const BlockLayout& each : block_layouts()) {
    if (each.readable) readable += (readable.empty() ? "" : ", ") + std::string(each.name);
  }
  throw Error(ErrorKind::unsupported, "the tensor's quantisation is not supported")
      .expected(readable)
      .found(std::string(layout.name))
      .remedy("take a file of the model in one of these, or in F16");
}

}  // namespace attnscope
