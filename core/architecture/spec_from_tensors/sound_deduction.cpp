#include <algorithm>

#include "core/architecture/spec_from_tensors/family_deduction.h"

namespace attnscope {

namespace {

class SoundDeduction final : FamilyDeduction {
 public:
  explicit SoundDeduction(const DeductionInput& input) : FamilyDeduction(input) {
    // An audio model has no image settings.
    spec_.input.patch_height = spec_.input.patch_width = spec_.input.class_tokens = 0;
    take_config(false);
    take_heads_in_file();
    apply_overrides(input.options);
  }

  Architecture deduce() {
    const Shape bands = shape_of("sound1.weight", 3);
    fact("width", spec_.width, bands[0], tensor_of("sound1.weight"));
    fact("channels", spec_.input.channels, bands[1], tensor_of("sound1.weight"));
    fact("layers", spec_.layers, layers_, "the blocks");
    fact("mlp_width", spec_.layer.mlp.width, shape_of("layer.0.mlp1.weight", 2)[0],
         tensor_of("layer.0.mlp1.weight"));
    result_.position_rows = shape_of("positions", 2)[0];
    result_.position_columns = 1;
    fact("context", spec_.input.context, result_.position_rows, tensor_of("positions"));
    deduce_final_norm("final_norm.weight");
    deduce_heads();
    for (const char* member : {"activation", "norm_eps"}) assume(member, "the family's usual one");
    assume("mechanism", "weights do not tell what they were trained with; softmax is usual");
    say_what_is_left_out();
    with_file(checkpoint_.path(), [&] { validate(spec_); });
    return finish();
  }

 private:
  /// Takes the number of heads that OpenAI's files store with the weights.
  void take_heads_in_file() {
    const auto heads = checkpoint_.metadata().find("dims.n_audio_head");
    if (heads == checkpoint_.metadata().end() || stated("heads")) return;
    apply_override(spec_, "heads", heads->second);
    stated_.insert("heads");
  }

  [[nodiscard]] const std::string& tensor_of(const std::string& role) const {
    return result_.sources.find(role)->second.tensor;
  }

  [[nodiscard]] Shape shape_of(const std::string& role, std::size_t rank) const {
    const auto found = result_.sources.find(role);
    const Shape shape =
        found == result_.sources.end() ? Shape{} : used_shape(checkpoint_, found->second);
    if (shape.size() == rank && element_count(shape) > 0) return shape;
    throw Error(ErrorKind::unsupported, "the model has no such tensor for the role " + role)
        .in_file(checkpoint_.path())
        .about(found == result_.sources.end() ? role : found->second.tensor)
        .expected(std::to_string(rank) + " axes")
        .found(to_string(shape));
  }

  void deduce_heads() {
    AttentionSpec& attention = spec_.layer.attention;
    const std::int64_t inner = shape_of("layer.0.query.weight", 2)[0];
    if (!stated("heads") && attention.head_width > 0) {
      if (inner % attention.head_width != 0) ask_for_heads(inner);
      attention.heads = inner / attention.head_width;
    } else if (!stated("heads")) {
      attention.heads = usual_number_of_heads(inner);
    }
    const bool fits = attention.heads > 0 && inner % attention.heads == 0;
    const bool as_stated = !stated("head_width") || attention.head_width == 0 ||
                           attention.heads * attention.head_width == inner;
    if (!fits || !as_stated) {
      throw Error(fault_of("heads"), "the heads do not fit the weights")
          .in_file(checkpoint_.path())
          .about("heads")
          .expected("a divisor of " + std::to_string(inner))
          .found(std::to_string(attention.heads));
    }
    assume("heads", "the file does not say");
    attention.head_width = inner / attention.heads;
  }

  /// Reports that the decoder, which would write the text, is not run.
  void say_what_is_left_out() {
    const auto& tensors = checkpoint_.tensors();
    const auto count = std::count_if(tensors.begin(), tensors.end(), [](const StoredTensor& each) {
      return each.name.starts_with("decoder.") || each.name.find(".decoder.") != std::string::npos;
    });
    if (count == 0) return;
    result_.assumptions.push_back(
        {kIgnoreOption, "decoder.*",
         "the decoder (" + std::to_string(count) + " tensors) is not run, only the encoder"});
  }
};

}  // namespace

Architecture deduce_sound_model(const DeductionInput& input) {
  return SoundDeduction(input).deduce();
}

}  // namespace attnscope
