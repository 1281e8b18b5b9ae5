#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "core/architecture/configuration/neighbour_config.h"
#include "core/architecture/configuration/tokenizer_file.h"
#include "core/architecture/family_matching/leftover_tensors.h"
#include "core/architecture/model_spec.h"
#include "core/architecture/spec_from_tensors/family_deduction.h"
#include "core/architecture/spec_from_tensors/rotary_frequencies.h"
#include "core/architecture/tensor_source.h"
#include "core/attention/mechanism.h"
#include "core/checkpoint/key_values.h"
#include "core/file/read_file.h"
#include "core/text/number_text.h"
#include "core/text/pattern.h"

namespace attnscope {

namespace {

constexpr const char* kOutput = "layer.0.out.weight";

struct FoundTokenizer {
  Tokenizer kind = Tokenizer::ids;
  std::string reason;  ///< reason of an assumption; empty if known
};

/// Tokenizer from the files next to the weights or in them, the labels, and the size of the
/// vocabulary.
FoundTokenizer tokenizer_of(const Checkpoint& checkpoint, const ModelSpec& spec) {
  const std::filesystem::path folder = checkpoint.path().parent_path();
  const TokenizerFile beside = find_tokenizer_file(folder);
  const KeyValues* const keys = checkpoint.key_values();
  if (keys && keys->contains("tokenizer.ggml.model")) return {Tokenizer::file, {}};
  if (beside.kind == TokenizerFile::Kind::byte_pairs &&
      !is_entry(folder / "tokenizer_config.json")) {
    if (spec.readout.kind == Readout::end_token) {
      return {Tokenizer::ids, "CLIP's vocab.json is not GPT-2's: only its tokenizer.json is read"};
    }
    const std::string name = tokenizer_class_of_model(folder);
    if (name.empty() || name.starts_with("GPT2Tokenizer")) {
      return {Tokenizer::byte_pairs, "vocab.json and merges.txt are next to the file"};
    }
    return {Tokenizer::file, "vocab.json is next to the file, of a " + name};
  }
  if (beside.kind != TokenizerFile::Kind::none) {
    return {Tokenizer::file, beside.path.filename().string() + " is next to the file"};
  }
  if (spec.is_language_model() && std::ssize(spec.labels) == spec.input.vocabulary) {
    return {Tokenizer::characters, {}};
  }
  if (spec.input.vocabulary == 256) return {Tokenizer::bytes, "256 tokens are usually the bytes"};
  return {Tokenizer::ids, "there is no tokenizer next to the file"};
}

/// `sources` of stored layers ("layer.0.query.weight"), repeated for every layer that uses them:
/// stored_layer. ALBERT's layers share stored tensors.
std::map<std::string, TensorSource, std::less<>> sources_of_all_layers(
    const std::map<std::string, TensorSource, std::less<>>& sources, const ModelSpec& spec) {
  constexpr std::string_view of_layer = "layer.";
  std::map<std::string, TensorSource, std::less<>> all;
  for (const auto& [role, source] : sources) {
    if (!role.starts_with(of_layer)) {
      all.emplace(role, source);
      continue;
    }
    const std::size_t dot = role.find('.', of_layer.size());
    const std::string stored = role.substr(of_layer.size(), dot - of_layer.size());
    for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
      if (std::to_string(stored_layer(spec, layer)) != stored) continue;
      all.emplace(std::string(of_layer) + std::to_string(layer) + role.substr(dot), source);
    }
  }
  return all;
}

class TextDeduction final : FamilyDeduction {
 public:
  explicit TextDeduction(const DeductionInput& input) : FamilyDeduction(input) {
    // A text model has no image settings.
    spec_.input.patch_height = spec_.input.patch_width = spec_.input.class_tokens = 0;
    read_own_metadata();
    take_padding();
    take_config(!spec_.readout.gives_token_logits());
    apply_overrides(input.options);
    if (spec_.layer.rotary.form != Rotary::none) frequencies_ = stored_frequencies(input);
  }

  Architecture deduce() {
    deduce_width();
    deduce_context();
    share_layers();
    fact("layers", spec_.layers, layers_);
    deduce_mlp();
    deduce_decoder();
    deduce_final_norm(spec_.has_decoder() ? "decoder_final_norm.weight" : "final_norm.weight");
    deduce_form();
    take_frequencies();
    deduce_heads();
    check_turned_width();
    deduce_rotary_factors();
    deduce_relative_positions();
    deduce_readout();
    deduce_tokenizer();
    list_assumptions();
    with_file(checkpoint_.path(), [&] { validate(spec_); });
    Architecture architecture = finish();
    if (frequencies_) {
      std::erase_if(architecture.unused,
                    [](const std::string& name) { return !frequencies_pattern(name).empty(); });
    }
    return architecture;
  }

 private:
  [[nodiscard]] bool is_fastformer_classifier() const {
    return spec_.layer.form == LayerForm::fastformer_encoder;
  }

  /// Rows and columns of a role's matrix as it is used.
  [[nodiscard]] Shape shape_of(const std::string& role) const {
    const auto found = result_.sources.find(role);
    if (found == result_.sources.end()) {
      throw Error(ErrorKind::unsupported, "the model has no tensor for the role " + role)
          .in_file(checkpoint_.path());
    }
    Shape shape = used_shape(checkpoint_, found->second);
    for (auto one = shape.begin(); shape.size() > 2 && one != shape.end();) {
      one = *one == 1 ? shape.erase(one) : one + 1;
    }
    if (shape.size() != 2 || element_count(shape) == 0) {
      throw Error(ErrorKind::unsupported, "the tensor has an unexpected shape")
          .in_file(checkpoint_.path())
          .about(found->second.tensor)
          .expected("a matrix for the role " + role)
          .found(to_string(checkpoint_.at(found->second.tensor).shape));
    }
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

  /// Takes the tokenizer's padding token, which overrides the configuration's, for texts that are
  /// padded to the context.
  void take_padding() {
    if (!spec_.input.pads_to_context || options_.overrides.contains("padding")) return;
    const auto token = padding_token(checkpoint_.path().parent_path());
    if (token) say_padding(*token, "as tokenizer_config.json says", true);
  }

  void say_padding(std::int64_t token, std::string reason, bool is_stated) {
    spec_.input.padding = token;
    stated_.insert("padding");
    result_.assumptions.push_back({"padding", std::to_string(token), std::move(reason), is_stated});
  }

  [[nodiscard]] const char* queries() const {
    return has("layer.0.qkv.weight") ? "layer.0.qkv.weight" : "layer.0.query.weight";
  }

  void deduce_width() {
    const Shape table = shape_of("token_embedding.weight");
    fact("vocabulary", spec_.input.vocabulary, table[0]);
    constexpr std::int64_t gemma = 256'000;
    if (spec_.input.pads_to_context && table[0] == gemma && !stated("padding")) {
      say_padding(0, "Gemma's, whose vocabulary has as many tokens", false);
    }
    const std::int64_t width =
        has("input_projection.weight") ? shape_of("input_projection.weight")[0] : table[1];
    fact("width", spec_.width, width);
    if (width != table[1] || stated("input.width")) {
      fact("input.width", spec_.input.width, table[1]);
    }
    if (has("token_types")) {
      fact("input.token_types", spec_.input.token_types, shape_of("token_types")[0]);
    }
  }

  /// Sets the context: the number of learned positions, limited by position biases if there are any
  /// (DAFT).
  void deduce_context() {
    if (!has("positions")) {
      if (spec_.positions.kind == Positions::learned) {
        if (stated("positions")) (void)shape_of("positions");
        spec_.positions.kind = Positions::none;
      }
      return;
    }
    if (stated("positions") && spec_.positions.kind != Positions::learned) {
      throw contradiction("positions", "the position embeddings", "learned",
                          option_text(spec_, "positions"));
    }
    spec_.positions.kind = Positions::learned;
    // Stored sinusoids need no order.
    if (!overridden_.contains("positions.sinusoid_order")) {
      spec_.positions.sinusoid_order = SinusoidOrder::alternating;
    }
    result_.position_rows = shape_of("positions")[0];
    result_.position_columns = 1;
    std::int64_t context = result_.position_rows - spec_.positions.offset;
    if (has(kPositionBiases)) {
      const std::int64_t tokens = shape_of(kPositionBiases)[0];
      check_position_biases(result_, checkpoint_, layers_, tokens,
                            "each layer has one for every pair of the same number of tokens");
      context = std::min(context, tokens);
    }
    fact("context", spec_.input.context, context);
  }

  /// Repeats stored layers for all layers that use them.
  void share_layers() {
    if (spec_.stored_layers == 0) return;
    fact("stored_layers", spec_.stored_layers, layers_);
    if (spec_.layers < layers_) {
      throw Error(fault_of("layers"), "the number of layers is smaller than that of the file")
          .in_file(checkpoint_.path())
          .about("layers")
          .expected(std::to_string(layers_) + " or more")
          .found(std::to_string(spec_.layers));
    }
    assume("layers", "the file does not say how often its layers are run");
    result_.sources = sources_of_all_layers(result_.sources, spec_);
    layers_ = spec_.layers;
  }

  void deduce_mlp() {
    MlpSpec& mlp = spec_.layer.mlp;
    if (mlp.form == MlpForm::none) return;
    deduce_experts();
    const std::string roles = mlp_roles();
    const bool both = has(roles + "mlp_gate_and_mlp1.weight");
    const std::int64_t rows = both ? shape_of(roles + "mlp_gate_and_mlp1.weight")[0] / 2
                                   : shape_of(roles + "mlp1.weight")[0];
    fact("mlp_width", mlp.width, rows / std::max<std::int64_t>(mlp.experts, 1));
  }

  /// Deduces the decoder's blocks of two layers. The MLPs belong to the second layer.
  void deduce_decoder() {
    if (!spec_.has_decoder()) return;
    fact("tail.blocks", spec_.tail.blocks, tail_blocks_);
    const std::string crossing = "layer." + std::to_string(spec_.body_layers() + 1) + ".";
    const bool both = has(crossing + "mlp_gate_and_mlp1.weight");
    const std::int64_t width = both ? shape_of(crossing + "mlp_gate_and_mlp1.weight")[0] / 2
                                    : shape_of(crossing + "mlp1.weight")[0];
    if (width != spec_.layer.mlp.width || stated("tail.mlp_width")) {
      fact("tail.mlp_width", spec_.tail.mlp_width, width, "the decoder's MLPs");
    }
    const bool own = has("decoder_token_embedding.weight");
    const std::int64_t tokens = own ? shape_of("decoder_token_embedding.weight")[0] : 0;
    if ((own && tokens != spec_.input.vocabulary) || stated("tail.vocabulary")) {
      fact("tail.vocabulary", spec_.tail.vocabulary, tokens, "the decoder's token embeddings");
    }
    if (has("decoder_positions")) {
      fact("tail.context", spec_.tail.context,
           shape_of("decoder_positions")[0] - spec_.positions.offset, "the decoder's positions");
    }
    if (spec_.readout.kind == Readout::next_token) assume("logit_scale", "the family's usual one");
  }

  /// Sets the form of the layers and their mechanism.
  void deduce_form() {
    if (is_fastformer_classifier()) {
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

  /// Number of query rows in a weight of `rows` rows. In a fused weight it depends on the key
  /// heads, by default as many as the output projection's columns show, otherwise as query heads.
  [[nodiscard]] std::int64_t rows_of_queries(std::int64_t rows) const {
    const AttentionSpec& attention = spec_.layer.attention;
    if (!has("layer.0.qkv.weight")) return rows;
    if (attention.key_heads > 0 && attention.heads > 0) {
      return rows * attention.heads / (attention.heads + 2 * attention.key_heads);
    }
    return has(kOutput) && attention.value_width == 0 ? shape_of(kOutput)[1] : rows / 3;
  }

  /// Throws unless each of `members` is stated, which no tensor shows.
  void require_stated(std::initializer_list<const char*> members) const {
    for (const char* const member : members) {
      if (stated(member)) continue;
      throw Error(ErrorKind::unsupported, "the file does not show the heads of its layers")
          .in_file(checkpoint_.path())
          .about(member)
          .expected("config.json next to the file");
    }
  }

  /// Checks heads whose queries and keys several of them share.
  void check_recurrent_heads() const {
    require_stated({"heads", "head_width", "layer.attention.query_heads"});
    const AttentionSpec& attention = spec_.layer.attention;
    const std::int64_t stored = attention.query_heads ? attention.query_heads : attention.heads;
    const std::int64_t each = attention.value_width ? attention.value_width : attention.head_width;
    const bool gated = has("layer.0.recurrent_qkv_gate.weight");
    const bool mamba = has("layer.0.mamba_input.weight");
    const std::int64_t more = mamba   ? attention.heads * (each + 1)  // a gate and steps
                              : gated ? attention.heads * each
                                      : 0;
    const std::int64_t expected = 2 * stored * attention.head_width + attention.heads * each + more;
    const std::int64_t rows = shape_of(mamba   ? "layer.0.mamba_input.weight"
                                       : gated ? "layer.0.recurrent_qkv_gate.weight"
                                               : "layer.0.recurrent_qkv.weight")[0];
    if (rows == expected && attention.heads % stored == 0) return;
    throw Error(fault_of("heads"), "the heads do not fit the weights")
        .in_file(checkpoint_.path())
        .about("heads")
        .expected(std::to_string(rows) + " rows of queries, keys and values")
        .found(std::to_string(expected));
  }

  /// Takes the widths of latents from their norms, and checks heads that are computed from them.
  void deduce_latents() {
    require_stated({"heads", "head_width", "layer.rotary.width", "layer.attention.value_width"});
    AttentionSpec& attention = spec_.layer.attention;
    const auto width = [&](const std::string& norm) {
      return has(norm) ? element_count(used_shape(checkpoint_, result_.sources.at(norm))) : 0;
    };
    fact("layer.attention.latent_width", attention.latent_width,
         width("layer.0.latent_norm.weight"), "the norm of the latents");
    fact("layer.attention.query_latent_width", attention.query_latent_width,
         width("layer.0.query_latent_norm.weight"), "the norm of the queries' latents");
    fact("layer.attention.key_heads", attention.key_heads, attention.heads, "the latents");
    const std::int64_t rows = shape_of(queries())[0];
    if (rows == attention.heads * attention.head_width) return;
    throw Error(fault_of("heads"), "the heads do not fit the weights")
        .in_file(checkpoint_.path())
        .about("heads")
        .expected(std::to_string(rows) + " rows of queries")
        .found(std::to_string(attention.heads * attention.head_width));
  }

  /// Takes the width of values that differ from keys in it from their rows.
  void deduce_value_width() {
    AttentionSpec& attention = spec_.layer.attention;
    if (attention.heads_norm != HeadsNorm::each_head || !has("layer.0.value.weight")) return;
    const std::int64_t rows = shape_of("layer.0.value.weight")[0];
    const std::int64_t heads = spec_.layer.key_heads();
    if (rows % heads != 0 || rows / heads == attention.head_width) return;
    fact("layer.attention.value_width", attention.value_width, rows / heads, "the values");
  }

  void deduce_heads() {
    AttentionSpec& attention = spec_.layer.attention;
    for (const char* const role : {"recurrent_qkv", "recurrent_qkv_gate", "mamba_input"}) {
      if (has("layer.0." + std::string(role) + ".weight")) return check_recurrent_heads();
    }
    if (has("layer.0.latent.weight")) return deduce_latents();
    if (is_fastformer_classifier()) {
      fact("heads", attention.heads, shape_of("layer.0.query_importance.weight")[0]);
    }
    const auto importance = result_.sources.find("layer.0.mechanism.query_importance");
    if (importance != result_.sources.end()) {
      // The later code stores one row per head.
      const Shape& rows = checkpoint_.at(importance->second.tensor).shape;
      if (rows.size() == 2 && rows[0] > 1) fact("heads", attention.heads, rows[0]);
    }
    const auto query = result_.sources.find(queries());
    if (query != result_.sources.end()) {
      const std::int64_t stored = stored_parts(checkpoint_, query->second);
      if (stored > 0) fact("heads", attention.heads, stored, query->second.tensor);
    }
    const std::int64_t inner = rows_of_queries(shape_of(queries())[0]);
    deduce_head_width(inner);
    if (!stated("heads") && attention.head_width > 0) {
      if (!stated("head_width") && inner % attention.head_width != 0) ask_for_heads(inner);
      attention.heads = inner % attention.head_width == 0 ? inner / attention.head_width : 1;
    } else if (!stated("heads")) {
      attention.heads = usual_number_of_heads(inner);
    }
    const bool stated_width = stated("head_width") && attention.head_width > 0;
    if (attention.heads < 1 || inner % attention.heads != 0 ||
        (stated_width && attention.heads * attention.head_width != inner)) {
      throw Error(fault_of("heads"), "the heads do not fit the weights")
          .in_file(checkpoint_.path())
          .about("heads")
          .expected("a divisor of " + std::to_string(inner))
          .found(std::to_string(attention.heads));
    }
    assume("heads", "the file does not say");
    if (!stated_width) attention.head_width = inner / attention.heads;
    deduce_key_heads(inner);
    deduce_value_width();
  }

  /// Takes the head width from a norm of queries that is as wide as one head.
  void deduce_head_width(std::int64_t inner) {
    const auto half = result_.sources.find("layer.0.mechanism.lambda_q1");
    if (spec_.layer.attention.halves && half != result_.sources.end()) {
      fact("head_width", spec_.layer.attention.head_width,
           2 * element_count(used_shape(checkpoint_, half->second)), "λ of differential attention");
      return;
    }
    const auto norm = result_.sources.find("layer.0.query_norm.weight");
    if (norm == result_.sources.end()) return;
    const std::int64_t width = element_count(used_shape(checkpoint_, norm->second));
    if (width < 1 || width >= inner || inner % width != 0) return;
    fact("head_width", spec_.layer.attention.head_width, width, "the norms of the queries");
  }

  /// Number of rows of the keys, in a fused weight what its queries leave; 0 if unknown.
  [[nodiscard]] std::int64_t rows_of_keys(std::int64_t inner) const {
    if (has("layer.0.key.weight")) return shape_of("layer.0.key.weight")[0];
    const bool fused = has("layer.0.qkv.weight") && has(kOutput);
    const std::int64_t rest = fused ? shape_of("layer.0.qkv.weight")[0] - inner : 0;
    const bool alike = spec_.layer.attention.value_width == 0 && rest % 2 == 0;
    return alike ? std::max<std::int64_t>(rest / 2, 0) : 0;
  }

  /// Sets the number of key heads by the rows of the keys.
  void deduce_key_heads(std::int64_t inner) {
    AttentionSpec& attention = spec_.layer.attention;
    const std::int64_t rows = rows_of_keys(inner);
    if (rows == 0) return;
    const bool says_otherwise =
        stated("layer.attention.key_heads") && attention.key_heads > 0;  // 0: as of queries
    const bool as_queries = rows == inner && !says_otherwise;
    // Windowed DAFT has fewer key channels, not fewer heads.
    if (as_queries || !find_mechanism(spec_.mechanism.name).terms) return;
    if (rows % attention.head_width != 0) {
      if (!stated("heads") && !overridden_.contains("head_width")) ask_for_heads(inner);
      throw Error(fault_of("heads"), "heads of " + std::to_string(attention.head_width) +
                                         " channels do not fit the keys")
          .in_file(checkpoint_.path())
          .about("heads")
          .expected("a width of a head that divides the keys' " + std::to_string(rows) + " rows")
          .found(std::to_string(attention.heads) + " heads of queries")
          .remedy("--model-heads N, of the queries");
    }
    fact("layer.attention.key_heads", attention.key_heads,
         std::max<std::int64_t>(rows / attention.head_width, 1), "the keys");
  }

  /// Takes θ and the rotated channels of a head from stored inverse frequencies. If all of a head
  /// is rotated, they also give its width.
  void take_frequencies() {
    if (!frequencies_) return;
    constexpr const char* member = "layer.rotary.theta";
    for (const LayerDifference& difference : spec_.differences) {
      for (const auto& [differing, value] : difference.members) {
        if (!differing.starts_with("rotary.")) continue;
        throw Error(ErrorKind::unsupported,
                    "layers rotate queries and keys differently, but the file stores one set of "
                    "inverse frequencies")
            .in_file(checkpoint_.path())
            .about(frequencies_->tensor)
            .remedy("--option ignore='" + std::string(frequencies_pattern(frequencies_->tensor)) +
                    "'");
      }
    }
    RotarySpec& rotary = spec_.layer.rotary;
    const std::int64_t width = frequencies_->width;
    if (rotary.width > 0) {
      fact("layer.rotary.width", rotary.width, width, frequencies_->tensor);
    } else if (!stated("heads")) {
      AttentionSpec& attention = spec_.layer.attention;
      fact("head_width", attention.head_width, width, frequencies_->tensor);
      const std::int64_t inner = rows_of_queries(shape_of(queries())[0]);
      if (inner % width == 0) fact("heads", attention.heads, inner / width, frequencies_->tensor);
    }
    // A default of the configuration class does not count as specified.
    const bool said =
        stated(member) && (overridden_.contains(member) || !config_.defaults.contains(member));
    const std::optional<double> theta = frequencies_->theta();
    if (said && !frequencies_->fit(rotary.theta)) {
      const bool by_user = overridden_.contains(member);
      throw Error(
          by_user ? ErrorKind::usage : ErrorKind::damaged,
          std::string(by_user ? "the option" : "the configuration (rope_theta)") +
              " gives a different θ of rotary positions than the inverse frequencies stored in " +
              frequencies_->tensor)
          .in_file(by_user || config_.file.empty() ? checkpoint_.path() : config_.file)
          .about(member)
          .expected(theta ? rounded_text(*theta, 12) + ", as stored" : "any")
          .found(rounded_text(rotary.theta, 12))
          .remedy("--option ignore='" + std::string(frequencies_pattern(frequencies_->tensor)) +
                  "' if the stored ones are not used");
    }
    if (said || !theta) return;
    rotary.theta = *theta;
    stated_.insert(member);
    std::erase_if(result_.assumptions,
                  [](const Assumption& assumed) { return assumed.option == member; });
    result_.assumptions.push_back(
        {member, option_text(spec_, member), "as " + frequencies_->tensor + " says", true});
  }

  void check_turned_width() const {
    if (!frequencies_) return;
    const RotarySpec& rotary = spec_.layer.rotary;
    const std::int64_t turned = rotary.width > 0 ? rotary.width : spec_.layer.attention.head_width;
    if (turned == frequencies_->width) return;
    throw Error(fault_of("heads"),
                "the heads do not fit the stored inverse frequencies of rotary positions, one for "
                "two rotated channels")
        .in_file(checkpoint_.path())
        .about(frequencies_->tensor)
        .expected(std::to_string(turned / 2) + ", of heads of " + std::to_string(turned) +
                  " channels")
        .found(std::to_string(frequencies_->width / 2));
  }

  /// Takes stored factors of rotary positions, which apply to texts of any length, as longrope.
  void deduce_rotary_factors() {
    const auto source = result_.sources.find("rotary_factors");
    if (source == result_.sources.end()) return;
    RotarySpec& rotary = spec_.layer.rotary;
    fact("layer.rotary.scaling", rotary.scaling, RotaryScaling::longrope,
         "the factors of rotary positions");
    const Tensor factors = used_tensor(checkpoint_, source->second);
    rotary.short_factors.assign(factors.values().begin(), factors.values().end());
    rotary.long_factors = rotary.short_factors;
    rotary.attention_factor = 1;
    rotary.trained_context = std::max<std::int64_t>(spec_.input.context, 2);
  }

  /// Sets the number of buckets of relative positions. Embeddings of relative positions have as
  /// many on each side.
  void deduce_relative_positions() {
    for (const char* role : {"position_biases", "layer.0.position_biases"}) {
      if (spec_.layer.scores.bias != ScoreBias::buckets || !has(role)) continue;
      fact("layer.scores.buckets", spec_.layer.scores.buckets, shape_of(role)[0],
           "the biases of relative positions");
      assume("layer.scores.bucket_distance", "the family's usual one");
    }
    if (!has("relative_positions")) return;
    fact("layer.scores.buckets", spec_.layer.scores.buckets, shape_of("relative_positions")[0] / 2,
         "the embeddings of relative positions");
    assume("layer.scores.bucket_distance", "the family's usual one");
  }

  /// Throws if the norm after a head's hidden layer is missing in a family that always has it.
  void check_head_transform() const {
    constexpr const char* norm = "head_transform_norm.weight";
    if (!has("head_transform.weight") || has(norm) || !description_.tensors.contains(norm)) return;
    throw Error(ErrorKind::unsupported, "the hidden layer of the head has no norm")
        .in_file(checkpoint_.path())
        .about(norm)
        .expected("one in " + description_.name);
  }

  /// Reads a head whose number of outputs is not that of the tokens as classes of one token,
  /// assumed to be the last.
  void deduce_classes() {
    if (spec_.readout.kind != Readout::next_token || stated("readout") || !has("head.0.weight")) {
      return;
    }
    const std::int64_t outputs = shape_of("head.0.weight")[0];
    if (outputs == spec_.input.vocabulary || spec_.has_decoder()) return;
    spec_.readout.kind = Readout::last_token;
    assume("readout", "the head has " + std::to_string(outputs) + " outputs, not one for each of " +
                          std::to_string(spec_.input.vocabulary) +
                          " tokens; the last token, which sees all, is usual");
  }

  /// Throws if the file contradicts tie_word_embeddings. With a head that differs from the
  /// embedding, versions of transformers use either.
  void check_tie(bool tied) const {
    const auto head = result_.sources.find("head.0.weight");
    const bool there = head != result_.sources.end();
    if (there == !tied) return;
    constexpr const char* key = "tie_word_embeddings";
    if (!there) {
      throw Error(ErrorKind::unsupported,
                  "the file has no head, and its configuration does not tie the head to the token "
                  "embedding")
          .in_file(checkpoint_.path())
          .about(key)
          .remedy(std::string("--option readout=none runs it without logits, --option "
                              "ignore=config.") +
                  key + " takes the token embedding for the head");
    }
    const bool own = has("decoder_token_embedding.weight");
    const auto embedding =
        result_.sources.find(own ? "decoder_token_embedding.weight" : "token_embedding.weight");
    if (embedding == result_.sources.end() || head->second == embedding->second) return;
    if (same_tensor(head->second, embedding->second)) return;
    throw Error(
        ErrorKind::unsupported,
        "the file has a separate head, but its configuration ties the head to the token embedding")
        .in_file(checkpoint_.path())
        .about(key)
        .expected(head->second.tensor + " equal to " + embedding->second.tensor)
        .found("a different tensor")
        .remedy(std::string("--option ignore=config.") + key + " takes the head of the file");
  }

  [[nodiscard]] bool same_tensor(const TensorSource& one, const TensorSource& other) const {
    if (used_shape(checkpoint_, one) != used_shape(checkpoint_, other)) return false;
    const Tensor a = used_tensor(checkpoint_, one), b = used_tensor(checkpoint_, other);
    return std::ranges::equal(a.values(), b.values());
  }

  void deduce_readout() {
    check_head_transform();
    deduce_classes();
    if (spec_.readout.kind == Readout::pooler && !has("pooler.weight") && !stated("readout")) {
      spec_.readout.kind = Readout::none;
    }
    if (spec_.readout.gives_token_logits() && config_.ties_head) check_tie(*config_.ties_head);
    if (spec_.readout.gives_features() && has("head.0.weight")) {
      std::string last = "head.0.weight";
      while (has("head." + std::to_string(last[5] - '0' + 1) + ".weight")) ++last[5];
      check_labels(shape_of(last)[0]);
    }
  }

  void list_assumptions() {
    for (const char* member : {"activation", "norm_eps"}) assume(member, "the family's usual one");
    if (spec_.layer.rotary.form != Rotary::none) {
      assume("layer.rotary.theta", "the family's usual one");
      if (spec_.layer.rotary.width > 0) assume("layer.rotary.width", "the family's usual one");
      if (spec_.layer.rotary.scaling != RotaryScaling::none) {
        assume("layer.rotary.scaling", "the family's usual one");
      }
    }
    for (const char* member : {"layer.residual", "layer.rotary.form", "layer.scores.causal",
                               "positions.offset", "padding", "input.dropped_token", "readout"}) {
      if (description_.reasons.contains(member)) assume(member, "the family's usual one");
    }
    if (spec_.readout.kind == Readout::end_token) {
      assume("readout.end_token", "the greatest id of the text");
    }
    if (spec_.layer.scores.soft_cap > 0) assume("layer.scores.soft_cap", "the family's usual one");
    if (spec_.readout.soft_cap > 0) assume("readout.soft_cap", "the family's usual one");
    if (!spec_.differences.empty()) assume("differences", "the family's usual one");
  }

  void deduce_tokenizer() {
    if (stated("tokenizer")) return;
    const FoundTokenizer found = tokenizer_of(checkpoint_, spec_);
    spec_.input.tokenizer = found.kind;
    if (!found.reason.empty()) assume("tokenizer", found.reason);
  }

  std::optional<StoredFrequencies> frequencies_;
};

}  // namespace

Architecture deduce_text_model(const DeductionInput& input) {
  return TextDeduction(input).deduce();
}

}  // namespace attnscope
