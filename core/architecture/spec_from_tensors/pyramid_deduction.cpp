#include <algorithm>
#include <cmath>
#include <optional>

#include "core/architecture/pyramid_grid.h"
#include "core/architecture/spec_from_tensors/family_deduction.h"

namespace attnscope {

namespace {

class PyramidDeduction final : FamilyDeduction {
 public:
  explicit PyramidDeduction(const DeductionInput& input)
      : FamilyDeduction(input), match_(input.match) {
    read_own_metadata();
    take_config(true);
    apply_overrides(input.options);
  }

  Architecture deduce() {
    const std::vector<PyramidStage> asked = spec_.stages;
    spec_.stages.clear();
    if (spec_.shifts_windows()) window_ = std::exchange(spec_.layer.scores.window, 0);
    for (std::size_t i = 0; i < match_.depths.size(); ++i) {
      const bool told = stated("stages");
      if (told && asked.size() != match_.depths.size()) {
        throw contradiction("stages", "the blocks",
                            std::to_string(match_.depths.size()) + " stages",
                            std::to_string(asked.size()));
      }
      spec_.stages.push_back(deduce_stage(i, told ? &asked[i] : nullptr));
    }
    const PyramidStage& first = spec_.stages.front();
    const PyramidStage& last = spec_.stages.back();
    fact("layers", spec_.layers, match_.layers);
    fact("width", spec_.width, last.width);
    fact("mlp_width", spec_.layer.mlp.width, last.mlp_width);
    fact("heads", spec_.layer.attention.heads, last.heads);
    fact("head_width", spec_.layer.attention.head_width, last.width / last.heads);
    fact("patch_height", spec_.input.patch_height, first.stride);
    fact("patch_width", spec_.input.patch_width, first.stride);
    fact("channels", spec_.input.channels, kernel_of(0)[1]);
    deduce_final_norm("final_norm.weight");
    deduce_mechanisms();
    deduce_image_size();
    deduce_head();
    list_assumptions();
    validate_here();
    return finish();
  }

 private:
  [[nodiscard]] bool is_own() const { return description_.family == kOwnPyramid; }

  /// Reads the metadata of files written by Attnscope, which state all members.
  void read_own_metadata() {
    const auto architecture = checkpoint_.metadata().find("architecture");
    if (!is_own() || architecture == checkpoint_.metadata().end()) return;
    spec_ = model_spec_from_json(architecture->second, {}, false);
    for (const ModelOption& option : model_options()) stated_.emplace(option.name);
    stated_.insert("stages");
    read_own_labels();
  }

  [[nodiscard]] const StoredTensor& tensor_of(const std::string& role) const {
    return checkpoint_.at(result_.sources.find(role)->second.tensor);
  }

  /// Shape of a role's tensor as it is used. Throws unless it has `rank` axes, none of them empty.
  [[nodiscard]] Shape shape_of(const std::string& role, std::size_t rank) const {
    const StoredTensor& tensor = tensor_of(role);
    Shape shape = used_shape(checkpoint_, result_.sources.find(role)->second);
    if (shape.size() == rank && element_count(shape) > 0) return shape;
    throw Error(ErrorKind::unsupported, "the tensor has an unexpected shape")
        .about(tensor.name)
        .expected(std::to_string(rank) + " axes for the role " + role)
        .found(to_string(tensor.shape));
  }

  /// Number of convolutions before the last one of a stage's embedding: none, or as many as MLLA
  /// has. Throws for other numbers.
  [[nodiscard]] std::size_t stem_of(std::size_t index) const {
    const std::string role = "stage." + std::to_string(index) + ".stem.";
    std::size_t count = 0;
    while (has(role + std::to_string(count) + ".weight")) ++count;
    const std::size_t expected = index == 0 ? 4 : 2;
    if (count == 0 || count == expected) return count;
    throw Error(ErrorKind::unsupported, "the embedding of the stage has other convolutions")
        .in_file(checkpoint_.path())
        .about(role + std::to_string(std::min(count, expected)) + ".weight")
        .expected(std::to_string(expected) + " before the last one")
        .found(std::to_string(count));
  }

  /// Kernel shape of the embedding, [D, C, k, k]; merged patches count as a convolution. Several
  /// convolutions count as one of 2 · stride − 1, which has the same grid.
  [[nodiscard]] Shape kernel_of(std::size_t index) const {
    const std::string role = "stage." + std::to_string(index);
    if (index > 0 && has(role + ".merge.weight")) {
      const Shape merge = shape_of(role + ".merge.weight", 2);
      return {merge[0], merge[1] / 4, 2, 2};
    }
    if (has(role + ".patch.weight") && stem_of(index) > 0) {
      const std::int64_t side = index == 0 ? 7 : 3;
      return {shape_of(role + ".patch.weight", 4)[0], shape_of(role + ".stem.0.weight", 4)[1], side,
              side};
    }
    if (has(role + ".patch.weight")) return shape_of(role + ".patch.weight", 4);
    throw Error(ErrorKind::unsupported, "the stage has no embedding")
        .in_file(checkpoint_.path())
        .about(role + ".patch.weight");
  }

  PyramidStage deduce_stage(std::size_t index, const PyramidStage* told) {
    const std::string patch = "stage." + std::to_string(index) + ".patch.weight";
    const Shape kernel = kernel_of(index);
    if (kernel[2] != kernel[3]) {
      throw Error(ErrorKind::unsupported, "the embedding's kernel is not square")
          .about(tensor_of(patch).name)
          .found(to_string(kernel));
    }
    const std::string first = "layer." + std::to_string(first_layer(index)) + ".";
    PyramidStage stage;
    stage.width = kernel[0];
    stage.layers = match_.depths[index];
    stage.kernel = kernel[2];
    stage.mlp_width = shape_of(first + "mlp1.weight", 2)[0];
    // Overlapping kernels are odd, 2 · stride − 1 (PVTv2: 7 and 3); others tile (Twins: 4 and 2).
    stage.stride = stage.kernel % 2 == 1 ? (stage.kernel + 1) / 2 : stage.kernel;
    deduce_keys(index, stage);
    stage.heads = told ? told->heads : heads_of(index, stage.width);
    if (stage.heads < 1) {
      throw contradiction("stages", "stage " + std::to_string(index + 1), "at least 1 head",
                          std::to_string(stage.heads));
    }
    if (window_ > 0 || told) take_window(window_ > 0 ? window_ : told->window, stage);
    if (!told) return stage;
    for (const auto& [member, pointer] :
         {std::pair("width", &PyramidStage::width), std::pair("layers", &PyramidStage::layers),
          std::pair("kernel", &PyramidStage::kernel),
          std::pair("reduction", &PyramidStage::reduction),
          std::pair("mlp_width", &PyramidStage::mlp_width)}) {
      if (told->*pointer == stage.*pointer) continue;
      throw contradiction("stages", "stage " + std::to_string(index + 1),
                          std::string(member) + " " + std::to_string(stage.*pointer),
                          std::to_string(told->*pointer));
    }
    PyramidStage given = *told;
    given.window = stage.window;
    return given;
  }

  /// Sets the window of a stage, given by layer.scores.window or the stage. Swin's tables are
  /// interpolated if it differs from theirs.
  void take_window(std::int64_t window, PyramidStage& stage) {
    const std::int64_t stored = std::exchange(stage.window, window);
    if (!spec_.shifts_windows() || stored == window || resized_) return;
    resized_ = true;
    assume("positions.table_resize",
           "the tables of relative positions are for windows of " + std::to_string(stored));
  }

  [[nodiscard]] std::int64_t first_layer(std::size_t stage) const {
    std::int64_t layer = 0;
    for (std::size_t i = 0; i < stage; ++i) layer += match_.depths[i];
    return layer;
  }

  /// Sets reduction, pooling and window of a stage, which its blocks must share. Throws if a block
  /// lacks queries, keys or values.
  void deduce_keys(std::size_t index, PyramidStage& stage) {
    const std::int64_t first = first_layer(index);
    if (spec_.shifts_windows()) stage.window = window_of(first);
    std::optional<std::int64_t> reduction;
    for (std::int64_t block = 0; block < stage.layers; ++block) {
      const std::string layer = "layer." + std::to_string(first + block) + ".";
      const bool windowed = has(layer + "windowed_qkv.weight");
      const bool attends = windowed || has(layer + "qkv.weight") ||
                           (has(layer + "query.weight") && has(layer + "key_value.weight")) ||
                           (has(layer + "query.weight") && has(layer + "key.weight") &&
                            has(layer + "value.weight")) ||
                           (has(layer + "query.weight") && has(layer + "key.weight") &&
                            has(layer + "inner.weight")) ||
                           (has(layer + "query_key.weight") && has(layer + "value.weight"));
      if (!attends) {
        throw Error(ErrorKind::unsupported, "the block has no queries, keys and values")
            .in_file(checkpoint_.path())
            .about(tensor_of(layer + "out.weight").name)
            .expected("q and kv, qkv, or to_qk and to_v next to it");
      }
      if (windowed && block == 0) stage.window = 7;
      if (spec_.shifts_windows()) check_window(first + block, stage.window);
      if (!spec_.shifts_windows() && windowed != (stage.window > 0 && block % 2 == 0)) {
        throw Error(ErrorKind::unsupported, "windows are supported only in every other block")
            .in_file(checkpoint_.path())
            .about(tensor_of(layer + "out.weight").name);
      }
      if (windowed) continue;
      const std::string role = layer + "reduction.weight";
      const std::int64_t own = has(role) ? shape_of(role, 4)[2] : 0;
      if (reduction.value_or(own) != own) {
        throw Error(ErrorKind::unsupported, "the blocks of a stage reduce their keys differently")
            .in_file(checkpoint_.path())
            .about(has(role) ? tensor_of(role).name : layer + "reduction");
      }
      reduction = own;
    }
    stage.reduction = std::max<std::int64_t>(reduction.value_or(0), 1);
    if (reduction == 1) stage.pooled = 7;  // a 1×1 reduction follows PVTv2-Li's pooling
  }

  /// Side of a layer's windows, from the shape [(2·side − 1)², H] of its table.
  [[nodiscard]] std::int64_t window_of(std::int64_t layer) const {
    const std::string role = "layer." + std::to_string(layer) + ".position_biases";
    const std::int64_t rows = shape_of(role, 2)[0];
    const auto across =
        static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(rows))));
    if (across * across == rows && across % 2 == 1) return (across + 1) / 2;
    throw Error(ErrorKind::unsupported, "the relative positions do not belong to a square window")
        .in_file(checkpoint_.path())
        .about(tensor_of(role).name)
        .found(std::to_string(rows) + " rows");
  }

  void check_window(std::int64_t layer, std::int64_t window) const {
    if (window_of(layer) == window) return;
    throw Error(ErrorKind::unsupported, "the windows of a stage differ")
        .in_file(checkpoint_.path())
        .about(tensor_of("layer." + std::to_string(layer) + ".position_biases").name)
        .expected(std::to_string(window))
        .found(std::to_string(window_of(layer)));
  }

  [[nodiscard]] std::int64_t heads_of(std::size_t index, std::int64_t width) {
    if (spec_.shifts_windows()) {
      return shape_of("layer." + std::to_string(first_layer(index)) + ".position_biases", 2)[1];
    }
    const std::string own = "layer." + std::to_string(first_layer(index)) + ".mechanism.";
    if (has(own + "ksh.A")) return shape_of(own + "ksh.A", 3)[0];
    const bool inner = has("layer.0.inner.weight");
    if (has(own + "dwc") && !inner) {  // the heads share the convolution of their values
      const std::int64_t each = shape_of(own + "dwc", 4)[0];
      if (width % each == 0) return width / each;
      throw contradiction("stages", "the convolution of the values",
                          "heads of a divisor of " + std::to_string(width) + " channels",
                          std::to_string(each));
    }
    if (stated("head_width") && spec_.layer.attention.head_width > 0) {
      if (width % spec_.layer.attention.head_width == 0)
        return width / spec_.layer.attention.head_width;
      throw contradiction("head_width", "the embeddings", "a divisor of " + std::to_string(width),
                          std::to_string(spec_.layer.attention.head_width));
    }
    // PVTv2's first stage has one head; the heads of Twins and MLLA have 32 channels.
    const std::int64_t first = shape_of("stage.0.patch.weight", 4)[0];
    const bool windows = has("layer.0.windowed_qkv.weight") || inner;
    const std::int64_t each = windows && first % 32 == 0 ? 32 : first;
    if (width % each != 0) {
      throw Error(ErrorKind::unsupported, "the file does not say how many heads a stage has")
          .in_file(checkpoint_.path())
          .about("head_width")
          .expected("a divisor of " + std::to_string(width) + ", the width of stage " +
                    std::to_string(index + 1))
          .remedy("set it: --option head_width=N for all stages, or --option stages=…");
    }
    assumed_heads_ = true;
    return width / each;
  }

  /// Sets the mechanisms: hash for layers with hash buffers (upstream mode), otherwise the
  /// family's, by default softmax.
  void deduce_mechanisms() {
    if (stated("mechanism") || spec_.mechanism.name != MechanismChoice{}.name) return;
    bool differ = false;
    std::vector<MechanismChoice> list;
    for (std::int64_t layer = 0; layer < match_.layers; ++layer) {
      const std::string role = "layer." + std::to_string(layer) + ".mechanism.ksh.A";
      MechanismChoice choice;
      if (has(role)) {
        const Shape shape = shape_of(role, 3);
        choice = {"hash",
                  {{"mode", std::string("upstream")}, {"bits", shape[1]}, {"supports", shape[2]}}};
      }
      list.push_back(std::move(choice));
      differ = differ || list.back() != list.front();
    }
    spec_.mechanism = list.front();
    if (differ && !stated("layer_mechanisms")) spec_.layer_mechanisms = std::move(list);
  }

  /// Throws unless stored rotations [rows, columns, D / 2, 2] are those of a stage's grid: the
  /// first half of the pairs turns with the row, the second with the column, by 10000^(−p/P).
  void check_rotations(std::int64_t layer, std::int64_t width) const {
    const std::string role = "layer." + std::to_string(layer) + ".rotations";
    const Tensor stored = used_tensor(checkpoint_, result_.sources.find(role)->second);
    const std::int64_t pairs = width / 4, columns = stored.extent(1);
    for (std::int64_t i = 0; i < stored.size(); i += 2) {
      const std::int64_t pair = i / 2 % (2 * pairs), cell = i / 4 / pairs;
      const auto place = static_cast<double>(pair < pairs ? cell / columns : cell % columns);
      const double angle = place * std::pow(10000.0, -static_cast<double>(pair % pairs) /
                                                         static_cast<double>(pairs));
      const double apart = std::hypot(static_cast<double>(stored.data()[i]) - std::cos(angle),
                                      static_cast<double>(stored.data()[i + 1]) - std::sin(angle));
      if (apart < 0.01) continue;  // also for files in half precision
      throw Error(ErrorKind::unsupported, "the stored rotations are not those of the grid")
          .in_file(checkpoint_.path())
          .about(tensor_of(role).name)
          .expected("angles of 10000^(−p/P) by row and column");
    }
  }

  /// Takes the image size from MLLA's rotations, which every layer may store.
  void take_rotations() {
    for (std::int64_t layer = 0; layer < match_.layers; ++layer) {
      const std::string role = "layer." + std::to_string(layer) + ".rotations";
      if (!has(role)) continue;
      const std::size_t stage = place_of_layer(spec_, layer).stage;
      const std::int64_t width = spec_.stages[stage].width;
      const Shape shape = shape_of(role, 4);
      if (width % 4 != 0 || shape[2] != width / 2 || shape[3] != 2) {
        throw contradiction("stages", tensor_of(role).name, std::to_string(width) + " channels",
                            to_string(shape));
      }
      check_rotations(layer, width);
      std::int64_t stride = 1;
      for (std::size_t i = 0; i <= stage; ++i) stride *= spec_.stages[i].stride;
      if (layer > 0 || stated("image_height") || stated("image_width")) continue;
      fact("image_height", spec_.input.image_height, shape[0] * stride);
      fact("image_width", spec_.input.image_width, shape[1] * stride);
    }
  }

  /// Takes the image size from the positions that FLatten adds to the keys of a square image, or
  /// from MLLA's rotations.
  void deduce_image_size() {
    take_rotations();
    const std::string role = "layer.0.mechanism.positional_encoding";
    if (!has(role) || stated("image_height") || stated("image_width")) return;
    const PyramidStage& first = spec_.stages.front();
    const std::int64_t patches = shape_of(role, 3)[1];
    const auto side =
        static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(patches))));
    if (side * side != patches) return;
    fact("image_height", spec_.input.image_height, side * first.stride);
    fact("image_width", spec_.input.image_width, side * first.stride);
  }

  void deduce_head() {
    if (!has("head.0.weight")) {
      if (!overridden_.contains("readout")) spec_.readout.kind = Readout::none;
      return;
    }
    check_labels(shape_of("head.0.weight", 2)[0]);
  }

  void list_assumptions() {
    const auto any = [&](std::int64_t PyramidStage::*member) {
      return std::any_of(spec_.stages.begin(), spec_.stages.end(),
                         [&](const PyramidStage& stage) { return stage.*member > 0; });
    };
    std::string reason = assumed_heads_ ? "strides and heads as in PVTv2 (one head at first), "
                                          "Twins and MLLA (32 channels a head)"
                                        : "strides follow from the kernels, as in PVTv2 and Twins";
    if (any(&PyramidStage::window) && !spec_.shifts_windows())
      reason += "; windows of 7, as in Twins-SVT";
    if (any(&PyramidStage::pooled)) reason += "; keys pooled to 7 × 7, as in PVTv2-Li";
    if (!spec_.shifts_windows()) assume("stages", std::move(reason));
    assume("image_height", "without position embeddings the file does not say");
    assume("image_width", "without position embeddings the file does not say");
    assume("activation", "the family's usual one");
    assume("norm_eps", "the family's usual one");
    assume("embedding_norm_eps", "the family's usual one");
    const bool hashed = has("layer.0.mechanism.ksh.A");
    if (!hashed) {
      assume("mechanism", "weights do not tell what they were trained with; softmax is usual");
    }
    const auto fits = [&](const std::vector<double>& values) {
      return values.size() == 1 || std::ssize(values) == spec_.input.channels;
    };
    if (!stated("input_mean") && !fits(spec_.input.mean)) spec_.input.mean = {0.5};
    if (!stated("input_std") && !fits(spec_.input.std)) spec_.input.std = {0.5};
    assume("input_mean", "the file does not say how pixels were normalised");
    assume("input_std", "the file does not say how pixels were normalised");
    assume("resize_mode", "the family's usual preprocessing");
    assume("resize_filter", "the family's usual preprocessing");
    assume("crop_fraction", "the family's usual preprocessing");
  }

  /// Validates the spec. A value out of range is a usage error if the user gave overrides.
  void validate_here() const {
    try {
      validate(spec_);
    } catch (const Error& error) {
      if (overridden_.empty()) throw;
      throw Error(ErrorKind::usage, error.message())
          .about(error.subject())
          .expected(error.expected_text())
          .found(error.found_text())
          .remedy(error.remedy_text());
    }
  }

  const ArchitectureMatch& match_;
  bool assumed_heads_ = false;
  bool resized_ = false;     ///< true if tables are interpolated to other windows
  std::int64_t window_ = 0;  ///< window that the user specified; 0: that of the tables
};

}  // namespace

Architecture deduce_pyramid(const DeductionInput& input) {
  return PyramidDeduction(input).deduce();
}

}  // namespace attnscope
