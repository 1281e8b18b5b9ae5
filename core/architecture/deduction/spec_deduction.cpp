#include "core/architecture/deduction/spec_deduction.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "core/architecture/configuration/neighbour_config.h"
#include "core/architecture/deduction/family_deduction.h"
#include "core/architecture/deduction/position_biases.h"
#include "core/architecture/deduction/pyramid_deduction.h"
#include "core/architecture/deduction/text_deduction.h"

namespace attnscope {

namespace {

/// The side of a square of that area, if there is one.
std::optional<std::int64_t> square_side(std::int64_t area) {
  if (area <= 0) return std::nullopt;
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(area))));
  return side * side == area ? std::optional(side) : std::nullopt;
}

class Deduction final : FamilyDeduction {
 public:
  explicit Deduction(const DeductionInput& input) : FamilyDeduction(input) {
    read_own_metadata();
    if (options_.description.empty()) take_config(true);
    as_stored_ = spec_;
    stated_in_file_ = stated_;
    apply_overrides(input.options);
  }

  Architecture deduce() {
    deduce_blocks();
    deduce_prefix_tokens();
    deduce_patches();
    deduce_positions();
    if (spec_.input.patch_height > 0) {
      check_position_biases(result_, checkpoint_, layers_, spec_.tokens(),
                            "they cannot be interpolated: set image_height and image_width to the "
                            "extents it was trained with");
    }
    deduce_head();
    deduce_colours();
    list_assumptions();
    validate(spec_);
    return finish();
  }

 private:
  // ---- what the file has

  /// The shape of a role's tensor as it is used: without a leading 1 beyond `rank` axes, without
  /// the trailing 1s of convolutions that are linear layers, transposed if stored so.
  [[nodiscard]] Shape shape_of(const std::string& role, std::size_t rank) const {
    const auto source = result_.sources.find(role);
    if (source == result_.sources.end()) return {};
    Shape shape = used_shape(checkpoint_, source->second);
    while (shape.size() > rank && shape.front() == 1) shape.erase(shape.begin());
    while (shape.size() > rank && shape.back() == 1) shape.pop_back();
    if (shape.size() != rank) {
      throw Error(ErrorKind::unsupported, "the tensor has an unexpected number of axes")
          .about(source->second.tensor)
          .expected(std::to_string(rank) + " axes for the role " + role)
          .found(to_string(checkpoint_.at(source->second.tensor).shape));
    }
    return shape;
  }

  [[nodiscard]] const std::string& tensor_of(const std::string& role) const {
    return result_.sources.find(role)->second.tensor;
  }

  void read_own_metadata() {
    const auto& metadata = checkpoint_.metadata();
    const auto architecture = metadata.find("architecture");
    if (description_.name != "Attnscope model" || architecture == metadata.end()) return;
    spec_ = model_spec_from_json(architecture->second, {}, false);
    for (const ModelOption& option : model_options()) stated_.emplace(option.name);
    // These follow from the tensors that are there, unless the file does speak of them.
    const std::vector<std::string> written = members_in_json(architecture->second);
    for (const char* member : {"final_norm", "positions", "head_width"}) {
      if (std::find(written.begin(), written.end(), member) == written.end()) {
        stated_.erase(member);
      }
    }
    read_own_labels();
  }

  // ---- facts against statements

  void deduce_blocks() {
    const Shape out = shape_of("layer.0.out.weight", 2);
    if (!out.empty()) {
      fact("width", spec_.width, out[0], tensor_of("layer.0.out.weight"));
    } else {
      const std::string role =
          has("layer.0.qkv.weight") ? "layer.0.qkv.weight" : "layer.0.query.weight";
      fact("width", spec_.width, shape_of(role, 2)[1], tensor_of(role));
    }
    fact("layers", spec_.layers, layers_, "the blocks");
    if (spec_.layer.mlp.form != MlpForm::none) {
      const bool both = has("layer.0.mlp_gate_and_mlp1.weight");
      const std::string mlp = both ? "layer.0.mlp_gate_and_mlp1.weight" : "layer.0.mlp1.weight";
      fact("mlp_width", spec_.layer.mlp.width, shape_of(mlp, 2)[0] / (both ? 2 : 1),
           tensor_of(mlp));
    }
    deduce_heads();
    const bool norm = has("final_norm.weight");
    if (stated("final_norm") && spec_.readout.final_norm && !norm) {
      throw Error(ErrorKind::damaged, "there is no LayerNorm after the last block")
          .in_file(checkpoint_.path())
          .about("final_norm");
    }
    if (!stated("final_norm")) spec_.readout.final_norm = norm;
  }

  void deduce_heads() {
    const bool fused = has("layer.0.qkv.weight");
    const std::string role = fused ? "layer.0.qkv.weight" : "layer.0.query.weight";
    if (!has(role)) {
      throw Error(ErrorKind::unsupported, "the model has no queries")
          .in_file(checkpoint_.path())
          .about("layer.0.qkv.weight, layer.0.query.weight");
    }
    const std::int64_t rows = shape_of(role, 2)[0];
    const std::int64_t inner = fused ? rows / 3 : rows;
    if (inner <= 0 || (fused && rows % 3 != 0)) {
      throw Error(ErrorKind::unsupported, "the weight does not hold queries, keys and values")
          .about(tensor_of(role))
          .expected("a multiple of 3 rows")
          .found(std::to_string(rows));
    }
    const std::int64_t pieces = std::ssize(result_.sources.find(role)->second.pieces);
    if (pieces > 0) fact("heads", spec_.layer.attention.heads, pieces + 1, "one tensor a head");
    const bool heads = stated("heads"),
               head_width = stated("head_width") && spec_.layer.attention.head_width > 0;
    if (!heads && !head_width) {
      if (const std::int64_t usual = usual_heads(inner); usual > 0) {
        spec_.layer.attention.heads = usual;
      } else if (description_.spec.layer.attention.head_width > 0) {
        for (const std::int64_t guess :
             {description_.spec.layer.attention.head_width, std::int64_t{64}, std::int64_t{32},
              std::int64_t{16}, std::int64_t{8}, inner}) {
          if (inner % guess != 0) continue;
          spec_.layer.attention.heads = inner / guess;
          break;
        }
      } else if (spec_.layer.attention.heads < 1 || inner % spec_.layer.attention.heads != 0) {
        spec_.layer.attention.heads = 1;
      }
    } else if (!heads) {
      spec_.layer.attention.heads = inner / spec_.layer.attention.head_width;
    }
    if (spec_.layer.attention.heads < 1 || inner % spec_.layer.attention.heads != 0 ||
        (head_width && spec_.layer.attention.heads * spec_.layer.attention.head_width != inner)) {
      throw Error(overridden_.contains("heads") || overridden_.contains("head_width")
                      ? ErrorKind::usage
                      : ErrorKind::damaged,
                  "the heads do not fit the weights")
          .in_file(checkpoint_.path())
          .about("heads")
          .expected("a divisor of " + std::to_string(inner) + ", the rows of " + tensor_of(role) +
                    (fused ? " / 3" : ""))
          .found(
              std::to_string(spec_.layer.attention.heads) +
              (head_width ? " heads of " + std::to_string(spec_.layer.attention.head_width) : ""));
    }
    const std::int64_t each = inner / spec_.layer.attention.heads;
    if (!heads && !head_width) {
      const std::string usual =
          "the file does not say; " + std::to_string(each) + " channels a head";
      assume("heads", usual);
      if (usual_heads(inner) > 0) {
        result_.assumptions.back().reason = "16 heads, as published ViTs of this width have";
      } else if (each != 64 && description_.spec.layer.attention.head_width == 64) {
        result_.assumptions.back().reason = usual + " is a guess";
      }
    }
    spec_.layer.attention.head_width = each;
    stated_.insert("head_width");
  }

  /// Of published ViTs (H, g, G, so400m) that have 16 heads, but not of 64 channels.
  [[nodiscard]] std::int64_t usual_heads(std::int64_t inner) const {
    constexpr std::int64_t widths[] = {1152, 1280, 1408, 1664};
    const bool convolutional = description_.spec.input.patch_order == PatchOrder::channels_first;
    const bool known = std::find(std::begin(widths), std::end(widths), inner) != std::end(widths);
    return known && convolutional && inner == spec_.width &&
                   description_.spec.layer.attention.head_width == 64
               ? 16
               : 0;
  }

  void deduce_prefix_tokens() {
    const std::int64_t tokens = (has("class_token") ? 1 : 0) + (has("distillation_token") ? 1 : 0);
    if (has("distillation_token") && !has("class_token")) {
      throw Error(ErrorKind::unsupported, "a distillation token without a class token")
          .in_file(checkpoint_.path());
    }
    fact("class_tokens", spec_.input.class_tokens, tokens, "the class tokens");
    fact("register_tokens", spec_.input.register_tokens,
         has("register_tokens") ? shape_of("register_tokens", 2)[0] : 0, "the register tokens");
  }

  void deduce_patches() {
    if (!has("patch.weight")) {
      fact("patch_height", spec_.input.patch_height, std::int64_t{0},
           "the missing patch embedding");
      fact("patch_width", spec_.input.patch_width, std::int64_t{0}, "the missing patch embedding");
      spec_.input.kind = InputKind::embeddings;
      return;
    }
    const std::string& tensor = tensor_of("patch.weight");
    const Shape& stored = checkpoint_.at(tensor).shape;
    if (stored.size() == 4) {
      fact("channels", spec_.input.channels, stored[1], tensor);
      fact("patch_height", spec_.input.patch_height, stored[2], tensor);
      fact("patch_width", spec_.input.patch_width, stored[3], tensor);
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

  void deduce_linear_patches(std::int64_t inputs, const std::string& tensor) {
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
    throw Error(ErrorKind::usage, "the extents of the patches do not follow from " + tensor)
        .in_file(checkpoint_.path())
        .about("patch_height")
        .expected("channels × patch_height × patch_width = " + std::to_string(inputs))
        .remedy("set channels, patch_height and patch_width");
  }

  void deduce_positions() {
    if (!has("positions")) {
      if (stated("positions") && spec_.positions.kind == Positions::learned) {
        throw Error(ErrorKind::damaged, "there are no position embeddings")
            .in_file(checkpoint_.path())
            .about("positions");
      }
      spec_.positions.kind = Positions::none;
      if (spec_.input.patch_height > 0 && has(kPositionBiases)) {
        take_position_grid(shape_of(kPositionBiases, 2)[0], tensor_of(kPositionBiases));
      } else if (spec_.input.patch_height > 0) {
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
      throw Error(ErrorKind::unsupported, "position embeddings without a patch embedding")
          .in_file(checkpoint_.path())
          .about(tensor);
    }
    take_position_grid(shape[0], tensor);
  }

  /// The image is what the positions were learnt on, unless another is asked for.
  void take_position_grid(std::int64_t count, const std::string& tensor) {
    find_position_grid(count, tensor);
    if (stated("image_height") && stated("image_width")) return;
    const auto extent = [&](std::int64_t cells, std::int64_t patch) {
      const std::int64_t stride = spec_.input.patch_stride ? spec_.input.patch_stride : patch;
      return (cells - 1) * stride + patch - 2 * spec_.input.patch_padding;
    };
    if (!stated("image_height")) {
      spec_.input.image_height = extent(result_.position_rows, spec_.input.patch_height);
    }
    if (!stated("image_width")) {
      spec_.input.image_width = extent(result_.position_columns, spec_.input.patch_width);
    }
    assume("patch_stride", "patches that tile the image, which then has " +
                               std::to_string(spec_.input.image_height) + " × " +
                               std::to_string(spec_.input.image_width) + " pixels");
  }

  /// Patches that overlap, or have gaps between them: the stride and the padding that give `count`
  /// positions on the image the model was trained on.
  template <class Accept>
  bool solve_stride(const Accept& accept) {
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

  /// The grid that the stored positions cover: the stated image's, or a square.
  void find_position_grid(std::int64_t count, const std::string& tensor) {
    const std::int64_t prefix = spec_.input.prefix_tokens();
    // Of timm all prefix tokens, of DINOv2 the class token, without embed_class none.
    const std::set<std::int64_t, std::greater<>> prefixes = {prefix, spec_.input.class_tokens, 0};
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
        .expected(in_file
                      ? std::to_string(prefix + trained.input.cells(trained.input.image_height,
                                                                    spec_.input.patch_height) *
                                                    trained.input.cells(trained.input.image_width,
                                                                        spec_.input.patch_width))
                      : "a square grid and " + std::to_string(prefix) + " prefix tokens")
        .found(std::to_string(count))
        .remedy("set image_height and image_width to the extents it was trained with");
  }

  void deduce_head() {
    std::string last;
    for (const auto& [role, source] : result_.sources) {
      if (role.starts_with("head.") && role.ends_with(".weight")) last = role;
    }
    const bool pooled = spec_.readout.kind == Readout::attention_pooling && has("pooling.probe");
    if (last.empty()) {
      if (!overridden_.contains("readout") && !pooled) spec_.readout.kind = Readout::none;
      return;
    }
    const Shape shape = shape_of(last, 2);
    if (shape[0] < 1) {
      throw Error(ErrorKind::damaged, "the head has no classes")
          .in_file(checkpoint_.path())
          .about(tensor_of(last));
    }
    check_labels(shape[0]);
    if (stated("readout") || pooled) return;
    if (has("distillation_head.weight")) {
      spec_.readout.kind = Readout::class_and_distilled;
    } else if (spec_.input.class_tokens == 0 ||
               (has("head_norm.weight") && !has("final_norm.weight") &&
                description_.name.starts_with("timm ViT"))) {
      spec_.readout.kind = Readout::mean;
    } else {
      const bool described = spec_.readout.kind == Readout::class_and_mean ||
                             spec_.readout.kind == Readout::mean_all ||
                             spec_.readout.kind == Readout::mean;
      if (!described) spec_.readout.kind = Readout::class_token;
      assume("readout", described ? "the family's usual one"
                                  : "the class token, as the family does by default");
    }
  }

  /// One channel has no ImageNet statistics, and three no single number unless someone said so.
  void deduce_colours() {
    const auto fits = [&](const std::vector<double>& values) {
      return values.size() == 1 || static_cast<std::int64_t>(values.size()) == spec_.input.channels;
    };
    if (!stated("input_mean") && !fits(spec_.input.mean)) spec_.input.mean = {0.5};
    if (!stated("input_std") && !fits(spec_.input.std)) spec_.input.std = {0.5};
  }

  void list_assumptions() {
    assume("activation", "the family's usual one");
    if (result_.position_rows > 0 && (result_.position_rows != spec_.input.grid_rows() ||
                                      result_.position_columns != spec_.input.grid_columns())) {
      assume("position_resize", "the family's usual one");
    }
    assume("norm_position", "the family's usual one");
    assume("norm_eps", "the family's usual one");
    assume("mechanism", "weights do not tell what they were trained with; softmax is usual");
    const bool deep = has("head.1.weight") && has("head.0.weight");
    if (deep) assume("head_activation", "the family's usual one");
    if (spec_.input.patch_height == 0) return;
    assume("input_mean", "the file does not say how pixels were normalised");
    assume("input_std", "the file does not say how pixels were normalised");
    assume("resize_mode", "the family's usual preprocessing");
    assume("resize_filter", "the family's usual preprocessing");
    assume("crop_fraction", "the family's usual preprocessing");
  }

  ModelSpec as_stored_;
  std::set<std::string, std::less<>> stated_in_file_;
};

}  // namespace

Architecture deduce_architecture(const DeductionInput& input) {
  const ModelSpec& described = input.match.description->spec;
  if (described.reads_texts()) return deduce_text_model(input);
  if (described.is_pyramid()) return deduce_pyramid(input);
  return Deduction(input).deduce();
}

}  // namespace attnscope
