#include "core/architecture/deduction/text_deduction.h"

#include <algorithm>

#include "core/architecture/configuration/neighbour_config.h"
#include "core/architecture/deduction/family_deduction.h"
#include "core/architecture/deduction/position_biases.h"

namespace attnscope {

namespace {

class TextDeduction final : FamilyDeduction {
 public:
  explicit TextDeduction(const DeductionInput& input) : FamilyDeduction(input) {
    // Nothing of an image.
    spec_.input.patch_height = spec_.input.patch_width = spec_.input.class_tokens = 0;
    read_own_metadata();
    // Labels there are of classes, not of tokens.
    take_config(is_classifier());
    apply_overrides(input.options);
  }

  Architecture deduce() {
    fact("vocabulary", spec_.input.vocabulary, shape_of("token_embedding.weight")[0]);
    fact("width", spec_.width, shape_of("token_embedding.weight")[1]);
    deduce_context();
    fact("layers", spec_.layers, layers_);
    const bool both = has("layer.0.mlp_gate_and_mlp1.weight");
    fact("mlp_width", spec_.layer.mlp.width,
         both ? shape_of("layer.0.mlp_gate_and_mlp1.weight")[0] / 2
              : shape_of("layer.0.mlp1.weight")[0]);
    spec_.readout.final_norm = has("final_norm.weight");
    deduce_form();
    deduce_heads();
    if (is_classifier()) check_labels(shape_of("head.0.weight")[0]);
    deduce_tokenizer();
    for (const char* member : {"activation", "norm_eps"}) assume(member, "the family's usual one");
    try {
      validate(spec_);
    } catch (Error& error) {
      error.in_file(checkpoint_.path());
      throw;
    }
    return finish();
  }

 private:
  [[nodiscard]] bool is_classifier() const { return !spec_.is_language_model(); }

  /// Rows and columns of a matrix as it is used.
  [[nodiscard]] Shape shape_of(const std::string& role) const {
    const auto found = result_.sources.find(role);
    if (found == result_.sources.end()) {
      throw Error(ErrorKind::unsupported, "the model has no tensor for the role " + role)
          .in_file(checkpoint_.path());
    }
    const Architecture::Source& source = found->second;
    Shape shape = checkpoint_.at(source.tensor).shape;
    for (auto one = shape.begin(); shape.size() > 2 && one != shape.end();) {
      one = *one == 1 ? shape.erase(one) : one + 1;
    }
    if (shape.size() != 2 || element_count(shape) == 0) {
      throw Error(ErrorKind::unsupported, "the tensor has an unexpected shape")
          .in_file(checkpoint_.path())
          .about(source.tensor)
          .expected("a matrix for the role " + role)
          .found(to_string(checkpoint_.at(source.tensor).shape));
    }
    if (source.transposed) std::swap(shape[0], shape[1]);
    return shape;
  }

  void read_own_metadata() {
    const auto& metadata = checkpoint_.metadata();
    const auto format = metadata.find("format"), architecture = metadata.find("architecture");
    if (format == metadata.end() || format->second != "attnscope-model" ||
        architecture == metadata.end()) {
      return;
    }
    spec_ = model_spec_from_json(architecture->second, spec_, false);
    for (std::string& member : members_in_json(architecture->second)) {
      stated_.insert(std::move(member));
    }
    read_own_labels();
  }

  /// The most tokens: those that have positions, and biases for them (DAFT) where there are any.
  void deduce_context() {
    result_.position_rows = shape_of("positions")[0];
    result_.position_columns = 1;
    std::int64_t context = result_.position_rows;
    if (has(kPositionBiases)) {
      const std::int64_t tokens = shape_of(kPositionBiases)[0];
      check_position_biases(result_, checkpoint_, layers_, tokens,
                            "each layer has one for every pair of the same number of tokens");
      context = std::min(context, tokens);
    }
    fact("context", spec_.input.context, context);
  }

  /// Which code the layers follow, and with which attention.
  void deduce_form() {
    if (is_classifier()) {
      if (!stated("mechanism")) spec_.mechanism = {"additive", {}};
      if (spec_.input.padding >= 0) assume("padding", "the family's usual one");
      return;
    }
    if (!has("layer.0.mechanism.query_importance")) {
      assume("mechanism", "weights do not tell what they were trained with; softmax is usual");
      return;
    }
    if (!stated("layer_form")) {
      spec_.layer.form = has("layer.0.middle_norm.weight") ? LayerForm::fastformer
                                                           : LayerForm::fastformer_rescaled;
    }
    const bool earlier = spec_.layer.form == LayerForm::fastformer;
    if (!stated("logit_scale")) spec_.readout.logit_scale = earlier ? 0 : 1;
    if (!earlier) assume("importance_scale", "the default of FastformerLMConfig");
    if (stated("mechanism")) return;
    spec_.mechanism = {"additive", {{"causal", true}, {"window", std::int64_t{-1}}}};
    if (stated("layer_mechanisms")) return;
    for (std::int64_t layer = 0; layer < layers_; ++layer) {
      const bool last = layer + 1 == layers_ || layer > 40;
      spec_.layer_mechanisms.push_back(
          {"additive",
           {{"causal", true}, {"window", last ? std::int64_t{0} : std::int64_t{4} << layer}}});
    }
    assume("layer_mechanisms", "the family's usual one");
  }

  void deduce_heads() {
    const bool fused = has("layer.0.qkv.weight");
    const Shape shape = shape_of(fused ? "layer.0.qkv.weight" : "layer.0.query.weight");
    const std::int64_t inner = fused ? shape[0] / 3 : shape[0];
    if (is_classifier()) {
      fact("heads", spec_.layer.attention.heads, shape_of("layer.0.query_importance.weight")[0]);
    }
    const auto importance = result_.sources.find("layer.0.mechanism.query_importance");
    if (importance != result_.sources.end()) {
      // The later code keeps the vector of each head in a row of its own.
      const Shape& rows = checkpoint_.at(importance->second.tensor).shape;
      if (rows.size() == 2 && rows[0] > 1) fact("heads", spec_.layer.attention.heads, rows[0]);
    }
    if (!stated("heads") && spec_.layer.attention.head_width > 0) {
      spec_.layer.attention.heads = inner % spec_.layer.attention.head_width == 0
                                        ? inner / spec_.layer.attention.head_width
                                        : 1;
    }
    if (spec_.layer.attention.heads < 1 || inner % spec_.layer.attention.heads != 0) {
      throw Error(fault_of("heads"), "the heads do not fit the weights")
          .in_file(checkpoint_.path())
          .about("heads")
          .expected("a divisor of " + std::to_string(inner))
          .found(std::to_string(spec_.layer.attention.heads));
    }
    assume("heads", "the file does not say");
    if (!stated("head_width"))
      spec_.layer.attention.head_width = inner / spec_.layer.attention.heads;
  }

  void deduce_tokenizer() {
    if (stated("tokenizer")) return;
    if (has_byte_pairs(checkpoint_.path().parent_path())) {
      spec_.input.tokenizer = Tokenizer::byte_pairs;
      assume("tokenizer", "vocab.json and merges.txt lie beside the file");
    } else if (!is_classifier() && std::ssize(spec_.labels) == spec_.input.vocabulary) {
      spec_.input.tokenizer = Tokenizer::characters;
    } else if (spec_.input.vocabulary == 256) {
      spec_.input.tokenizer = Tokenizer::bytes;
      assume("tokenizer", "256 tokens are most often the bytes");
    } else {
      spec_.input.tokenizer = Tokenizer::ids;
      assume("tokenizer", "there is no vocab.json and merges.txt beside the file");
    }
  }
};

}  // namespace

Architecture deduce_text_model(const DeductionInput& input) {
  return TextDeduction(input).deduce();
}

}  // namespace attnscope
