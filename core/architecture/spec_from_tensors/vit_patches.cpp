// Patches and positions of an image encoder.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "core/architecture/spec_from_tensors/family_deduction.h"
#include "core/architecture/spec_from_tensors/vit_deduction.h"

namespace attnscope {

namespace {

/// Side of a square of that area; empty if there is none.
std::optional<std::int64_t> square_side(std::int64_t area) {
  if (area <= 0) return std::nullopt;
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(area))));
  return side * side == area ? std::optional(side) : std::nullopt;
}

}  // namespace

void ViTDeduction::deduce_patches() {
  if (!has("patch.weight")) {
    fact("patch_height", spec_.input.patch_height, std::int64_t{0}, "the missing patch embedding");
    fact("patch_width", spec_.input.patch_width, std::int64_t{0}, "the missing patch embedding");
    spec_.input.kind = InputKind::embeddings;
    if (has("input_projection.weight")) {
      fact("input.width", spec_.input.width, shape_of("input_projection.weight", 2)[1],
           tensor_of("input_projection.weight"));
    }
    return;
  }
  const std::string& tensor = tensor_of("patch.weight");
  Shape kernel = used_shape(checkpoint_, result_.sources.at("patch.weight"));
  deduce_stem();
  const std::vector<std::int64_t>& stem = spec_.input.stem.widths;
  if (!stem.empty() && (kernel.size() != 4 || kernel[1] != stem.back())) {
    throw Error(ErrorKind::damaged, "the patch embedding does not fit the stem's output")
        .in_file(checkpoint_.path())
        .about(tensor)
        .expected("[" + std::to_string(spec_.width) + ", " + std::to_string(stem.back()) +
                  ", ph, pw]")
        .found(to_string(kernel));
  }
  // Other models of films do not read equal frames.
  if (kernel.size() == 5 && stated("frames")) {
    fact("frames", spec_.input.frames, kernel[2], tensor);
    kernel.erase(kernel.begin() + 2);
  }
  if (kernel.size() == 4) {
    if (stem.empty()) fact("channels", spec_.input.channels, kernel[1], tensor);
    fact("patch_height", spec_.input.patch_height, kernel[2], tensor);
    fact("patch_width", spec_.input.patch_width, kernel[3], tensor);
    spec_.input.patch_order = PatchOrder::channels_first;
    stated_.insert("patch_order");
  } else {
    deduce_linear_patches(shape_of("patch.weight", 2)[1], tensor);
    assume("patch_order", "a linear patch embedding does not say how patches are flattened");
  }
  if (spec_.input.patch_height <= 0 || spec_.input.patch_width <= 0) {
    throw Error(ErrorKind::damaged, "the patch embedding is empty").about(tensor);
  }
}

void ViTDeduction::deduce_linear_patches(std::int64_t inputs, const std::string& tensor) {
  if (stated("patch_height") && !stated("patch_width"))
    spec_.input.patch_width = spec_.input.patch_height;
  if (stated("patch_width") && !stated("patch_height"))
    spec_.input.patch_height = spec_.input.patch_width;
  if (stated("patch_height") || stated("patch_width")) {
    const std::int64_t pixels = spec_.input.patch_height * spec_.input.patch_width;
    if (pixels > 0 && inputs % pixels == 0) {
      fact("channels", spec_.input.channels, inputs / pixels, tensor);
      return;
    }
  } else {
    std::vector<std::int64_t> candidates = {3, 1};
    if (stated("channels")) candidates = {spec_.input.channels};
    for (const std::int64_t channels : candidates) {
      if (channels <= 0 || inputs % channels != 0) continue;
      const auto side = square_side(inputs / channels);
      if (!side) continue;
      spec_.input.channels = channels;
      spec_.input.patch_height = spec_.input.patch_width = *side;
      assume("channels", "of the " + std::to_string(inputs) + " numbers in a flattened patch");
      assume("patch_height", "square patches of " + std::to_string(inputs) + " numbers");
      return;
    }
  }
  throw Error(ErrorKind::usage, "the size of the patches does not follow from " + tensor)
      .in_file(checkpoint_.path())
      .about("patch_height")
      .expected("channels × patch_height × patch_width = " + std::to_string(inputs))
      .remedy("set channels, patch_height and patch_width");
}

void ViTDeduction::deduce_positions() {
  if (!has("positions")) {
    if (stated("positions") && spec_.positions.kind == Positions::learned) {
      throw Error(ErrorKind::damaged, "the position embeddings are missing")
          .in_file(checkpoint_.path())
          .about("positions");
    }
    // Sines and cosines are not stored as tensors.
    if (!stated("positions") || spec_.input.kind != InputKind::embeddings) {
      spec_.positions.kind = Positions::none;
    }
    if (description_.needs_positions && spec_.layer.scores.bias == ScoreBias::none) {
      throw Error(ErrorKind::unsupported,
                  "position embeddings and tables of relative positions are missing: the positions "
                  "may be rotary")
          .in_file(checkpoint_.path());
    }
    if (spec_.input.patch_height > 0 && has(kPositionBiases)) {
      take_position_grid(shape_of(kPositionBiases, 2)[0], tensor_of(kPositionBiases));
    } else if (spec_.input.patch_height > 0 && spec_.layer.scores.bias != ScoreBias::table) {
      assume("image_height", "without position embeddings the file does not say");
      assume("image_width", "without position embeddings the file does not say");
    }
    return;
  }
  if (!stated("positions")) spec_.positions.kind = Positions::learned;
  const std::string& tensor = tensor_of("positions");
  const Shape shape = shape_of("positions", 2);
  if (shape[1] != spec_.width || shape[0] > (1 << 20)) {
    throw Error(ErrorKind::damaged, "the position embeddings do not fit the tokens")
        .in_file(checkpoint_.path())
        .about(tensor)
        .expected("[tokens, " + std::to_string(spec_.width) + "]")
        .found(to_string(checkpoint_.at(tensor).shape));
  }
  if (spec_.input.patch_height == 0) {
    take_sequence_positions(shape[0], tensor);
  } else {
    take_position_grid(shape[0], tensor);
  }
}

template <class Accept>
bool ViTDeduction::solve_stride(const Accept& accept) {
  if (stated("patch_stride")) return false;
  ModelSpec tried = as_stored_;
  tried.input.patch_height = spec_.input.patch_height;
  tried.input.patch_width = spec_.input.patch_width;
  const std::int64_t side = std::max(spec_.input.patch_height, spec_.input.patch_width);
  for (std::int64_t padding = 0; padding <= side / 2; ++padding) {
    for (std::int64_t stride = 2 * side; stride > 0; --stride) {
      tried.input.patch_padding = padding;
      tried.input.patch_stride = stride;
      if (!accept(tried.input.grid_rows(), tried.input.grid_columns())) continue;
      spec_.input.patch_stride = as_stored_.input.patch_stride = stride;
      spec_.input.patch_padding = as_stored_.input.patch_padding = padding;
      const std::string reason = "patches tiling the image would not give the " +
                                 std::to_string(result_.position_rows) + " × " +
                                 std::to_string(result_.position_columns) + " positions";
      assume("patch_stride", reason);
      if (padding > 0) assume("patch_padding", reason);
      return true;
    }
  }
  return false;
}

void ViTDeduction::find_position_grid(std::int64_t count, const std::string& tensor) {
  const std::int64_t prefix = spec_.input.prefix_tokens();
  // Position embeddings cover all prefix tokens (timm), the class tokens (DINOv2) or none (without
  // embed_class). A class token that is added in later layers has no position.
  std::set<std::int64_t, std::greater<>> prefixes = {prefix, spec_.input.class_tokens, 0};
  if (spec_.tail.kind == Tail::class_attention) prefixes = {0};
  const auto accept = [&](std::int64_t rows, std::int64_t columns) {
    const auto before = prefixes.find(count - rows * columns);
    if (before == prefixes.end() || rows * columns == 0) return false;
    result_.position_rows = rows;
    result_.position_columns = columns;
    result_.position_prefix = *before;
    return true;
  };
  const bool in_file =
      stated_in_file_.contains("image_height") && stated_in_file_.contains("image_width");
  const ModelSpec& trained = in_file ? as_stored_ : spec_;
  const bool known = in_file || (stated("image_height") && stated("image_width"));
  if (known && accept(trained.input.cells(trained.input.image_height, spec_.input.patch_height),
                      trained.input.cells(trained.input.image_width, spec_.input.patch_width))) {
    return;
  }
  if (in_file && solve_stride(accept)) return;
  for (const std::int64_t before : prefixes) {
    const auto side = square_side(count - before);
    if (side && !in_file && accept(*side, *side)) return;
  }
  throw Error(in_file ? ErrorKind::damaged : ErrorKind::usage,
              "the positions do not fit the grid of patches")
      .in_file(checkpoint_.path())
      .about(tensor)
      .expected(in_file ? std::to_string(prefix + trained.input.cells(trained.input.image_height,
                                                                      spec_.input.patch_height) *
                                                      trained.input.cells(trained.input.image_width,
                                                                          spec_.input.patch_width))
                        : "a square grid and " + std::to_string(prefix) + " prefix tokens")
      .found(std::to_string(count))
      .remedy("set image_height and image_width to the size it was trained with");
}

void ViTDeduction::take_sequence_positions(std::int64_t count, const std::string& tensor) {
  if (spec_.positions.kind != Positions::learned) {
    throw contradiction("positions", tensor, "learned", option_text(spec_, "positions"));
  }
  result_.position_rows = count;
  result_.position_columns = 1;
  fact("context", spec_.input.context, count - spec_.positions.offset, tensor);
}

void ViTDeduction::take_position_grid(std::int64_t count, const std::string& tensor) {
  find_position_grid(count, tensor);
  if (stated("image_height") && stated("image_width")) return;
  if (!stated("image_height")) {
    spec_.input.image_height = pixels_of(result_.position_rows, spec_.input.patch_height);
  }
  if (!stated("image_width")) {
    spec_.input.image_width = pixels_of(result_.position_columns, spec_.input.patch_width);
  }
  assume("patch_stride", "patches that tile the image, which then has " +
                             std::to_string(spec_.input.image_height) + " × " +
                             std::to_string(spec_.input.image_width) + " pixels");
}

void ViTDeduction::take_relative_grid() {
  const std::string role =
      has("layer.0.position_biases") ? "layer.0.position_biases" : "position_biases";
  if (!has(role)) {
    throw Error(fault_of("layer.scores.bias"), "the file has no table of relative positions")
        .in_file(checkpoint_.path())
        .about("layer.scores.bias")
        .found("table");
  }
  InputSpec& input = spec_.input;
  const std::int64_t of_class = input.prefix_tokens() > 0 ? 3 : 0;
  const std::int64_t rows = shape_of(role, 2)[0];
  const auto side = square_side(rows - of_class);
  if (spec_.positions.kind == Positions::none && side && *side % 2 == 1) {
    if (!stated("image_height")) input.image_height = (*side + 1) / 2 * input.patch_height;
    if (!stated("image_width")) input.image_width = (*side + 1) / 2 * input.patch_width;
  }
  const std::int64_t expected =
      (2 * input.grid_rows() - 1) * (2 * input.grid_columns() - 1) + of_class;
  if (rows == expected) return;
  // Tables are interpolated only for a user's image size; a file that contradicts itself is
  // damaged.
  const bool asked = overridden_.contains("image_height") || overridden_.contains("image_width");
  if (asked && side && *side % 2 == 1) {
    const std::string trained = std::to_string((*side + 1) / 2);
    assume("positions.table_resize",
           "the tables of relative positions are for " + trained + " × " + trained + " patches");
    return;
  }
  throw Error(fault_of("image_height"),
              "the relative positions belong to a different grid of patches")
      .in_file(checkpoint_.path())
      .about(tensor_of(role))
      .expected(std::to_string(expected) + " rows for " + std::to_string(input.grid_rows()) +
                " × " + std::to_string(input.grid_columns()) + " patches")
      .found(std::to_string(rows))
      .remedy("set image_height and image_width to the size it was trained with");
}

}  // namespace attnscope
