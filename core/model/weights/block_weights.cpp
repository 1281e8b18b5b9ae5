#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/model/parts/attention_part.h"
#include "core/model/parts/block.h"
#include "core/model/parts/position_grid.h"
#include "core/model/parts/score_bias.h"
#include "core/model/weights/agent_tables.h"
#include "core/model/weights/transformer_weights.h"
#include "core/model/weights/weight_reader.h"
#include "core/parameters/typed_values.h"

namespace attnscope {

namespace {

// ---- the attention ----

enum WeightPart { kQuery, kKey, kValue };

/// The dimensions of a layer's projections.
struct Dimensions {
  std::int64_t width, heads, key_heads, head_width, value_width;

  [[nodiscard]] std::int64_t query_width() const { return heads * head_width; }
  [[nodiscard]] std::int64_t key_width() const { return key_heads * head_width; }
  /// All channels of the values, and of the heads' output.
  [[nodiscard]] std::int64_t values_width() const { return key_heads * value_width; }
  [[nodiscard]] std::int64_t output_width() const { return heads * value_width; }
};

/// Rows of one part of a fused weight, in the order of the heads.
std::vector<std::int64_t> fused_rows(const Dimensions& dimensions, QkvRows order, WeightPart part) {
  const std::int64_t each = dimensions.head_width, group = dimensions.heads / dimensions.key_heads;
  const std::int64_t count = part == kQuery   ? dimensions.query_width()
                             : part == kValue ? dimensions.values_width()
                                              : dimensions.key_width();
  const std::int64_t before[] = {0, dimensions.query_width(),
                                 dimensions.query_width() + dimensions.key_width()};
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < count; ++row) {
    if (order == QkvRows::parts_first) {
      rows.push_back(before[part] + row);
      continue;
    }
    // Each head of keys has its queries, then its key, then its value.
    const std::int64_t head = row / each, channel = row % each;
    const std::int64_t of = part == kQuery ? head / group : head;
    const std::int64_t place = part == kQuery ? head % group : part == kKey ? group : group + 1;
    rows.push_back((of * (group + 2) + place) * each + channel);
  }
  return rows;
}

/// Reorders `rows`, which are grouped by channel with all heads in turn, to be grouped by head.
std::vector<std::int64_t> heads_first(const std::vector<std::int64_t>& rows, std::int64_t heads) {
  const std::int64_t each = std::ssize(rows) / heads;
  std::vector<std::int64_t> ordered;
  for (std::int64_t row = 0; row < std::ssize(rows); ++row) {
    ordered.push_back(rows[static_cast<std::size_t>(row % each * heads + row / each)]);
  }
  return ordered;
}

/// Reorders `rows`, the first halves of all heads and then the second, to be grouped by head.
std::vector<std::int64_t> halves_joined(const std::vector<std::int64_t>& rows, std::int64_t heads) {
  const std::int64_t half = std::ssize(rows) / heads / 2;
  std::vector<std::int64_t> ordered;
  for (std::int64_t row = 0; row < std::ssize(rows); ++row) {
    const std::int64_t head = row / (2 * half), channel = row % (2 * half);
    const std::int64_t stored = channel / half * heads * half + head * half + channel % half;
    ordered.push_back(rows[static_cast<std::size_t>(stored)]);
  }
  return ordered;
}

/// The fused weight of `role`, from which parts are taken.
class FusedWeight {
 public:
  FusedWeight(const WeightReader& reader, const std::string& role, std::int64_t rows,
              std::int64_t inputs, Arithmetic arithmetic)
      : weight_(reader.read_matrix(role + ".weight", rows, inputs)),
        bias_(reader.read_vector(role + ".bias", rows, false)),
        norm_(reader.adder_norm(role, rows, arithmetic)),
        arithmetic_(arithmetic) {}

  /// Takes rows of the weight. `first` is the start of the part's norm; `bias` is the part's own
  /// bias, used if the fused weight has none.
  [[nodiscard]] Linear take(const std::vector<std::int64_t>& rows, std::int64_t first,
                            bool with_bias = true, std::vector<float> bias = {}) const {
    const std::int64_t count = std::ssize(rows);
    for (const std::int64_t row : rows) {
      if (with_bias && !bias_.empty()) bias.push_back(bias_[static_cast<std::size_t>(row)]);
    }
    std::optional<LayerNorm> norm = norm_;
    if (norm) {
      norm->weight = part_of(norm_->weight, first, count);
      norm->bias = part_of(norm_->bias, first, count);
    }
    return {weight_.with_rows(rows), std::move(bias), arithmetic_, std::move(norm)};
  }

 private:
  WeightMatrix weight_;
  std::vector<float> bias_;
  std::optional<LayerNorm> norm_;
  Arithmetic arithmetic_;
};

/// Number of channels of a layer's keys. Windowed DAFT has one per head of its biases, unless the
/// parameter full_keys is set (DAFT, 3.2).
std::int64_t width_of_keys(const Dimensions& dimensions, const MechanismChoice& trained) {
  const ParameterValues parameters = make_mechanism(trained)->choice().parameters;
  const TypedValues values(parameters);
  if (!values.has("full_keys") || values.flag("full_keys")) return dimensions.key_width();
  return values.whole("conv_heads");
}

/// Rows that `heads` heads of `width` channels have in a weight whose `stored` heads begin at row
/// `first`: each stored head serves heads / stored of them.
std::vector<std::int64_t> repeated_rows(std::int64_t first, std::int64_t width, std::int64_t stored,
                                        std::int64_t heads) {
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < heads * width; ++row) {
    rows.push_back(first + row / width * stored / heads * width + row % width);
  }
  return rows;
}

/// Rows of queries, keys and values in a weight that has them one after the other.
struct RecurrentRows {
  std::vector<std::int64_t> query, key, value;
  std::int64_t count = 0;
};

RecurrentRows recurrent_rows(const Dimensions& dimensions, std::int64_t stored) {
  const std::int64_t each = stored * dimensions.head_width;
  return {.query = repeated_rows(0, dimensions.head_width, stored, dimensions.heads),
          .key = repeated_rows(each, dimensions.head_width, stored, dimensions.heads),
          .value = counted_rows(2 * each, dimensions.output_width()),
          .count = 2 * each + dimensions.output_width()};
}

/// The rows of values, keys and queries, in this order, from row `first` on (Mamba-2).
RecurrentRows mamba_rows(const Dimensions& dimensions, std::int64_t stored, std::int64_t first) {
  const std::int64_t each = stored * dimensions.head_width, values = dimensions.output_width();
  const std::int64_t keys = first + values;
  return {.query = repeated_rows(keys + each, dimensions.head_width, stored, dimensions.heads),
          .key = repeated_rows(keys, dimensions.head_width, stored, dimensions.heads),
          .value = counted_rows(first, values),
          .count = values + 2 * each};
}

/// Reads the input projection of Mamba-2: gate, values, keys, queries, and steps, whose bias is
/// stored apart.
void read_mamba(const WeightReader& reader, const Dimensions& dimensions, std::int64_t stored,
                const std::string& prefix, AttentionPart& part) {
  const std::int64_t values = dimensions.output_width(), heads = dimensions.heads;
  const RecurrentRows rows = mamba_rows(dimensions, stored, values);
  const FusedWeight fused(reader, prefix + "mamba_input", values + rows.count + heads,
                          dimensions.width, Arithmetic::multiplicative);
  part.gate = fused.take(counted_rows(0, values), 0);
  part.query = fused.take(rows.query, 0);
  part.key = fused.take(rows.key, 0);
  part.value = fused.take(rows.value, 0);
  part.gates.decay = fused.take(counted_rows(values + rows.count, heads), 0, true,
                                reader.read_vector(prefix + "decay.bias", heads));
  part.value_skip = reader.read_vector(prefix + "value_skip", heads);
}

/// Rows of the part number `part` in a weight whose groups, as many as `groups`, have parts of the
/// given sizes, one after the other. Each is taken `times` times.
std::vector<std::int64_t> rows_in_groups(std::int64_t groups,
                                         const std::vector<std::int64_t>& sizes, std::size_t part,
                                         std::int64_t times = 1) {
  const auto begin = sizes.begin(), end = begin + static_cast<std::ptrdiff_t>(part);
  const std::int64_t before = std::accumulate(begin, end, std::int64_t{0});
  const std::int64_t all = std::accumulate(begin, sizes.end(), std::int64_t{0});
  std::vector<std::int64_t> rows;
  for (std::int64_t group = 0; group < groups; ++group) {
    for (std::int64_t row = 0; row < times * sizes[part]; ++row) {
      rows.push_back(group * all + before + row % sizes[part]);
    }
  }
  return rows;
}

/// Reads projections whose groups each have a head of queries and of keys, and the heads of values
/// and of the gate that these serve; likewise the strengths and steps of these heads (Qwen3-Next).
void read_grouped(const WeightReader& reader, const Dimensions& dimensions, std::int64_t groups,
                  const std::string& prefix, AttentionPart& part) {
  const std::int64_t share = dimensions.heads / groups;
  const std::int64_t width = dimensions.head_width, values = share * dimensions.value_width;
  const std::vector<std::int64_t> sizes = {width, width, values, values}, both = {share, share};
  const FusedWeight fused(reader, prefix + "recurrent_qkv_gate", groups * 2 * (width + values),
                          dimensions.width, Arithmetic::multiplicative);
  part.query = fused.take(rows_in_groups(groups, sizes, 0, share), 0);
  part.key = fused.take(rows_in_groups(groups, sizes, 1, share), 0);
  part.value = fused.take(rows_in_groups(groups, sizes, 2), 0);
  part.gate = fused.take(rows_in_groups(groups, sizes, 3), 0);
  const FusedWeight gates(reader, prefix + "beta_and_decay", 2 * dimensions.heads, dimensions.width,
                          Arithmetic::multiplicative);
  part.gates.beta = gates.take(rows_in_groups(groups, both, 0), 0);
  part.gates.decay = gates.take(rows_in_groups(groups, both, 1), 0, true,
                                reader.read_vector(prefix + "decay.bias", dimensions.heads));
}

/// Rows `rows` of a short convolution of `channels` channels; empty if the file has none.
std::optional<ShortConvolution> read_short(const WeightReader& reader, const std::string& role,
                                           std::int64_t channels,
                                           const std::vector<std::int64_t>& rows) {
  if (!reader.has(role + ".weight")) return std::nullopt;
  const std::int64_t taps = std::max<std::int64_t>(reader.size_of(role + ".weight") / channels, 1);
  const Tensor stored =
      reader.read(role + ".weight", {channels, 1, taps}).reshaped({channels, taps});
  const std::vector<float> bias = reader.read_vector(role + ".bias", channels, false);
  ShortConvolution convolution{.kernels = Tensor({std::ssize(rows), taps}), .bias = {}};
  for (std::int64_t row = 0; row < std::ssize(rows); ++row) {
    const std::int64_t from = rows[static_cast<std::size_t>(row)];
    convolution.kernels.matrix().row(row) = seen(stored).row(from);
    if (!bias.empty()) convolution.bias.push_back(bias[static_cast<std::size_t>(from)]);
  }
  return convolution;
}

/// Reads short convolutions, of all three in one tensor or of each.
void read_convolutions(const WeightReader& reader, const std::string& prefix,
                       const Dimensions& dimensions, std::int64_t stored, AttentionPart& part) {
  const bool mamba = reader.has(prefix + "mamba_convolution.weight");
  if (mamba || reader.has(prefix + "qkv_convolution.weight")) {
    const RecurrentRows rows =
        mamba ? mamba_rows(dimensions, stored, 0) : recurrent_rows(dimensions, stored);
    const std::string role = prefix + (mamba ? "mamba_convolution" : "qkv_convolution");
    part.query_convolution = read_short(reader, role, rows.count, rows.query);
    part.key_convolution = read_short(reader, role, rows.count, rows.key);
    part.value_convolution = read_short(reader, role, rows.count, rows.value);
    return;
  }
  const auto own = [&](const char* role, std::int64_t channels) {
    return read_short(reader, prefix + role, channels, counted_rows(0, channels));
  };
  part.query_convolution = own("query_convolution", dimensions.query_width());
  part.key_convolution = own("key_convolution", dimensions.key_width());
  part.value_convolution = own("value_convolution", dimensions.values_width());
}

/// Reads the gates that a recurrent mechanism takes from the layer's input. `gates` may have the
/// decays.
RecurrentGates read_gates(const WeightReader& reader, const AttentionSpec& attention,
                          const Dimensions& dimensions, const std::string& prefix,
                          RecurrentGates gates) {
  gates.form = attention.decay;
  gates.divisor = attention.decay_divisor;
  const auto linear = [&](const char* role, std::int64_t outputs, std::int64_t inputs) {
    return reader.read_linear(prefix + role, outputs, inputs, Arithmetic::multiplicative);
  };
  if (reader.has(prefix + "beta.weight")) {
    gates.beta = linear("beta", dimensions.heads, dimensions.width);
  }
  if (attention.decay == DecayGate::none) return gates;
  std::int64_t inputs = dimensions.width;
  if (reader.has(prefix + "decay_hidden.weight")) {
    const std::int64_t narrow = reader.outputs_of(prefix + "decay_hidden.weight");
    gates.hidden = linear("decay_hidden", narrow, inputs);
    inputs = narrow;
  }
  if (attention.decay == DecayGate::softplus) {
    if (!gates.decay) gates.decay = linear("decay", dimensions.heads, inputs);
    gates.rate = reader.read_vector(prefix + "decay_rate", dimensions.heads);
  } else {
    gates.decay = linear("decay", dimensions.query_width(), inputs);
  }
  return gates;
}

/// Reads the norm of the heads' output. That of single heads is an RMS norm, with weights of 1 if
/// none are stored.
std::optional<LayerNorm> read_heads_norm(const WeightReader& reader, const LayerSpec& layer,
                                         const Dimensions& dimensions, std::int64_t index) {
  const std::string role = "layer." + std::to_string(index) + ".heads_norm";
  const HeadsNorm kind = layer.attention.heads_norm;
  if (kind == HeadsNorm::over_all) return reader.read_norm(role, dimensions.output_width());
  const auto width = static_cast<std::size_t>(dimensions.value_width);
  std::vector<float> weight = reader.read_vector(role + ".weight", dimensions.value_width, false);
  if (weight.empty()) weight.assign(width, 1.0F);
  if (kind == HeadsNorm::each_difference) {
    for (float& value : weight) value *= static_cast<float>(1 - initial_lambda(index));
  }
  return layer_norm(Norm::rms, std::move(weight), {}, layer.norm.eps);
}

/// Reads queries and the gate of the output, whose heads alternate in one weight.
void read_query_and_gate(const WeightReader& reader, const Dimensions& dimensions,
                         const std::string& role, AttentionPart& part) {
  const FusedWeight both(reader, role, 2 * dimensions.query_width(), dimensions.width,
                         Arithmetic::multiplicative);
  std::vector<std::int64_t> queries, gates;
  for (std::int64_t row = 0; row < 2 * dimensions.query_width(); ++row) {
    (row / dimensions.head_width % 2 == 0 ? queries : gates).push_back(row);
  }
  part.query = both.take(queries, 0);
  part.gate = both.take(gates, 0);
}

void read_projections(const WeightReader& reader, const Architecture& architecture,
                      const Dimensions& dimensions, const AttentionSpec& attention,
                      std::int64_t index, AttentionPart& part) {
  const bool channels_first = attention.head_split != HeadSplit::heads_first;
  const std::string prefix = "layer." + std::to_string(index) + ".";
  const Arithmetic arithmetic = arithmetic_of(architecture.spec, index);
  const std::int64_t query_width = dimensions.query_width(), key_width = dimensions.key_width();
  const auto as_split = [&](std::vector<std::int64_t> rows, std::int64_t heads) {
    if (attention.halves) return halves_joined(rows, heads);
    return channels_first ? heads_first(rows, heads) : std::move(rows);
  };
  const auto linear = [&](const char* role, std::int64_t outputs, std::int64_t heads) {
    if (!channels_first && !attention.halves) {
      return reader.read_linear(prefix + role, outputs, dimensions.width, arithmetic);
    }
    const FusedWeight whole(reader, prefix + role, outputs, dimensions.width, arithmetic);
    return whole.take(as_split(counted_rows(0, outputs), heads), 0);
  };
  for (const char* const role : {"qkv", "windowed_qkv"}) {
    if (!reader.has(prefix + role + ".weight")) continue;
    const FusedWeight fused(reader, prefix + role,
                            query_width + key_width + dimensions.values_width(), dimensions.width,
                            arithmetic);
    const QkvRows order = architecture.qkv_rows;
    // Some models store biases separately, with none for keys (BEiT).
    const auto rows = [&](WeightPart each) {
      return as_split(fused_rows(dimensions, order, each),
                      each == kQuery ? dimensions.heads : dimensions.key_heads);
    };
    part.query = fused.take(rows(kQuery), 0, true,
                            reader.read_vector(prefix + "query.bias", query_width, false));
    // Only the presence of the mask counts: its values may be NaN and are not used.
    const bool key_bias = !reader.has(prefix + "key_bias_mask");
    part.key = fused.take(rows(kKey), query_width, key_bias);
    part.value = fused.take(rows(kValue), query_width + key_width, true,
                            reader.read_vector(prefix + "value.bias", key_width, false));
    return;
  }
  const std::int64_t stored = attention.query_heads ? attention.query_heads : dimensions.heads;
  if (reader.has(prefix + "mamba_input.weight")) {
    return read_mamba(reader, dimensions, stored, prefix, part);
  }
  if (reader.has(prefix + "recurrent_qkv_gate.weight")) {
    return read_grouped(reader, dimensions, stored, prefix, part);
  }
  if (reader.has(prefix + "recurrent_qkv.weight")) {
    const RecurrentRows rows = recurrent_rows(dimensions, stored);
    const FusedWeight fused(reader, prefix + "recurrent_qkv", rows.count, dimensions.width,
                            arithmetic);
    part.query = fused.take(rows.query, 0);
    part.key = fused.take(rows.key, 0);
    part.value = fused.take(rows.value, 0);
    return;
  }
  if (reader.has(prefix + "query_key.weight")) {
    part.query = linear("query_key", query_width, dimensions.heads);
    part.value = linear("value", query_width, dimensions.key_heads);
    return;
  }
  if (reader.has(prefix + "query_gate.weight")) {
    read_query_and_gate(reader, dimensions, prefix + "query_gate", part);
  } else {
    part.query = linear("query", query_width, dimensions.heads);
  }
  if (reader.has(prefix + "key_value.weight")) {
    const FusedWeight fused(reader, prefix + "key_value", 2 * key_width, dimensions.width,
                            arithmetic);
    part.key = fused.take(as_split(counted_rows(0, key_width), dimensions.key_heads), 0);
    part.value =
        fused.take(as_split(counted_rows(key_width, key_width), dimensions.key_heads), key_width);
    return;
  }
  if (part.inner && !reader.has(prefix + "value.weight")) {
    part.key = linear("key", key_width, dimensions.key_heads);
    // The values are the tokens themselves.
    Tensor identity({dimensions.width, dimensions.width});
    identity.matrix().setIdentity();
    part.value = Linear(std::move(identity), {});
    return;
  }
  part.key = linear("key", width_of_keys(dimensions, mechanism_of(architecture.spec, index)),
                    dimensions.key_heads);
  part.value = linear("value", dimensions.values_width(), dimensions.key_heads);
}

/// ε of the norms of latents, which their authors' code and transformers have whatever the others'.
constexpr double kLatentEps = 1e-6;

LatentPart read_latent(const WeightReader& reader, const std::string& role, std::int64_t latent,
                       std::int64_t shared, std::int64_t width) {
  return {.narrow = reader.read_linear(role, latent + shared, width, Arithmetic::multiplicative),
          .norm = layer_norm(Norm::rms, reader.read_vector(role + "_norm.weight", latent), {},
                             kLatentEps)};
}

/// Reads queries, keys and values that are computed from latents. The file has the rotated channels
/// of a head last.
void read_latents(const WeightReader& reader, const LayerSpec& layer, const Dimensions& dimensions,
                  const std::string& prefix, AttentionPart& part) {
  const AttentionSpec& attention = layer.attention;
  const std::int64_t heads = dimensions.heads, each = dimensions.head_width;
  const std::int64_t turned = layer.rotary.width, rest = each - turned;
  const std::int64_t narrow = attention.query_latent_width;
  if (narrow > 0) {
    part.query_latent = read_latent(reader, prefix + "query_latent", narrow, 0, dimensions.width);
  }
  const FusedWeight queries(reader, prefix + "query", heads * each,
                            narrow > 0 ? narrow : dimensions.width, Arithmetic::multiplicative);
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < heads * each; ++row) {
    const std::int64_t channel = row % each;
    rows.push_back(row - channel + (channel < turned ? rest + channel : channel - turned));
  }
  part.query = queries.take(rows, 0);
  part.latent =
      read_latent(reader, prefix + "latent", attention.latent_width, turned, dimensions.width);
  if (reader.has(prefix + "latent_key.weight")) {
    const auto apart = [&](const char* role, std::int64_t outputs) {
      return reader.read_linear(prefix + role, outputs, attention.latent_width,
                                Arithmetic::multiplicative);
    };
    part.key = apart("latent_key", heads * rest);
    part.value = apart("latent_value", heads * dimensions.value_width);
    return;
  }
  const std::vector<std::int64_t> sizes = {rest, dimensions.value_width};
  const FusedWeight keys_and_values(reader, prefix + "latent_key_value",
                                    heads * (rest + dimensions.value_width), attention.latent_width,
                                    Arithmetic::multiplicative);
  part.key = keys_and_values.take(rows_in_groups(heads, sizes, 0), 0);
  part.value = keys_and_values.take(rows_in_groups(heads, sizes, 1), 0);
}

/// A norm per head or over all heads together, depending on the size of its tensor.
std::optional<LayerNorm> read_head_norm(const WeightReader& reader, const std::string& role,
                                        std::int64_t each, std::int64_t all) {
  if (!reader.has(role + ".weight")) return std::nullopt;
  return reader.read_norm(role, reader.size_of(role + ".weight") == all ? all : each);
}

/// Normalises queries and keys to length 1 per head: an RMS norm with weight 1/√d, and torch's
/// 1e-12 for zero vectors.
void add_cosines(std::int64_t head_width, AttentionPart& part) {
  if (part.query_norm || part.key_norm) {
    throw Error(ErrorKind::damaged,
                "cosine attention contradicts the norms of queries and keys in the file")
        .about("layer.attention.cosine")
        .expected("false")
        .found("true");
  }
  const auto channels = static_cast<std::size_t>(head_width);
  const double root = std::sqrt(static_cast<double>(head_width));
  part.query_norm = part.key_norm =
      layer_norm(Norm::rms, std::vector<float>(channels, static_cast<float>(1 / root)), {},
                 1e-24 / static_cast<double>(head_width));
}

/// The projection of the heads' output to the model width.
Linear read_output(const WeightReader& reader, const std::string& role, std::int64_t width,
                   const Dimensions& dimensions, HeadSplit split, Arithmetic arithmetic) {
  const std::int64_t query_width = dimensions.query_width();
  if (split != HeadSplit::channels_first) {
    return reader.read_linear(role, width, dimensions.output_width(), arithmetic);
  }
  const Tensor stored = reader.read(role + ".weight", {width, query_width});
  const std::vector<std::int64_t> order =
      heads_first(counted_rows(0, query_width), dimensions.heads);
  Tensor weight({width, query_width});
  for (std::int64_t i = 0; i < query_width; ++i) {
    weight.matrix().col(i) = stored.matrix().col(order[static_cast<std::size_t>(i)]);
  }
  return {std::move(weight), reader.read_vector(role + ".bias", width, false)};
}

void read_reduction(const WeightReader& reader, const ModelSpec& spec, std::int64_t index,
                    AttentionPart& part) {
  const LayerPlace place = place_of_layer(spec, index);
  const PyramidStage& stage = spec.stages[place.stage];
  if (spec.shifts_windows() || is_windowed(stage, place.block)) {
    part.grid_window = stage.window;
    return;
  }
  const std::string prefix = "layer." + std::to_string(index) + ".";
  if (!reader.has(prefix + "reduction.weight")) return;
  const std::int64_t side = stage.pooled > 0 ? 1 : stage.reduction, width = stage.width;
  part.reduction = KeyReduction{
      reader.read_convolution(prefix + "reduction", width, width, side, side, 0),
      reader.read_norm(prefix + "reduction_norm", width, spec.input.norm_eps), stage.pooled};
}

/// A table of offsets [any odd number, d], resampled to a side of `cells`.
Tensor read_offsets(const WeightReader& reader, const std::string& role, std::int64_t head_width,
                    std::int64_t cells) {
  return resample_offsets(reader.read(role, {reader.outputs_of(role), head_width}), cells);
}

void read_tiles(const WeightReader& reader, const ModelSpec& spec, const LayerSpec& layer,
                const std::string& prefix, AttentionPart& part) {
  const ScoreSpec& scores = layer.scores;
  if (scores.window_form == WindowForm::tiles) part.grid_window = scores.window;
  if (scores.bias != ScoreBias::decomposed) return;
  const std::int64_t width = width_of_head(layer, spec.width), side = part.grid_window;
  part.relative_rows =
      read_offsets(reader, prefix + "relative_rows", width, side ? side : spec.input.grid_rows());
  part.relative_columns = read_offsets(reader, prefix + "relative_columns", width,
                                       side ? side : spec.input.grid_columns());
}

/// A table of offsets, resampled to the model's grid of patches or to its windows.
Tensor read_table(const WeightReader& reader, const ModelSpec& spec, const LayerSpec& layer,
                  const std::string& role) {
  Tensor table = reader.read(role, {reader.outputs_of(role), layer.attention.heads});
  PositionGrid grid{spec.input.grid_rows(), spec.input.grid_columns()};
  if (layer.scores.window > 0) grid = {layer.scores.window, layer.scores.window};
  const std::int64_t classes = spec.input.prefix_tokens() > 0 ? 3 : 0;
  return table_of_grid(std::move(table), grid, classes, spec.positions.table_resize);
}

/// Reads biases of relative positions, per layer or shared (T5: stored in the first layer), or
/// shared embeddings of relative positions.
void read_score_terms(const WeightReader& reader, const ModelSpec& spec, const LayerSpec& layer,
                      std::int64_t width, const std::string& prefix, AttentionPart& part) {
  const std::int64_t heads = layer.attention.heads;
  part.sinks = reader.read_vector(prefix + "sinks", heads, false);
  if (layer.scores.bias == ScoreBias::disentangled) {
    part.relative_positions = reader.read("relative_positions", {2 * layer.scores.buckets, width});
    const std::optional<LayerNorm> norm = reader.read_norm("relative_positions_norm", width);
    if (norm) norm->apply(part.relative_positions.matrix());
    const auto own = [&](const char* role) -> std::optional<Linear> {
      if (!reader.has(prefix + role + ".weight")) return std::nullopt;
      return reader.read_linear(prefix + role, heads * width_of_head(layer, width), width,
                                Arithmetic::multiplicative);
    };
    part.relative_query = own("relative_query");
    part.relative_key = own("relative_key");
  }
  if (layer.scores.bias != ScoreBias::buckets && layer.scores.bias != ScoreBias::table) return;
  const std::string own = prefix + "position_biases";
  const bool of_decoder = layer.scores.causal && reader.has("decoder_position_biases");
  const std::string role = reader.has(own) ? own
                           : of_decoder    ? "decoder_position_biases"
                                           : "position_biases";
  part.position_biases = layer.scores.bias == ScoreBias::table
                             ? read_table(reader, spec, layer, role)
                             : reader.read(role, {layer.scores.buckets, heads});
}

void check_rotary(const AttentionPart& part, const LayerSpec& layer, std::int64_t head_width) {
  if (layer.rotary.form == Rotary::none) return;
  const std::int64_t turned = layer.rotary.width ? layer.rotary.width : head_width;
  const bool patches = layer.rotary.grid != RotaryGrid::sequence;
  const std::int64_t pieces = patches ? 4 : 2;
  if (turned <= head_width && turned % pieces == 0 &&
      (part.rotary_periods.empty() || std::ssize(part.rotary_periods) == turned / 4)) {
    return;
  }
  throw Error(ErrorKind::damaged, "the rotary width does not fit the head")
      .about("layer.rotary.width")
      .expected("a multiple of " + std::to_string(pieces) + ", at most the head's " +
                std::to_string(head_width))
      .found(std::to_string(turned));
}

/// Empty if queries, keys and values are computed from the layer's own tokens.
std::optional<InnerTokens> read_inner(const WeightReader& reader, const std::string& prefix,
                                      std::int64_t width) {
  if (!reader.has(prefix + "inner.weight")) return std::nullopt;
  const auto convolution = reader.read_depthwise(prefix + "inner_convolution", width);
  if (!convolution) {
    throw Error(ErrorKind::damaged, "the projection before the queries has no convolution")
        .about(prefix + "inner_convolution.weight");
  }
  return InnerTokens{reader.read_linear(prefix + "inner", width, width, Arithmetic::multiplicative),
                     *convolution};
}

/// Throws Error(damaged) naming a tensor whose shape does not fit `layer`.
AttentionPart read_attention(const WeightReader& reader, const Architecture& architecture,
                             const LayerSpec& layer, std::int64_t index) {
  const ModelSpec& spec = architecture.spec;
  const std::string prefix = "layer." + std::to_string(index) + ".";
  const std::int64_t width = width_of_layer(spec, index);
  const std::int64_t head_width = width_of_head(layer, width);
  const Dimensions dimensions{
      width, layer.attention.heads, layer.key_heads(), head_width,
      layer.attention.value_width ? layer.attention.value_width : head_width};
  const std::int64_t query_width = dimensions.query_width();
  const Arithmetic arithmetic = arithmetic_of(spec, index);
  AttentionPart part;
  const HeadSplit split = layer.attention.head_split;
  const AttentionSpec& attention = layer.attention;
  part.inner = read_inner(reader, prefix, width);
  if (attention.latent_width > 0) {
    read_latents(reader, layer, dimensions, prefix, part);
  } else {
    read_projections(reader, architecture, dimensions, attention, index, part);
  }
  read_convolutions(reader, prefix, dimensions,
                    attention.query_heads ? attention.query_heads : dimensions.heads, part);
  part.gates = read_gates(reader, attention, dimensions, prefix, std::move(part.gates));
  if (attention.gate != OutputGate::none && !part.gate) {
    part.gate = reader.read_linear(prefix + "gate", dimensions.output_width(), width,
                                   Arithmetic::multiplicative);
  }
  part.query_norm =
      read_head_norm(reader, prefix + "query_norm", dimensions.head_width, query_width);
  part.key_norm =
      read_head_norm(reader, prefix + "key_norm", dimensions.head_width, dimensions.key_width());
  if (split != HeadSplit::heads_first && part.query_norm &&
      std::ssize(part.query_norm->weight) != dimensions.head_width) {
    throw Error(ErrorKind::damaged,
                "a norm over the queries of all heads needs channels in the order of heads")
        .about("layer.attention.head_split")
        .expected("heads_first");
  }
  if (layer.attention.cosine) add_cosines(dimensions.head_width, part);
  if (!spec.stages.empty()) read_reduction(reader, spec, index, part);
  if (attention.halves && (part.query_norm || part.key_norm)) {
    throw Error(ErrorKind::unsupported, "norms of queries and keys whose heads have two halves")
        .about("layer.attention.halves");
  }
  part.heads_norm = read_heads_norm(reader, layer, dimensions, index);
  if (arithmetic == Arithmetic::adder) {
    part.heads_norm = reader.read_norm(prefix + "attention_norm", query_width);
    if (!part.heads_norm) part.heads_norm = reader.plain_norm(query_width);
  }
  if (reader.has(prefix + "out.weight")) {
    part.out = read_output(reader, prefix + "out", width, dimensions, split, arithmetic);
  } else if (dimensions.output_width() != width) {
    throw Error(ErrorKind::damaged, "the heads' output has no projection to the width")
        .about(prefix + "out.weight");
  }
  if (reader.has("rotary_periods")) {
    part.rotary_periods = reader.read_vector("rotary_periods", dimensions.head_width / 4);
  }
  check_rotary(part, layer, attention.halves ? head_width / 2 : head_width);
  read_score_terms(reader, spec, layer, width, prefix, part);
  read_tiles(reader, spec, layer, prefix, part);
  part.mechanism = reader.read_mechanism(index);
  sum_agent_tables(reader, spec, layer.attention.heads, index, part.mechanism);
  return part;
}

// ---- norms, MLP and forms of layers ----

/// The norm at its position in the layer, and the second norm of a sandwich.
BranchNorms read_norms(const WeightReader& reader, NormPosition position, const std::string& role,
                       std::int64_t width) {
  BranchNorms norms;
  std::optional<LayerNorm> norm = reader.read_norm(role, width);
  switch (position) {
    case NormPosition::sandwich:
      norms.inside = reader.read_norm(role + "_after", width);
      [[fallthrough]];
    case NormPosition::pre:
      norms.before = std::move(norm);
      break;
    case NormPosition::post:
      norms.after = std::move(norm);
      break;
    case NormPosition::branch:
      norms.inside = std::move(norm);
      break;
  }
  return norms;
}

/// Reads gate and hidden layer from one weight, the gate first.
void read_fused_gate(const WeightReader& reader, const std::string& role, std::int64_t width,
                     std::int64_t inputs, Mlp& mlp) {
  const WeightMatrix weight = reader.read_matrix(role + ".weight", 2 * width, inputs);
  const std::vector<float> bias = reader.read_vector(role + ".bias", 2 * width, false);
  mlp.gate = Linear(weight.with_rows(counted_rows(0, width)), part_of(bias, 0, width));
  mlp.mlp1 = Linear(weight.with_rows(counted_rows(width, width)), part_of(bias, width, width));
}

/// Reads a layer scale, times β of x + β·f(x); empty if both are missing.
std::vector<float> read_scale(const WeightReader& reader, const std::string& role,
                              std::int64_t width, const LayerSpec& layer) {
  std::vector<float> scale = reader.read_vector(role, width, false);
  const auto branch = static_cast<float>(layer.branch_scale);
  if (branch == 1) return scale;
  if (scale.empty()) scale.assign(static_cast<std::size_t>(width), 1.0F);
  for (float& value : scale) value *= branch;
  return scale;
}

/// Reads an MLP with `hidden` channels in its hidden layer, whose roles begin with `prefix`.
Mlp read_one_mlp(const WeightReader& reader, const LayerSpec& layer, const std::string& prefix,
                 std::int64_t hidden, std::int64_t width, Arithmetic arithmetic) {
  Mlp mlp;
  mlp.activation = layer.mlp.activation;
  mlp.clip = static_cast<float>(layer.mlp.clip);
  if (reader.has(prefix + "mlp_gate_and_mlp1.weight")) {
    read_fused_gate(reader, prefix + "mlp_gate_and_mlp1", hidden, width, mlp);
  } else {
    mlp.mlp1 = reader.read_linear(prefix + "mlp1", hidden, width, arithmetic);
    if (layer.mlp.form == MlpForm::gated) {
      mlp.gate = reader.read_linear(prefix + "mlp_gate", hidden, width, arithmetic);
    }
  }
  mlp.convolution = reader.read_depthwise(prefix + "mlp_convolution", hidden);
  mlp.norm = reader.read_norm(prefix + "mlp_norm", hidden);
  mlp.mlp2 = reader.read_linear(prefix + "mlp2", width, hidden, arithmetic);
  return mlp;
}

std::optional<Mlp> read_mlp(const WeightReader& reader, const LayerSpec& layer,
                            const std::string& prefix, std::int64_t width, Arithmetic arithmetic) {
  if (layer.mlp.form == MlpForm::none || layer.mlp.experts > 0) return std::nullopt;
  return read_one_mlp(reader, layer, prefix, layer.mlp.width, width, arithmetic);
}

/// Reads the MLP that all tokens pass through next to their experts, if there is one, with its
/// gate.
void read_shared_expert(const WeightReader& reader, const LayerSpec& layer,
                        const std::string& prefix, std::int64_t width, Experts& experts) {
  const std::string own = prefix + "shared_";
  if (layer.mlp.shared_width == 0) return;
  experts.shared =
      read_one_mlp(reader, layer, own, layer.mlp.shared_width, width, Arithmetic::multiplicative);
  if (!reader.has(own + "gate.weight")) return;
  experts.shared_gate = reader.read_linear(own + "gate", 1, width, Arithmetic::multiplicative);
}

/// Reads the router and the experts of a layer, whose weights stay in the file.
std::optional<Experts> read_experts(const WeightReader& reader, const LayerSpec& layer,
                                    const std::string& prefix, std::int64_t width) {
  const std::int64_t count = layer.mlp.experts, hidden = layer.mlp.width;
  if (count == 0) return std::nullopt;
  Experts experts{
      .router = reader.read_linear(prefix + "router", count, width, Arithmetic::multiplicative),
      .mlps = std::vector<Mlp>(static_cast<std::size_t>(count)),
      .active = layer.mlp.active_experts,
      .sums_to_one = layer.mlp.sums_to_one,
      .score = layer.mlp.expert_score,
      .scale = static_cast<float>(layer.mlp.expert_scale),
      .groups = layer.mlp.expert_groups,
      .active_groups = layer.mlp.active_groups,
      .group_best = layer.mlp.group_best,
      .corrections = reader.read_vector(prefix + "router_correction", count, false)};
  const auto read = [&](const std::string& part, std::int64_t outputs, std::int64_t inputs,
                        const auto& take) {
    std::vector<Linear> layers =
        reader.read_experts(prefix + "experts_" + part, count, outputs, inputs);
    for (std::size_t i = 0; i < layers.size(); ++i) take(experts.mlps[i], std::move(layers[i]));
  };
  for (Mlp& mlp : experts.mlps) {
    mlp.activation = layer.mlp.activation;
    mlp.clip = static_cast<float>(layer.mlp.clip);
  }
  if (reader.has(prefix + "experts_mlp_gate_and_mlp1.weight")) {
    read("mlp_gate_and_mlp1", 2 * hidden, width, [&](Mlp& mlp, const Linear& both) {
      const std::int64_t pairs = layer.mlp.alternating ? hidden : 1;
      const std::vector<std::int64_t> sizes(2, hidden / pairs);
      mlp.gate = both.rows(rows_in_groups(pairs, sizes, 0));
      mlp.mlp1 = both.rows(rows_in_groups(pairs, sizes, 1));
    });
  } else {
    read("mlp1", hidden, width, [](Mlp& mlp, Linear mlp1) { mlp.mlp1 = std::move(mlp1); });
    if (layer.mlp.form == MlpForm::gated) {
      read("mlp_gate", hidden, width, [](Mlp& mlp, Linear gate) { mlp.gate = std::move(gate); });
    }
  }
  read("mlp2", width, hidden, [](Mlp& mlp, Linear mlp2) { mlp.mlp2 = std::move(mlp2); });
  read_shared_expert(reader, layer, prefix, width, experts);
  return experts;
}

/// w [H·d] or [H, d] as [H, d], scaled so that w·x / √d is the logit of the layer's form.
Tensor importance_vectors(const Tensor& stored, const LayerSpec& layer, std::int64_t head_width,
                          const std::string& name) {
  const Shape wanted = {layer.attention.heads, head_width};
  if (stored.size() != element_count(wanted)) {
    throw Error(ErrorKind::damaged, "the importance vectors do not fit the heads")
        .about(name)
        .expected(to_string(wanted))
        .found(to_string(stored.shape()));
  }
  Tensor vectors = stored.reshaped(wanted);
  if (layer.form == LayerForm::fastformer_rescaled) {
    MatrixMap rows = vectors.matrix();
    rescale_heads(rows, 1);
    // Logits of this form are w·x · scale / d, with w and x normalised.
    rows *= static_cast<float>(layer.importance_scale / std::sqrt(static_cast<double>(head_width)));
  }
  return vectors;
}

/// Reads the weights of Fastformer's forms other than the projections.
void read_fastformer(const WeightReader& reader, const LayerSpec& layer, const std::string& prefix,
                     std::int64_t width, std::int64_t head_width, Block& block) {
  NamedTensors& own = block.attention.mechanism;
  const std::int64_t heads = layer.attention.heads, query_width = heads * head_width;
  block.middle_norm = reader.read_norm(prefix + "middle_norm", width);
  if (layer.form == LayerForm::fastformer_encoder) {
    for (const std::string name : {"query_importance", "key_importance"}) {
      own[name] = reader.read(prefix + name + ".weight", {heads, query_width});
      if (!reader.has(prefix + name + ".bias")) continue;
      own[name + "_bias"] = reader.read(prefix + name + ".bias", {heads});
    }
    block.transform = reader.read_linear(prefix + "transform", query_width, query_width,
                                         Arithmetic::multiplicative);
    return;
  }
  for (const char* name : {"query_importance", "key_importance"}) {
    const auto vectors = own.find(name);
    if (vectors == own.end()) {
      throw Error(ErrorKind::damaged, "the layer has no importance vectors").about(name);
    }
    vectors->second = importance_vectors(vectors->second, layer, head_width, name);
  }
  if (layer.form == LayerForm::fastformer && !block.middle_norm) {
    throw Error(ErrorKind::damaged, "the layer has no LayerNorm between its two attentions")
        .about("layer_form");
  }
}

}  // namespace

Block read_block(const WeightReader& reader, const Architecture& architecture, std::int64_t index) {
  const ModelSpec& spec = architecture.spec;
  const std::string prefix = "layer." + std::to_string(index) + ".";
  const std::int64_t width = width_of_layer(spec, index);
  const Arithmetic arithmetic = arithmetic_of(spec, index);
  Block block;
  block.spec = layer_of(spec, index);
  block.score_scale = score_scale(spec, index);
  block.attention_norms = read_norms(reader, block.spec.norm.position, prefix + "norm1", width);
  block.mlp_norms = read_norms(reader, block.spec.norm.position, prefix + "norm2", width);
  block.attention = read_attention(reader, architecture, block.spec, index);
  block.local1 = reader.read_depthwise(prefix + "local1", width);
  block.local2 = reader.read_depthwise(prefix + "local2", width);
  block.scale1 = read_scale(reader, prefix + "scale1", width, block.spec);
  block.scale2 = read_scale(reader, prefix + "scale2", width, block.spec);
  block.mlp = read_mlp(reader, block.spec, prefix, width, arithmetic);
  block.experts = read_experts(reader, block.spec, prefix, width);
  if (!spec.stages.empty()) {
    block.mlp->relu_first = spec.stages[place_of_layer(spec, index).stage].pooled > 0;
  }
  if (block.spec.form != LayerForm::transformer) {
    read_fastformer(reader, block.spec, prefix, width, width_of_head(block.spec, width), block);
  }
  return block;
}

}  // namespace attnscope
