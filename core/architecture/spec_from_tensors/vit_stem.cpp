// Convolutions before the patches of an image encoder.
#include <algorithm>
#include <string>

#include "core/architecture/spec_from_tensors/vit_deduction.h"

namespace attnscope {

namespace {

std::string stem_role(std::size_t number) { return "stem." + std::to_string(number) + ".weight"; }

}  // namespace

void ViTDeduction::deduce_stem() {
  StemSpec& stem = spec_.input.stem;
  if (!has(stem_role(0)) && stem.widths.empty()) return;
  std::vector<std::int64_t> widths, kernels, usual;
  std::int64_t channels = 0;
  for (std::size_t i = 0; has(stem_role(i)); ++i) {
    const Shape kernel = shape_of(stem_role(i), 4);
    if (kernel[2] != kernel[3] || (i > 0 && kernel[1] != channels) || element_count(kernel) == 0) {
      throw Error(ErrorKind::unsupported, "the convolution does not fit the one before")
          .in_file(checkpoint_.path())
          .about(tensor_of(stem_role(i)))
          .expected("[channels, " + (i > 0 ? std::to_string(channels) : std::string("C")) +
                    ", k, k], without groups")
          .found(to_string(kernel));
    }
    if (i == 0) fact("channels", spec_.input.channels, kernel[1], tensor_of(stem_role(0)));
    channels = kernel[0];
    widths.push_back(kernel[0]);
    kernels.push_back(kernel[2]);
    usual.push_back(kernel[2] / 2);
  }
  fact("input.stem.widths", stem.widths, std::move(widths));
  fact("input.stem.kernels", stem.kernels, std::move(kernels));
  if (stem.strides.empty() && !usual.empty()) {
    throw Error(ErrorKind::usage, "the file does not give the strides of the stem's convolutions")
        .in_file(checkpoint_.path())
        .about("input.stem.strides")
        .expected(std::to_string(usual.size()) + " numbers")
        .remedy("set it: --option input.stem.strides=2,2,…");
  }
  if (stem.paddings.empty()) {
    stem.paddings = std::move(usual);
    assume("input.stem.paddings", "half the kernel, which keeps the grid, is usual");
  }
  if (!stem.fits()) {
    throw Error(fault_of("input.stem.strides"),
                "each convolution of the stem needs one stride and one padding")
        .in_file(checkpoint_.path())
        .about("input.stem.strides")
        .expected(std::to_string(stem.widths.size()) + " strides above 0 and as many paddings")
        .found(option_text(spec_, "input.stem.strides") + " and " +
               option_text(spec_, "input.stem.paddings"));
  }
  assume("input.stem.strides", "the family's usual ones");
  assume("input.stem.activation", "the file does not say");
  const bool norms = std::ranges::any_of(
      result_.sources, [](const auto& source) { return source.first.starts_with("stem_norm."); });
  if (norms) assume("input.stem.norm_eps", "PyTorch's default");
  as_stored_.input.stem = stem;
}

std::int64_t ViTDeduction::pixels_of(std::int64_t cells, std::int64_t patch) const {
  const InputSpec& input = spec_.input;
  const std::int64_t stride = input.patch_stride ? input.patch_stride : patch;
  const std::int64_t own = (cells - 1) * stride + patch - 2 * input.patch_padding;
  std::int64_t pixels = cells * stride;
  for (const std::int64_t step : input.stem.strides) pixels *= step;
  // An image of whole strides, such as 224 pixels, is preferred if it gives as many cells.
  if (!input.stem.widths.empty() && input.cells(pixels, patch) == cells) return pixels;
  pixels = own;
  for (std::size_t i = input.stem.widths.size(); i-- > 0;) {
    const StemSpec& stem = input.stem;
    pixels = (pixels - 1) * stem.strides[i] + stem.kernels[i] - 2 * stem.paddings[i];
  }
  return pixels;
}

}  // namespace attnscope
