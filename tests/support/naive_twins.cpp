#include "tests/support/naive_twins.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include "tests/support/counted_attention.h"
#include "tests/support/naive_baselines.h"
#include "tests/support/naive_daft.h"

namespace attnscope {

namespace {

using Choice = const MechanismChoice&;
using Input = const AttentionInput&;
using Values = const TypedValues&;
using Extents = const AttentionShape&;

constexpr AttentionShape kShape{
    .queries = 5, .keys = 7, .heads = 2, .head_width = 3, .value_width = 4};
constexpr AttentionShape kSquare{
    .queries = 8, .keys = 8, .heads = 2, .head_width = 3, .value_width = 3};

ParameterValue word(const char* text) { return std::string(text); }
ParameterValue whole(std::int64_t number) { return number; }

void scale(Tensor& tensor, double factor) {
  for (float& value : tensor.values()) value *= static_cast<float>(factor);
}

NaiveTwin softmax_twin() {
  return {
      .name = "softmax",
      .map = [](Choice, Input input, std::int64_t head) { return naive_softmax_map(input, head); },
      .cases = {{}},
      .count = [](Extents shape, Values) { test::count_softmax(shape); },
      .counted = {{.shape = kShape}}};
}

NaiveTwin adder_twin() {
  return {.name = "adder",
          .map =
              [](Choice choice, Input input, std::int64_t head) {
                return naive_adder_map(input, head,
                                       TypedValues(choice.parameters).flag("identity"));
              },
          .cases = {{}, {.parameters = {{"identity", true}}, .square = true}},
          .count = [](Extents shape, Values v) { test::count_adder(shape, v.flag("identity")); },
          .counted = {{.shape = kShape}, {.parameters = {{"identity", true}}, .shape = kSquare}}};
}

NaiveTwin linear_twin() {
  return {
      .name = "linear",
      .map = [](Choice, Input input, std::int64_t head) { return naive_linear_map(input, head); },
      .cases = {{}},
      .count = [](Extents shape, Values) { test::count_linear(shape); },
      .counted = {{.shape = kShape}}};
}

NaiveTwin additive_twin() {
  const auto causal = [](std::int64_t window) {
    return ParameterValues{{"causal", true}, {"window", whole(window)}};
  };
  return {
      .name = "additive",
      .map =
          [](Choice choice, Input input, std::int64_t head) {
            const TypedValues values(choice.parameters);
            return naive_additive_map(input, head, values.flag("causal"), values.whole("window"));
          },
      .cases = {{},
                {causal(0), true},
                {causal(1), true},
                {causal(7), true},
                {causal(64), true},
                {causal(1000), true}},
      .count = [](Extents shape,
                  Values v) { test::count_additive(shape, v.flag("causal"), v.whole("window")); },
      .counted = {{.shape = kSquare},
                  {.parameters = causal(0), .shape = kSquare},
                  {.parameters = causal(3), .shape = kSquare}}};
}

NaiveTwin hash_twin() {
  const auto codes = [](const char* mode, const char* kind, std::int64_t bits,
                        std::int64_t supports) {
    return ParameterValues{{"mode", word(mode)},
                           {"codes", word(kind)},
                           {"bits", whole(bits)},
                           {"supports", whole(supports)}};
  };
  const auto of_features = [](const char* kind) {
    return ParameterValues{{"codes", word(kind)}, {"bits", whole(6)}, {"features", whole(9)}};
  };
  return {
      .name = "hash",
      .map =
          [](Choice choice, Input input, std::int64_t head) {
            const TypedValues values(choice.parameters);
            const bool upstream = values.is("mode", "upstream");
            return values.is("codes", "sign") ? naive_sign_map(input, head, upstream)
                                              : naive_hash_map(input, head, upstream);
          },
      .cases = {{codes("paper", "learned", 16, 25)},
                {codes("paper", "auto", 1, 3)},
                {codes("paper", "learned", 64, 9)},
                {codes("upstream", "learned", 16, 25), true},
                {codes("paper", "sign", 16, 25)}},
      .prepare =
          [](NamedTensors& tensors) {
            if (!tensors.contains("ksh.anchor")) return;
            auto anchors = tensors.at("ksh.anchor").matrix();
            for (Eigen::Index row = 0; row < anchors.rows(); ++row) anchors.row(row).normalize();
            for (float& mean : tensors.at("ksh.mvec").values()) {
              mean = 0.6F;  // exp(−½) of the mean distance
            }
          },
      .count =
          [](Extents shape, Values v) {
            if (v.is("codes", "lsh")) {
              test::count_lsh(shape, v.whole("features"), v.whole("bits"));
            } else if (v.is("codes", "sign")) {
              test::count_binary(shape, v.whole("features"));
            } else {
              test::count_kernel_hash(shape, v.whole("supports"), v.whole("bits"));
            }
          },
      .counted = {{.parameters = {{"bits", whole(6)}, {"supports", whole(5)}}, .shape = kSquare},
                  {.parameters = of_features("lsh"), .shape = kSquare},
                  {.parameters = of_features("sign"), .shape = kSquare}}};
}

void count_daft_window(Extents s, Values v, std::int64_t kernel) {
  test::count_daft_conv(s, kernel, v.whole("conv_heads"));
  if (!v.flag("gate")) test::Counted::leave_out("gate");
}

NaiveTwin daft_twin(std::string_view name) {
  NaiveTwin twin;
  twin.name = name;
  twin.map = naive_daft_map;
  twin.gated = twin.knows_order = true;
  if (name == "daft-full") {
    twin.cases = {{}, {{{"factors", whole(0)}}}, {{{"factors", whole(3)}}}};
    twin.prepare = [](NamedTensors& tensors) {
      // Exponents stay at a few units, because their rounding error is that of the weights.
      if (tensors.contains("pe0")) scale(tensors.at("pe0"), 0.2);
    };
    twin.count = [](Extents s, Values v) { test::count_daft_full(s, v.whole("factors")); };
    twin.counted = {{.parameters = {{"factors", whole(5)}}, .shape = kShape}};
    return twin;
  }
  twin.cases = {{{{"kernel", whole(5)},
                  {"conv_heads", whole(1)},
                  {"dimensions", whole(1)},
                  {"full_keys", true}},
                 true},
                {{{"kernel", whole(3)},
                  {"conv_heads", whole(1)},
                  {"dimensions", whole(1)},
                  {"full_keys", true},
                  {"reparameterised", false},
                  {"gate", false}},
                 true}};
  twin.counted = {
      {.parameters = {{"kernel", whole(3)}, {"conv_heads", whole(2)}, {"dimensions", whole(1)}},
       .shape = kSquare},
      {.parameters = {{"kernel", whole(3)},
                      {"conv_heads", whole(2)},
                      {"dimensions", whole(1)},
                      {"gate", false}},
       .shape = kSquare}};
  twin.count = [](Extents s, Values v) { count_daft_window(s, v, v.whole("kernel")); };
  if (name == "daft-local") {
    // The sums over all tokens are not counted: no query sees tokens outside the window.
    twin.count = [](Extents s, Values v) {
      count_daft_window(s, v, v.whole("kernel"));
      test::Counted::leave_out("global sums");
    };
  } else if (name == "daft-one-hot") {
    twin.count = [](Extents s, Values v) { count_daft_window(s, v, 1); };
  }
  return twin;
}

NaiveTwin performer_twin() {
  const auto features = [](const char* kernel, std::int64_t count) {
    return ParameterValues{{"kernel", word(kernel)}, {"features", whole(count)}};
  };
  return {.name = "performer",
          .map =
              [](Choice choice, Input input, std::int64_t head) {
                return naive_performer_map(input, head,
                                           TypedValues(choice.parameters).is("kernel", "relu"));
              },
          .cases = {{features("softmax", 8)}, {features("relu", 33)}},
          .count =
              [](Extents s, Values v) {
                test::count_performer(s, v.whole("features"), v.is("kernel", "relu"));
              },
          .counted = {{.parameters = features("softmax", 11), .shape = kShape},
                      {.parameters = features("relu", 11), .shape = kShape}}};
}

NaiveTwin linformer_twin() {
  const auto landmarks = [](std::int64_t count) {
    return ParameterValues{{"landmarks", whole(count)}};
  };
  return {.name = "linformer",
          .map = [](Choice, Input input,
                    std::int64_t head) { return naive_linformer_map(input, head); },
          .cases = {{.parameters = landmarks(1)},
                    {.parameters = landmarks(5), .least_tokens = 5},
                    {.parameters = landmarks(31), .least_tokens = 31}},
          .knows_order = true,
          .prepare =
              [](NamedTensors& tensors) {
                Tensor& e = tensors.at("E");
                scale(e, 1 / std::sqrt(static_cast<double>(e.shape().back())));
                // Without cancelling sums, weights can be compared with a relative tolerance.
                for (float& value : tensors.at("F").values()) value = std::abs(value);
              },
          .count = [](Extents s, Values v) { test::count_linformer(s, v.whole("landmarks")); },
          .counted = {{.parameters = landmarks(3), .shape = kShape}}};
}

NaiveTwin reformer_twin() {
  const auto rounds = [](std::int64_t hashes, std::int64_t chunk) {
    return ParameterValues{{"hashes", whole(hashes)}, {"chunk", whole(chunk)}};
  };
  return {.name = "reformer",
          .map =
              [](Choice choice, Input input, std::int64_t head) {
                return naive_reformer_map(input, head,
                                          TypedValues(choice.parameters).whole("chunk"));
              },
          .cases = {{rounds(1, 4), true}, {rounds(3, 17), true}, {rounds(2, 1000), true}},
          .knows_order = true,
          .count =
              [](Extents s, Values v) {
                test::count_reformer(s, {.hashes = v.whole("hashes"), .chunk = v.whole("chunk")});
                // The merge sort by bucket takes log2(8) comparisons per token and head.
                test::Counted::enter("hash rotations");
                for (std::int64_t i = 0; i < s.heads * s.queries * 3; ++i) {
                  static_cast<void>(test::Counted(0) < test::Counted(1));
                }
              },
          .counted = {{.parameters = rounds(1, 2), .shape = kSquare}}};
}

NaiveTwin synthesizer_twin() {
  const auto scores = [](const char* source) {
    return ParameterValues{{"scores", word(source)}, {"factors", whole(5)}};
  };
  return {.name = "synthesizer",
          .map =
              [](Choice choice, Input input, std::int64_t head) {
                return naive_synthesizer_map(input, head,
                                             TypedValues(choice.parameters).text("scores"));
              },
          .cases = {{scores("random")}, {scores("dense")}, {scores("factorised")}},
          .knows_order = true,
          .prepare =
              [](NamedTensors& tensors) {
                for (auto& [name, tensor] : tensors) {
                  if (name == "R") continue;
                  scale(tensor, 1 / std::sqrt(static_cast<double>(tensor.shape().back())));
                }
              },
          .count =
              [](Extents s, Values v) {
                const costs::ScoreSource source =
                    v.is("scores", "random")  ? costs::ScoreSource::random
                    : v.is("scores", "dense") ? costs::ScoreSource::dense
                                              : costs::ScoreSource::factorised;
                test::count_synthesizer(s, source, v.whole("factors"));
              },
          .counted = {{.parameters = scores("random"), .shape = kShape},
                      {.parameters = scores("dense"), .shape = kShape},
                      {.parameters = scores("factorised"), .shape = kShape}}};
}

NaiveTwin mixer_twin() {
  return {.name = "mixer",
          .count = [](Extents s, Values v) { test::count_mixer(s, v.whole("expansion")); },
          .counted = {{.parameters = {{"expansion", whole(2)}}, .shape = kSquare}}};
}

}  // namespace

// Twins that are defined in their own files.
NaiveTwin cosformer_twin();
NaiveTwin talking_heads_twin();
NaiveTwin softmax_sink_twin();
NaiveTwin sigmoid_twin();
NaiveTwin relu_twin();
NaiveTwin ssmax_twin();
NaiveTwin sparsemax_twin();
NaiveTwin entmax_twin();
NaiveTwin differential_twin();
NaiveTwin focused_twin();
NaiveTwin inline_twin();
NaiveTwin sima_twin();
NaiveTwin agent_twin();
NaiveTwin nystrom_twin();
NaiveTwin soft_twin();
NaiveTwin rala_twin();
NaiveTwin mlla_twin();
NaiveTwin forgetting_twin();
NaiveTwin retention_twin();
NaiveTwin gla_twin();
NaiveTwin mamba2_twin();
NaiveTwin gated_delta_twin();
NaiveTwin kda_twin();

const std::vector<NaiveTwin>& naive_twins() {
  // One mechanism per line.
  static const std::vector<NaiveTwin> list = {softmax_twin(),
                                              adder_twin(),
                                              linear_twin(),
                                              additive_twin(),
                                              hash_twin(),
                                              daft_twin("daft-full"),
                                              daft_twin("daft-conv"),
                                              daft_twin("daft-local"),
                                              daft_twin("daft-one-hot"),
                                              performer_twin(),
                                              linformer_twin(),
                                              reformer_twin(),
                                              synthesizer_twin(),
                                              cosformer_twin(),
                                              talking_heads_twin(),
                                              softmax_sink_twin(),
                                              sigmoid_twin(),
                                              relu_twin(),
                                              ssmax_twin(),
                                              sparsemax_twin(),
                                              entmax_twin(),
                                              differential_twin(),
                                              focused_twin(),
                                              inline_twin(),
                                              sima_twin(),
                                              agent_twin(),
                                              nystrom_twin(),
                                              soft_twin(),
                                              rala_twin(),
                                              mlla_twin(),
                                              forgetting_twin(),
                                              retention_twin(),
                                              gla_twin(),
                                              mamba2_twin(),
                                              gated_delta_twin(),
                                              kda_twin(),
                                              mixer_twin()};
  return list;
}

const NaiveTwin* find_naive_twin(std::string_view name) {
  for (const NaiveTwin& twin : naive_twins()) {
    if (twin.name == name) return &twin;
  }
  return nullptr;
}

NamedTensors random_tensors(const MechanismChoice& choice, const AttentionShape& shape,
                            unsigned seed) {
  const MechanismEntry& entry = find_mechanism(choice.name);
  const ParameterValues values = complete_values(entry.name, entry.parameters, choice.parameters);
  NamedTensors tensors;
  for (const TensorDescription& description : entry.tensors) {
    const auto extents =
        description.shape ? description.shape(shape, TypedValues(values)) : std::nullopt;
    if (extents) tensors.emplace(description.name, random_normal(*extents, seed++));
  }
  const NaiveTwin* const twin = find_naive_twin(choice.name);
  if (twin && twin->prepare) twin->prepare(tensors);
  return tensors;
}

NaiveMap naive_map(const MechanismChoice& choice, const AttentionInput& input, std::int64_t head) {
  const NaiveTwin* const twin = find_naive_twin(choice.name);
  if (!twin || !twin->map) throw std::runtime_error("no naive twin of " + choice.name);
  const MechanismEntry& entry = find_mechanism(choice.name);
  const MechanismChoice complete = {
      choice.name, complete_values(entry.name, entry.parameters, choice.parameters)};
  return twin->map(complete, input, head);
}

}  // namespace attnscope
