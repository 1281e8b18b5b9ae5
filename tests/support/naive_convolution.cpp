#include "tests/support/naive_convolution.h"

#include <cmath>

#include "tests/support/counted.h"

namespace attnscope {

void add_naive_convolution(const MechanismChoice& choice, const AttentionInput& input,
                           std::int64_t head, NaiveMap& map) {
  if (!TypedValues(choice.parameters).flag("term") || !input.parameters ||
      !input.parameters->contains("dwc")) {
    return;
  }
  const Tensor& kernels = input.parameters->find("dwc")->second;
  const std::int64_t width = input.values.cols() / input.heads, side = kernels.shape().back();
  const std::int64_t first = kernels.size() == width * side * side ? 0 : head * width;
  const TokenLayout& layout = *input.layout;
  for (std::int64_t i = layout.prefix; i < input.queries.rows(); ++i) {
    for (std::int64_t j = layout.prefix; j < input.keys.rows(); ++j) {
      const std::int64_t from = i - layout.prefix, to = j - layout.prefix;
      const std::int64_t down = to / layout.columns - from / layout.columns;
      const std::int64_t right = to % layout.columns - from % layout.columns;
      if (std::abs(down) > side / 2 || std::abs(right) > side / 2) continue;
      double sum = 0;
      for (std::int64_t c = 0; c < width; ++c) {
        if (input.channel && *input.channel != c) continue;
        const std::int64_t tap = (down + side / 2) * side + right + side / 2;
        sum += static_cast<double>(kernels.data()[(first + c) * side * side + tap]);
      }
      map[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] +=
          input.channel ? sum : sum / static_cast<double>(width);
    }
  }
}

void count_convolution(const AttentionShape& shape, const TypedValues& values) {
  using test::Counted;
  if (!values.flag("term")) return;
  const std::int64_t side = values.whole("kernel");
  Counted::enter("convolution");
  for (std::int64_t value = 0; value < shape.heads * shape.queries * shape.value_width; ++value) {
    Counted sum = 0;
    for (std::int64_t tap = 0; tap < side * side; ++tap) sum += Counted(0.3) * 0.2;
    static_cast<void>(Counted(0.7) + sum);
  }
}

}  // namespace attnscope
